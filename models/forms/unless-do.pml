byte x;
active proctype P() { do :: x < 5 -> x++ :: x > 2 -> break od unless { x == 4 -> x = 20 }; x++ }
