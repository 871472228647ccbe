/* A bounded buffer as a monitor with one condition for everybody: a signal may wake a producer where a consumer was meant,
   and then all of them sleep. */
#define SIZE 1

byte used;
byte sleeping;
byte signals;


inline signal() {
  if
  :: sleeping > signals -> signals++
  :: else
  fi
}

active [2] proctype Producer() {
  do
  :: atomic { used < SIZE -> used++; signal() }
  :: atomic { used == SIZE -> sleeping++ }; atomic { signals > 0 -> signals--; sleeping-- }
  od
}

active proctype Consumer() {
  do
  :: atomic { used > 0 -> used--; signal() }
  :: atomic { used == 0 -> sleeping++ }; atomic { signals > 0 -> signals--; sleeping-- }
  od
}
