byte a_b;
init { select (a_b : 1 .. 3); a_b++ }
