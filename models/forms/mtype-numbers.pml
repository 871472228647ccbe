mtype = { a, b, c }; mtype = { d, e }; mtype m = b; byte x;
init { x = a; assert(x == 3); x = e; assert(x == 4); m = d; printf("%e\n", m) }
