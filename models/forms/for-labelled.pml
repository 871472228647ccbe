byte i,x;
init { x = 1; L: for (i : 1 .. 3) { if :: x++ :: x = 0; goto L :: break fi } ; x = 9 }
