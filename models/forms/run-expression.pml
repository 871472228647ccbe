byte x;
proctype P() { skip }
init { if :: (run P()) -> x = 1 fi; x = run P(); assert(x > 0) }
