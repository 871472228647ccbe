byte a, k, n = 3;
init { L: select (a : 1 .. n); k++; if :: k < 3 -> goto L :: else fi }
