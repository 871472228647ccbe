byte x;
active proctype P() { L: { x++; x++ } unless { x == 1 -> x = 10 } ; if :: x < 12 -> goto L :: else fi }
