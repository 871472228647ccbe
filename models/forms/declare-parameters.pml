byte g;
proctype P(byte p) { byte q = p + g; q++; byte r = q; g = r }
init { g = 2; run P(3); run P(4) }
