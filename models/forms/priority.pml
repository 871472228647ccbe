byte x;
active proctype A() priority 5 { x++; x++ }
active proctype B() priority 2 { x = 9 } 
