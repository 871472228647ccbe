byte i, s;
active [2] proctype P() { d_step { for (i : 1 .. 3) { s++ } } ; s++ }
