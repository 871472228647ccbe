//! Reduced searches against full ones on random models: the same deadlocks, failed assertions, invariants and goals.

use std::path::Path;
use std::time::Duration;

use volee::search::{Check, Outcome, Reduction, check};
use volee::system::{Budget, Meter, Quiet, Verdict, replay};
use volee::{Model, Options};
use xtask::random_promela::{Generator, Random};

const INVARIANTS: [&str; 6] =
    ["x != 2", "a[0] + y < 3", "len(q) == 0", "!b || x == 0", "a[1] < 2", "x + a[1] != 2"];

fn run(model: &mut Model, questions: &Check) -> Outcome {
    let budget =
        Budget { time: Some(Duration::from_millis(200)), memory: Some(64 << 20), ..Budget::default() };
    check(model.system.as_mut(), questions, &Meter::start(budget), &mut Quiet)
}

/// What is violated, by question and kind.
fn errors(outcome: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    for answer in &outcome.answers {
        if let Verdict::Violated(violations) = &answer.verdict {
            for violation in violations {
                found.push(format!("{} {:?}", answer.question, violation.reason.kind));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Compares one model; whether there was something to compare, and whether it was reduced.
fn compare(path: &Path, text: &str, seed: u64, reduction: Reduction) -> Option<bool> {
    std::fs::write(path, text).expect("a temporary file");
    let mut random = Random::new(seed ^ 0x5eed);
    let mut questions = Check::new().all_errors(true);
    let mut model = Model::open(path, &Options::default()).ok()?;
    if random.below(2) == 0 {
        let invariant = INVARIANTS[random.below(INVARIANTS.len() as u64) as usize];
        questions = questions.invariant(invariant, model.system.predicate(invariant).ok()?);
    }
    let full = run(&mut model, &questions);
    let reduced = run(&mut model, &questions.clone().reduction(reduction));
    if full.limit.is_some() || reduced.limit.is_some() {
        return None;
    }
    assert!(reduced.statistics.states <= full.statistics.states, "seed {seed}\n{text}");
    assert_eq!(errors(&full), errors(&reduced), "seed {seed}\n{text}");
    for answer in &reduced.answers {
        if let Verdict::Violated(violations) = &answer.verdict {
            for violation in violations {
                replay(model.system.as_mut(), &violation.witness).expect("a run of the model");
            }
        }
    }
    Some(reduced.statistics.states < full.statistics.states)
}

fn compare_many(models: impl Fn(u64) -> String, seeds: std::ops::Range<u64>, least_reduced: u64) {
    let folder = std::env::temp_dir().join(format!("volee-reduction-{}-{least_reduced}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let (mut compared, mut smaller) = (0, 0);
    for seed in seeds.clone() {
        if let Some(reduced) = compare(&folder.join("model.pml"), &models(seed), seed, Reduction::Persistent)
        {
            compared += 1;
            smaller += u64::from(reduced);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{compared} models compared, {smaller} smaller");
    assert!(compared * 10 > (seeds.end - seeds.start) * 8, "{compared} models compared");
    assert!(smaller >= least_reduced, "{smaller} smaller");
}

fn count() -> u64 {
    std::env::var("VOLEE_RANDOM_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(800)
}

#[test]
fn rings_of_processes() {
    compare_many(Generator::ring, 0..count(), count() / 3);
}

#[test]
fn models_that_share_everything() {
    compare_many(Generator::model, 0..count(), count() / 20);
}
