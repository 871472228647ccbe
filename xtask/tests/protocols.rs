//! The protocol families in little memory: the verdicts of the full table, or none.

use xtask::protocols::FAMILIES;

#[test]
fn families_answer_alike_in_little_memory_and_most_in_a_tenth() {
    let mut in_a_tenth = 0;
    for family in FAMILIES {
        let measured = family.measure(false, 1).expect("a model of ours");
        assert!(measured.reduced < measured.states, "{}: nothing is reduced", family.name);
        for part in &measured.parts {
            assert!(part.agrees, "{} in {} of the memory", family.name, part.share);
            in_a_tenth += usize::from(part.share == 0.1 && part.time.is_some());
        }
    }
    assert!(in_a_tenth * 4 >= FAMILIES.len() * 3, "{in_a_tenth} families end with a tenth of the memory");
}
