//! Persistent sets against the full search on the Promela models of the shared corpus: the same verdicts,
//! fewer states.

use std::path::{Path, PathBuf};
use std::time::Duration;

use volee::search::{Check, Outcome, Reduction, check};
use volee::system::{Budget, Meter, Quiet, Verdict, replay};
use volee::{Model, Options};

fn models() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/promela");
    let folders = std::fs::read_dir(&corpus).into_iter().flatten().flatten();
    let mut models: Vec<PathBuf> = folders
        .flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "pml"))
        .collect();
    models.sort();
    models
}

fn run(model: &mut Model, reduction: Reduction) -> Outcome {
    let questions = Check::new().all_errors(true).reduction(reduction);
    let budget = Budget { time: Some(Duration::from_millis(100)), ..Budget::default() };
    check(model.draft.system(), &questions, &Meter::start(budget), &mut Quiet)
}

#[test]
fn persistent_sets_change_no_verdict_of_the_corpus() {
    let models = models();
    if models.is_empty() {
        println!("skipped: no corpus beside the project");
        return;
    }
    let (mut compared, mut smaller) = (0, 0);
    for path in &models {
        let Ok(mut model) = Model::open(path, &Options::default()) else { continue };
        let full = run(&mut model, Reduction::None);
        if full.limit.is_some() {
            continue;
        }
        let reduced = run(&mut model, Reduction::Persistent);
        if reduced.limit.is_some() {
            continue;
        }
        let name = path.display();
        assert!(reduced.statistics.states <= full.statistics.states, "{name}");
        for (a, b) in full.answers.iter().zip(&reduced.answers) {
            let violated = |verdict: &Verdict| matches!(verdict, Verdict::Violated(_));
            assert_eq!(violated(&a.verdict), violated(&b.verdict), "{name}: {}", a.question);
            if let Verdict::Violated(violations) = &b.verdict {
                for violation in violations {
                    replay(model.draft.system(), &violation.witness).expect("a run of the model");
                }
            }
        }
        compared += 1;
        smaller += u32::from(reduced.statistics.states < full.statistics.states);
    }
    println!("{compared} models compared, {smaller} smaller");
    assert!(compared > 20 && smaller > 5, "{compared} compared, {smaller} smaller");
}
