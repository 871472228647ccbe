/* Election on a ring, after Chang and Roberts (1979), with the mistake that a process passes on numbers that are smaller as
   well as larger than its own: it takes itself for the leader when its own number comes round, and so does another. */
#define N 3

chan ring[N] = [N] of { byte };
byte leaders;

proctype Node(byte me; byte number) {
  byte heard;
  ring[(me + 1) % N]!number;
end:
  do
  :: ring[me]?heard ->
     if
     :: heard != number -> ring[(me + 1) % N]!heard
     :: heard == number -> leaders++; assert(leaders <= 1)
     fi
  od
}

init {
  atomic {
    run Node(0, 2);
    run Node(1, 3);
    run Node(2, 1)
  }
}
