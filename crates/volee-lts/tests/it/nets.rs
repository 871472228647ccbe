//! Nets: markings, resets and transfers, the files of the corpus, and wrong files.

use std::path::PathBuf;

use volee_lts::nets::{read_pnml, read_spec};
use volee_system::System;

use crate::families::explicit;

const MUTEX: &str = r#"<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
 <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
  <place id="p1"><name><text>idle</text></name><initialMarking><text>2</text></initialMarking></place>
  <place id="p2"><name><text>inside</text></name></place>
  <place id="p3"><initialMarking><text>1</text></initialMarking></place>
  <transition id="t1"><name><text>enter</text></name></transition><transition id="t2"/>
  <arc id="a1" source="p1" target="t1"/><arc id="a2" source="p3" target="t1"/>
  <arc id="a3" source="t1" target="p2"/><arc id="a4" source="p2" target="t2"/>
  <arc id="a5" source="t2" target="p1"><inscription><text>1</text></inscription></arc>
  <arc id="a6" source="t2" target="p3"/>
 </page></net></pnml>"#;

#[test]
fn a_petri_net_is_explored() {
    let mut net = read_pnml(MUTEX, "mutex.pnml").expect("sound");
    let lts = explicit(&mut net);
    assert_eq!((lts.state_count(), lts.transition_count()), (2, 2));
    let names: Vec<_> = lts.transitions().map(|(_, e)| lts.name(e.label)).collect();
    assert_eq!(names, ["enter", "t2"]);
    assert_eq!(net.counters, ["idle", "inside", "p3"]);
}

#[test]
fn wrong_petri_nets_are_refused_with_their_place() {
    for (from, to, expected) in [
        ("ptnet\"", "symmetricnet\"", "mutex.pnml:3:2: a net of type"),
        ("source=\"p3\"", "source=\"p9\"", "does not connect"),
        ("<text>2</text>", "<text>-2</text>", "is not a number of tokens"),
        ("</page>", "", "not sound XML"),
        ("id=\"t2\"", "id=\"t1\"", "same id"),
    ] {
        let message = read_pnml(&MUTEX.replacen(from, to, 1), "mutex.pnml").expect_err(to).to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
    for end in (0..MUTEX.len()).step_by(7) {
        assert!(read_pnml(&MUTEX[..end], "cut.pnml").is_err(), "cut at {end}");
    }
}

const SPEC: &str = "vars\n a b c\nrules\n a >= 1 -> a' = a - 1, b' = b + 1;\n b >= 2 -> b' = 0, c' = c + b;\n\
    init\n a >= 3, b = 0, c = 0\ntarget\n c >= 2\n";

#[test]
fn resets_and_transfers_move_all_tokens() {
    let mut net = read_spec(SPEC, "x.spec").expect("sound");
    assert_eq!((net.initial.as_slice(), net.open.as_slice()), (&[3, 0, 0][..], &[0][..]));
    let lts = explicit(&mut net);
    // (3,0,0) (2,1,0) (1,2,0) (0,3,0) (1,0,2) (0,0,3) (0,1,2)
    assert_eq!(lts.state_count(), 7);
    let target = net.predicate("target").expect("there is one");
    let odd = net.predicate("c >= 2, b = 1").expect("sound");
    let state = |a: u32, b: u32, c: u32| [a, b, c].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(net.holds(target, &state(0, 1, 2)), Ok(true));
    assert_eq!(net.holds(odd, &state(1, 0, 2)), Ok(false));
    net.start_with("a", 5).expect("known");
    assert!(explicit(&mut net).state_count() > 7);
    assert!(net.start_with("z", 5).is_err());
    assert!(net.predicate("z >= 1").is_err());
}

#[test]
fn wrong_specs_are_refused_with_their_place() {
    for (from, to, expected) in [
        ("b >= 2", "z >= 2", "x.spec:5:2: there is no counter `z`"),
        ("->", "-", "x.spec:4:9: expected `->`"),
        ("vars", "var", "x.spec:1:1: expected the section `vars`"),
        ("a b c", "a b a", "declared twice"),
        ("c >= 2", "c >= 99999999999", "too large"),
        ("target", "target $", "has no meaning"),
    ] {
        let message = read_spec(&SPEC.replacen(from, to, 1), "x.spec").expect_err(to).to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
    for end in 0..SPEC.len() {
        let _ = read_spec(&SPEC[..end], "cut.spec");
    }
}

#[test]
fn every_net_of_the_corpus_is_read() {
    let corpus = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus"));
    if !corpus.is_dir() {
        println!("skipped: {} is not there", corpus.display());
        return;
    }
    let mut folders = vec![corpus.join("nets"), corpus.join("counters")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "spec") {
                let text = String::from_utf8_lossy(&std::fs::read(&path).expect("bytes")).into_owned();
                let net = read_spec(&text, &path.display().to_string()).expect("sound");
                assert!(!net.rules.is_empty() && !net.targets.is_empty(), "{}", path.display());
                read += 1;
            }
        }
    }
    assert_eq!(read, 64);
}
