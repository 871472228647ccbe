//! Reduced searches against full ones on random models: the same deadlocks, failed assertions, invariants and goals.

use std::path::Path;
use std::time::Duration;

use volee::search::{Check, Outcome, Reduction, check};
use volee::system::{Budget, Meter, Quiet, Verdict, replay};
use volee::{Model, Options};
use xtask::random_promela::{Generator, Random};

const INVARIANTS: [&str; 6] =
    ["x != 2", "a[0] + y < 3", "len(q) == 0", "!b || x == 0", "a[1] < 2", "x + a[1] != 2"];

/// States from which on it is worth letting a search forget.
const LARGE: u64 = 1000;

fn run(model: &mut Model, questions: &Check, memory: u64) -> Outcome {
    let budget = Budget { time: Some(Duration::from_millis(200)), memory: Some(memory), ..Budget::default() };
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

/// What a comparison came to.
#[derive(Default)]
struct Compared {
    models: u64,
    smaller: u64,
    /// Searches that forgot states.
    forgetful: u64,
}

/// Compares one model.
fn compare(path: &Path, text: &str, seed: u64, compared: &mut Compared) -> Option<()> {
    std::fs::write(path, text).expect("a temporary file");
    let mut random = Random::new(seed ^ 0x5eed);
    let mut questions = Check::new().all_errors(true);
    let mut model = Model::open(path, &Options::default()).ok()?;
    if random.below(2) == 0 {
        let invariant = INVARIANTS[random.below(INVARIANTS.len() as u64) as usize];
        questions = questions.invariant(invariant, model.system.predicate(invariant).ok()?);
    }
    let full = run(&mut model, &questions, 64 << 20);
    if full.limit.is_some() {
        return None;
    }
    compared.models += 1;
    let mut searches = vec![(Reduction::Persistent, 64 << 20)];
    if full.statistics.states > LARGE {
        for part in [70, 50, 35, 20] {
            let memory = full.statistics.memory_bytes * part / 100;
            searches.extend([(Reduction::Sleep, memory), (Reduction::Both, memory)]);
        }
    }
    for (reduction, memory) in searches {
        let reduced = run(&mut model, &questions.clone().reduction(reduction).seed(seed), memory);
        let forgets = reduced.statistics.turnover.is_some();
        if reduced.limit.is_some() {
            continue;
        }
        compared.forgetful += u64::from(forgets);
        let context = format!("seed {seed}, {reduction:?} in {memory} bytes\n{text}");
        assert_eq!(errors(&full), errors(&reduced), "{context}");
        if reduction == Reduction::Persistent {
            assert!(reduced.statistics.states <= full.statistics.states, "{context}");
            compared.smaller += u64::from(reduced.statistics.states < full.statistics.states);
        }
        for answer in &reduced.answers {
            if let Verdict::Violated(violations) = &answer.verdict {
                for violation in violations {
                    replay(model.system.as_mut(), &violation.witness).expect("a run of the model");
                }
            }
        }
    }
    Some(())
}

fn compare_many(models: impl Fn(u64) -> String, seeds: std::ops::Range<u64>) {
    let name = format!("volee-reduction-{}-{:?}", std::process::id(), std::thread::current().id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let count = seeds.end - seeds.start;
    let mut compared = Compared::default();
    for seed in seeds {
        compare(&folder.join("model.pml"), &models(seed), seed, &mut compared);
    }
    let _ = std::fs::remove_dir_all(&folder);
    let Compared { models, smaller, forgetful } = compared;
    println!("{models} models compared, {smaller} smaller, {forgetful} searches that forgot");
    assert!(models * 10 > count * 8, "{models} models compared");
    assert!(smaller > count / 3, "{smaller} smaller");
    assert!(forgetful > count / 25, "{forgetful} searches forgot");
}

fn count() -> u64 {
    std::env::var("VOLEE_RANDOM_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

#[test]
fn rings_of_processes() {
    compare_many(Generator::ring, 0..count());
}

#[test]
fn models_that_share_everything() {
    compare_many(Generator::model, 0..count());
}

#[test]
fn at_most_the_states_that_spin_needs_on_three_models_in_four() {
    let Some(corpus) = xtask::corpus::folder("promela") else {
        println!("skipped: the corpus is not beside this checkout");
        return;
    };
    let all = xtask::reduction::compare(&corpus, 100_000, 20, |_| {}).expect("SPIN's answers");
    for compared in &all {
        assert!(compared.same_verdicts, "{}", compared.model);
        assert!(compared.reduced <= compared.full, "{}", compared.model);
    }
    let (gains, small) = xtask::reduction::score(&all);
    assert!(gains >= 30 && small * 4 >= gains * 3, "{small} of {gains}");
}
