/* Chang and Roberts: on a ring, the largest number comes home to its owner, who leads. NODES may not be a multiple of five,
   so that all have different numbers. */
#ifndef NODES
#define NODES 6
#endif

chan ring[NODES] = [2] of { byte };
byte leaders;

proctype Node(chan in; chan out; byte mine) {
	byte number;
	out!mine;
end:	do
	:: in?number ->
		if
		:: number > mine -> out!number
		:: number < mine
		:: else -> leaders++; assert(leaders == 1); break
		fi
	od
}

init {
	byte n;
	atomic {
		for (n : 0 .. NODES - 1) {
			run Node(ring[n], ring[(n + 1) % NODES], (n * 5 + 3) % NODES + 1)
		}
	}
}
