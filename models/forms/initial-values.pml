byte a = 3; byte b = a + 1; byte c[3] = b; byte d[4] = { 1, 2 };
init { assert(b == 4 && c[2] == 4 && d[0] == 1 && d[3] == 2) }
