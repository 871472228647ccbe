/* Pairs of a caller and a called one: connect, talk, disconnect, over channels with several places. */
#ifndef PAIRS
#define PAIRS 3
#endif
#ifndef PLACES
#define PLACES 2
#endif
mtype = { connect, accept, refuse, data, disconnect };

chan there[PAIRS] = [PLACES] of { mtype };
chan here[PAIRS] = [PLACES] of { mtype };

proctype Caller(chan out; chan in) {
end:	do
	:: out!connect;
		if
		:: in?refuse
		:: in?accept ->
			do
			:: out!data
			:: out!disconnect -> break
			od
		fi
	od
}

proctype Called(chan in; chan out) {
end:	do
	:: in?connect ->
		if
		:: out!refuse
		:: out!accept ->
			do
			:: in?data
			:: in?disconnect -> break
			od
		fi
	od
}

init {
	byte n;
	atomic {
		for (n : 0 .. PAIRS - 1) {
			run Caller(there[n], here[n]);
			run Called(there[n], here[n])
		}
	}
}
