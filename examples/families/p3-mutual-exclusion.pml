/* p3, simple protocol: mutual exclusion. Holds for all numbers of clients.
   volee check p3-mutual-exclusion.pml --engine families --for-any Client --cover Client@critical,Client@critical
   The paper has the names only (one server, one client template). Reconstructed as the protocol of that name in the literature of
   parameterised systems: a server hands out one permission by rendezvous and waits for its return. */
chan request = [0] of { bit }, release = [0] of { bit };

active proctype Server() {
  do
  :: request?_ -> release?_
  od
}

proctype Client() {
  do
  :: request!0;
critical: release!0
  od
}
