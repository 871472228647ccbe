/* The dining philosophers: each takes the left fork, then the right one. When all hold their left fork, all wait. */
#define N 3

chan fork[N] = [1] of { bit };
byte eating;

proctype Philosopher(byte me) {
  byte left = me;
  byte right = (me + 1) % N;
  do
  :: fork[left]?_;
     fork[right]?_;
     eating++;
     eating--;
     fork[right]!1;
     fork[left]!1
  od
}

init {
  byte i;
  atomic {
    do
    :: i < N -> fork[i]!1; run Philosopher(i); i++
    :: else -> break
    od
  }
}
