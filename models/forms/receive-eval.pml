chan c = [1] of { byte, byte }; byte x = 3;
init { c!4,5; c?eval(x + 1),x; assert(x == 5) }
