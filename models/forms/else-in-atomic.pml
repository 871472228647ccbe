byte x;
active [2] proctype P() { if :: x > 2 -> x = 0 :: atomic { else -> x++ } fi }
