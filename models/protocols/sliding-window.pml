/* Go-back-n: a window of unacknowledged numbers, cumulative acknowledgements, channels that lose what is sent. */
#ifndef WINDOW
#define WINDOW 2
#endif
#define NUMBERS (WINDOW + 1)
#ifndef PLACES
#define PLACES 3
#endif

chan data = [PLACES] of { byte };
chan acks = [PLACES] of { byte };

active proctype Sender() {
	byte base, next, ack;
	do
	:: (next + NUMBERS - base) % NUMBERS < WINDOW ->
		if
		:: data!next
		:: skip                /* lost on the way */
		fi;
		next = (next + 1) % NUMBERS
	:: acks?ack ->
		if
		:: (ack + NUMBERS - base) % NUMBERS <= (next + NUMBERS - base) % NUMBERS -> base = ack
		:: else
		fi
	:: next != base -> next = base     /* time is over: send again */
	od
}

active proctype Receiver() {
	byte number, expected;
	do
	:: data?number ->
		if
		:: number == expected -> expected = (expected + 1) % NUMBERS
		:: else
		fi;
		if
		:: acks!expected
		:: skip                /* lost on the way */
		fi
	od
}
