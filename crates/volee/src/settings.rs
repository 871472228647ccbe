//! How a question is to be answered: everything that can be set beside the model and the budget.
//!
//! Each is a [`Setting`] too, so that an engine can say which of them it does not obey.

use std::path::PathBuf;

pub use volee_bes::Solver;
pub use volee_counters::Direction;
pub use volee_families::Choice;
pub use volee_search::{Approximation, Fairness, Order, Reduction, Replacement, Runs};
use volee_system::Budget;

use crate::kept::Keep;
use crate::model::{Naming, Options};

/// How infinite runs are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptiness {
    /// By strongly connected components: every state exactly.
    Components,
    /// By nested depth-first search, which can forget states.
    Nested,
}

/// How questions are to be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The order of the search.
    pub order: Order,
    /// Go on after an error and tell every kind of error there is.
    pub all_errors: bool,
    /// Go on until this many different errors are found.
    pub max_errors: usize,
    /// Which steps of a state are taken; `None` is both kinds of reduction, and all steps of plain models and
    /// for shortest runs.
    pub reduction: Option<Reduction>,
    /// Which state is forgotten when the memory is used up; `None` ends the search.
    pub replacement: Option<Replacement>,
    /// How many states a search may keep, the path included; `None` where memory is counted in bytes.
    pub states: Option<usize>,
    /// Remember less than the states.
    pub approximation: Option<Approximation>,
    /// The seed of whatever is left to chance.
    pub seed: u64,
    /// Which infinite runs count.
    pub fairness: Fairness,
    /// How infinite runs are looked for.
    pub emptiness: Option<Emptiness>,
    /// Which runs a finite-trace formula is about.
    pub runs: Runs,
    /// Files of macros for formulas of the mu-calculus: names and texts.
    pub macros: Vec<(String, String)>,
    /// How equations are solved.
    pub solver: Solver,
    /// Keep the whole part of the system that shows why a formula is true or false.
    pub diagnostic: bool,
    /// The process types that come in any number.
    pub for_any: Vec<String>,
    /// How a family is decided.
    pub method: Choice,
    /// Only the numbers of processes of the smallest violating instance are of interest.
    pub sizes: bool,
    /// The variables that are unbounded; all if none is named.
    pub symbolic: Vec<String>,
    /// Variables whose initial values are left open.
    pub parameters: Vec<String>,
    /// What is known of the initial values.
    pub assumptions: Vec<String>,
    /// Where the search over sets of integers starts.
    pub direction: Direction,
    /// Ask everything once more of the plain program, by a search that takes all steps.
    pub audit: bool,
    /// Count how often each statement is executed, as far as an engine executes statements.
    pub coverage: bool,
    /// Where a search is kept, so that it can go on after an end that nobody wanted.
    pub checkpoint: Option<Keep>,
    /// A folder for the states that memory does not hold.
    pub spill: Option<PathBuf>,
    /// Give everything to finding errors.
    pub hunt: bool,
    /// What was said in so many words, be it the default: nobody may ignore that in silence either.
    pub said: Vec<Setting>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            order: Order::default(),
            all_errors: false,
            max_errors: 1,
            reduction: None,
            replacement: Some(Replacement::default()),
            states: None,
            approximation: None,
            seed: 0,
            fairness: Fairness::None,
            emptiness: None,
            runs: Runs::Prefixes,
            macros: Vec::new(),
            solver: Solver::Auto,
            diagnostic: false,
            for_any: Vec::new(),
            method: Choice::Auto,
            sizes: false,
            symbolic: Vec::new(),
            parameters: Vec::new(),
            assumptions: Vec::new(),
            direction: Direction::default(),
            audit: false,
            coverage: false,
            checkpoint: None,
            spill: None,
            hunt: false,
            said: Vec::new(),
        }
    }
}

/// Everything that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is a field of `Settings`, `Options` or `Budget`, explained there")]
pub enum Setting {
    Defines,
    Plain,
    Copies,
    Capacity,
    Naming,
    Memory,
    Time,
    Depth,
    Order,
    AllErrors,
    MaxErrors,
    Reduction,
    Replacement,
    States,
    Approximation,
    Seed,
    Fairness,
    Emptiness,
    Runs,
    Macros,
    Solver,
    Diagnostic,
    ForAny,
    Method,
    Sizes,
    Symbolic,
    Parameters,
    Assumptions,
    Direction,
    Audit,
    Coverage,
    Checkpoint,
    Spill,
    Hunt,
}

impl Setting {
    /// All of them.
    pub const ALL: [Setting; 34] = [
        Setting::Defines,
        Setting::Plain,
        Setting::Copies,
        Setting::Capacity,
        Setting::Naming,
        Setting::Memory,
        Setting::Time,
        Setting::Depth,
        Setting::Order,
        Setting::AllErrors,
        Setting::MaxErrors,
        Setting::Reduction,
        Setting::Replacement,
        Setting::States,
        Setting::Approximation,
        Setting::Seed,
        Setting::Fairness,
        Setting::Emptiness,
        Setting::Runs,
        Setting::Macros,
        Setting::Solver,
        Setting::Diagnostic,
        Setting::ForAny,
        Setting::Method,
        Setting::Sizes,
        Setting::Symbolic,
        Setting::Parameters,
        Setting::Assumptions,
        Setting::Direction,
        Setting::Audit,
        Setting::Coverage,
        Setting::Checkpoint,
        Setting::Spill,
        Setting::Hunt,
    ];

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Setting::Defines => "a definition",
            Setting::Plain => "a plain model",
            Setting::Copies => "a number of processes",
            Setting::Capacity => "a capacity of channels",
            Setting::Naming => "what steps are called",
            Setting::Memory => "a memory budget",
            Setting::Time => "a time limit",
            Setting::Depth => "a depth limit",
            Setting::Order => "an order of the search",
            Setting::AllErrors => "asking for all errors",
            Setting::MaxErrors => "asking for several errors",
            Setting::Reduction => "a reduction",
            Setting::Replacement => "a replacement policy",
            Setting::States => "memory counted in states",
            Setting::Approximation => "an approximation",
            Setting::Seed => "a seed",
            Setting::Fairness => "fairness",
            Setting::Emptiness => "a search for infinite runs",
            Setting::Runs => "a choice of runs",
            Setting::Macros => "a file of macros",
            Setting::Solver => "a solver",
            Setting::Diagnostic => "a diagnostic",
            Setting::ForAny => "a process type in any number",
            Setting::Method => "a method for families",
            Setting::Sizes => "asking for sizes",
            Setting::Symbolic => "an unbounded variable",
            Setting::Parameters => "a parameter",
            Setting::Assumptions => "an assumption",
            Setting::Direction => "a direction",
            Setting::Audit => "an audit",
            Setting::Coverage => "counting how often statements run",
            Setting::Checkpoint => "keeping the search in a file",
            Setting::Spill => "keeping states on disk",
            Setting::Hunt => "a hunt for errors",
        }
    }
}

/// What has been set, for those who decide whether they obey it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// How questions are to be answered.
    pub settings: &'a Settings,
    /// How the model is read.
    pub options: &'a Options,
    /// What may be used.
    pub budget: &'a Budget,
}

impl Asked<'_> {
    /// Whether it is set to something else than the default, or was said.
    pub fn is_given(&self, setting: Setting) -> bool {
        self.settings.said.contains(&setting) || self.differs(setting)
    }

    fn differs(&self, setting: Setting) -> bool {
        let (s, o, b) = (self.settings, self.options, self.budget);
        let usual = Settings::default();
        match setting {
            Setting::Defines => !o.defines.is_empty(),
            Setting::Plain => o.plain,
            Setting::Copies => !o.copies.is_empty(),
            Setting::Capacity => o.capacity.is_some(),
            Setting::Naming => o.naming != Naming::default(),
            Setting::Memory => b.memory.is_some(),
            Setting::Time => b.time.is_some(),
            Setting::Depth => b.depth.is_some(),
            Setting::Order => s.order != usual.order,
            Setting::AllErrors => s.all_errors,
            Setting::MaxErrors => s.max_errors != usual.max_errors,
            // Every engine takes all steps unless it is told otherwise, so that asking for it is always
            // obeyed.
            Setting::Reduction => s.reduction.is_some_and(|kind| kind != Reduction::None),
            Setting::Replacement => s.replacement != usual.replacement,
            Setting::States => s.states.is_some(),
            Setting::Approximation => s.approximation.is_some(),
            Setting::Seed => s.seed != usual.seed,
            Setting::Fairness => s.fairness != usual.fairness,
            Setting::Emptiness => s.emptiness.is_some(),
            Setting::Runs => s.runs != usual.runs,
            Setting::Macros => !s.macros.is_empty(),
            Setting::Solver => s.solver != usual.solver,
            Setting::Diagnostic => s.diagnostic,
            Setting::ForAny => !s.for_any.is_empty(),
            Setting::Method => s.method != usual.method,
            Setting::Sizes => s.sizes,
            Setting::Symbolic => !s.symbolic.is_empty(),
            Setting::Parameters => !s.parameters.is_empty(),
            Setting::Assumptions => !s.assumptions.is_empty(),
            Setting::Direction => s.direction != usual.direction,
            Setting::Audit => s.audit,
            Setting::Coverage => s.coverage,
            Setting::Checkpoint => s.checkpoint.is_some(),
            Setting::Spill => s.spill.is_some(),
            Setting::Hunt => s.hunt,
        }
    }

    /// All that are set.
    pub fn given(&self) -> Vec<Setting> {
        Setting::ALL.into_iter().filter(|setting| self.is_given(*setting)).collect()
    }
}
