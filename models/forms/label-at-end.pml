byte x;
init { if :: x == 0 -> goto out :: else -> skip fi; x = 3; out: }
