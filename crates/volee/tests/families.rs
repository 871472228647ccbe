//! Property automata of families against explicit search of their instances.
//!
//! A thousand random formulas over events of any client and of named clients: what holds for all sizes holds
//! in every instance that is searched, and what is violated with n processes is violated in the instance of
//! n, by a run that the explicit model makes, and in no smaller one where the answer says so.

use std::path::PathBuf;

use volee::families::{Choice, check, family_of, follow};
use volee::logic::formula::{Shape, parse, random_formula};
use volee::properties::{of_ltl, of_never, of_tl};
use volee::search::{Check, Order, Runs, TlQuestion};
use volee::system::{Budget, Meter, Quiet, Random, Verdict, replay};
use volee::{Engine, Model, Options, Question, Settings, Source, ask};

const LOCK: &str = "chan request = [0] of { bit }, release = [0] of { bit };\nbyte held;\n\
active proctype Server() { do :: request?_ -> held = 1; release?_; held = 0 od }\n\
proctype Client() { do :: request!0; release!0 od }\n";
const OPEN: &str = "chan request = [0] of { bit }, release = [0] of { bit };\nbyte held;\n\
active proctype Server() { do :: request?_ -> held = 1 :: release?_ -> held = 0 od }\n\
proctype Client() { do :: request!0; release!0 od }\n";
const SHARED: &str = "byte held;\nchan request = [0] of { bit }, release = [0] of { bit };\n\
active proctype Server() { if :: request?_; request?_ :: release?_ fi }\n\
proctype Client() { if :: held == 0 -> held = 1; request!0 :: held == 1 -> held = 2; release!0 fi }\n";

const EVENTS: [&str; 6] = [
    "Client:request!0",
    "Client:release!0",
    "Client[1]:request!0",
    "Client[1]:release!0",
    "Client[2]:request!0",
    "{held == 1}",
];

fn write(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("volee-families-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("it can be written");
    path
}

fn instance(path: &PathBuf, clients: u32) -> Model {
    let copies = vec![("Client".to_string(), clients)];
    let options = Options { plain: true, dormant: true, copies, ..Options::default() };
    Model::open(path, &options).expect("a good model")
}

/// Whether every prefix of every run of an instance satisfies a formula. The server is process 0, the clients
/// follow.
fn explicit(path: &PathBuf, clients: u32, text: &str) -> bool {
    let mut model = instance(path, clients);
    let formula = parse(text, "test").expect("a formula");
    let question = TlQuestion::new(model.draft.as_mut(), &formula, text, "test").expect("its atoms");
    let meter = Meter::start(Budget::default());
    let how = Check::new().order(Order::BreadthFirst);
    let outcome = question.check(model.draft.system(), Runs::Prefixes, &how, &meter, &mut Quiet);
    match outcome.answers[0].verdict {
        Verdict::Holds => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(ref limit) => panic!("{text}: {limit}"),
    }
}

/// The verdict of each part of a formula for all sizes: with how many clients it is violated, whether that is
/// the least number; and a run that the explicit model makes.
fn for_any(path: &PathBuf, text: &str) -> Vec<Option<(u32, bool)>> {
    let model = Model::open(path, &Options { dormant: true, ..Options::default() }).expect("a good model");
    let lowered = model.promela.expect("it is Promela");
    let mut all = Vec::new();
    for property in of_tl(&lowered, text).expect("a property") {
        let family = family_of(&lowered.program, &["Client".into()], &Default::default(), Some(&property))
            .expect("a family");
        let asked = &family.asked[0];
        let net = family.net(asked);
        let checked = check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect("a net");
        all.push(match &checked.counterexample {
            None => {
                assert_eq!(checked.verdict, Verdict::Holds, "{text}");
                None
            }
            Some(example) => {
                let clients = family.sizes(&example.marking)[0].1;
                let mut model = instance(path, clients);
                let found = follow(&family, &net, asked, example, model.draft.as_mut())
                    .unwrap_or_else(|e| panic!("{text}: {e}"));
                assert!(replay(model.draft.system(), &found.witness).is_ok(), "{text}");
                Some((clients, checked.least))
            }
        });
    }
    all
}

#[test]
fn properties_of_families_agree_with_explicit_search_of_their_instances() {
    let mut random = Random::new(10);
    let (mut holds, mut violated) = (0, 0);
    for (name, model) in [("lock.pml", LOCK), ("open.pml", OPEN), ("shared.pml", SHARED)] {
        let path = write(name, model);
        for _ in 0..250 {
            let operators = 1 + random.below(6);
            let shape = Shape { atoms: EVENTS.len(), operators };
            let mut text = random_formula(&mut random, shape).to_string();
            for (number, event) in EVENTS.iter().enumerate().rev() {
                text = text.replace(&format!("p{number}"), event);
            }
            // An instance must have the clients that the formula names.
            let least = if text.contains("[2]") { 2 } else { u32::from(text.contains("[1]")) };
            let parts = for_any(&path, &text);
            let bad: Vec<(u32, bool)> = parts.iter().copied().flatten().collect();
            for clients in least..=3 {
                let good = explicit(&path, clients, &text);
                let told = bad.iter().any(|(n, _)| *n == clients);
                assert!(
                    !bad.is_empty() || good,
                    "{name}, {clients} clients: holds for all, but not here: {text}"
                );
                assert!(!(told && good), "{name}, {clients} clients: violated, but not here: {text}");
                let smallest = bad.iter().filter(|(_, least)| *least).map(|(n, _)| *n).min();
                let all_least = bad.iter().all(|(_, least)| *least);
                if all_least && smallest.is_some_and(|n| clients < n) {
                    assert!(good, "{name}, {clients} clients: violated, but said to need more: {text}");
                }
            }
            if bad.is_empty() { holds += 1 } else { violated += 1 }
        }
    }
    println!("hold {holds}, violated {violated}");
    assert!(holds > 100 && violated > 100, "{holds} {violated}");
}

#[test]
fn a_claim_that_ends_and_a_safety_formula_are_property_automata() {
    let claim = "never { do :: true :: held > 1 -> break od }\n";
    let verdict = |model: &str, clients: &str| {
        let path = write(&format!("claim{clients}.pml"), &format!("{model}{claim}"));
        let opened =
            Model::open(&path, &Options { dormant: true, ..Options::default() }).expect("a good model");
        let lowered = opened.promela.expect("it is Promela");
        let never = of_never(&lowered).expect("a claim that ends");
        let mut ltl = of_ltl(&lowered, "ltl", "[](held <= 1)").expect("a safety formula");
        let for_ever = of_ltl(&lowered, "ltl", "<>(held == 1)").expect("any formula");
        assert!(!for_ever[0].accepting.is_empty());
        let decide = |property| {
            let users = ["Client".to_string()];
            let family =
                family_of(&lowered.program, &users, &Default::default(), Some(&property)).expect("a family");
            let net = family.net(&family.asked[0]);
            let checked = check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect("a net");
            checked.counterexample.map(|e| family.sizes(&e.marking)[0].1)
        };
        (decide(never), decide(ltl.remove(0)))
    };
    assert_eq!(verdict(LOCK, "a"), (None, None));
    assert_eq!(verdict(SHARED, "b"), (Some(2), Some(2)));
}

/// One or two statements, then the rest of an option.
fn statement(random: &mut Random, assertions: bool) -> &'static str {
    const ALL: [&str; 17] = [
        "c!0",
        "c!1",
        "c!x",
        "c?0",
        "c?x",
        "d!1",
        "d?_",
        "a = 1",
        "a = 0",
        "b = 1 - b",
        "a == b",
        "x == 1",
        "atomic { a == 0 -> a = 1 }",
        "d_step { b == 0 -> b = 1; x = b }",
        "if :: a == 1 -> x = 0 :: else -> b = x fi",
        "assert(!(a && b))",
        "assert(!x || b)",
    ];
    ALL[random.below(if assertions { 17 } else { 15 })]
}

fn random_process(random: &mut Random, head: &str) -> String {
    let mut text = format!("{head} {{ bit x; do\n");
    for _ in 0..1 + random.below(3) {
        let length = 1 + random.below(3);
        let all: Vec<&str> = (0..length).map(|_| statement(random, true)).collect();
        text.push_str(&format!(":: {}\n", all.join("; ")));
    }
    // Some processes end, some go on.
    if random.below(2) == 0 {
        text.push_str(&format!(":: {}; break\n", statement(random, false)));
    }
    text + "od }\n"
}

/// Whether some assertion of an instance fails.
fn fails(path: &PathBuf, clients: u32) -> Option<bool> {
    let mut model = instance(path, clients);
    let meter = Meter::start(Budget::default());
    let mut questions = Check::new();
    questions.deadlocks = false;
    let outcome = volee::search::check(model.draft.system(), &questions, &meter, &mut Quiet);
    let bad = |a: &volee::search::Answer| matches!(a.verdict, Verdict::Violated(_));
    outcome.limit.is_none().then(|| outcome.answers.iter().any(bad))
}

#[test]
fn random_programs_agree_with_explicit_search_of_their_instances() {
    let mut random = Random::new(2010);
    let (mut holds, mut violated) = (0, 0);
    for number in 0..1_500 {
        let mut text = String::from("bit a, b; chan c = [0] of { bit }; chan d = [0] of { bit };\n");
        text.push_str(&random_process(&mut random, "active proctype Server()"));
        text.push_str(&random_process(&mut random, "proctype Client()"));
        let path = write("random.pml", &text);
        let opened =
            Model::open(&path, &Options { dormant: true, ..Options::default() }).expect("a good model");
        let lowered = opened.promela.expect("it is Promela");
        let users = ["Client".to_string()];
        // An `else` that comes to stand beside a rendezvous is refused.
        let Ok(family) = family_of(&lowered.program, &users, &Default::default(), None) else { continue };
        let Some(asked) = family.asked.first() else { continue };
        let net = family.net(asked);
        let checked = check(&net, Choice::Auto, Budget::default(), &mut Quiet).expect("a net");
        let told = checked.counterexample.as_ref().map(|example| {
            let clients = family.sizes(&example.marking)[0].1;
            let mut model = instance(&path, clients);
            let found = follow(&family, &net, asked, example, model.draft.as_mut());
            assert!(found.is_ok(), "{number}: {found:?}\n{text}");
            clients
        });
        for clients in 0..=3 {
            let bad = fails(&path, clients).expect("small");
            match told {
                None => assert!(!bad, "{number}: holds for all, but not for {clients}\n{text}"),
                Some(n) if n == clients => assert!(bad, "{number}: violated, but not with {clients}\n{text}"),
                Some(n) if clients < n && checked.least => {
                    assert!(!bad, "{number}: {clients} are enough\n{text}")
                }
                Some(_) => {}
            }
        }
        if told.is_some() { violated += 1 } else { holds += 1 }
    }
    println!("hold {holds}, violated {violated}");
    assert!(holds > 50 && violated > 50, "{holds} {violated}");
}

/// Whether a formula holds of a family, or of one member.
fn ltl_holds(path: &PathBuf, text: &str, clients: Option<u32>) -> Option<bool> {
    let options = Options {
        copies: clients.map(|n| ("Client".to_string(), n)).into_iter().collect(),
        ..Options::default()
    };
    let source = Source::new(path, options);
    let for_any = if clients.is_none() { vec!["Client".to_string()] } else { Vec::new() };
    let engine = if clients.is_none() { Engine::Families } else { Engine::Explicit };
    let question = Question::Ltl { name: None, text: text.into() };
    let settings = Settings { for_any, ..Settings::default() };
    let budget = Budget { memory: Some(64 << 20), ..Budget::default() };
    let asked = ask(&source).question(question.clone()).engine(engine).settings(settings).budget(budget);
    let answers = asked.run(&mut Quiet).expect("it can be asked");
    let answer = answers.answers.into_iter().find(|a| a.question == question).expect("it was asked");
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn what_happens_for_ever_in_families_happens_in_their_members() {
    const FORMULAS: [&str; 8] = [
        "<>[] !b",
        "[]<> b",
        "[](b -> <> c)",
        "<> c",
        "([]<> b) -> ([]<> c)",
        "<>[] b || []<> c",
        "b U c",
        "[](b -> X !c)",
    ];
    const STATEMENTS: [&str; 11] = [
        "b = 1",
        "b = 0",
        "c = !c",
        "c = b",
        "(b)",
        "(!c)",
        "r!0",
        "r?_",
        "q!1",
        "q?_",
        "atomic { b -> b = 0 }",
    ];
    let (mut holds, mut violated, mut unknown) = (0, 0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut process = || {
            let length = 1 + random.below(3);
            let all: Vec<&str> =
                (0..length).map(|_| STATEMENTS[random.below(STATEMENTS.len() as u32) as usize]).collect();
            let body = all.join("; ");
            if random.below(3) > 0 { format!("do :: {body} od") } else { body }
        };
        let (server, client) = (process(), process());
        let text = format!(
            "bit b, c; chan r = [0] of {{ bit }}; chan q = [1] of {{ bit }};\n\
             active proctype Server() {{ {server} }}\nproctype Client() {{ {client} }}\n"
        );
        let path = write("for-ever.pml", &text);
        let formula = FORMULAS[random.below(FORMULAS.len() as u32) as usize];
        let bad = (1..4).any(|n| ltl_holds(&path, formula, Some(n)) == Some(false));
        match ltl_holds(&path, formula, None) {
            Some(true) => {
                assert!(!bad, "seed {seed}: {formula}\n{text}");
                holds += 1;
            }
            Some(false) => violated += 1,
            None => unknown += 1,
        }
    }
    assert!(holds > 10 && violated > 10 && unknown < 6, "{holds} {violated} {unknown}");
}
