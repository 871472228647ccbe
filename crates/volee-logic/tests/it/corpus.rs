//! Sizes of automata, compared with other tools' results where the corpus is present.

use volee_logic::formula::parse;
use volee_logic::tl::{Alphabet, Limits, compile};

/// The rows of a corpus file as columns by name; `None` (with a visible line) where there is no corpus.
fn rows(file: &str) -> Option<Vec<std::collections::HashMap<String, String>>> {
    let text = std::fs::read_to_string(volee_testkit::corpus::corpus("logic")?.join(file))
        .expect("part of the corpus");
    let mut lines = text.lines().map(split);
    let header = lines.next().expect("a header");
    Some(lines.map(|line| header.iter().cloned().zip(line).collect()).collect())
}

/// Comma-separated values, some of them in double quotes.
fn split(line: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => values.push(String::new()),
            c => values.last_mut().expect("never empty").push(c),
        }
    }
    values
}

#[test]
fn finite_trace_automata_have_the_published_sizes() {
    let Some(rows) = rows("ltlf_oracle.csv") else { return };
    let mut compared = 0;
    for row in rows {
        let formula = parse(&row["formula"], "f").expect("the corpus parses");
        let size = |alphabet| {
            compile(&formula.pool, formula.root, &formula.atoms(), alphabet, Limits::default())
                .map(|dfa| (dfa.len().to_string(), dfa.trimmed_len().to_string()))
        };
        for (column, alphabet) in
            [("mona_min_states", Alphabet::Sets), ("one_event_min_complete", Alphabet::Events)]
        {
            let expected = &row[column];
            if expected.is_empty() || expected.starts_with('>') {
                continue;
            }
            let (complete, trimmed) = size(alphabet).expect("small enough");
            assert_eq!(&complete, expected, "{} {column}", row["name"]);
            if alphabet == Alphabet::Events {
                assert_eq!(trimmed, row["one_event_min_trimmed"], "{}", row["name"]);
            }
            compared += 1;
        }
    }
    assert!(compared > 70, "{compared}");
}

#[test]
fn buchi_automata_are_never_larger_than_those_of_ltl3ba() {
    let Some(rows) = rows("ltl_buchi_oracle.csv") else { return };
    let mut larger = Vec::new();
    for row in rows {
        let formula = parse(&row["formula"], "f").expect("the corpus parses");
        let start = std::time::Instant::now();
        let automaton = volee_logic::ltl::translate_to_buchi(&formula).expect("small enough");
        let peer = |column: &str| row[column].parse::<usize>().expect("a number");
        let (states, edges) = (peer("ltl3ba states"), peer("ltl3ba edges"));
        println!(
            "{}: {} states, {} edges; ltl3ba {states}, {edges} ({:?})",
            row["name"],
            automaton.len(),
            automaton.pairs(),
            start.elapsed()
        );
        if automaton.len() > states || automaton.pairs() > edges {
            larger.push(format!(
                "{}: {}/{} against {states}/{edges}",
                row["name"],
                automaton.len(),
                automaton.pairs()
            ));
        }
    }
    assert!(larger.is_empty(), "{larger:#?}");
}
