//! The grammar of random programs knows the whole language, and what it makes is searched the same in every
//! way.

use std::collections::BTreeSet;

use volee_promela::census::{CONSTRUCTS, STATEMENTS, census};
use volee_testkit::agreement::{Agreement, Hooks, compare};
use volee_testkit::promela::{Audience, program};
use volee_testkit::{oracle, seed_of_the_day};

#[test]
fn in_ten_thousand_programs_every_construct_occurs_and_every_statement_after_every_other() {
    let mut constructs = BTreeSet::new();
    let mut successions = BTreeSet::new();
    let mut texts =
        ["inline ", "#define ", "#ifdef ", "active [", "_nr_pr", "_pid", "_last", "d_step", "_ = "]
            .map(|t| (t, false));
    for seed in 0..10_000 {
        let text = program(seed, Audience::Ourselves).to_string();
        for (wanted, met) in &mut texts {
            *met |= text.contains(*wanted);
        }
        let Some(found) = census(&text) else { continue };
        constructs.extend(found.constructs);
        successions.extend(found.successions);
    }
    assert!(texts.iter().all(|(_, met)| *met), "{texts:?}");
    let missing: Vec<&str> =
        CONSTRUCTS.iter().chain(STATEMENTS).filter(|name| !constructs.contains(*name)).copied().collect();
    assert_eq!(missing, Vec::<&str>::new(), "never occur");
    let unnamed: Vec<_> =
        constructs.iter().filter(|name| !CONSTRUCTS.contains(name) && !STATEMENTS.contains(name)).collect();
    assert_eq!(unnamed, Vec::<&&str>::new(), "are not listed");
    let mut apart = Vec::new();
    for first in STATEMENTS {
        // `else` begins an option, so it is after nothing.
        for second in STATEMENTS.iter().filter(|kind| **kind != "else") {
            if !successions.contains(&(*first, *second)) {
                apart.push((*first, *second));
            }
        }
    }
    assert_eq!(apart, [], "the second never occurs directly after the first");
}

#[test]
fn most_programs_are_taken_by_the_front_end() {
    for audience in [Audience::Ourselves, Audience::Peer] {
        let taken = (0..300)
            .filter(|&seed| volee_testkit::agreement::read(&program(seed, audience).to_string()).is_ok());
        let taken = taken.count();
        assert!(taken > 285, "{taken} of 300 for {audience:?}");
    }
}

#[test]
fn every_way_to_search_a_program_answers_the_same() {
    let seed = seed_of_the_day();
    let tally = oracle::run(seed..seed + 200, None, Hooks::default());
    println!("{tally}");
    assert!(tally.differing.is_empty(), "seeds that differ: {:?}", tally.differing);
    assert!(tally.compared > 100, "{tally}");
}

/// So many processes are started that states have names of another kind, and threads that begin anew have no
/// names to begin with.
#[test]
fn processes_without_end_are_searched_the_same_in_every_way() {
    let text = "byte g0; chan qb = [1] of { byte }; chan ca; proctype C(chan pc; mtype pm; short p1) { ca!0 }
active proctype R() { end5: run C(0, 0, 0); goto end5 }\n";
    for seed in (0..6).chain([103_000_017_934]) {
        let compared =
            compare(text, seed, Hooks::default()).unwrap_or_else(|difference| panic!("{difference}"));
        assert!(matches!(compared, Agreement::Same(_)), "{seed}");
    }
}
