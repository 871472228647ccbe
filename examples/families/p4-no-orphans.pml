/* p4, simple protocol: no orphan packets. Holds for all numbers of clients.
   volee check p4-no-orphans.pml --engine families --for-any Client
   The paper has the names only. Reconstructed: an acknowledgement that reaches the server without a request before it would be an
   orphan. */
chan request = [0] of { bit }, release = [0] of { bit };
bool pending = false;

active proctype Server() {
  do
  :: request?_ -> pending = true; release?_; assert(pending); pending = false
  od
}

proctype Client() {
  do
  :: request!0; release!0
  od
}
