byte x;
init { goto in; { x++; in: x = x + 2 }; if :: x < 6 -> goto in :: else fi }
