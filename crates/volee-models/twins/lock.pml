/* Threads that add one to a number under a lock, the twin of `Increment` in xtask's benchmark. */
#ifndef N
#define N 3
#endif

byte number;
bool locked;
byte seen[N];

active [N] proctype Thread() {
  atomic { !locked -> locked = true };
  seen[_pid] = number;
  number = seen[_pid] + 1;
  locked = false;
end: false
}
