byte x
init {
 x = 1
 if
 :: x == 1 -> x = 2
 :: else
 fi
 do
 :: x < 4 -> x++
 :: else break
 od
 {
 x = 5
 }
 x = 6
 atomic { x++ }
 x++
}
