int a;
init { a = 1 + 2 * 3 - 4 / 2; assert(a == 5); a = 7 & 3 | 8 ^ 1; assert(a == 11); a = 1 << 2 + 1; assert(a == 8); a = !3 == 0; assert(a == 1); a = -3 % 2; assert(a == -1); a = ~0; assert(a == -1) }
