byte s;
active [2] proctype P() { byte i; atomic { for (i : 1 .. 3) { s++ } } ; s++ }
