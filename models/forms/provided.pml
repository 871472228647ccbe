bit t; byte x;
active [2] proctype A() provided (t == _pid) { x++; t = 1 - t; x++ }
