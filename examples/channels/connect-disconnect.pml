/* The connect-disconnect protocol in Promela. Its buffers are declared, but are they big enough? None is.
   volee check connect-disconnect.pml --engine channels */
mtype = { connect, close, disconnect };
chan to_b = [1] of { mtype };
chan to_a = [1] of { mtype };

active proctype A() {
  do
  :: to_b!connect;
     if
     :: to_b!close
     :: to_a?disconnect
     fi
  od
}

active proctype B() {
  do
  :: to_b?connect;
     if
     :: to_b?close
     :: to_a!disconnect
     fi
  od
}
