/* The alternating bit protocol over two channels of several places that lose messages. A message that will be lost might as
   well not be sent: the sender sends as often as it likes, and the receiver answers or does not. */
#ifndef PLACES
#define PLACES 4
#endif
#ifndef NUMBERS
#define NUMBERS 8
#endif

chan forth = [PLACES] of { byte, bit };
chan back = [PLACES] of { bit };

active proctype Sender() {
	byte number;
	bit mine, echo;
	do
	:: forth!number, mine
	:: back?echo ->
		if
		:: echo == mine -> mine = 1 - mine; number = (number + 1) % NUMBERS
		:: else
		fi
	od
}

active proctype Receiver() {
	byte number, expected;
	bit his, awaited;
	do
	:: forth?number, his ->
		if
		:: his == awaited ->
			assert(number == expected);
			expected = (expected + 1) % NUMBERS;
			awaited = 1 - awaited
		:: else
		fi;
		if
		:: back!his
		:: skip
		fi
	od
}
