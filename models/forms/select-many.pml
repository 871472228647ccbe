byte a;
init { select (a : 1 .. 60); a++ }
