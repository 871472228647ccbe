//! A second thread that makes the steps again: the same answer, the same explanation and the same refusals as
//! from one thread, whatever either of the systems says; and its limits and panics are not lost.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use volee_bes::answer::{Answer, AnswerError, ask};
use volee_bes::model::ModelGraph;
use volee_bes::random::formula;
use volee_bes::solve::Another;
use volee_bes::{Crew, How, SolveError};
use volee_logic::mu::{Equations, Library, parse};
use volee_program::{LabelStyle, MachineOptions};
use volee_promela::{Options, lower};
use volee_system::{Budget, Flow, Label, Limit, Meter, Quiet, Random, Sink, System};
use volee_testkit::promela::{Audience, program};

use crate::made::{LENGTHS, Padded};
use crate::naive::{Small, evaluate};
use crate::programs::{FORMULAS, Sloppy, count};
use crate::random::cases;

fn equations(text: &str) -> Option<Equations> {
    let tree = parse("f", text, &Library::empty()).expect("well-formed");
    let equations = Equations::new(tree.normalise().ok()?);
    equations.alternation_free().then_some(equations)
}

/// Asks with so many threads, the second of which has a system of its own.
fn asked(
    system: Box<dyn System>,
    another: &(dyn Fn() -> Box<dyn System> + Sync),
    equations: &Equations,
    (threads, budget): (usize, Budget),
) -> Result<Answer, AnswerError> {
    let again: &Another<'_> = &|work| {
        let mut system = another();
        work(&mut ModelGraph::new(system.as_mut(), equations.clone(), Vec::new()).expect("a model"));
    };
    let crew = Crew::new(threads, again).from(1);
    let how = How { crew: Some(&crew), ..How::default() };
    let mut draft = system;
    ask(&mut draft, equations.clone(), how, 1000, &Meter::start(budget), &mut Quiet)
}

#[test]
fn answers_do_not_depend_on_the_auditor() {
    let (mut audited, mut disturbed) = (0, 0);
    for seed in 0..cases(400) {
        let mut random = Random::new(seed ^ 0x6175_6469);
        let small = Small::random(&mut random);
        let text = formula(2 + random.below(9) as u32, random.number());
        let tree = parse("f", &text, &Library::empty()).expect("generated formulas are well-formed");
        let set = evaluate(&small, &tree);
        let expected = small.initial.iter().all(|s| set >> s & 1 == 1);
        let Some(equations) = equations(&text) else { continue };
        let length = LENGTHS[(seed % 4) as usize];
        let padded = |honest| Padded { small: small.clone(), length, asked: 0, honest };
        // The auditor's system may be wrong after some time; then one thread checks as if alone.
        for honest in [u64::MAX, random.below(12)] {
            let run = |threads| {
                let another = || -> Box<dyn System> { Box::new(padded(honest)) };
                let budget = (threads, Budget::default());
                asked(Box::new(padded(u64::MAX)), &another, &equations, budget).expect("no trouble")
            };
            let alone = run(1);
            assert_eq!((alone.value, alone.workers), (expected, 1), "seed {seed}: {text}");
            for threads in [2, 3] {
                let both = run(threads);
                assert_eq!(both.value, expected, "seed {seed}, {threads} threads: {text}");
                assert_eq!(both.explanation, alone.explanation, "seed {seed}: {text}");
                if honest == u64::MAX {
                    audited += u64::from(both.workers == 2);
                } else {
                    disturbed += u64::from(both.workers == 1);
                }
            }
        }
    }
    assert!(audited > 100 && disturbed > 100, "{audited} audited, {disturbed} disturbed");
}

#[test]
fn steps_that_are_remembered_wrongly_are_refused_by_any_number_of_threads() {
    let (mut refused, mut right) = (0, 0);
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        let (model, _) = volee_promela::parse("random.pml", &text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { continue };
        let formula = FORMULAS[(seed % 5) as usize];
        let equations = equations(formula).expect("one block after the other");
        let labels = LabelStyle::Statements;
        let machine = || lowered.machine(MachineOptions { single_steps: true, labels, ..Default::default() });
        let budget = || Budget { memory: Some(1 << 26), ..Budget::default() };
        let plain = || -> Box<dyn System> { Box::new(machine()) };
        let sloppy = || -> Box<dyn System> { Box::new(Sloppy(machine())) };
        let Ok(expected) = asked(plain(), &plain, &equations, (1, budget())) else { continue };
        let [one, two, three] =
            [1, 2, 3].map(|threads| asked(sloppy(), &sloppy, &equations, (threads, budget())));
        for found in [&two, &three] {
            match (&one, found) {
                (Ok(one), Ok(found)) => {
                    assert_eq!(found.value, expected.value, "seed {seed}, {formula}\n{text}");
                    assert_eq!(found.explanation, one.explanation, "seed {seed}, {formula}\n{text}");
                    right += 1;
                }
                (Err(one), Err(found)) => {
                    assert_eq!(found, one, "seed {seed}, {formula}\n{text}");
                    refused += 1;
                }
                (one, found) => panic!("{one:?}, {found:?}, seed {seed}, {formula}\n{text}"),
            }
        }
    }
    assert!(refused > 20 && right > 20, "{refused} refused, {right} right");
}

/// A counter that does something when it is asked for steps.
struct Counter(Option<Box<dyn Fn() + Send>>);

impl System for Counter {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0, 0])
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if let Some(act) = &self.0 {
            act();
        }
        let number = u16::from_le_bytes([state[0], state[1]]);
        sink.push(volee_system::Step::labelled(0), &((number + 1) % 1000).to_le_bytes())
    }
    fn label(&self, _: Label) -> Cow<'_, str> {
        "i".into()
    }
}

#[test]
fn what_ends_the_auditor_is_not_lost() {
    let equations = equations("nu X . (<true> true and [true] X)").expect("one block");
    let budget = Budget::default();
    let cancelled = Arc::clone(&budget.cancelled);
    let cancelling = move || -> Box<dyn System> {
        let cancelled: Arc<AtomicBool> = Arc::clone(&cancelled);
        Box::new(Counter(Some(Box::new(move || {
            cancelled.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }))))
    };
    let ended = asked(Box::new(Counter(None)), &cancelling, &equations, (2, budget)).expect_err("cancelled");
    assert_eq!(ended, AnswerError::Solve(SolveError::Limit(Limit::Cancelled)));
    let panicking = || -> Box<dyn System> { Box::new(Counter(Some(Box::new(|| panic!("by the test"))))) };
    let asking = || asked(Box::new(Counter(None)), &panicking, &equations, (2, Budget::default())).map(drop);
    let panic = catch_unwind(AssertUnwindSafe(asking)).expect_err("it panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"by the test"));
    // In little memory there is no auditor, and where the steps are not kept he has nothing to do.
    let honest = || -> Box<dyn System> { Box::new(Counter(None)) };
    for (memory, workers) in [(None, 2), (Some(1 << 27), 2), (Some(1 << 20), 1)] {
        let budget = Budget { memory, ..Budget::default() };
        let answer = asked(honest(), &honest, &equations, (2, budget)).expect("it holds");
        assert_eq!((answer.value, answer.workers), (true, workers), "{memory:?}");
    }
}
