byte i,x;
init { for (i : 1 .. 3) { x = x + i }; assert(x==6) }
