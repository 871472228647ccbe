byte x;
active proctype P() { x++; l: goto m; m: x++ }
active proctype Q() { P[0]@l -> x = 5 }
