/* Two-phase commit: a coordinator asks, participants vote, all do what it decides. */
#ifndef PARTICIPANTS
#define PARTICIPANTS 7
#endif
mtype = { prepare, commit, abort };

chan orders[PARTICIPANTS] = [1] of { mtype };
chan votes[PARTICIPANTS] = [1] of { bool };

proctype Participant(chan order; chan vote) {
	mtype what;
	bool yes;
	order?prepare;
	if
	:: yes = true
	:: yes = false
	fi;
	vote!yes;
	order?what;
	assert(what == abort || yes)
}

init {
	byte n;
	bool yes, all = true;
	atomic {
		for (n : 0 .. PARTICIPANTS - 1) {
			run Participant(orders[n], votes[n])
		}
	};
	for (n : 0 .. PARTICIPANTS - 1) {
		orders[n]!prepare
	};
	for (n : 0 .. PARTICIPANTS - 1) {
		votes[n]?yes;
		all = all && yes
	};
	for (n : 0 .. PARTICIPANTS - 1) {
		if
		:: all -> orders[n]!commit
		:: else -> orders[n]!abort
		fi
	}
}
