/* Threads that add one to a number under a lock, the twin of `Increment` in xtask's benchmark. */
#ifndef N
#define N 3
#endif

byte number;
bool locked;
byte seen[N];

active [N] proctype Thread() {
  atomic { !locked -> locked = true };
locked_it: seen[_pid] = number;
seen_it: number = seen[_pid] + 1;
written: locked = false;
end: false
}
