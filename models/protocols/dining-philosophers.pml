/* Philosophers who take the fork at their left first, but for the last one: nobody starves for want of order. */
#ifndef SEATS
#define SEATS 8
#endif

chan fork[SEATS] = [1] of { bit };

proctype Philosopher(chan first; chan second) {
	do
	:: first?1;
	   second?1;
	   second!1;
	   first!1
	od
}

init {
	byte n;
	atomic {
		for (n : 0 .. SEATS - 1) {
			fork[n]!1
		};
		for (n : 0 .. SEATS - 2) {
			run Philosopher(fork[n], fork[n + 1])
		};
		run Philosopher(fork[0], fork[SEATS - 1])
	}
}
