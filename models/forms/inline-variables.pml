byte x;
inline f(n) { byte t = n; t++; x = x + t }
init { f(1); f(x) }
active proctype Q() { f(2) }
