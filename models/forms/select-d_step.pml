byte i;
active [2] proctype P() { d_step { select (i : 1 .. 3); i++ }; i++ }
