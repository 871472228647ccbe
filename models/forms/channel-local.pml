proctype P(chan r) { chan mine = [1] of { byte }; byte v; r!mine; mine?v }
init { chan r = [0] of { chan }; chan z; run P(r); r?z; z!1 }
