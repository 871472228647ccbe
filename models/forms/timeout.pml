byte x; chan c = [0] of { byte };
active proctype A() { do :: timeout -> x++; break :: c?_ -> skip od }
active proctype B() { x = 3; c!1; x = 4 }
