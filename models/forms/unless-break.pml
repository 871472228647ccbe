byte x;
active proctype P() { do :: x < 30 -> do :: x < 5 -> x++ od unless { x == 4 -> x = 20; break } :: else -> break od; x++ }
