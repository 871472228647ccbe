byte x;
init { if :: byte y = 1; x = y :: byte z = 2; x = z fi; do :: x < 9 -> byte w = x; x = w + 1 :: else -> break od }
