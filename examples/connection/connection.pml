/* A connection server as its clients see it: what comes in on `request`, what goes out on `reply`.
   An open connection counts the data it has got, up to 4, and tells the number with every acknowledgement. */

mtype = { OPEN, DATA, CLOSE, ACCEPTED, REFUSED, ACK, CLOSED, ERROR };

chan request = [0] of { mtype };
chan reply = [0] of { mtype, byte };

active proctype Server() {
  byte count;
idle:
  do
  :: request?OPEN ->
     if
     :: reply!ACCEPTED,0; goto open
     :: reply!REFUSED,0                    /* a busy server may say no */
     fi
  :: request?DATA -> reply!ERROR,0
  :: request?CLOSE -> reply!ERROR,0
  od;
open:
  do
  :: request?DATA -> count = (count + 1) % 4; reply!ACK,count
  :: request?OPEN -> reply!ERROR,0
  :: request?CLOSE -> count = 0; reply!CLOSED,0; goto idle
  od
}

/* The environment: any request at any time, and always ready to listen. */
active proctype Client() {
  do
  :: request!OPEN
  :: request!DATA
  :: request!CLOSE
  :: reply?_,_
  od
}
