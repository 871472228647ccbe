/* Two-phase commit with a coordinator that may crash after it has collected the votes: who has voted yes waits for ever. */
#define N 2

mtype = { prepare, yes, no, commit, abort };
chan order[N] = [1] of { mtype };
chan vote = [N] of { mtype };

active proctype Coordinator() {
  byte i, agreed;
  for (i : 0 .. N - 1) { order[i]!prepare }
  for (i : 0 .. N - 1) {
    if
    :: vote?yes -> agreed++
    :: vote?no
    fi
  }
  if
  :: skip            /* crashes here */
  :: agreed == N -> for (i : 0 .. N - 1) { order[i]!commit }
  :: agreed < N -> for (i : 0 .. N - 1) { order[i]!abort }
  fi
}

active [N] proctype Participant() {
  byte me = _pid - 1;
  order[me]?prepare;
  if
  :: vote!yes;
     if
     :: order[me]?commit
     :: order[me]?abort
     fi
  :: vote!no
  fi
}
