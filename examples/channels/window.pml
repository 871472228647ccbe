/* A sender with a window of two. The channels are bounded: two places for data and two for acknowledgements are enough.
   volee check window.pml --engine channels */
chan data = [9] of { bit };
chan acknowledge = [9] of { bit };
byte open = 2;

active proctype Sender() {
  do
  :: open > 0 -> atomic { data!0; open = open - 1 }
  :: acknowledge?_ -> open = open + 1
  od
}

active proctype Receiver() {
  do
  :: data?_ -> acknowledge!0
  od
}
