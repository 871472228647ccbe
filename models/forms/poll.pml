chan c = [2] of { byte, byte }; byte x;
init { c!1,2; c!3,4; assert(c??[3,4] && c?[1,_] && !(c?[3,x])); c??3,x; assert(x == 4 && len(c) == 1) }
