//! Everything else that can be done with a model: formulas, fairness, workers, reports, the explorer,
//! comparisons, tests, replays; and what a test says that fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use volee::lts::Relation;
use volee::system::{Budget, Meter, Quiet};
use volee::{Contract, Goal, Question, ask};
use volee_models::{Model, Pack, Property, Row, compare, source};
use volee_page::Server;

use crate::two_phase::TwoPhase;

/// Two processes that want to be alone; `polite` ones raise a flag and give way, in turn.
struct Mutex {
    polite: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pack)]
enum At {
    Home,
    Flagged,
    Waiting,
    Inside,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Pack)]
struct Rooms {
    at: Row<At>,
    turn: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Act {
    Want(u8),
    GiveTurn(u8),
    Enter(u8),
    Leave(u8),
}

impl Model for Mutex {
    type State = Rooms;
    type Action = Act;

    fn initial(&self) -> Vec<Rooms> {
        vec![Rooms { at: Row::of(2, At::Home), turn: 0 }]
    }

    fn actions(&self, rooms: &Rooms, actions: &mut Vec<Act>) {
        for me in 0..2u8 {
            let (own, other) = (rooms.at[usize::from(me)], rooms.at[usize::from(1 - me)]);
            match own {
                At::Home => actions.push(Act::Want(me)),
                At::Flagged => actions.push(Act::GiveTurn(me)),
                At::Waiting if !self.polite || other == At::Home || rooms.turn == me => {
                    actions.push(Act::Enter(me));
                }
                At::Waiting => {}
                At::Inside => actions.push(Act::Leave(me)),
            }
        }
    }

    fn apply(&self, rooms: &mut Rooms, act: &Act) {
        match *act {
            Act::Want(me) => rooms.at[usize::from(me)] = At::Flagged,
            Act::GiveTurn(me) => (rooms.at[usize::from(me)], rooms.turn) = (At::Waiting, 1 - me),
            Act::Enter(me) => rooms.at[usize::from(me)] = At::Inside,
            Act::Leave(me) => rooms.at[usize::from(me)] = At::Home,
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("alone", |_, r: &Rooms| r.at.iter().filter(|at| **at == At::Inside).count() < 2),
            Property::named("wants", |_, r: &Rooms| r.at[0] == At::Waiting),
            Property::named("inside", |_, r: &Rooms| r.at[0] == At::Inside),
            Property::ltl("gets in", "[](wants -> <> inside) && []<> inside"),
        ]
    }

    fn process(&self, act: &Act) -> Option<u8> {
        let (Act::Want(me) | Act::GiveTurn(me) | Act::Enter(me) | Act::Leave(me)) = *act;
        Some(me)
    }
}

#[test]
fn formulas_over_named_conditions_hold_under_fairness() {
    Mutex { polite: true }.check().fair().assert_holds();
    let unfair = Mutex { polite: true }.check().assert_violated("gets in").expect("a run shows it");
    assert!(unfair.loop_start.is_some(), "it goes on for ever");
}

#[test]
fn a_test_that_fails_shows_the_run() {
    let failed = catch_unwind(|| Mutex { polite: false }.check().breadth_first().assert_holds());
    let told = failed.expect_err("two are inside");
    let told = told.downcast_ref::<String>().expect("a sentence");
    for part in [
        "Mutex does not hold",
        "violated  invariant alone",
        "Enter(1)",
        "how it happens",
        ".check().replay(\"run:",
    ] {
        assert!(told.contains(part), "no `{part}` in:\n{told}");
    }
    let holds = catch_unwind(|| Mutex { polite: true }.check().assert_violated("alone"));
    let told = holds.expect_err("it holds");
    assert!(told.downcast_ref::<String>().is_some_and(|t| t.starts_with("`alone` is not violated")));
}

#[test]
fn a_property_that_is_none_is_told_with_those_there_are() {
    let failed = catch_unwind(|| Mutex { polite: true }.check().property("along").run());
    let told = failed.expect_err("there is none");
    let told = told.downcast_ref::<String>().expect("a sentence");
    assert_eq!(told, "no property is called `along`; there are deadlock, assertions, alone, gets in");
}

#[test]
fn a_formula_that_speaks_of_nothing_is_told() {
    struct Wrong;
    impl Model for Wrong {
        type State = u8;
        type Action = ();
        fn initial(&self) -> Vec<u8> {
            vec![0]
        }
        fn actions(&self, _: &u8, _: &mut Vec<()>) {}
        fn apply(&self, _: &mut u8, (): &()) {}
        fn properties(&self) -> Vec<Property<Self>> {
            vec![Property::ltl("wrong", "<> nonsense")]
        }
    }
    let failed = catch_unwind(|| Wrong.check().property("wrong").run()).expect_err("it speaks of nothing");
    let told = failed.downcast_ref::<String>().expect("a sentence");
    assert!(told.contains("nonsense"), "{told}");
}

#[test]
fn several_workers_find_the_same_states() {
    let alone = TwoPhase::new(4).check().run();
    let shared = TwoPhase::new(4).check().workers(2).run();
    shared.assert_holds();
    assert_eq!(alone.states(), shared.states());
}

#[test]
fn a_run_is_replayed_from_its_word() {
    let check = Mutex { polite: false }.check();
    let text = check.replay("run:0x3.1");
    assert!(text.contains("Want(0)") && text.contains("Enter(0)"), "{text}");
    assert!(catch_unwind(AssertUnwindSafe(|| check.replay("run:99"))).is_err());
}

#[test]
fn conditions_may_speak_of_variables_as_runs_show_them() {
    let model = source(Arc::new(Mutex { polite: true }));
    let asked = ask(&model)
        .question(Question::reachable("turn == 1 && inside"))
        .question(Question::invariant("turn < 2"))
        .question(Question::ltl("[]({turn == 1} -> !{turn == 0})"));
    assert!(asked.run(&mut Quiet).expect("it can be asked").all_hold());
    let wrong =
        ask(&model).question(Question::invariant("tern < 2")).run(&mut Quiet).expect_err("no such variable");
    assert!(format!("{wrong:?}").contains("tern"), "{wrong:?}");
}

#[test]
fn a_report_is_one_page_and_the_explorer_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    let checked = Mutex { polite: false }.check().run();
    checked.write_report(&file).expect("it is written");
    let page = std::fs::read_to_string(&file).expect("it is there");
    assert!(page.contains("Enter(1)") && page.contains("invariant alone"));
    let server = Server::new(source(Arc::new(Mutex { polite: true })), None, &Default::default(), 0);
    assert!(server.expect("any port will do").url().starts_with("http://127.0.0.1:"));
}

#[test]
fn models_are_compared_by_what_their_actions_print() {
    let (polite, rude) =
        (source(Arc::new(Mutex { polite: true })), source(Arc::new(Mutex { polite: false })));
    let same = compare(&polite, &polite, Relation::Strong, &[]).expect("both are small");
    assert!(same.difference.is_none());
    let other = compare(&polite, &rude, Relation::Trace, &[]).expect("both are small");
    assert!(other.difference.is_some());
    let hidden = compare(&polite, &rude, Relation::Trace, &["/.*/"]).expect("both are small");
    assert!(hidden.difference.is_none(), "nothing is seen of either");
}

#[test]
fn tests_are_made_from_a_model() {
    let model = source(Arc::new(Mutex { polite: true }));
    let contract =
        Contract { inputs: vec!["Want*".into()], outputs: vec!["Enter*".into()], ..Contract::new(model) };
    let meter = Meter::start(Budget::default());
    let made = contract.test(&Goal::Cover("Enter(1)".into()), &meter, &mut Quiet).expect("it is sound");
    assert!(made.case().is_some_and(|test| test.edge_count() > 0));
    let rude = source(Arc::new(Mutex { polite: false }));
    let conforms = contract.against_source(rude, &meter, &mut Quiet).expect("both are sound");
    assert!(conforms.tests.is_some(), "two may enter one after the other");
}

#[test]
fn a_row_that_changes_its_length_is_an_error_of_the_model() {
    struct Growing;
    impl Model for Growing {
        type State = Row<u32>;
        type Action = u8;
        fn initial(&self) -> Vec<Row<u32>> {
            vec![Row::of(2, 0)]
        }
        fn actions(&self, _: &Row<u32>, actions: &mut Vec<u8>) {
            actions.push(0);
        }
        fn apply(&self, row: &mut Row<u32>, _: &u8) {
            *row = Row::of(3, 0);
        }
    }
    let run = Growing.check().assert_violated("assertions").expect("a run shows it");
    assert_eq!(run.steps.len(), 1);
}
