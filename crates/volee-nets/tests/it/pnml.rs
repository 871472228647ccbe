//! PNML: what is read, and wrong files.

use volee_nets::{Instance, read_pnml};

use crate::explored::markings;

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
    let net = read_pnml("mutex.pnml", MUTEX).expect("sound");
    assert_eq!(net.places, ["idle", "inside", "p3"]);
    let names: Vec<_> = net.transitions.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["enter", "t2"]);
    assert_eq!(markings(&mut Instance::least(net)).len(), 2);
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
        let message = read_pnml("mutex.pnml", &MUTEX.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
    for end in (0..MUTEX.len()).step_by(7) {
        assert!(read_pnml("cut.pnml", &MUTEX[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn a_text_may_come_in_pieces() {
    for (from, to) in [
        ("<text>2</text>", "<text>1&#48;</text>"),
        ("<text>2</text>", "<text>&#x31;&#48;</text>"),
        ("<text>2</text>", "<text>1<![CDATA[0]]></text>"),
        ("<text>2</text>", "<text>1<!-- ten -->0</text>"),
    ] {
        let net = read_pnml("mutex.pnml", &MUTEX.replacen(from, to, 1)).expect(to);
        assert_eq!(net.initial[0].base[0], 10, "{to}");
    }
    let named = MUTEX.replacen("<text>idle</text>", "<text>a &lt; b &amp;&#38; c</text>", 1);
    assert_eq!(read_pnml("mutex.pnml", &named).expect("sound").places[0], "a < b && c");
    let unknown = MUTEX.replacen("<text>2</text>", "<text>&two;</text>", 1);
    let message = read_pnml("mutex.pnml", &unknown).expect_err("unknown").to_string();
    assert!(message.contains("the entity `&two;` is not known"), "{message}");
}

#[test]
fn numbers_too_large_for_a_net_are_refused() {
    for text in ["4294967296", "2000000000", "99999999999999999999"] {
        let wrong = MUTEX.replacen("<text>2</text>", &format!("<text>{text}</text>"), 1);
        assert!(read_pnml("mutex.pnml", &wrong).is_err(), "{text}");
    }
}
