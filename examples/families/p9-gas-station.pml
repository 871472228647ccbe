/* p9, gas station: pumping starts only after the customer has paid. Holds for all numbers of clients.
   volee check p9-gas-station.pml --engine families --for-any Client
   The paper has the names only ("start pumping first", one pump, any number of clients). Reconstructed from the gas
   station of Heimbigner and Luckham: prepay at the operator, who activates the pump; start, pump, finish, take the change. */
chan prepay = [0] of { bit }, change = [0] of { bit };
chan activate = [0] of { bit }, start = [0] of { bit }, finish = [0] of { bit }, charge = [0] of { bit };
bool paid = false;

active proctype Operator() {
  do
  :: prepay?_ -> paid = true; activate!0; charge?_; change!0
  od
}

active proctype Pump() {
  do
  :: activate?_ -> start?_; assert(paid); finish?_; paid = false; charge!0
  od
}

proctype Client() {
  do
  :: prepay!0; start!0; finish!0; change?_
  od
}
