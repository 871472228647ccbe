byte a, n = 4;
init { select (a : 1 .. n); a++ }
