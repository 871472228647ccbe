byte i, x;
active proctype P() { for (i : 1 .. 3) { x++ } unless { x == 2 -> x = 10 } ; x++ }
