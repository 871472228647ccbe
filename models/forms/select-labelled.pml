byte a, k;
init { L: select (a : 1 .. 3); k++; if :: k < 3 -> goto L :: else fi }
