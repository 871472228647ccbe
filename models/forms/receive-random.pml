chan c = [3] of { mtype, byte }; mtype = { p, q }; byte x;
init { c!p,1; c!q,2; c!p,3; c??q,x; assert(x == 2); c??p(eval(x+1)); c?p(x) }
