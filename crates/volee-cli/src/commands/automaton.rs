//! `volee automaton FORMULA`: the automaton of a temporal formula, as figures, a graph, or text for other tools.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use volee::logic::automaton::Automaton as Buchi;
use volee::logic::formula::{self, Formula};
use volee::logic::hoa;
use volee::logic::ltl::{translate, translate_to_buchi};
use volee::logic::tl::{Alphabet, Dfa, Limits, Verdict3, compile};
use volee::report::{Answer, counted};

use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Operators: ! && || -> <-> [] <> U W R M, X (strong next), WX (weak next); also G F and Unicode.
Patterns:  absence(p) existence(p) universality(p) response(p, s) precedence(s, p), and for scopes
           NAME_before(…, r) NAME_after(…, q) NAME_between(…, q, r) NAME_after_until(…, q, r).

Examples:
  volee automaton '[](a -> X b)'                      finite words of events
  volee automaton '[](a -> X b)' --derivatives        what each state still asks for
  volee automaton '[]<>p -> []<>q' --infinite         a Büchi automaton
  volee automaton '[]<>p' --infinite --as never       for other tools: dot, hoa, never")]
pub struct Automaton {
    /// A temporal formula
    #[arg(value_name = "FORMULA")]
    formula: String,

    /// Infinite words (LTL) instead of finite ones
    #[arg(long)]
    infinite: bool,

    /// Of the negation
    #[arg(long)]
    negate: bool,

    /// Finite words: letters are sets of atoms, not single events
    #[arg(long, conflicts_with = "infinite")]
    sets: bool,

    /// Infinite words: several acceptance sets on transitions instead of one on states
    #[arg(long, requires = "infinite")]
    generalised: bool,

    /// What to print
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Size)]
    form: Form,

    /// Finite words: also list the states with what must still hold in each
    #[arg(long, conflicts_with = "infinite")]
    derivatives: bool,
}

/// What is printed of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Size,
    Dot,
    Hoa,
    Never,
}

impl Automaton {
    pub fn run(self, _: &Context) -> Ended {
        let formula = formula::parse(&self.formula, "formula")?;
        let formula = if self.negate { formula.negated() } else { formula };
        if self.infinite { self.infinite_words(&formula) } else { self.finite_words(&formula) }
    }

    fn finite_words(&self, formula: &Formula) -> Ended {
        let alphabet = if self.sets { Alphabet::Sets } else { Alphabet::Events };
        let dfa = compile(&formula.pool, formula.root, &formula.atoms(), alphabet, Limits::default())
            .map_err(|e| {
                Failure::new(e.to_string()).with_help(
                    "its conjuncts are small automata each: volee check --tl never builds the whole",
                )
            })?;
        let names: Vec<String> = formula.atoms().iter().map(|&a| formula.atom_text(a)).collect();
        let mut answer = Answer::new("automaton");
        answer.set("states", dfa.len() as u64);
        answer.set("states_trimmed", dfa.trimmed_len() as u64);
        let edges: usize = dfa.all_states().map(|s| dfa.edges(s).len()).sum();
        answer.set("transitions", edges as u64);
        let text = match self.form {
            Form::Size => self.size(&dfa),
            Form::Dot => hoa::dfa_dot(&dfa, &names),
            Form::Hoa => hoa::dfa_hoa(&dfa, &names, &self.formula),
            Form::Never => {
                return Err(Failure::new("a never claim watches infinite runs").with_help("add --infinite"));
            }
        };
        answer.add("output", text.as_str());
        Ok(Outcome::new(answer, text))
    }

    fn size(&self, dfa: &Dfa) -> String {
        let mut text =
            format!("{} ({} without the rejecting sink)\n", counted(dfa.len(), "state"), dfa.trimmed_len());
        if self.derivatives {
            for state in dfa.all_states() {
                let mark = match (dfa.verdict(state), dfa.is_accepting(state)) {
                    (Verdict3::Satisfied, _) => "satisfied for good",
                    (Verdict3::Violated, _) => "violated for good",
                    (Verdict3::Open, true) => "accepting",
                    (Verdict3::Open, false) => "rejecting",
                };
                let _ = writeln!(text, "  {:<3} {mark:<18} {}", state.0, dfa.derivative(state));
            }
        }
        text
    }

    fn infinite_words(&self, formula: &Formula) -> Ended {
        let translated = if self.generalised { translate(formula) } else { translate_to_buchi(formula) };
        let mut automaton = translated.map_err(|e| Failure::new(e.to_string()))?;
        let mut answer = Answer::new("automaton");
        answer.set("states", automaton.len() as u64);
        answer.set("transitions", automaton.pairs() as u64);
        answer.set("acceptance_sets", u64::from(automaton.sets));
        let deterministic = automaton.nondeterministic_state().is_none();
        answer.set("deterministic", deterministic);
        let text = match self.form {
            Form::Size => buchi_size(&automaton, deterministic),
            Form::Dot => hoa::dot(&mut automaton),
            Form::Hoa => hoa::hoa(&mut automaton, &self.formula),
            Form::Never if self.generalised => {
                return Err(
                    Failure::new("a never claim has one acceptance set").with_help("leave out --generalised")
                );
            }
            Form::Never => hoa::never_claim(&mut automaton, &self.formula),
        };
        answer.add("output", text.as_str());
        Ok(Outcome::new(answer, text))
    }
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
