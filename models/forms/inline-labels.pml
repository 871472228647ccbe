byte x;
inline f() { if :: x < 3 -> goto L :: else fi; L: x++ }
init { f(); f(); f() }
