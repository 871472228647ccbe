/* p1, bin example: an inverse dependency. Violated.
   volee check p1-bin.pml --engine families --for-any User
   Only the name survives in the paper (one control process, one template). Reconstructed as the smallest system that fits the
   name: users drop items into a bin in one order and the control takes them out assuming the other, so that what depends on
   the first item may come before it. */
chan first = [0] of { bit }, second = [0] of { bit };
bool have_first = false;

active proctype Control() {
  do
  :: first?_ -> have_first = true
  :: second?_ -> assert(have_first)
  od
}

proctype User() {
  if
  :: first!0
  :: second!0
  fi
}
