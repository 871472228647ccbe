byte x;
active [2] proctype A() { atomic { if :: x == 0 -> x = 1; x = 2 :: x > 1 -> skip; x++ fi; x++ }; x++ }
