/* The witness against the published induction of the cut-off method: a chain of 8 steps that each take a ticket, and beside every
   one a shortcut that needs a pass, which nobody ever gets. Violated with 8 users; an induction that bounds the tickets
   before it looks at the passes calls it safe. (Reconstructed from the argument; the tests have it with 40 steps.)
   volee check witness.pml --engine families --for-any User */
chan ticket = [0] of { bit }, pass = [0] of { bit };
byte at = 0;
bool pumping = true;

active proctype Control() {
  do
  :: at < 8 -> ticket?_; pumping = false; at = at + 1
  :: at < 8 -> pass?_; at = 8
  :: at == 8 -> assert(false)
  od
}

proctype User() {
  pumping;
  if
  :: ticket!0
  :: false -> pass!0
  fi
}
