byte a;
inline f(z) { select (z : 1 .. 3) }
init { f(a); a++ }
