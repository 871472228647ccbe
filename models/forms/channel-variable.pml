chan a = [1] of { byte }; chan b;
proctype P(chan z) { byte v; z?v; assert(v == 4) }
init { b = a; run P(b); b!4 }
