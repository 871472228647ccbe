unsigned u : 3; short s; byte b; bit z;
init { u = 9; assert(u == 1); s = 70000; assert(s == 4464); b = 300; assert(b == 44); z = 3; assert(z == 1); b--; }
