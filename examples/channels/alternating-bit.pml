/* The alternating bit protocol over channels that lose nothing. The sender may send again at any time, so the channel to
   the receiver is unbounded: no buffer is big enough for a timer without a limit. With -DPATIENT it waits for its
   acknowledgement, and one place in each channel is enough.
   volee check alternating-bit.pml --engine channels */
mtype = { msg, ack };
chan to_receiver = [1] of { mtype, bit, byte };
chan to_sender = [1] of { mtype, bit };

active proctype Sender() {
  bit mine, theirs;
  byte data;
again:
  to_receiver!msg(mine, data);
  do
  :: to_sender?ack(theirs) ->
     if
     :: theirs == mine -> mine = 1 - mine; data = (data + 1) % 3; goto again
     :: theirs != mine
     fi
#ifndef PATIENT
  :: to_receiver!msg(mine, data)
#endif
  od
}

active proctype Receiver() {
  bit wanted, got;
  byte data;
  do
  :: to_receiver?msg(got, data) ->
     to_sender!ack(got);
     if
     :: got == wanted -> wanted = 1 - wanted
     :: got != wanted
     fi
  od
}
