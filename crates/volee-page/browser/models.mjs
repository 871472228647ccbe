// The models of the browser tests and of the screenshots.

export const PHILOSOPHERS = `/* Dining philosophers: each takes the left fork, then the right one. */
#define N 3

chan fork[N] = [1] of { bit };
byte eating;

proctype Philosopher(byte me) {
  byte left = me;
  byte right = (me + 1) % N;
  do
  :: fork[left]?_;
     fork[right]?_;
     eating++;
     eating--;
     fork[right]!1;
     fork[left]!1
  od
}

init {
  byte i;
  atomic {
    do
    :: i < N -> fork[i]!1; run Philosopher(i); i++
    :: else -> break
    od
  }
}

ltl fed { []<> (eating > 0) }
`;

export const CLOCK = `byte x;
chan q = [4] of { byte };
active proctype Clock() {
  do
  :: x = (x + 1) % 100
  :: q!x
  od
}
active proctype Sink() {
  byte y;
  do
  :: q?y
  od
}
`;

export function wide(count) {
  const names = Array.from({ length: count }, (_, i) => `byte v${i};`).join('\n');
  return `${names}\nactive proctype P() { do :: v0 = (v0 + 1) % 50; v17 = v0; v150 = v0 od }\n`;
}
