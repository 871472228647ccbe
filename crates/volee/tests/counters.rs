//! Formulas about counter programs against explicit search of the same model.
//!
//! The unbounded variables of the random models are kept small by guards, so that the explicit search ends;
//! their channels carry constants, names and values of those variables. Every verdict that counters give must
//! be the one that the search of single states gives, and runs that violate a formula must be found again in the
//! program, also those that go on for ever: integers that stay small come back.

use std::path::PathBuf;

use volee::search::Runs;
use volee::system::{Budget, Quiet, Random, ReasonKind, Verdict, replay};
use volee::{Engine, Model, Options, Question, Settings, ShownRun, Source, ask};

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

fn statement(random: &mut Random, deep: usize) -> String {
    const SIMPLE: [&str; 22] = [
        "x = 0",
        "y = x",
        "b = 1 - b",
        "c = (c + 1) % 3",
        "work: skip",
        "(x == y)",
        "(x > y)",
        "(b == 1)",
        "q!x",
        "q!1",
        "q?y",
        "q?eval(x)",
        "q??1",
        "q?<y>",
        "s!!c,1",
        "s!1,b",
        "s?y,b",
        "m!GO",
        "m?GO",
        "r!x",
        "r?y",
        "(x < 3); x = x + 1",
    ];
    match random.below(if deep == 0 { 6 } else { 9 }) {
        6 => format!("atomic {{ {} }}", block(random, deep - 1)),
        7 => format!("if :: {} :: {} fi", block(random, deep - 1), block(random, deep - 1)),
        8 => {
            format!("if :: (x > y) -> {} :: else -> {} fi", block(random, deep - 1), block(random, deep - 1))
        }
        _ => pick(random, &SIMPLE).replace("work:", &format!("work{}:", random.below(1 << 20))),
    }
}

fn block(random: &mut Random, deep: usize) -> String {
    let all: Vec<String> = (0..1 + random.below(3)).map(|_| statement(random, deep)).collect();
    all.join("; ")
}

fn model(random: &mut Random) -> String {
    let mut body = || {
        let block = block(random, 2);
        if random.below(2) == 0 { format!("do :: {block} od") } else { block }
    };
    format!(
        "mtype = {{ GO, STOP }};\nint x, y; bit b; byte c;\nchan r = [0] of {{ int }}, q = [1] of {{ int }};\n\
         chan s = [2] of {{ byte, bit }}, m = [1] of {{ mtype }};\n\
         active proctype A() {{ {} }}\nactive proctype B() {{ {} }}\n",
        body(),
        body()
    )
}

const STATES: [&str; 5] = ["{x > 1}", "{x == y}", "{b == 1}", "{len(q) == 0}", "{c == 2}"];
const EVENTS: [&str; 10] =
    ["q!1", "q?1", "q!_", "r!0", "\"x = 0\"", "s!1,_", "m!GO", "A:q!1", "\"B[1]:m?GO\"", "q?<2>"];

fn atom(random: &mut Random) -> &'static str {
    if random.below(2) == 0 { pick(random, &STATES) } else { pick(random, &EVENTS) }
}

fn formula(random: &mut Random, deep: usize) -> String {
    if deep == 0 {
        return atom(random).to_string();
    }
    match random.below(8) {
        0..=1 => format!("([] {})", formula(random, deep - 1)),
        2 => format!("(! {})", formula(random, deep - 1)),
        3 => format!("(X {})", formula(random, deep - 1)),
        4 => format!("({} W {})", formula(random, deep - 1), formula(random, deep - 1)),
        5 => format!("({} -> {})", formula(random, deep - 1), formula(random, deep - 1)),
        6 => format!("({} U {})", formula(random, deep - 1), formula(random, deep - 1)),
        _ => format!("({} && {})", formula(random, deep - 1), formula(random, deep - 1)),
    }
}

fn action(random: &mut Random) -> String {
    let event = pick(random, &EVENTS).replace('"', "");
    match random.below(4) {
        0 => "true*".into(),
        1 => format!("(not \"{event}\")*"),
        _ => format!("\"{event}\""),
    }
}

fn modal(random: &mut Random) -> String {
    let state = pick(random, &["{x > 1}", "{x == y}", "true", "false", "<true> true", "[true] false"]);
    let steps = format!("true* . {} . {}", action(random), action(random));
    if random.below(2) == 0 { format!("<{steps}> ({state})") } else { format!("[{steps}] ({state})") }
}

fn question(random: &mut Random) -> (Question, Runs) {
    let deep = 1 + random.below(3);
    match random.below(4) {
        0 => (Question::ltl(formula(random, deep)), Runs::Prefixes),
        1 => (Question::Tl(formula(random, deep)), Runs::Prefixes),
        2 => (Question::Tl(formula(random, deep)), Runs::Maximal),
        _ => (Question::mu(modal(random)), Runs::Prefixes),
    }
}

/// The verdict, and the runs that show it; nothing where it is refused.
fn decided(path: &PathBuf, question: &(Question, Runs), engine: Engine) -> Option<(Verdict, Vec<ShownRun>)> {
    let source = Source::new(path, Options::default());
    let budget = Budget { memory: Some(16 << 20), ..Budget::default() };
    let settings = Settings { runs: question.1, ..Settings::default() };
    let asked = ask(&source).question(question.0.clone()).engine(engine).budget(budget);
    let answers = asked.settings(settings).run(&mut Quiet).ok()?;
    let mut all = answers.answers.into_iter();
    let answer = all.find(|answer| answer.question == question.0)?;
    Some((answer.verdict, answer.runs))
}

/// Whether all runs are runs of the plain program that go on, or not, as they say.
fn traced(path: &PathBuf, runs: &[ShownRun], endless: bool) -> bool {
    let plain = Options { plain: true, ..Options::default() };
    runs.iter().all(|run| {
        let Some(witness) = &run.witness else { return false };
        let mut model = Model::open(path, &plain).expect("it was read before");
        let replayed = replay(model.draft.system(), witness).expect("a run of the plain program");
        assert!(run.single.as_ref().is_some_and(|single| single.steps.len() == replayed.steps.len()));
        witness.loop_start.is_some() == endless
    })
}

#[test]
fn formulas_about_random_counter_programs_have_the_answers_of_explicit_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pml");
    let (mut held, mut violated, mut for_ever) = (0, 0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        std::fs::write(&path, model(&mut random)).expect("it can be written");
        let question = question(&mut random);
        let Some((found, runs)) = decided(&path, &question, Engine::Counters) else { continue };
        let (expected, _) =
            decided(&path, &question, Engine::Auto).expect("a question of the explicit engine");
        let told = || format!("seed {seed}: {} {:?}\n{}", question.0, question.1, text(&path));
        match (&found, &expected) {
            (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => {}
            (Verdict::Holds, Verdict::Holds) => held += 1,
            (Verdict::Violated(all), Verdict::Violated(_)) => {
                violated += 1;
                let endless = all.iter().any(|one| one.reason.kind == ReasonKind::AcceptanceCycle);
                for_ever += usize::from(endless);
                let modal = matches!(question.0, Question::Mu { .. });
                assert!(modal || traced(&path, &runs, endless), "{}", told());
            }
            _ => panic!("{found:?} but {expected:?}, {}", told()),
        }
    }
    assert!(held > 60 && violated > 60 && for_ever > 3, "{held} {violated} {for_ever}");
}

/// Steps up and down that one loop chooses from: what goes on for ever passes its one location several times.
#[test]
fn choices_that_undo_each_other_go_on_for_ever_as_explicit_search_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pml");
    let (mut held, mut violated) = (0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut choice = || match random.below(3) {
            0 => format!("x < {} -> x++", 1 + random.below(4)),
            1 => format!("x > {} -> x--", random.below(3)),
            _ => format!("x == {} -> x = {}", random.below(4), random.below(4)),
        };
        let choices: Vec<String> = (0..2 + seed % 2).map(|_| format!(":: {}", choice())).collect();
        let model = format!("int x; active proctype A() {{ do {} od }}\n", choices.join(" "));
        std::fs::write(&path, model).expect("it can be written");
        let number = random.below(3);
        let formula = ["[]<> {x == N}", "<>[] {x > N}", "[]({x == N} -> <> {x > N})"][random.below(3)];
        let question = (Question::ltl(formula.replace('N', &number.to_string())), Runs::Prefixes);
        let (found, runs) = decided(&path, &question, Engine::Counters).expect("a question of this engine");
        let (expected, _) =
            decided(&path, &question, Engine::Auto).expect("a question of the explicit engine");
        let told = || format!("seed {seed}: {}\n{}", question.0, text(&path));
        match (&found, &expected) {
            (Verdict::Holds, Verdict::Holds) => held += 1,
            (Verdict::Violated(_), Verdict::Violated(_)) => {
                violated += 1;
                assert!(traced(&path, &runs, true), "{}", told());
            }
            (Verdict::Unknown(_), _) => {}
            _ => panic!("{found:?} but {expected:?}, {}", told()),
        }
    }
    assert!(held > 20 && violated > 20 && held + violated > 55, "{held} {violated}");
}

/// A loop whose integers grow comes back to no state, so that no run of the machine is shown for it.
#[test]
fn loops_that_grow_are_not_said_to_be_runs_of_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pml");
    for (step, grows) in [("x++", true), ("x = 1 - x", false)] {
        let model = format!("int x, y; active proctype A() {{ do :: {step} :: y > 5 -> y = 0 od }}\n");
        std::fs::write(&path, model).expect("it can be written");
        let question = (Question::ltl("<> {y > 0}"), Runs::Prefixes);
        let (found, runs) = decided(&path, &question, Engine::Counters).expect("a question of this engine");
        assert!(matches!(found, Verdict::Violated(_)), "{step}: {found:?}");
        let told = runs[0].length.as_deref().expect("told");
        assert_eq!(runs[0].witness.is_none(), grows, "{step}: {told}");
        assert_eq!(told.ends_with("replayed over unbounded integers only"), grows, "{step}: {told}");
        assert!(grows || traced(&path, &runs, true), "{step}");
    }
}

fn text(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
