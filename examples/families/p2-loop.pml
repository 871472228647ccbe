/* p2, loop example: a looped dependency. Violated.
   volee check p2-loop.pml --engine families --for-any User
   Only the name survives in the paper. Reconstructed: the control counts round a loop of three, each round fed by another user,
   and must never be overtaken, that is asked for more while it has not finished. Three users can do it, two cannot. */
chan turn = [0] of { bit };
byte round = 0;

active proctype Control() {
  do
  :: turn?_ -> round = round + 1; assert(round < 3)
  :: round == 4 -> round = 0
  od
}

proctype User() {
  turn!0
}
