proctype C(byte n) { if :: n > 0 -> run C(n - 1) :: else fi }
init { run C(3) }
