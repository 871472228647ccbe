/* Threads that add one to a number under a lock, the twin of `Increment` in xtask's benchmark. */
#ifndef N
#define N 3
#endif

byte number;
bool locked;

active [N] proctype Thread() {
  byte seen;
  atomic { !locked -> locked = true };
  seen = number;
  number = seen + 1;
  locked = false
}
