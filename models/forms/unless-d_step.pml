byte x;
active proctype P() { skip; d_step { x++; x++; x++ } unless { x == 2 -> x = 10 } ; x++ }
active proctype Q() { x = 2 }
