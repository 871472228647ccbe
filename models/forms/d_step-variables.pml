byte x;
active [2] proctype A() { d_step { byte t; t = x; t++; x = t; if :: x > 1 -> x = 0 :: else fi }; x++ }
