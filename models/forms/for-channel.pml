typedef M { byte v } chan c = [3] of { M }; byte s;
init { M m; m.v = 2; c!m; m.v = 3; c!m; for (m in c) { s = s + m.v } ; assert(s == 5 && len(c) == 2) }
