//! The door as a whole: what the table of engines says.

use volee::search::{Approximation, Fairness, Order, Reduction, Runs};
use volee::system::Budget;
use volee::{Asked, Cluster, Emptiness, Engine, Kind, Naming, Options, Question, Setting, Settings};

/// One question of each kind.
fn question(kind: Kind) -> Question {
    let text = String::from("x");
    match kind {
        Kind::Deadlock => Question::Deadlock,
        Kind::Assertions => Question::Assertions,
        Kind::RuntimeErrors => Question::RuntimeErrors,
        Kind::Invariant => Question::Invariant(text),
        Kind::Reachable => Question::Reachable(text),
        Kind::Ltl => Question::ltl(text),
        Kind::Tl => Question::Tl(text),
        Kind::Automaton => Question::Automaton { name: text.clone(), text },
        Kind::Never => Question::Never(text),
        Kind::Progress => Question::Progress,
        Kind::Acceptance => Question::Acceptance,
        Kind::Mu => Question::mu(text),
        Kind::Apart => Question::Apart(text),
        Kind::Coverable => Question::Coverable,
        Kind::Target => Question::Target,
        Kind::Bounded => Question::Bounded,
    }
}

/// Everything as usual but for one thing.
fn set(setting: Setting) -> (Settings, Options, Budget) {
    let (mut s, mut o, mut b) = (Settings::default(), Options::default(), Budget::default());
    let text = || vec![String::from("x")];
    match setting {
        Setting::Defines => o.defines = text(),
        Setting::Plain => o.plain = true,
        Setting::Copies => o.copies = vec![("P".into(), 2)],
        Setting::Capacity => o.capacity = Some(2),
        Setting::Naming => o.naming = Naming::Text,
        Setting::Memory => b.memory = Some(1 << 20),
        Setting::Time => b.time = Some(std::time::Duration::from_secs(1)),
        Setting::Depth => b.depth = Some(3),
        Setting::Order => s.order = Order::BreadthFirst,
        Setting::AllErrors => s.all_errors = true,
        Setting::MaxErrors => s.max_errors = 3,
        Setting::Reduction => s.reduction = Some(Reduction::Both),
        Setting::Replacement => s.replacement = None,
        Setting::States => s.states = Some(100),
        Setting::Approximation => s.approximation = Some(Approximation::Bitstate),
        Setting::Seed => s.seed = 5,
        Setting::Fairness => s.fairness = Fairness::Weak,
        Setting::Emptiness => s.emptiness = Some(Emptiness::Nested),
        Setting::Runs => s.runs = Runs::Maximal,
        Setting::Macros => s.macros = vec![("m".into(), String::new())],
        Setting::Solver => s.solver = volee::bes::Solver::BreadthFirst,
        Setting::Diagnostic => s.diagnostic = true,
        Setting::ForAny => s.for_any = text(),
        Setting::Method => s.method = volee::families::Choice::Only(volee::families::Method::Backward),
        Setting::Sizes => s.sizes = true,
        Setting::Symbolic => s.symbolic = text(),
        Setting::Parameters => s.parameters = text(),
        Setting::Assumptions => s.assumptions = text(),
        Setting::Direction => s.direction = volee::counters::Direction::Forward,
        Setting::Audit => s.audit = true,
        Setting::Coverage => s.coverage = true,
        Setting::Checkpoint => s.checkpoint = Some(volee::Keep::new("kept.ck")),
        Setting::Spill => s.spill = Some("spilled".into()),
        Setting::Hunt => s.hunt = true,
    }
    (s, o, b)
}

#[test]
fn every_engine_answers_or_says_in_a_sentence_why_not() {
    let engines = [
        Engine::Auto,
        Engine::Explicit,
        Engine::Workers(2),
        Engine::Cluster(Cluster::default()),
        Engine::Families,
        Engine::Counters,
        Engine::Channels,
        Engine::Equations,
    ];
    let (s, o, b) = (Settings::default(), Options::default(), Budget::default());
    let usual = Asked { settings: &s, options: &o, budget: &b };
    assert!(usual.given().is_empty(), "{:?}", usual.given());
    let mut refused = 0;
    for engine in &engines {
        for kind in Kind::ALL {
            let question = question(kind);
            assert_eq!(question.kind(), kind);
            let unanswered = engine.refuses(&question, &usual);
            for setting in Setting::ALL {
                let (settings, options, budget) = set(setting);
                let asked = Asked { settings: &settings, options: &options, budget: &budget };
                assert_eq!(asked.given(), [setting]);
                let Some(refusal) = engine.refuses(&question, &asked) else {
                    assert!(unanswered.is_none(), "{engine:?} answers {question} only with {setting:?}");
                    continue;
                };
                refused += 1;
                let sentence = refusal.to_string();
                assert!(sentence.len() > 20 && !sentence.contains("--"), "{sentence}");
            }
        }
    }
    assert!(refused > 1000, "{refused}");
    assert!(engines.iter().all(|e| Kind::ALL.iter().any(|k| e.refuses(&question(*k), &usual).is_none())));
}
