/* The lift of Boigelot & Wolper (1994), figure 3: a motor and its control panel. */
int c = 1, g = 1, a = 0, N = 10;

active proctype motor() {
    do
    :: atomic { a == 1 -> a = 0; c = c + 1 }
    :: atomic { a == 2 -> a = 0; c = c - 1 }
    od
}

active proctype control() {
    do
    :: atomic { c < g -> a = 1 }; a == 0 ->
    :: atomic { c > g -> a = 2 }; a == 0 ->
    :: atomic { c == g ->
         do
         :: g < N -> g = g + 1
         :: g > 1 -> g = g - 1
         :: break
         od }
    od
}
