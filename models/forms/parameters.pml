proctype P(byte a, b; short c) { c = a + b }
init { pid p; p = run P(1, 2, 3); assert(p == 1); run P(4, 5, 6); _nr_pr == 1 }
