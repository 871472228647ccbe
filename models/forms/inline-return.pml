byte x;
inline add(a, b) { return a + b }
inline big(a) { if :: a > 3 -> return 1 :: else -> return 0 fi }
init { x = add(2, 3); x = big(x); assert(x == 1) }
