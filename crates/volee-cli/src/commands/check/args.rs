//! The arguments of `volee check` beside the model and the budget: one struct per heading of its help.

use std::path::{Path, PathBuf};

use clap::Args;
use volee::names::{
    APPROXIMATIONS, EMPTINESS, FAIRNESS, METHODS, NAMINGS, ORDERS, REDUCTIONS, REPLACEMENTS, RUNS, SOLVERS,
};
use volee::settings::{Approximation, Choice, Fairness, Order, Reduction, Replacement, Runs, Solver};
use volee::{Emptiness, Naming, Question, Settings, files};

use crate::args::{KeepingArgs, named, said};
use crate::outcome::Failure;

/// What is asked.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// An expression over the model's variables that must be true in every reachable state
    #[arg(long, value_name = "EXPR", value_parser = said, allow_hyphen_values = true, help_heading = "Questions")]
    invariant: Vec<String>,

    /// An expression that must be true in some reachable state; the answer shows how to get there
    #[arg(long, value_name = "EXPR", value_parser = said, allow_hyphen_values = true, help_heading = "Questions")]
    reachable: Vec<String>,

    /// A formula of the mu-calculus that the initial state must satisfy, e.g. '[true* . "error"] false';
    /// @FILE reads it from a file
    #[arg(long, value_name = "FORMULA", value_parser = said, allow_hyphen_values = true, help_heading = "Questions")]
    mu: Vec<String>,

    /// Points of control that must never be occupied together, e.g. Client@critical,Client@critical
    #[arg(long, value_name = "P@LABEL,…", help_heading = "Families")]
    cover: Vec<String>,

    /// A formula of linear temporal logic that every infinite run must satisfy (a run that ends stutters)
    #[arg(long, value_name = "FORMULA", value_parser = said, allow_hyphen_values = true, help_heading = "Temporal questions")]
    ltl: Vec<String>,

    /// A finite-trace formula over events; see --runs for which runs must satisfy it
    #[arg(long, value_name = "FORMULA", value_parser = said, allow_hyphen_values = true, help_heading = "Temporal questions")]
    tl: Vec<String>,

    /// A deterministic Büchi automaton that must accept every infinite run: a file in the Hanoi format, or a
    /// formula of linear temporal logic whose automaton is deterministic
    #[arg(long, value_name = "FILE.hoa|FORMULA", help_heading = "Temporal questions")]
    buchi: Vec<String>,

    /// A claim of the model by name: an ltl block or a never claim; `all` for all of them
    #[arg(long, value_name = "NAME", help_heading = "Temporal questions")]
    pub property: Vec<String>,

    /// No run may go on for ever without passing a progress label
    #[arg(long, help_heading = "Temporal questions")]
    progress: bool,

    /// No run may pass accept labels of the model for ever
    #[arg(long, help_heading = "Temporal questions")]
    acceptance: bool,

    /// Of all questions ask only these: deadlock, assertions, claims, the name of a claim, ltl, invariant …;
    /// `messages`: of a run show only messages
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Questions")]
    pub only: Vec<String>,

    /// Leave these questions out; named as for --only
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Questions")]
    pub skip: Vec<String>,
}

impl QuestionArgs {
    /// The questions that are named, in the order of their answers.
    pub fn named(&self) -> Result<Vec<Question>, Failure> {
        let mut all: Vec<Question> = self.invariant.iter().map(Question::invariant).collect();
        all.extend(self.reachable.iter().map(Question::reachable));
        all.extend(self.cover.iter().cloned().map(Question::Apart));
        all.extend(self.ltl.iter().map(Question::ltl));
        all.extend(self.tl.iter().cloned().map(Question::Tl));
        for given in &self.buchi {
            let path = Path::new(given);
            if !path.exists() && path.extension().is_none_or(|extension| extension != "hoa") {
                all.push(Question::deterministic(given)?);
                continue;
            }
            let text = String::from_utf8_lossy(&volee::files::read_bytes(path)?).into_owned();
            all.push(Question::Automaton { name: given.clone(), text });
        }
        all.extend(self.progress.then_some(Question::Progress));
        all.extend(self.acceptance.then_some(Question::Acceptance));
        for given in &self.mu {
            all.push(match given.strip_prefix('@') {
                Some(path) => {
                    let text = files::read_text(Path::new(path))?;
                    Question::Mu { file: Some(path.into()), text }
                }
                None => Question::mu(given),
            });
        }
        Ok(all)
    }

    /// Whether other questions than the usual ones are chosen: those about runs stand for themselves, those
    /// about states come on top.
    pub fn chooses(&self) -> bool {
        let listed = [&self.ltl, &self.tl, &self.property, &self.mu].iter().any(|list| !list.is_empty());
        let about_states = !self.invariant.is_empty() || !self.reachable.is_empty();
        (listed || !self.buchi.is_empty() || self.progress || self.acceptance) && !about_states
    }
}

/// How infinite runs and formulas are dealt with.
#[derive(Debug, Args)]
pub struct TemporalArgs {
    /// Which runs a --tl formula is about: every finite prefix, or whole runs that end
    #[arg(long, value_name = "RUNS", value_parser = named(&RUNS), default_value = "prefixes", help_heading = "Temporal questions")]
    runs: Runs,

    /// What steps of a program are called where formulas name them: by what happens, or by the text of the
    /// statement
    #[arg(long, value_name = "WHAT", value_parser = named(&NAMINGS), default_value = "events", help_heading = "Temporal questions")]
    pub labels: Naming,

    /// Only fair runs count: `weak` (or nothing), no process is for ever able to move without ever moving;
    /// `strong`, none is able again and again without moving again and again
    #[arg(long, value_name = "KIND", value_parser = named(&FAIRNESS), num_args = 0..=1, require_equals = true,
          default_missing_value = "weak", help_heading = "Temporal questions")]
    fair: Option<Fairness>,

    /// How infinite runs are looked for: by components; or by nested depth-first search, which can forget
    /// states to stay within --memory (still exact) and can do with bits (--approximate bitstate; proves
    /// nothing)
    #[arg(long, value_name = "SEARCH", value_parser = named(&EMPTINESS), help_heading = "Temporal questions")]
    emptiness: Option<Emptiness>,

    /// A file of macros that formulas may use, beside the standard ones
    #[arg(long, value_name = "FILE", help_heading = "Formulas")]
    macros: Vec<PathBuf>,

    /// How equations are solved: auto, dfs, bfs, acyclic or economical
    #[arg(long, value_name = "SOLVER", default_value = "auto", help_heading = "Formulas",
          value_parser = named(&SOLVERS))]
    solver: Solver,

    /// Write the part of the system that shows why the first formula is true or false: .aut or .dot
    #[arg(long, value_name = "FILE", help_heading = "Formulas")]
    pub diagnostic: Option<PathBuf>,
}

impl TemporalArgs {
    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), Failure> {
        settings.runs = self.runs;
        settings.fairness = self.fair.unwrap_or_default();
        settings.emptiness = self.emptiness;
        for path in &self.macros {
            settings.macros.push((path.display().to_string(), files::read_text(path)?));
        }
        settings.solver = self.solver;
        settings.diagnostic = self.diagnostic.is_some();
        Ok(())
    }
}

/// Which state is forgotten; for clap an `Option` of another name is no option.
type Policy = Option<Replacement>;

/// What a search remembers of the states it has seen, and which steps it takes.
#[derive(Debug, Clone, Args)]
pub struct StorageArgs {
    /// Go on after an error and report every kind of error there is
    #[arg(long, help_heading = "Questions")]
    all_errors: bool,

    /// Go on until this many different errors are found: other states that are wrong, other cycles
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64),
          conflicts_with = "all_errors", help_heading = "Questions")]
    max_errors: u32,

    /// After the answer, ask once more: the plain program, all its steps, nothing merged, forgotten or
    /// shared; answers that contradict each other are a defect (exit code 4)
    #[arg(long, help_heading = "Questions")]
    audit: bool,

    /// The order of the search: depth-first, or breadth-first for the shortest counterexample, in steps of
    /// the program as it is written
    #[arg(long, value_name = "ORDER", value_parser = named(&ORDERS), default_value = "dfs")]
    search: Order,

    /// Give everything to finding errors: look in all ways at once, and when memory is short go on with many
    /// searches that remember bits; says what it covered, and `holds` only if it has seen all states
    #[arg(long)]
    hunt: bool,

    /// What a depth-first search does when the memory is used up: which state it forgets to make room, or
    /// `none` to end
    #[arg(long, value_name = "POLICY", value_parser = named(&REPLACEMENTS), default_value = "random", help_heading = "Budget")]
    replacement: Policy,

    /// Remember less than the states, so that more of them fit; no error found is then no proof (exit code 3)
    #[arg(long, value_name = "KIND", value_parser = named(&APPROXIMATIONS), help_heading = "Budget")]
    approximate: Option<Approximation>,

    /// Take fewer steps where the order of independent ones does not matter: the same answers from fewer
    /// states
    ///
    /// The default is both, and none with --plain and for a shortest counterexample (--search bfs)
    #[arg(long, value_name = "KIND", value_parser = named(&REDUCTIONS))]
    reduction: Option<Reduction>,

    /// The seed of whatever is left to chance
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "Budget")]
    seed: u64,

    #[command(flatten)]
    pub keeping: KeepingArgs,

    /// Keep the states that memory does not hold in files of this folder: breadth-first and exact
    #[arg(long, value_name = "FOLDER", help_heading = "Long searches")]
    spill: Option<PathBuf>,
}

impl StorageArgs {
    /// Whether a shortest run is found.
    pub fn is_shortest(&self) -> bool {
        self.search == Order::BreadthFirst
    }

    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut Settings) {
        settings.all_errors = self.all_errors;
        settings.max_errors = self.max_errors as usize;
        settings.audit = self.audit;
        settings.order = self.search;
        settings.reduction = self.reduction;
        settings.replacement = self.replacement;
        settings.approximation = self.approximate;
        settings.seed = self.seed;
        settings.spill.clone_from(&self.spill);
        settings.hunt = self.hunt;
    }
}

/// What only families ask for.
#[derive(Debug, Clone, Args)]
pub struct FamiliesArgs {
    /// With --engine families: the process types that come in any number
    #[arg(long, value_name = "PROCTYPE", value_delimiter = ',', help_heading = "Families")]
    for_any: Vec<String>,

    /// How: by turns, backward (bra), Karp–Miller (frakm), Emerson–Namjoshi (fraen), cut-offs (fbra), or
    /// instance by instance
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = named(&METHODS), help_heading = "Families")]
    method: Choice,

    /// Print only the numbers of processes of the smallest violating instance
    #[arg(long, help_heading = "Families")]
    pub sizes: bool,
}

impl FamiliesArgs {
    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut Settings) {
        settings.for_any.clone_from(&self.for_any);
        settings.method = self.method;
        settings.sizes = self.sizes;
    }
}

/// What only unbounded integers ask for.
#[derive(Debug, Clone, Args)]
pub struct CountersArgs {
    /// With --engine counters: the int variables that are unbounded [default: all]
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',', help_heading = "Counters")]
    symbolic: Vec<String>,

    /// Variables whose initial values are left open; the answer says for which of them
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',', help_heading = "Counters")]
    parameter: Vec<String>,

    /// What is known of the initial values, e.g. 'N >= 1'
    #[arg(long, value_name = "EXPR", help_heading = "Counters")]
    assume: Vec<String>,
}

impl CountersArgs {
    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut Settings) {
        settings.symbolic.clone_from(&self.symbolic);
        settings.parameters.clone_from(&self.parameter);
        settings.assumptions.clone_from(&self.assume);
    }
}
