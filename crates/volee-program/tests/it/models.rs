//! Small programs in which each condition of the optimisations and of the reduction decides something.

/// Programs with what somebody watches.
pub const MODELS: &[(&str, &[&str])] = &[
    // Loops, in which somewhere everything must be expanded; some are cut where a step is seen or shared
    // anyway.
    ("active [3] proctype P() { byte l; do :: l < 3 -> l++ :: else -> break od }", &[]),
    ("byte g; active [2] proctype P() { do :: g < 3 -> g++ :: g > 0 -> g-- od }", &["g == 2"]),
    ("active [2] proctype P() { byte l; do :: l = 0; l = 1 :: l = 2; l = 3 od }", &[]),
    (
        "active [2] proctype P() { byte l; A: l = 1; B: l = 2; if :: goto A :: goto B :: goto C fi; C: l = 3; goto B }",
        &[],
    ),
    ("byte g; active [2] proctype P() { byte l; do :: l = 1; g = 1; l = 2; l = 3 od }", &[]),
    ("byte g; active [2] proctype P() { byte l; do :: l = 1; l = g; l = 2 od }", &[]),
    (
        "byte g; active [2] proctype P() { byte l; do :: l = 1; g = 1; l = 2; l = 3 od } active proctype Q() { byte m; m = 1; m = 2 }",
        &["g == 1"],
    ),
    ("active [2] proctype P() { byte l; do :: atomic { l = 1 - l; l = l } od }", &[]),
    ("active [2] proctype P() { byte l; do :: d_step { l = 1 - l; l = l } od }", &[]),
    (
        "active [2] proctype P() { byte l; do :: d_step { l = 1 - l; if :: l == 1 -> l = 0 :: else fi } :: l = 2; break od; l = 3 }",
        &[],
    ),
    ("active [2] proctype P() { byte l; atomic { do :: l < 3 -> l++ :: else -> break od }; l = 1 }", &[]),
    (
        "active [2] proctype P() { byte l; atomic { A: l = 1 - l; if :: l == 1 -> goto A :: l == 0 -> skip fi }; l = 7; l = 8 }",
        &[],
    ),
    (
        "active proctype P() { byte l; atomic { A: l = 1 - l; goto A } } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    (
        "byte g; active proctype P() { byte l; do :: g == 0 -> l = 1; l = 2 :: g == 1 -> break od } active proctype Q() { byte m; m = 1; g = 1; m = 2 }",
        &["g"],
    ),
    (
        "chan r = [0] of { byte }; active [2] proctype P() { byte l; do :: atomic { r!1; l = 1; r!2 } od } active proctype Q() { byte m; do :: r?m; m = 0 od }",
        &[],
    ),
    (
        "chan r = [0] of { byte }; active proctype P() { byte l; do :: atomic { l = 1; r!1 } od } active proctype Q() { byte m; do :: d_step { r?m; m = 0 } od }",
        &[],
    ),
    (
        "chan r = [0] of { byte }; active proctype P() { do :: r!1 od } active [2] proctype Q() { byte m; do :: r?m; m = 1; m = 0 od }",
        &[],
    ),
    (
        "chan c = [1] of { byte }; active proctype P() { do :: c!1 od } active proctype Q() { byte m; do :: c?m; m = 0 od }",
        &["len(c) == 1"],
    ),
    // Channels: full and empty ones, sorted and random operations, looks, polls, tests.
    (
        "chan c = [2] of { byte }; active proctype P() { c!1; c!2; c!3 } active proctype Q() { byte x; c?x; c?x; c?x }",
        &[],
    ),
    (
        "chan c = [2] of { byte }; active proctype P() { c!!2; c!!1; c!!3 } active proctype Q() { byte x; c??3; c?x; c?x }",
        &[],
    ),
    (
        "chan c = [2] of { byte }; byte g; active proctype P() { c!2; c!1 } active proctype Q() { byte x; c?<x>; g = x; c??<1>; c?x; g = x }",
        &["g == 2"],
    ),
    (
        "chan c = [2] of { byte }; byte g; active proctype P() { c!2; c!1 } active proctype Q() { byte l; l = 1; if :: c?[2] -> g = 1 :: c??[1] -> g = 2 fi }",
        &["g == 2"],
    ),
    (
        "chan c = [2] of { byte }, d = [2] of { byte }; active proctype P() { c!1; d!1; c!2 } active proctype Q() { byte x; d!2; d?x; c?x }",
        &[],
    ),
    (
        "chan c = [1] of { byte }, d = [1] of { byte }; byte g; active proctype P() { byte l; l = 1; if :: nfull(c) -> c!1 :: full(d) -> g = 1 fi } active proctype Q() { byte x; d!2; c!1; c?x }",
        &["g"],
    ),
    (
        "chan c = [2] of { byte }; byte g; active proctype P() { c!1; c!2 } active proctype Q() { byte l; l = 1; g = len(c) }",
        &["g == 1"],
    ),
    (
        "chan c = [3] of { byte }; byte g; active [2] proctype P() { byte x; c!_pid; c?x } active proctype Q() { byte y; y = 1; y = 2; g = y }",
        &["g == 2"],
    ),
    (
        "chan c = [2] of { byte, byte }; byte g, t[3]; active proctype P() { c!1,2; c!2,1 } active proctype Q() { byte i; c?i,t[i]; c?eval(i + 1),g }",
        &["t[1] == 2", "g == 1"],
    ),
    (
        "chan c = [1] of { byte }; chan x; byte g; active proctype P() { x = c; x!1 } active proctype Q() { byte l; c?l; g = l } active proctype R() { byte m; m = 1; c!2 }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte, byte }, d = [1] of { byte }; chan x; active proctype P() { x = c; x!1 } active proctype Q() { byte l; l = 1; d!l; d?l }",
        &[],
    ),
    (
        "chan c = [1] of { byte, byte }, d = [1] of { byte }; active proctype P() { byte l; chan x; x = c; l = 1; x!1; l = 2 } active proctype Q() { byte l; l = 1; d!l; d?l }",
        &[],
    ),
    (
        "chan c[2] = [1] of { byte }; active proctype P() { byte i, x; i = 1; c[i]!1; i = 0; c[i]?x } active proctype Q() { byte x; c[0]!1; c[1]?x }",
        &[],
    ),
    (
        "chan a = [1] of { byte }, b = [1] of { byte }; byte g; proctype P(chan c) { byte x; c!1; c?x; x = 0 } init { run P(a); run P(b); g = 1 }",
        &["g"],
    ),
    (
        "chan a = [1] of { byte }, b = [1] of { byte }; proctype P(chan c; chan d) { byte x; c!1; d?x; x = 0 } init { atomic { run P(a, b); run P(b, a) } }",
        &[],
    ),
    (
        "chan a = [0] of { byte }, b = [0] of { byte }; proctype P(chan c; chan d) { byte x; if :: c!1 :: d?x fi; x = 0 } init { atomic { run P(a, b); run P(b, a) } }",
        &[],
    ),
    (
        "chan q = [1] of { chan }; proctype P() { chan own = [1] of { byte }; byte x; q!own; own?x; x = 0 } active proctype Q() { chan o; run P(); q?o; o!1; o = 0 }",
        &[],
    ),
    (
        "byte g; proctype P() { chan own = [1] of { byte }; byte x; own!1; own?x; g++ } init { atomic { run P(); run P() } }",
        &["g == 1"],
    ),
    (
        "chan r = [0] of { byte }; byte g; active proctype P() { byte l; l = 1; l = 2; r!l } active proctype Q() { byte m; m = 1; if :: r?m :: else -> g = 1 fi }",
        &["g"],
    ),
    (
        "chan r = [0] of { byte }; byte g; active proctype P() { byte l; if :: r!1 :: else -> g = 1 fi } active proctype Q() { byte m; m = 1; m = 2; if :: r?m :: m = 3 fi }",
        &["g"],
    ),
    (
        "chan r = [0] of { byte }, s = [0] of { byte }; byte g; active proctype P() { r!1; s!2 } active proctype Q() { byte m; r?m; g = m } active proctype R() { byte m; s?m; g = m } active proctype S() { byte l; l = 1; l = 2 }",
        &["g == 1"],
    ),
    (
        "chan r = [0] of { byte }; byte g; active proctype P() { { r!1; g = 1 } unless { g == 2 } } active proctype Q() { byte m; m = 1; g = 2; r?m }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte }; byte g; active proctype P() { atomic { c!1; c!2; g = 1 } } active proctype Q() { byte x; x = 1; c?x; x = 2; c?x }",
        &["g"],
    ),
    (
        "chan c = [1] of { byte }; trace { do :: c!1; c?1 od } active proctype P() { c!1; c!2 } active proctype Q() { byte x; c?x; x = 0 }",
        &[],
    ),
    (
        "chan c = [1] of { byte }, d = [1] of { byte }; trace { do :: c!1; c!2 od } active proctype P() { c!1 } active proctype Q() { byte x; d!1; d?x; c?x; c!2 }",
        &[],
    ),
    (
        "chan c = [1] of { byte }, d = [1] of { byte }; notrace { c?1; c?2 } active proctype P() { c!1; c!2 } active proctype Q() { byte x; d!1; d?x; c?x; c?x }",
        &[],
    ),
    // Globals by element, by field, by what an index is.
    (
        "byte z, t[4]; proctype P(byte i) { t[i] = 1; t[i] = 2 } init { atomic { run P(0); run P(3) } }",
        &["t[3] == 1"],
    ),
    (
        "byte z, t[4]; proctype P(byte i) { t[i] = 1; t[i] = 2 } init { atomic { run P(1); run P(2) } }",
        &["z"],
    ),
    ("int t[3]; active [3] proctype P() { t[_pid] = 1; t[_pid] = t[_pid] + 1 }", &["t[1] == 2"]),
    (
        "short z, t[3]; active [2] proctype P() { byte i; i = _pid; t[i] = 1; i = 2 - i; t[i] = 2 }",
        &["t[0] == 2"],
    ),
    (
        "byte t[2]; active proctype P() { byte i; i = 2; t[i] = 1; i = 0 } active proctype Q() { byte m; m = 1; t[0] = m }",
        &[],
    ),
    (
        "byte t[2], g; active proctype P() { byte i; i = g; t[i + 1] = 1 } active proctype Q() { byte m; m = 1; g = m }",
        &[],
    ),
    (
        "typedef T { byte a; short b[2] } T t[2]; active [2] proctype P() { t[_pid].a = 1; t[_pid].b[1] = 2; t[_pid].b[0] = t[_pid].a }",
        &["t[1].b[1] == 2", "t[0].a == 1"],
    ),
    ("byte a, b; active proctype P() { a = 1; a = 2 } active proctype Q() { b = 1; b = 2 }", &["a == 1"]),
    (
        "byte a, b; active proctype P() { a = 1; a = 2 } active proctype Q() { b = 1; b = 2 }",
        &["a == 1 && b == 1"],
    ),
    (
        "byte a, b; active proctype P() { a = 1; a = 2 } active proctype Q() { b = 1; b = 2 } active proctype R() { byte l; l = 1; l = 2 }",
        &["b == 1"],
    ),
    (
        "byte a, b; active proctype P() { byte l; l = a; l = b } active proctype Q() { byte l; l = b; l = a } active proctype R() { b = 1 }",
        &[],
    ),
    // What can fail, and what cannot.
    (
        "byte g; active proctype P() { byte l; l = 4; l = l / 2; l = l % 3; g = l } active proctype Q() { byte m; m = 1; m = 2 }",
        &["g == 2"],
    ),
    (
        "byte g; active proctype P() { byte l; l = 4; g = l / g } active proctype Q() { byte m; m = 1; g = m; m = 2 }",
        &[],
    ),
    (
        "byte g, t[2]; active proctype P() { byte l; l = 4; l = t[l % 2] } active proctype Q() { byte m; m = 1; g = m; assert(g == 2) }",
        &[],
    ),
    (
        "byte g; active D_proctype P() { byte l; if :: g == 0 -> l = 1 :: g == 1 -> l = 2 fi; l = 3 } active proctype Q() { byte m; m = 1; g = 1; m = 2 }",
        &[],
    ),
    (
        "byte g; active D_proctype P() { byte l; if :: true -> l = 1 :: true -> l = 2 fi; assert(l == 7) } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    (
        "byte g; active D_proctype P() { byte l; l = 1; l = 2; assert(l == 7) } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    (
        "byte x; chan c = [1] of { byte, byte }; active proctype P() { byte l; c!1,2; l = 1; c?l,x; assert(x == 2) }",
        &[],
    ),
    (
        "byte x; chan c = [1] of { byte, byte }, d = [1] of { byte }; active proctype P() { byte l; c!1,2; l = 1; assert(l == 2); d!1; assert(l == 3) }",
        &[],
    ),
    (
        "byte x; chan c = [1] of { byte }, d = [1] of { byte, byte }; active proctype P() { byte l, m; if :: l = 1; c!l; m = 1 / x :: d!1,2; m = 1 / x :: c!1 / x; m = 1 / x fi }",
        &[],
    ),
    (
        "byte x; chan c[2] = [1] of { byte }; active proctype P() { byte l, m; if :: c[1]!l; m = 1 / x :: c[x]!1; m = 1 / x fi }",
        &[],
    ),
    (
        "chan c[2] = [1] of { byte }, d = [1] of { byte, byte }; byte x; active proctype P() { byte l, m; if :: c[1]!l; m = 1 / x :: d!1,1; m = 1 / x fi }",
        &[],
    ),
    (
        "chan r = [0] of { byte }; byte x; active proctype P() { r!1 } active proctype Q() { byte l; r?l; l = 1 / x; l = 2 }",
        &[],
    ),
    (
        "chan r = [0] of { byte }; byte x, t[2]; active proctype P() { if :: r!1 :: r!t[x] fi } active proctype Q() { byte l; if :: r?l; l = 1 / x :: d_step { r?l; l = 0 }; l = 1 / x fi }",
        &[],
    ),
    (
        "byte x; active proctype P() { byte l; run R(1 / x); l = 1 / x; run R(1); l = 1 / x; l = run R(2); l = 1 / x } proctype R(byte n) { n = 0 }",
        &[],
    ),
    (
        "byte x, t[2]; active proctype P() { byte l; t[x] = run R(1); l = 1 / x; x = run R(1); l = 1 / x } proctype R(byte n) { n = 0 }",
        &["t[0]"],
    ),
    (
        "byte x; chan c = [1] of { byte }; active proctype P() { byte l; d_step { if :: c?[1] -> l = 1 :: else -> l = 2 fi }; l = 1 / x; d_step { l = 1; l = 2 }; l = 1 / x }",
        &[],
    ),
    (
        "byte x, t[2]; active proctype P() { byte l; d_step { l = 1; t[x] = 2 }; l = 1 / x; d_step { l = 1; l = t[1] }; l = 1 / x }",
        &["t[0]"],
    ),
    (
        "chan c = [1] of { byte }; trace { do :: c!1 :: c!2; c!1 od } byte x; active proctype P() { byte l; c!2; l = 1 / x; l = 2; c?l; l = 1 / x }",
        &[],
    ),
    // Births, deaths, numbers.
    ("byte g; proctype R() { byte l; l = 1; g++ } init { run R(); run R() }", &["g == 1"]),
    ("byte g, n; proctype R() { byte l; l = 1; g++ } init { n = run R(); run R() }", &["n == 1"]),
    (
        "byte g; proctype R() { byte l; l = 1; g++ } init { byte i; do :: i < 2 -> run R(); i++ :: else -> break od }",
        &["g == 1"],
    ),
    (
        "byte g; proctype R() { byte l; l = 1; g++ } init { byte i; do :: d_step { i < 2 -> run R(); i++ } :: else -> break od }",
        &["g == 1"],
    ),
    (
        "byte g; proctype R(byte n) { byte l; l = 1; if :: n > 0 -> run R(n - 1) :: else -> g++ fi } init { run R(2) }",
        &["g == 1"],
    ),
    (
        "byte g; proctype S() { g++ } proctype R() { byte l; l = 1; run S() } init { run R(); run R() }",
        &["g == 2"],
    ),
    ("byte g; proctype S() { g++ } active [2] proctype R() { byte l; l = 1; run S(); l = 2 }", &["g == 2"]),
    (
        "byte g, h; proctype S(byte n) { byte k = n; h = k } active proctype R() { byte l; l = 1; run S(g) } active proctype Q() { byte m; m = 1; g = m }",
        &["h"],
    ),
    (
        "byte g; active proctype P() { byte l; l = 1; g = _nr_pr } active proctype Q() { byte m; m = 1; m = 2 }",
        &["g == 1", "g == 2"],
    ),
    (
        "byte g; active [2] proctype P() { byte l; l = 1; l = 2 } active proctype Q() { byte m; _nr_pr == 2; g = 1 }",
        &["g"],
    ),
    (
        "byte g; active [2] proctype P() { byte l; l = 1; L: l = 2; l = 3 } active proctype Q() { byte m; m = 1; g = 1 }",
        &["P[0]@L", "g"],
    ),
    (
        "byte g; active [2] proctype P() { byte a, l, b; a = 1; l = 1; b = 1; l = 2; a = b } active proctype Q() { byte m; m = 1; g = 1 }",
        &["P[0]:l == 1"],
    ),
    (
        "byte g; active [2] proctype P() { short l; byte a, b; a = 1; l = 1; b = 1; l = 2; a = b } active proctype Q() { byte m; m = 1; g = P[1]:b }",
        &["g"],
    ),
    ("byte g; proctype R() { byte l; l = 1; L: l = 2 } active proctype Q() { run R(); R@L; g = 1 }", &["g"]),
    (
        "byte g; active proctype P() { byte l; { l = 1; l = 2; _nr_pr == 9 } unless { g == 1 } } active proctype Q() { byte m; m = 1; g = 1; m = 2 }",
        &[],
    ),
    (
        "never { do :: true od } byte g; active proctype P() { byte l; l = 1; l = 2; g = 1 } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    (
        "never { do :: g == 1 -> break :: else od } byte g, h; active proctype P() { byte l; l = 1; g = 1; g = 2; h = 1 } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    // Where steps are counted, or every point of control matters, nothing is merged or reduced.
    ("byte g; active [2] proctype P() { byte l; l = 1; l = 2; g = _last }", &["g"]),
    (
        "byte g; active [2] proctype P() { byte l; l = 1; l = 2; g = 1 } active proctype Q() { enabled(0); g = 2 }",
        &["g"],
    ),
    (
        "byte g; active [2] proctype P() { byte l; l = 1; l = 2; g = 1 } active proctype Q() { pc_value(0) == 1; g = 2 }",
        &["g"],
    ),
    (
        "byte g; active proctype P() priority 2 { byte l; l = 1; l = 2; g = 1 } active proctype Q() { byte m; m = 1; m = 2; g = 2 }",
        &["g"],
    ),
    (
        "byte g; active proctype P() provided (g == 0) { byte l; l = 1; l = 2 } active proctype Q() { byte m; m = 1; g = 1; m = 2; g = 0 }",
        &["g"],
    ),
    (
        "byte g; active proctype P() provided (g == 0) { byte l; l = 1; l = 2 } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    (
        "byte g; active proctype P() { byte l; progress: l = 1; l = 2; g = 1 } active proctype Q() { byte m; m = 1; m = 2 }",
        &["np_"],
    ),
    (
        "byte g; active proctype P() { byte l; progress: l = 1; l = 2; accept: l = 3; l = 4 } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    (
        "byte g; active proctype P() { byte l; l = 1; timeout; l = 2; g = 1 } active proctype Q() { byte m; m = 1; m = 2; g == 1; m = 3 }",
        &["g"],
    ),
    (
        "byte g; active proctype P() { byte l; do :: timeout -> g = 1; break od } active [2] proctype Q() { byte m; m = 1; m = 2 }",
        &["g"],
    ),
    // What is merged and forgotten.
    ("byte g; active proctype P() { byte l; l = 1; l = g; l = 2; g = l; l = 3; l = 4 }", &["g == 2"]),
    (
        "byte g; active proctype P() { byte l; atomic { l = 1; l = g; g = 2; l = g }; l = 2; printf(\"%d\", l); l = 3; assert(l == 3); l = 0 }",
        &["g == 2"],
    ),
    (
        "byte g; active proctype P() { byte l; l = len(c); l = 1; l = nfull(c); l = 2; l = _nr_pr; l = 3; l = _pid; l = 4; c!l } chan c = [1] of { byte }; active proctype Q() { byte m; m = 1; c?m }",
        &["g"],
    ),
    (
        "active proctype P() { int x; byte y, z; short w; x = 1; if :: y = 1 :: y = 2 fi; z = y; w = 3; if :: x = x + z :: x = w fi; y = 0; w = x; c!w } chan c = [1] of { int }",
        &[],
    ),
    (
        "byte g; active proctype P() { byte a, b, c; if :: a = 1; c = 1 :: a = 2; c = 2 :: a = 3; c = 3 fi; g = b; b = 1; g = 0; g = b }",
        &["g == 1"],
    ),
    (
        "byte g; active proctype P() { byte a[2], b; if :: a[0] = 1 :: a[1] = 2 fi; g = 1; b = a[1]; a[0] = 3; g = 2; b = a[b % 2]; g = b }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte, byte }; byte g; active proctype P() { byte a, b; a = 1; c!a,2; b = 3; g = 1; c?a,b; g = b; a = 0; b = 0 }",
        &["g == 2"],
    ),
    (
        "byte g; active proctype P() { byte a, b; if :: d_step { a = 1; b = 2 } :: d_step { a = 2; b = 1 } fi; g = a; g = 0; g = 3 }",
        &["g == 3"],
    ),
    (
        "byte g; active proctype P() { byte a, b; if :: atomic { g == 0; d_step { a = 1; b = 2 } } :: atomic { g == 0; b = 1; d_step { b = 2; a = 2 } } fi; g = a; g = 0; g = 3 }",
        &["g == 3"],
    ),
    (
        "byte g; active proctype P() { byte a, b; d_step { a = g; if :: a == 0 -> b = 1 :: else -> b = 2 fi; a = 3 }; g = b; g = 0 }",
        &["g == 1"],
    ),
    ("byte g; active proctype P() { byte a = 1, b = 2; g = a; a = 0; g = 0; g = 3 }", &["g == 3"]),
    ("hidden byte h; byte g; active proctype P() { h = 1; g = 1; h = 2; g = 2 }", &["g == 1"]),
    ("hidden byte h; byte g; active proctype P() { h = 1; g = h; h = 2; g = 2 }", &["g == 1"]),
    (
        "byte a; hidden byte h[2]; byte g; active proctype P() { h[0] = 1; g = 1; h[a] = 2; g = 2; a = 1; h[1] = 3 } active proctype Q() { byte x; a == 1; c!5; c?h[1] } chan c = [1] of { byte }",
        &["g == 1"],
    ),
    (
        "hidden short h = 3; byte g, n; active proctype P() { n = 1; g = 1; h = 2; n = 2; d_step { h = 4; g = 2 } }",
        &["g == 1"],
    ),
    (
        "byte n, m, t[2], g; active proctype P() { n++; m = n; t[n % 2] = m; t[1] = t[g]; g = 1; n = (g -> 1 : 2); m = n && g; n = -m; g = 2 }",
        &["g == 1"],
    ),
    (
        "byte n = 2, m = n, g; active proctype P() { byte l = n; n++; g = l } active proctype Q() provided (m != 7) { byte k; k = 1; m++ }",
        &["g == 2"],
    ),
    (
        "byte n, m, g; active proctype P() { c!1; c?n; d_step { m = n; n = 5 }; atomic { n = m; m = 6 }; g = 1 } chan c = [1] of { byte }",
        &["g"],
    ),
    ("byte n, m, k, g; active proctype P() { k = m; m = n; n = 1; g = k; n = 2; m = 3 }", &["g"]),
    (
        "bool b; byte n, g; active proctype P() { b = n && g; n = n || b; n = 3 / (n + 1); n = 5 % 2; g = ~n }",
        &["g"],
    ),
    // Two statements of which the first, the second or both may fail, so that merging them would lose an
    // error.
    (
        "byte x; active proctype P() { byte l; if :: x = 1 :: x = 0 fi; l = run R(1); l = 1 / x } proctype R(byte n) { n = 0 }",
        &["x"],
    ),
    (
        "byte x, t[2]; active proctype P() { byte l; if :: x = 2 :: x = 0 fi; t[x] = run R(1); assert(l == 7) } proctype R(byte n) { n = 0 }",
        &["x"],
    ),
    (
        "byte x, t[2]; chan c = [1] of { byte }; active proctype P() { byte l; if :: x = 2 :: x = 0 fi; c!1; c?t[x]; assert(l == 7) }",
        &["x"],
    ),
    (
        "byte x; chan c = [1] of { byte }, d = [1] of { byte, byte }; active proctype P() { chan y; byte l; if :: y = d :: y = c fi; y!1; assert(l == 7) }",
        &["x"],
    ),
    (
        "chan c = [1] of { byte }, d = [1] of { byte, byte }; active proctype P() { chan y; byte l, m; y = d; y!1,2; if :: y?l; assert(l == 7) :: d?l,m; assert(l == 7) fi }",
        &[],
    ),
    (
        "byte x; chan c[2] = [1] of { byte }, d = [2] of { byte }; active proctype P() { byte l; if :: x = 1 :: x = 0 fi; c[x]!1; assert(l == 7) }",
        &["x"],
    ),
    (
        "byte x; chan c[2] = [1] of { byte }, d = [2] of { byte, byte }; active proctype P() { byte l; if :: x = 1 :: x = 0 fi; c[x]!1; assert(l == 7) }",
        &["x"],
    ),
    (
        "byte x; chan c[2] = [1] of { byte }, d = [2] of { byte, byte }; active proctype P() { byte l; if :: x = 1 :: x = 0 fi; c[1]!1; assert(l == 7) }",
        &["x"],
    ),
    (
        "byte x, t[2]; active proctype P() { byte l; if :: x = 2 :: x = 0 fi; l = t[x]; assert(l == 7) }",
        &["x"],
    ),
    (
        "chan c = [1] of { byte }; active proctype P() { byte l; chan y; if :: y = c :: skip fi; l = len(y); assert(l == 7) }",
        &[],
    ),
    (
        "active proctype P() { byte l, k; if :: k = 1 :: k = 5 fi; l = Q[k]:m; assert(l == 7) } active proctype Q() { byte m; m = 1; m = 2 }",
        &[],
    ),
    ("byte x; active D_proctype P() { byte l; if :: x = 1 :: x = 0 fi; assert(l == 7) }", &["x"]),
    (
        "byte x; active D_proctype P() { byte l; do :: x == 0 -> x = 1; assert(l == 7) :: x == 1 -> break od; l = 1; assert(l == 7) }",
        &["x"],
    ),
    (
        "chan r = [0] of { byte }; active proctype P() { r!1 } active D_proctype D() { byte k; k = 1 } active proctype Q() { byte l; r?l; assert(l == 7); l = 2 }",
        &[],
    ),
    // A value that is written again before it is read: by an assignment, by a message, in a sequence.
    (
        "byte g; active proctype P() { byte l; if :: l = 1 :: l = 2 fi; g = 1; g = 2; l = 3; g = l }",
        &["g == 2"],
    ),
    (
        "byte g; chan c = [1] of { byte }; active proctype P() { byte l; c!5; if :: l = 1 :: l = 2 fi; g = 1; g = 2; c?l; g = l }",
        &["g == 2"],
    ),
    (
        "byte g; active proctype P() { byte l, m; if :: l = 1 :: l = 2 fi; g = l; g = 1; m = 1; l = m; m = l + m; g = m }",
        &["g == 2"],
    ),
    (
        "byte g; active proctype P() { byte a, l, b; if :: a = 1; b = 2 :: a = 2; b = 1 fi; g = a + b; l = 4; a = 5; b = 6; g = a + l + b }",
        &["g == 3"],
    ),
    (
        "byte g; active proctype P() { byte l; int a; short b; if :: l = 1; b = 7 :: l = 2; b = 8 fi; g = 1; g = b - 6; a = 9; g = a; l = 1; g = l + a }",
        &["g == 1"],
    ),
    (
        "byte g; proctype R(byte n) { byte k; g = n; k = n; n = k } init { atomic { run R(1); run R(2) } }",
        &["g == 2"],
    ),
    // Many channels, many globals: several share a bit.
    (
        "chan c[64] = [0] of { byte }; active [2] proctype P() { byte l; l = 1; c[0]!1 } active proctype R() { byte x; c[0]?x; c[0]?x }",
        &[],
    ),
    (
        "chan c[65] = [0] of { byte }; active [2] proctype P() { byte l; l = 1; c[0]!1 } active proctype R() { byte x; c[0]?x; c[0]?x }",
        &[],
    ),
    (
        "chan c[66] = [0] of { byte }; active proctype P() { byte l; if :: c[0]!1 :: else -> l = 1 fi } active proctype Q() { c[64]!1 } active proctype R() { byte x; x = 1; c[64]?x; c[0]?x }",
        &[],
    ),
    (
        "chan c[66] = [1] of { byte }; active proctype P() { c[0]!1 } active proctype Q() { c[64]!1 } active proctype R() { c[1]!1 }",
        &[],
    ),
    (
        "byte t[600]; proctype P(short i) { t[i] = 1; t[i] = 2 } init { atomic { run P(0); run P(2); run P(590) } }",
        &["t[2] == 1"],
    ),
    ("byte t[600]; proctype P(short i) { t[i] = 1; t[i] = 2 } init { atomic { run P(0); run P(3) } }", &[]),
    // An error of somebody who could be ignored but for it; loops that might put it off for ever.
    (
        "chan d = [1] of { byte, byte }; proctype P(chan c) { byte l; l = 1; c!1 } active proctype Q() { byte m; do :: m = 1 - m od } init { run P(d) }",
        &[],
    ),
    (
        "chan d = [1] of { byte }; proctype P(chan c) { byte l; l = 1; c!1 } active proctype Q() { byte m; do :: m = 1 - m od } init { run P(d) }",
        &[],
    ),
    (
        "byte t[2]; proctype P(byte i) { byte l; l = 1; t[i] = 1 } active proctype Q() { byte m; do :: m = 1 - m od } init { run P(2) }",
        &[],
    ),
    (
        "byte g; active proctype P() { byte l; l = 1; l = 1 / g } active proctype Q() { byte m; do :: m = 1 - m od }",
        &[],
    ),
    (
        "byte t[2]; active proctype P() { byte l, i; i = 2; l = 1; l = t[i] } active proctype Q() { byte m; do :: m = 1 - m od }",
        &[],
    ),
    (
        "byte n, g; active proctype P() { byte l; l = 1; L: n = 1; n = 2 } active proctype Q() { byte k; k = 0; P[k]@L; g = 1 }",
        &["g"],
    ),
    (
        "byte g; active proctype P() { byte a, b; if :: g = 1 :: g = 2 fi; d_step { a = g; b = 1 }; b = b + 1; g = b; g = 3 }",
        &["g == 3"],
    ),
    // Who touches what through an index, a parameter, a variable channel, a process yet to be born.
    (
        "byte g; chan c[2] = [1] of { byte }; active proctype P() { byte l; l = 1; c[g]!1 } active proctype Q() { byte m; m = 1; g = 1 }",
        &[],
    ),
    (
        "chan d = [1] of { byte }, c[2] = [1] of { byte }, e = [1] of { byte }; byte g; active proctype P() { byte i, l; l = 1; i = g; c[i]!1 } active proctype Q() { byte x; d!1; d?x } active proctype R() { byte x; e!1; e?x }",
        &[],
    ),
    (
        "chan c = [1] of { byte }, d = [1] of { byte }; byte g; active proctype P() { chan y; byte l; y = d; l = 1; y!1 } active proctype R() { byte x; x = 1; if :: d?x -> g = 1 :: g = 2 fi }",
        &["g == 1", "g == 2"],
    ),
    (
        "chan c = [1] of { byte }; byte g; proctype S() { byte x; d_step { c!1; x = 1 } } active proctype Q() { byte x; x = 1; if :: c?x -> g = 1 :: g = 2 fi } init { byte l; l = 1; run S() }",
        &["g == 1", "g == 2"],
    ),
    (
        "byte g; proctype A() { byte l; l = 1; run B() } proctype B() { run C() } proctype C() { g = 1 } active proctype Q() { byte m; m = 1; if :: g == 0 -> g = 2 :: g == 1 -> g = 3 fi } init { run A() }",
        &["g == 3", "g == 2"],
    ),
    (
        "chan a = [1] of { byte }, b = [1] of { byte }; byte g; proctype P(chan p; chan q) { byte l; l = 1; p!1; q!1 } active proctype Q() { byte x; x = 1; if :: b?x -> g = 1 :: g = 2 fi } init { run P(a, b) }",
        &["g == 1", "g == 2"],
    ),
    (
        "chan a = [1] of { byte }, b = [1] of { byte }; proctype P(byte n; chan c) { byte x; n = 0; c!1; c?x; n = x } active proctype Q() { byte x; b!3; b?x } init { run P(1, a); _nr_pr == 2; run P(2, b) }",
        &[],
    ),
    (
        "chan r = [0] of { byte }; chan x; byte g; active proctype P() { byte l; x = r; l = 1; if :: x!1 :: else -> g = 1 fi } active proctype Q() { byte m; m = 1; m = 2; if :: r?m :: m = 3 fi }",
        &["g"],
    ),
    (
        "chan c = [2] of { byte }; byte g; active proctype P() { byte l; l = 1; c!!1; c!!2 } active proctype Q() { byte m; m = 1; g = len(c) }",
        &["g == 1", "g == 2"],
    ),
    (
        "chan c = [2] of { byte }; active proctype P() { byte l; l = 1; c!!2 } active proctype Q() { byte m; m = len(c); assert(m == 0) }",
        &[],
    ),
    (
        "byte x, pad[63], y, g; active proctype P() { byte l; l = 1; d_step { x = 1; y = 1; pad[0] = 1 } } active proctype Q() { byte l; l = x + y; assert(l == 0) }",
        &["pad[0]"],
    ),
    (
        "byte x; chan c = [1] of { byte }; byte g; active proctype P() { byte l; l = 1; atomic { x = 1; c!1 } } active proctype Q() { byte l; l = 1; if :: atomic { c?l; l = x + 6 } :: l = 5 fi; g = l }",
        &["g == 7", "g == 5"],
    ),
    // What is seen of processes, by type.
    (
        "byte g; active proctype A() { byte l; l = 1 } active proctype B() { byte l; L: l = 1; l = 2 } active proctype C() { byte l; l = 1; M: l = 2 }",
        &["B@L", "C@M"],
    ),
    (
        "proctype A() { skip } proctype B() { skip } proctype C() { skip } proctype D() { skip } active proctype E() { byte l; l = 1; L: l = 2 } active proctype F() { byte l; l = 1; l = 2 }",
        &["E@L"],
    ),
    ("byte t[512]; proctype P(short i) { t[i] = 1; t[i] = 2 } init { atomic { run P(0); run P(2) } }", &[]),
    (
        "chan d = [1] of { byte, byte }; proctype P(chan c) { byte l; l = 1; c!1 } proctype Q() { byte m; do :: m = 1 - m od } init { atomic { run P(d); run Q() } }",
        &[],
    ),
    // A choice of a younger process that an older one may spoil, however it comes to the channel.
    (
        "chan c = [1] of { byte }; init { byte l; l = 1; run S() } proctype S() { byte x; d_step { c!1; x = 1 } } active proctype Q() { byte x; x = 1; if :: c?x -> assert(false) :: x = 2 fi }",
        &[],
    ),
    (
        "chan a = [1] of { byte }, b = [1] of { byte }; proctype P(chan p; chan q) { byte l; l = 1; p!1; q!1 } proctype Q() { byte x; x = 1; if :: b?x -> assert(false) :: x = 2 fi } init { atomic { run P(a, b); run Q() } }",
        &[],
    ),
    (
        "byte x; chan c = [1] of { byte }; proctype P() { byte l; l = 1; atomic { c!1; x = 1 } } proctype Q() { byte l; l = 1; if :: atomic { c?l; assert(x == 0) } :: l = 5 fi } init { atomic { run P(); run Q() } }",
        &[],
    ),
    (
        "byte n, g; chan c = [1] of { byte }; active proctype P() { if :: c!1 :: c!2 fi; c?n; g = 1; g = 2 }",
        &["g == 1"],
    ),
];
