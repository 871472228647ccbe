/* The public-key protocol of Needham and Schroeder (1978) with the attack that Lowe found (1995): Bob believes to talk with
   Alice, who talks with Mallory. A message is: kind, the key it is locked with, and two fields. */
mtype = { none, alice, bob, mallory, nonceA, nonceB, hello, reply, confirm };

chan net = [0] of { mtype, mtype, mtype, mtype };
mtype partnerA = none, partnerB = none;
bool doneA, doneB;

active proctype Alice() {
  mtype n;
  if
  :: partnerA = bob
  :: partnerA = mallory
  fi;
  net!hello, partnerA, alice, nonceA;
  net?reply, alice, nonceA, n;
  net!confirm, partnerA, n, none;
  doneA = true
}

active proctype Bob() {
  mtype who, n;
  net?hello, bob, who, n;
  partnerB = who;
  net!reply, who, n, nonceB;
  net?confirm, bob, nonceB, none;
  doneB = true
}

/* Mallory knows both nonces as soon as somebody has sent them locked with the key of Mallory; what is locked with another key
   can be kept and sent on as it is. */
active proctype Mallory() {
  mtype kind, key, a, b;
  mtype keptKind = none, keptKey, keptA, keptB;
  bool knowsA, knowsB;
end:
  do
  :: net?kind, key, a, b ->
     if
     :: key == mallory -> knowsA = knowsA || a == nonceA || b == nonceA; knowsB = knowsB || a == nonceB || b == nonceB
     :: else -> keptKind = kind; keptKey = key; keptA = a; keptB = b
     fi
  :: keptKind != none -> net!keptKind, keptKey, keptA, keptB
  :: knowsA -> net!hello, bob, alice, nonceA
  :: knowsB -> net!confirm, bob, nonceB, none
  od
}

/* When Bob is done with Alice, Alice must mean Bob. */
ltl agreed { [] ((doneB && partnerB == alice) -> (partnerA == bob)) }
