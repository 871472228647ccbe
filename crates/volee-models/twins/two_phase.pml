/* Two-phase commit, the twin of examples/models/two_phase.rs: the same states, written in Promela. */
#ifndef N
#define N 3
#endif

mtype = { working, prepared, committed, aborted, waiting };

mtype manager[N] = working;
mtype coordinator = waiting;
bool known[N];      /* whom the coordinator knows to be prepared */
byte ready;         /* how many these are */
bool sent[N];
bool sent_commit, sent_abort;

active [N] proctype Manager() {
end:
  do
  :: atomic { manager[_pid] == working -> manager[_pid] = prepared; sent[_pid] = true }
  :: atomic { manager[_pid] == working -> manager[_pid] = aborted }
  :: atomic { sent_commit -> manager[_pid] = committed }
  :: atomic { sent_abort -> manager[_pid] = aborted }
  :: atomic { coordinator == waiting && sent[_pid] -> ready = ready + (1 - known[_pid]); known[_pid] = true }
  od
}

active proctype Coordinator() {
end:
  do
  :: atomic { coordinator == waiting && ready == N -> coordinator = committed; sent_commit = true }
  :: atomic { coordinator == waiting -> coordinator = aborted; sent_abort = true }
  od
}
