init { byte a = 1; a++; byte b; b++; byte c = a; c++; { byte d = 3; d++ } ; int e[3]; e[1] = 2 }
