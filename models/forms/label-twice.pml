byte x;
init { a: b: x++; if :: x < 3 -> goto a :: x < 5 -> goto b :: else fi }
