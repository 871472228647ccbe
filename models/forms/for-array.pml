byte a[3], i, s;
init { a[0]=1; a[1]=2; a[2]=3; for (i in a) { s = s + a[i] } ; assert(s == 6) }
