int a;
init { select (a : -2 .. 2); a++ }
