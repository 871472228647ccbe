//! The automaton of a temporal formula, as figures, a graph, or text for other tools.

use std::fmt::Write as _;

use volee_logic::automaton::Automaton as Buchi;
use volee_logic::formula::{self, Formula};
use volee_logic::hoa;
use volee_logic::ltl::{translate, translate_to_buchi};
use volee_logic::tl::{Alphabet, Dfa, Limits, Verdict3, compile};
use volee_report::{Answer, counted};
use volee_system::Diagnostic;

use super::Outcome;

/// What the automaton reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Finite words, whose letters are single events or sets of atoms.
    Finite {
        /// Letters are sets of atoms.
        sets: bool,
    },
    /// Infinite words.
    Infinite {
        /// With several acceptance sets on transitions instead of one on states.
        generalised: bool,
    },
}

/// What is printed of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// How large it is.
    Size {
        /// Also what each state still asks for.
        derivatives: bool,
    },
    /// A graph.
    Dot,
    /// The Hanoi omega-automata format.
    Hoa,
    /// A never claim of Promela, which reads infinite words and has one acceptance set.
    Never,
}

/// The automaton of a formula, or of its negation.
///
/// # Errors
/// The text is no formula, or its automaton is too large, or has no such form.
pub fn automaton(text: &str, negate: bool, words: Words, form: Form) -> Result<Outcome, Diagnostic> {
    let formula = formula::parse(text, "formula")?;
    let formula = if negate { formula.negated() } else { formula };
    let told = match words {
        Words::Finite { sets } => finite_words(&formula, text, sets, form),
        Words::Infinite { generalised } => infinite_words(&formula, text, generalised, form),
    };
    told.map_err(|message| Diagnostic::error(message, None))
}

fn finite_words(formula: &Formula, text: &str, sets: bool, form: Form) -> Result<Outcome, String> {
    let alphabet = if sets { Alphabet::Sets } else { Alphabet::Events };
    let dfa = compile(&formula.pool, formula.root, &formula.atoms(), alphabet, Limits::default())
        .map_err(|e| e.to_string())?;
    let names: Vec<String> = formula.atoms().iter().map(|&a| formula.atom_text(a)).collect();
    let mut answer = Answer::new("automaton");
    answer.set("states", dfa.len() as u64);
    answer.set("states_trimmed", dfa.trimmed_len() as u64);
    let edges: usize = dfa.all_states().map(|s| dfa.edges(s).len()).sum();
    answer.set("transitions", edges as u64);
    let shown = match form {
        Form::Size { derivatives } => dfa_size(&dfa, derivatives),
        Form::Dot => hoa::dfa_dot(&dfa, &names),
        Form::Hoa => hoa::dfa_hoa(&dfa, &names, text),
        Form::Never => return Err("a never claim watches infinite runs".into()),
    };
    answer.add("output", shown.as_str());
    Ok(Outcome::new(answer, shown))
}

fn dfa_size(dfa: &Dfa, derivatives: bool) -> String {
    let mut text =
        format!("{} ({} without the rejecting sink)\n", counted(dfa.len(), "state"), dfa.trimmed_len());
    for state in dfa.all_states().filter(|_| derivatives) {
        let mark = match (dfa.verdict(state), dfa.is_accepting(state)) {
            (Verdict3::Satisfied, _) => "satisfied for good",
            (Verdict3::Violated, _) => "violated for good",
            (Verdict3::Open, true) => "accepting",
            (Verdict3::Open, false) => "rejecting",
        };
        let _ = writeln!(text, "  {:<3} {mark:<18} {}", state.0, dfa.derivative(state));
    }
    text
}

fn infinite_words(formula: &Formula, text: &str, generalised: bool, form: Form) -> Result<Outcome, String> {
    let translated = if generalised { translate(formula) } else { translate_to_buchi(formula) };
    let mut automaton = translated.map_err(|e| e.to_string())?;
    let mut answer = Answer::new("automaton");
    answer.set("states", automaton.len() as u64);
    answer.set("transitions", automaton.pairs() as u64);
    answer.set("acceptance_sets", u64::from(automaton.sets));
    let deterministic = automaton.nondeterministic_state().is_none();
    answer.set("deterministic", deterministic);
    let shown = match form {
        Form::Size { .. } => buchi_size(&automaton, deterministic),
        Form::Dot => hoa::dot(&mut automaton),
        Form::Hoa => hoa::hoa(&mut automaton, text),
        Form::Never if generalised => return Err("a never claim has one acceptance set".into()),
        Form::Never => hoa::never_claim(&mut automaton, text),
    };
    answer.add("output", shown.as_str());
    Ok(Outcome::new(answer, shown))
}

fn buchi_size(automaton: &Buchi, deterministic: bool) -> String {
    format!(
        "{}, {}, {}, {}\n",
        counted(automaton.len(), "state"),
        counted(automaton.pairs(), "transition"),
        counted(automaton.sets as usize, "acceptance set"),
        if deterministic { "deterministic" } else { "not deterministic" }
    )
}
