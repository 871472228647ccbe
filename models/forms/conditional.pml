byte x, y;
init { x = (y == 0 -> 5 : 6); x = (x > 3 -> (y -> 1 : 2) : 3); assert(x == 2) }
