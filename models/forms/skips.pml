byte x;
init { skip; skip; x++; if :: skip; skip; x++ :: true -> 1; skip; x = 7 fi; printf("a"); printf("b"); skip; skip }
