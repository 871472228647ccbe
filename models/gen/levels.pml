/* Three counters, each up to N, in small steps: nearly 4 (N + 1)^3 states, more than ten million for N = 136.
 * Every state is near all its successors, so a search needs few of them at a time. */
#ifndef N
#define N 136
#endif

byte a, b, c;

active proctype Counters()
{
	do
	:: a < N -> a++
	:: b < N -> b++
	:: c < N -> c++
	:: a == N && b == N && c == N -> break
	od
}
