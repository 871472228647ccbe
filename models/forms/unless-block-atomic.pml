byte x;
active proctype P() { M: { atomic { x++; x++; x++ } unless { x == 2 -> x = 10 } } ; x++ }
active proctype Q() { x = 2 }
