#ifndef N
#define N 2
#endif
byte x; active [N] proctype P() { x++ }
