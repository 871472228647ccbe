byte x;
active proctype P() { byte k; a: k++; b: x = k; goto c; c: skip }
active proctype Q() { P@b -> x = 5 + P:k }
