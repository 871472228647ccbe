//! Lints: each on ten models of beginners' mistakes, silent on their repaired twins, and on real models only
//! for a reason.

use std::path::Path;

use volee_promela::lint::{LINTS, Weight};
use volee_promela::{Options, parse, study};
use volee_system::{Diagnostic, Fix};

use crate::corpus::models;

/// What the lints say of a text.
fn lints(text: &str) -> Vec<Diagnostic> {
    let study = study("m", text, &Options::default());
    assert!(study.model.is_some(), "{:?}\nin:\n{text}", study.diagnostics);
    study.diagnostics.into_iter().filter(|d| d.code.is_some()).collect()
}

fn codes(text: &str) -> Vec<String> {
    lints(text).iter().filter_map(|d| d.code.as_ref()).map(ToString::to_string).collect()
}

/// The text after a fix.
fn fixed(text: &str, fix: &Fix) -> String {
    let mut lines: Vec<Vec<char>> = text.split('\n').map(|line| line.chars().collect()).collect();
    let mut edits = fix.edits.clone();
    edits.sort_by(|a, b| b.place.cmp(&a.place));
    for edit in edits {
        let line = &mut lines[edit.place.line as usize - 1];
        let start = edit.place.column as usize - 1;
        line.splice(start..start + edit.length as usize, edit.text.chars());
    }
    lines.into_iter().map(|line| line.into_iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// Mistakes, by the lint that must find them.
const MISTAKES: &[(&str, [&str; 10])] = &[
    (
        "value-does-not-fit",
        [
            "byte x = 300; init { x++ }",
            "byte x; init { x = 256 }",
            "byte x; init { x = -1; assert(x < 3) }",
            "bit b; init { b = 2 }",
            "bool b = 7; init { b = !b }",
            "short s; init { s = 40000 }",
            "unsigned u : 3; init { u = 8 }",
            "chan c = [1] of { byte }; init { byte y; c!500; c?y; assert(y == 244) }",
            "proctype P(byte n) { assert(n > 0) } init { run P(1000) }",
            "#define LIMIT 1000\nbyte left; init { left = LIMIT; left-- }",
        ],
    ),
    (
        "comparison-decided",
        [
            "byte x; init { x++; assert(x >= 0) }",
            "byte x; active proctype P() { x--; if :: x < 0 -> x = 0 :: else fi }",
            "byte x; active proctype P() { do :: x == 256 -> break :: else -> x++ od }",
            "bit b; active proctype P() { b = 1; if :: b == 2 -> skip :: else fi }",
            "bool b; active proctype P() { b = 1; if :: b > 1 -> skip :: else fi }",
            "short s; active proctype P() { s++; if :: s > 40000 -> skip :: else fi }",
            "unsigned u : 2; active proctype P() { u++; if :: u == 4 -> skip :: else fi }",
            "byte x; active proctype P() { x++ } ltl p { [] (x <= 255) }",
            "byte x; active proctype P() { x++; if :: 0 > x -> skip :: else fi }",
            "pid p; active proctype P() { p = _pid; if :: p != 300 -> skip :: else fi }",
        ],
    ),
    (
        "assignment-as-guard",
        [
            "byte x; active proctype P() { if :: x = 1 -> skip :: else -> skip fi }",
            "byte x; active proctype P() { do :: x = 1 -> break :: else -> x++ od }",
            "byte x; active proctype P() { if :: x == 0 -> x++ :: x = 1 -> x-- fi }",
            "byte x; active proctype P() { if :: x = 0 -> x++ :: x > 0 -> x-- fi }",
            "byte a[2]; active proctype P() { if :: a[1] = 1 -> skip :: else fi }",
            "bool done; active proctype P() { do :: done = true -> break :: !done -> done = true od }",
            "typedef T { byte k }; T t; active proctype P() { if :: t.k = 1 -> skip :: else fi }",
            "mtype = { red, green }; mtype light; active proctype P() { do :: light = red -> light = green :: light == green -> break od }",
            "byte x; active proctype P() { if :: x = 1; x++ :: else -> skip fi }",
            "active proctype P() { byte turn; if :: turn = 1 -> skip :: turn == 2 -> skip :: turn == 0 -> skip fi }",
        ],
    ),
    (
        "blocks-for-ever",
        [
            "active proctype P() { byte x; x = 3; if :: x == 1 -> skip :: x == 2 -> skip fi }",
            "active proctype P() { byte i; do :: i < 5 -> i++ od }",
            "active proctype P() { int x; select(x : 0 .. 3); if :: x > 0 -> printf(\"yes\") fi }",
            "byte x; active proctype P() { x = 2; if :: x > 5 -> x = 0 fi }",
            "active proctype P() { byte x; x = x + 1; if :: x < 1 -> skip :: x > 1 -> skip fi }",
            "active proctype P() { bool ok; ok = !ok; if :: !ok -> skip fi }",
            "active proctype P() { byte i; do :: i < 3 -> i++ :: i > 3 -> break od }",
            "init { byte n; do :: n != 4 -> n++ od }",
            "mtype = { a, b, c }; active proctype P() { mtype m; if :: m = a :: m = b :: m = c fi; if :: m == a -> skip :: m == b -> skip fi }",
            "active proctype P() { byte x = 7; atomic { if :: atomic { x == 8 -> skip } fi } }",
        ],
    ),
    (
        "message-may-block",
        [
            "chan c = [1] of { byte }; init { byte x; c!1; c!2; c?x; if :: x == 1 -> skip fi }",
            "mtype = { ok, bad }; chan c = [1] of { mtype }; active proctype S() { if :: c!ok :: c!bad fi } active proctype R() { mtype m; c?m; if :: m == ok -> skip fi }",
            "chan c = [1] of { bit }; active proctype S() { c!0; c!1 } active proctype R() { bit b; c?b; if :: b -> skip fi }",
            "chan c = [1] of { byte }; active proctype S() { byte i; do :: i < 9 -> c!i; i++ :: else -> break od } active proctype R() { byte n; c?n; if :: n < 3 -> skip :: n > 3 -> skip fi }",
            "chan c = [1] of { byte, byte }; active proctype S() { c!1,2; c!2,1 } active proctype R() { byte a, b; c?a,b; if :: a < b -> skip fi }",
            "chan c = [0] of { byte }; active proctype S() { c!5 } active proctype R() { byte n; c?n; do :: n < 5 -> n++ od }",
            "chan c = [0] of { byte }; proctype S(byte v) { c!v } active proctype R() { byte n; c?n; if :: n == 1 -> skip fi } init { run S(1); run S(2) }",
            "chan c = [1] of { bool }; active proctype S() { c!true; c!false } active proctype R() { bool b; do :: c?b; if :: b == true -> skip fi od }",
            "typedef M { byte k }; chan c = [1] of { byte }; active proctype S() { c!3; c!4 } active proctype R() { byte k; c?k; if :: k == 3 -> skip fi }",
            "chan c = [2] of { short }; active proctype S() { c!-1; c!1 } active proctype R() { short d; c?d; if :: d > 0 -> skip fi }",
        ],
    ),
    (
        "channel-never-read",
        [
            "chan c = [1] of { byte }; init { c!1 }",
            "chan c = [0] of { byte }; active proctype P() { c!1 }",
            "chan c[2] = [1] of { byte }; init { c[0]!1; c[1]!2 }",
            "chan c = [1] of { byte }, d = [1] of { byte }; init { byte x; c!1; d!1; d?x }",
            "chan c = [1] of { byte }; proctype P(chan out) { out!1 } init { run P(c) }",
            "mtype = { m }; chan c = [4] of { mtype }; active proctype P() { do :: c!m od }",
            "init { chan c = [1] of { byte }; c!1 }",
            "chan c = [1] of { byte }; chan d; init { d = c; d!1 }",
            "chan log = [3] of { byte, byte }; byte x; active proctype P() { log!x,1; x++ }",
            "chan c = [1] of { byte }; init { if :: full(c) -> skip :: nfull(c) -> c!1 fi }",
        ],
    ),
    (
        "channel-never-written",
        [
            "chan c = [1] of { byte }; init { byte x; c?x }",
            "chan c = [0] of { byte }; active proctype P() { byte x; c?x }",
            "chan c[2] = [1] of { byte }; init { byte x; c[0]?x }",
            "chan c = [1] of { byte }, d = [1] of { byte }; init { byte x; d!1; c?x }",
            "chan c = [1] of { byte }; proctype P(chan in) { byte x; in?x } init { run P(c) }",
            "mtype = { m }; chan c = [4] of { mtype }; active proctype P() { end: do :: c?m od }",
            "init { chan c = [1] of { byte }; byte x; c?x }",
            "chan c = [1] of { byte }; chan d; init { byte x; d = c; d?x }",
            "chan c = [1] of { byte }; init { byte x; c??1; x++ }",
            "chan c = [1] of { byte }; init { byte x; c?<x> }",
        ],
    ),
    (
        "message-never-matches",
        [
            "mtype = { msg, ack }; chan c = [1] of { mtype }; active proctype S() { c!msg } active proctype R() { c?ack }",
            "mtype = { msg, ack }; chan c = [1] of { mtype }; active proctype S() { c!msg; c!ack } active proctype R() { c?msg }",
            "chan c = [1] of { byte }; active proctype S() { c!1 } active proctype R() { c?2 }",
            "chan c = [1] of { byte, bit }; active proctype S() { c!1,0 } active proctype R() { c?1,1 }",
            "mtype = { a, b }; chan c = [0] of { mtype, byte }; active proctype S() { c!a(3) } active proctype R() { byte x; if :: c?a(x) :: c?b(x) fi }",
            "mtype = { a, b }; chan c = [1] of { mtype }; active proctype S() { mtype m; if :: m = a :: m = a fi; c!m } active proctype R() { if :: c?a :: c?b fi }",
            "#define GO 7\nchan c = [1] of { byte }; active proctype S() { c!8 } active proctype R() { c?GO }",
            "mtype = { a, b }; chan c = [1] of { mtype }; proctype S(chan o) { o!a } proctype R(chan i) { i?b } init { run S(c); run R(c) }",
            "mtype = { hi, bye }; chan c = [2] of { mtype }; active proctype S() { c!hi; c!bye } active proctype R() { do :: c?hi od }",
            "chan c = [1] of { bool }; active proctype S() { c!true } active proctype R() { c?false }",
        ],
    ),
    (
        "property-never-changes",
        [
            "byte x; byte y; active proctype P() { x++ } ltl p { [] (y < 3) }",
            "byte x; active proctype P() { x++ } ltl p { <> true }",
            "bool started, begun; active proctype P() { started = true } ltl p { <> begun }",
            "byte a[3]; byte n; active proctype P() { n++ } ltl p { [] (a[1] == 0) }",
            "byte x, y; active proctype P() { x++; assert(y == 0) }",
            "active proctype P() { byte mine, other; mine++; assert(other < 5) }",
            "mtype = { on, off }; mtype lamp = on; byte n; active proctype P() { n++ } ltl p { [] (lamp == on) }",
            "#define N 3\nbyte x; active proctype P() { x++ } ltl p { [] (N == 3) }",
            "typedef T { byte k }; T t, u; active proctype P() { t.k++ } ltl p { [] (u.k == 0) }",
            "byte turn = 1, trun = 1; active proctype P() { turn = 2 } ltl p { [] <> (trun == 1) }",
        ],
    ),
    (
        "unused-variable",
        [
            "byte x; init { skip }",
            "byte x; byte y; init { y++ }",
            "init { byte x; skip }",
            "init { byte x, y; y++ }",
            "bool done = false; init { skip }",
            "int a[4]; init { skip }",
            "typedef T { byte k }; T t; init { skip }",
            "active proctype P() { int tmp = 3; skip }",
            "unsigned u : 4; init { skip }",
            "mtype = { a }; mtype m; init { printm(a) }",
        ],
    ),
    (
        "unused-channel",
        [
            "chan c = [1] of { byte }; init { skip }",
            "chan c; init { skip }",
            "chan c = [0] of { byte }, d = [1] of { byte }; init { byte x; d!1; d?x }",
            "chan c[3] = [1] of { byte }; init { skip }",
            "init { chan c = [1] of { byte }; skip }",
            "active proctype P() { chan mine; skip }",
            "mtype = { a }; chan c = [1] of { mtype, byte }; init { printm(a) }",
            "hidden chan c = [1] of { byte }; init { skip }",
            "chan spare = [2] of { chan }; init { skip }",
            "typedef T { byte k }; chan c = [1] of { T }; init { skip }",
        ],
    ),
];

#[test]
fn every_lint_finds_ten_mistakes_of_beginners() {
    let known: Vec<&str> = MISTAKES.iter().map(|(code, _)| *code).collect();
    for lint in LINTS {
        assert!(known.contains(&lint.code), "{} has no models here", lint.code);
    }
    for (code, texts) in MISTAKES {
        for text in texts {
            assert!(
                codes(text).iter().any(|c| c == code),
                "{code} is silent about\n{text}\n{:?}",
                codes(text)
            );
        }
    }
}

#[test]
fn guards_and_choices_are_mistaken_in_more_ways_than_ten() {
    let assigned = [
        "bool locked; active [2] proctype P() { if :: locked = false -> locked = true fi }",
        "bool locked; active [2] proctype P() { atomic { locked = false -> locked = true } }",
        "bool locked; active [2] proctype P() { skip; locked = 0 -> locked = 1; skip }",
        "byte x; active proctype P() { do :: x = 3 -> break :: x++ od }",
        "byte x; active proctype P() { again: do :: x = 3 -> goto out :: x = x + 1 od; out: skip }",
        "byte turn; active [2] proctype P() { if :: turn = _pid -> skip fi }",
        "byte x; active proctype P() { { x = 1 -> x = 2 } unless { x == 7 } }",
    ];
    let blocked = [
        "byte x; active proctype P() { if :: x == 1 -> skip :: x == 2 -> skip fi }",
        "byte x, y; active proctype P() { do :: x > 0 -> skip :: y > 0 -> break od }",
        "bool debug; active [2] proctype P() { if :: debug -> printf(\"here\") fi }",
    ];
    for (texts, code) in [(&assigned[..], "assignment-as-guard"), (&blocked[..], "blocks-for-ever")] {
        for text in texts {
            assert!(codes(text).iter().any(|c| c == code), "{code} is silent about\n{text}");
        }
    }
}

#[test]
fn what_is_right_gets_no_lint() {
    let right = [
        "byte x = 255; init { x = 0; x++ }",
        "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; assert(x > 0) }",
        "byte x; active proctype P() { if :: x == 0 -> x = 1 -> x = 2 :: else fi }",
        "byte x; active proctype P() { do :: x = 1 -> break :: x = 2 -> break od; assert(x > 0) }",
        "byte x; active proctype P() { x = 1; x = 2; x = x + 1 -> x = x + 2; assert(x > 0) }",
        "byte n = 3; active [2] proctype P() { byte i; do :: i < n -> i++ :: i == n -> break od }",
        "byte n; active [2] proctype P() { if :: n > 0 -> skip fi } active proctype Q() { n++ }",
        "active proctype P() { byte i; do :: i < 5 -> i++ :: else -> break od }",
        "active proctype P() { byte i; do :: i < 5 -> i++ :: i >= 5 -> break od }",
        "active proctype P() { byte i; for (i : 1 .. 3) { printf(\"%d\", i) } }",
        "byte x; active proctype P() { x > 0; x-- } active proctype Q() { x++ }",
        "byte x; active proctype P() { if :: x > 0 -> x-- fi } active proctype Q() { x++ }",
        "active proctype P() { bit b; select(b : 0 .. 1); if :: b -> skip :: !b -> skip fi }",
        "active proctype P() { byte n = 1; end: if :: n == 0 -> skip fi }",
        "active proctype P() { byte n; again: if :: n < 3 -> n++; goto again :: n == 3 -> skip fi }",
        "chan c = [1] of { byte }; proctype S(chan o) { o!1 } proctype R(chan i) { byte x; i?x } init { run S(c); run R(c) }",
        "chan c = [1] of { byte }, d = [1] of { chan }; init { chan e; byte x; d!c; d?e; e!1; c?x }",
        "chan c = [1] of { byte }; chan d = c; init { byte x; d!1; c?x }",
        "mtype = { a, b }; chan c = [1] of { mtype }; active proctype S() { mtype m; if :: m = a :: m = b fi; c!m } active proctype R() { if :: c?a :: c?b fi }",
        "byte x; active proctype P() { x++ } ltl p { [] (x < 9) }",
        "active proctype P() { L: skip } ltl p { <> P@L }",
        "chan c = [1] of { byte }; init { byte x; c!1; c?x } ltl p { [] (len(c) < 2) }",
        "init { if :: false -> assert(false) :: else fi }",
        "#ifdef A\ninit { x++ }\n#else\ninit { skip }\n#endif\nbyte x;",
        "inline f(n) { byte t; t = n; assert(t < 9) } init { f(1); f(2) }",
        "active proctype P() { byte x; { do :: x == 0 -> x = 1 :: x == 1 -> break od } unless { x == 7 } }",
    ];
    for text in right {
        assert!(lints(text).is_empty(), "{:?} about\n{text}", lints(text));
    }
}

#[test]
fn a_fix_makes_the_lint_go_away() {
    for (code, texts) in MISTAKES {
        for text in texts {
            for found in lints(text).iter().filter(|d| d.code.as_deref() == Some(*code)) {
                let Some(fix) = &found.fix else { continue };
                let after = fixed(text, fix);
                let again = lints(&after);
                assert!(
                    !again.iter().any(|d| d.code == found.code && d.place == found.place),
                    "{text}\nbecame\n{after}"
                );
            }
        }
    }
}

#[test]
fn slips_come_with_the_model_and_untidiness_does_not() {
    let codes = |text: &str| -> Vec<String> {
        let (_, diagnostics) = parse("m", text, &Options::default());
        diagnostics.iter().filter_map(|d| d.code.as_ref()).map(ToString::to_string).collect()
    };
    assert_eq!(codes("byte x = 300; byte y; init { x++ }"), ["value-does-not-fit"]);
    let untidy = LINTS.iter().filter(|l| l.weight == Weight::Untidy).map(|l| l.code);
    for (code, texts) in MISTAKES.iter().filter(|(code, _)| untidy.clone().any(|c| c == *code)) {
        texts.iter().for_each(|text| assert!(!codes(text).iter().any(|c| c == code), "{text}"));
    }
}

/// Why real models get a lint: file, code, how often, and what is the matter there.
const REASONS: &[(&str, &str, usize, &str)] = &[
    ("models/forms/initial-values.pml", "property-never-changes", 1, "asserts what variables begin with"),
    ("models/forms/truncation.pml", "value-does-not-fit", 4, "is about values that do not fit"),
    ("models/traps/overflow.pml", "value-does-not-fit", 1, "is about values that do not fit"),
    ("promela/traps/overflow.pml", "value-does-not-fit", 1, "is about values that do not fit"),
    ("beem/cambridge.5.pml", "unused-channel", 4, "channels that no process of this variant uses"),
    ("beem/cambridge.5.pml", "message-may-block", 2, "the peer numbers its messages, so others do not come"),
    (
        "beem/firewire_link.2.pml",
        "message-may-block",
        10,
        "a generated automaton: only expected messages come",
    ),
    (
        "beem/firewire_link.2.pml",
        "blocks-for-ever",
        5,
        "a generated automaton counts over two stations with gotos",
    ),
    (
        "beem/protocols.3.pml",
        "comparison-decided",
        2,
        "the constant of this variant is 0: nothing may be lost",
    ),
    (
        "beem/szymanski.4.pml",
        "comparison-decided",
        1,
        "the first of several copies: there is nobody before it",
    ),
    (
        "spin-book1991/App.F.pftp.pml",
        "message-may-block",
        1,
        "a status is one of two constants, by agreement",
    ),
    (
        "spin-book1991/p337.pftp.ses.pml",
        "message-may-block",
        1,
        "a status is one of two constants, by agreement",
    ),
    ("spin-book1991/p347.pftp.ses5.pml", "unused-channel", 2, "this variant has no presentation layer"),
    ("spin-ex/cambridge.pml", "message-may-block", 2, "the peer numbers its messages, so others do not come"),
    ("spin-ltl/ltl_always_eventually.pml", "property-never-changes", 1, "shows syntax: nothing assigns to p"),
    ("spin-ltl/ltl_example.pml", "unused-variable", 1, "shows syntax: a is never used"),
    ("spin-ltl/pftp.pml", "unused-variable", 1, "left over"),
    ("spins-cs/giop1.pml", "channel-never-read", 2, "there is no agent 0: the numbers begin with 1"),
    ("spins-cs/giop1.pml", "channel-never-written", 1, "there is no agent 0: the numbers begin with 1"),
    ("spins-cs/giop1.pml", "message-may-block", 2, "ports are 0 to 2 by agreement"),
    ("spins-cs/giop1.pml", "message-never-matches", 1, "migration is left out of this variant"),
    ("spins-cs/iproto_i0.pml", "message-may-block", 1, "sequence numbers wrap in step on both sides"),
    ("spins-cs/needham_1init_original.pml", "unused-variable", 1, "left over"),
    ("spins-cs/x509.pml", "unused-variable", 1, "left over"),
    ("spins-reg/20110228_mtype.pml", "unused-variable", 1, "is about a declaration only"),
    ("spins-reg/20110301_channel_array.pml", "channel-never-read", 1, "is about sending only"),
    ("spins-reg/array_struct_assignment.pml", "unused-variable", 2, "is about declarations"),
    ("spins-reg/full_rendezvous.pml", "unused-channel", 1, "left over"),
    ("spins-reg/full_rendezvous.pml", "unused-variable", 1, "left over"),
];

#[test]
fn real_models_get_a_lint_for_a_reason_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = root.join("../../../shared/corpus/promela");
    if !corpus.is_dir() {
        println!("skipped: no corpus at {}", corpus.display());
    }
    let mut unexpected = Vec::new();
    for path in
        [root.join("../../models"), root.join("../../examples"), corpus].iter().flat_map(|d| models(d))
    {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a model")).into_owned();
        let name = path.display().to_string();
        let found = study(&name, &text, &Options::default()).diagnostics;
        let found: Vec<&Diagnostic> = found.iter().filter(|d| d.code.is_some()).collect();
        let reasons: Vec<_> = REASONS.iter().filter(|(file, ..)| name.ends_with(file)).collect();
        for (file, code, count, _) in &reasons {
            let here = found.iter().filter(|d| d.code.as_deref() == Some(*code)).count();
            if here != *count {
                unexpected.push(format!("{file}: {code} {here} times, not {count}"));
            }
        }
        for one in found {
            if !reasons.iter().any(|(_, code, ..)| one.code.as_deref() == Some(*code)) {
                unexpected.push(format!("{:?} {one}", one.code));
            }
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}
