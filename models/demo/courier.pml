/* Courier: numbered parcels over a line that may lose them.
 *
 * The sender repeats a parcel until it is acknowledged. Parcels carry an alternating bit, so that the receiver can
 * tell a repetition from the next one. The acknowledgement carries none: only one parcel is under way at a time, so
 * what else could it acknowledge? Run with -DFIXED, it carries the bit as well.
 */

#define NEXT(x) ((x + 1) % 4)

mtype = { parcel, ack };

chan forth = [2] of { mtype, byte, bit };    /* parcel, its number, its bit */
chan back  = [2] of { mtype, bit };          /* ack, the bit of the parcel  */

active proctype Sender() {
  byte number = 0;
  bit mine = 0, echo;

  do
  :: forth!parcel(number, mine);
     do
     :: forth!parcel(number, mine)           /* impatient: once more        */
     :: back?ack(echo) ->
#ifdef FIXED
        if
        :: echo == mine -> break
        :: else -> skip                      /* an old acknowledgement      */
        fi
#else
        break
#endif
     od;
     number = NEXT(number);
     mine = 1 - mine
  od
}

active proctype Line() {
end:
  do
  :: forth?parcel(_, _)                      /* a parcel is lost            */
  od
}

active proctype Receiver() {
  byte number, expected = 0;
  bit his, awaited = 0;

end:
  do
  :: forth?parcel(number, his) ->
     if
     :: his == awaited ->
        assert(number == expected);          /* none is missing, none twice */
        expected = NEXT(expected);
        awaited = 1 - awaited
     :: else -> skip                         /* a repetition                */
     fi;
     back!ack(his)
  od
}
