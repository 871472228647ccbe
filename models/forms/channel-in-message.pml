chan a = [1] of { chan }; chan b[2] = [0] of { byte };
proctype P() { chan z; byte v; a?z; z?v }
init { run P(); a!b[1]; b[1]!3 }
