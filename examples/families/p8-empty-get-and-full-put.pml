/* p8: no get from an empty buffer and no put into a full one. Violated.
   volee check p8-empty-get-and-full-put.pml --engine families --for-any Producer,Consumer
   Producers and consumers of a bounded buffer after predicate abstraction (Yang and Li 2010, figure 2): bfull and bempty are
   all that is left of the buffer, and a put or a get sets them to any value it may have set them to. The figure survives whole;
   nothing here is reconstructed but the property, which is an assertion in place of an automaton. As an automaton that
   reads the steps, the way the paper has it, it is
   --tl '(!/assert.*bempty.+/ W "bempty = 0") && []("bempty = 1" -> WX(!/assert.*bempty.+/ W "bempty = 0"))
        && []("bfull = 1" -> WX(!/assert.*bfull.+/ W "bfull = 0"))' */
bool bfull = false, bempty = true;
chan full_await = [0] of { bit }, full_notify = [0] of { bit };
chan empty_await = [0] of { bit }, empty_notify = [0] of { bit };

proctype Producer() {
  do
  :: bfull -> full_await!0
  :: !bfull ->
     put: assert(!bfull);
     bempty = false;
     if
     :: bfull = true; empty_notify!0
     :: bfull = false; empty_notify!0
     fi;
     break
  od
}

proctype Consumer() {
  do
  :: bempty -> empty_await!0
  :: !bempty ->
     get: assert(!bempty);
     bfull = false;
     if
     :: bempty = true; full_notify!0
     :: bempty = false; full_notify!0
     fi;
     break
  od
}

active proctype LockFull() {
awake:  do :: full_await?_ -> goto asleep :: full_notify?_ od;
asleep: do :: full_notify?_ -> goto awake :: full_await?_ od
}

active proctype LockEmpty() {
awake:  do :: empty_await?_ -> goto asleep :: empty_notify?_ od;
asleep: do :: empty_notify?_ -> goto awake :: empty_await?_ od
}
