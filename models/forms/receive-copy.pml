chan c = [2] of { byte }; byte x;
init { c!1; c!2; c?<x>; assert(x == 1 && len(c) == 2); c??<2>; c?x; c?x }
