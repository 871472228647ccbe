//! `volee automaton FORMULA`: the automaton of a temporal formula, as figures, a graph, or text for other
//! tools.

use clap::{Args, ValueEnum};
use volee::render::automaton::{Form, Words, automaton};

use crate::context::Context;
use crate::outcome::{Ended, Failure};

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
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = FormArg::Size)]
    form: FormArg,

    /// Finite words: also list the states with what must still hold in each
    #[arg(long, conflicts_with = "infinite")]
    derivatives: bool,
}

/// What is printed of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormArg {
    Size,
    Dot,
    Hoa,
    Never,
}

impl Automaton {
    pub fn run(self, _: &Context) -> Ended {
        let form = match self.form {
            FormArg::Size => Form::Size { derivatives: self.derivatives },
            FormArg::Dot => Form::Dot,
            FormArg::Hoa => Form::Hoa,
            FormArg::Never if !self.infinite => {
                return Err(Failure::new("a never claim watches infinite runs").with_help("add --infinite"));
            }
            FormArg::Never if self.generalised => {
                let message = "a never claim has one acceptance set";
                return Err(Failure::new(message).with_help("leave out --generalised"));
            }
            FormArg::Never => Form::Never,
        };
        let words = match (self.infinite, self.sets, self.generalised) {
            (false, sets, _) => Words::Finite { sets },
            (true, _, generalised) => Words::Infinite { generalised },
        };
        automaton(&self.formula, self.negate, words, form).map_err(|wrong| {
            let too_large = wrong.place.is_none() && !self.infinite;
            let failure = Failure::from(wrong);
            let advice = "its conjuncts are small automata each: volee check --tl never builds the whole";
            match too_large {
                true => failure.with_help(advice),
                false => failure,
            }
        })
    }
}
