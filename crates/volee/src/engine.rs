//! Who answers, and what each of them cannot be asked: the one place where that is written down.
//!
//! What is refused is told as a value ([`Refusal`]).

use std::path::Path;

use volee_bes::Solver;
use volee_cluster::remote::hosts::Hosts;
use volee_cluster::remote::{ClusterError, Secret};
use volee_search::{Approximation, Fairness, Order};

use crate::question::{Kind, Question};
use crate::refusal::{Refusal, Refused, Why};
use crate::settings::{Asked, Emptiness, Setting};

/// Who answers.
#[derive(Debug, Clone, Default)]
pub enum Engine {
    /// Whoever answers questions of that kind best.
    #[default]
    Auto,
    /// A search of all states: of a few by one thread, of many by all cores.
    Explicit,
    /// The same by this many threads at most.
    Workers(usize),
    /// The same by processes elsewhere.
    Cluster(Cluster),
    /// One answer for every number of processes.
    Families,
    /// Sets of integers, taken as unbounded.
    Counters,
    /// Channels, taken as unbounded.
    Channels,
    /// Boolean equations and parity games.
    Equations,
}

/// Processes elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    /// Their addresses.
    pub workers: Vec<String>,
    /// What all of them know.
    pub secret: Secret,
    /// How often the others are asked again when one is lost.
    pub restarts: u32,
}

impl Cluster {
    /// The workers of a host file, with the secret of `secret_file` or of the file that the host file names.
    ///
    /// # Errors
    /// A file cannot be read or is not what it should be.
    pub fn read(hosts: &Path, secret_file: Option<&Path>) -> Result<Self, ClusterError> {
        let hosts = Hosts::read(hosts)?;
        let file = secret_file.map(Path::to_path_buf).or(hosts.secret_file);
        let secret = file.map(|file| Secret::read(&file)).transpose()?.unwrap_or_default();
        Ok(Cluster { workers: hosts.workers, secret, restarts: 0 })
    }
}

/// The ways in which questions are answered: an engine, and what it does for a kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// One search of all reachable states, for all questions about them together.
    Search,
    /// A search for infinite runs that a claim accepts.
    Cycles,
    /// A search beside a monitor of finite runs.
    Monitor,
    /// A search beside a deterministic automaton.
    Deterministic,
    Equations,
    SharedSearch,
    SharedEquations,
    /// What one worker does for [`Way::Cycles`], [`Way::Monitor`] and [`Way::Deterministic`], done by
    /// several.
    SharedCycles,
    SharedMonitor,
    SharedDeterministic,
    Families,
    Counters,
    /// What counters do for finite-trace formulas, and for those of the mu-calculus.
    CountedTraces,
    CountedModal,
    Channels,
}

const REACHABILITY: &[Kind] = &[Kind::Deadlock, Kind::Assertions, Kind::Invariant, Kind::Reachable];
const INFINITE: &[Kind] = &[Kind::Ltl, Kind::Never, Kind::Progress, Kind::Acceptance];
/// Questions of which several errors can be told.
const SEVERAL: &[Kind] =
    &[Kind::Deadlock, Kind::Assertions, Kind::Invariant, Kind::Ltl, Kind::Tl, Kind::Never];
/// Questions that may be about single steps.
const STEPS: &[Kind] = &[Kind::Ltl, Kind::Tl, Kind::Automaton, Kind::Mu];
const OF_FAMILIES: &[Kind] = &[
    Kind::Deadlock,
    Kind::Assertions,
    Kind::Invariant,
    Kind::Apart,
    Kind::Ltl,
    Kind::Tl,
    Kind::Automaton,
    Kind::Never,
    Kind::Coverable,
];
const OF_COUNTERS: &[Kind] = &[
    Kind::Deadlock,
    Kind::Assertions,
    Kind::RuntimeErrors,
    Kind::Invariant,
    Kind::Reachable,
    Kind::Target,
    Kind::Ltl,
];

impl Engine {
    /// All engines by name, in the order in which they are told to people.
    pub const NAMES: [&'static str; 5] = ["explicit", "families", "channels", "counters", "equations"];

    /// The engine of this name.
    pub fn named(name: &str) -> Option<Engine> {
        Some(match name {
            "auto" => Engine::Auto,
            "explicit" => Engine::Explicit,
            "families" => Engine::Families,
            "channels" => Engine::Channels,
            "counters" => Engine::Counters,
            "equations" => Engine::Equations,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Auto | Engine::Explicit => "explicit",
            Engine::Workers(_) | Engine::Cluster(_) => "workers",
            Engine::Families => "families",
            Engine::Counters => "counters",
            Engine::Channels => "channels",
            Engine::Equations => "equations",
        }
    }

    /// How it answers a question.
    fn way_of(&self, question: &Question) -> Result<Way, Refusal> {
        self.way(question.kind()).map_err(|refusal| match refusal.what {
            Refused::Question(kind) if question.claim().is_some() => {
                Refusal { what: Refused::Claim(kind), ..refusal }
            }
            _ => refusal,
        })
    }

    /// How it answers questions of a kind.
    pub(crate) fn way(&self, kind: Kind) -> Result<Way, Refusal> {
        let way = match self {
            Engine::Auto => Some(usual_way(kind)),
            Engine::Explicit => {
                Some(usual_way(kind)).filter(|way| way.engine() == "explicit" || *way == Way::Equations)
            }
            // One worker is the search that one thread makes.
            Engine::Workers(1) => {
                Some(usual_way(kind)).filter(|way| way.engine() == "explicit" || *way == Way::Equations)
            }
            Engine::Workers(_) if REACHABILITY.contains(&kind) => Some(Way::Search),
            // Threads share memory for these as well.
            Engine::Workers(_) if INFINITE.contains(&kind) => Some(Way::Cycles),
            Engine::Workers(_) if kind == Kind::Mu => Some(Way::Equations),
            Engine::Workers(_) | Engine::Cluster(_) => match kind {
                Kind::Mu => Some(Way::SharedEquations),
                kind if INFINITE.contains(&kind) => Some(Way::SharedCycles),
                Kind::Tl => Some(Way::SharedMonitor),
                Kind::Automaton => Some(Way::SharedDeterministic),
                _ => REACHABILITY.contains(&kind).then_some(Way::SharedSearch),
            },
            Engine::Families => OF_FAMILIES.contains(&kind).then_some(Way::Families),
            Engine::Counters if kind == Kind::Tl => Some(Way::CountedTraces),
            Engine::Counters if kind == Kind::Mu => Some(Way::CountedModal),
            Engine::Counters => OF_COUNTERS.contains(&kind).then_some(Way::Counters),
            Engine::Channels => (kind == Kind::Bounded).then_some(Way::Channels),
            Engine::Equations => (kind == Kind::Mu).then_some(Way::Equations),
        };
        let does = usual_way(kind).engine();
        way.ok_or(Refusal {
            what: Refused::Question(kind),
            why: Why::OtherEngine { asked: self.name(), does },
        })
    }

    /// Why a question cannot be asked in this way: the engine does not answer it, or would not obey something
    /// that is set.
    pub fn refuses(&self, question: &Question, asked: &Asked<'_>) -> Option<Refusal> {
        let way = match self.way_of(question) {
            Ok(way) => way,
            Err(refusal) => return Some(refusal),
        };
        asked
            .given()
            .into_iter()
            .find_map(|setting| way.ignores(setting, asked))
            .or_else(|| contradiction(asked))
    }

    /// Why questions cannot be asked together in this way: some question is not answered, or something that
    /// is set is obeyed for none of them.
    pub(crate) fn refuses_all(&self, questions: &[Question], asked: &Asked<'_>) -> Option<Refusal> {
        let mut ways = Vec::new();
        for question in questions {
            match self.way_of(question) {
                Ok(way) => ways.push(way),
                Err(refusal) => return Some(refusal),
            }
        }
        for setting in asked.given() {
            let ignored: Vec<Refusal> = ways.iter().filter_map(|way| way.ignores(setting, asked)).collect();
            // What a model means concerns every question; how a search is done concerns those that are
            // searches. What is kept must be all of what is asked.
            let everybody =
                matches!(setting, Setting::Copies | Setting::Capacity | Setting::Checkpoint | Setting::Spill);
            if (ignored.len() == ways.len() || everybody)
                && let Some(first) = ignored.into_iter().next()
            {
                return Some(first);
            }
        }
        contradiction(asked).or_else(|| kept_apart(&ways, asked))
    }
}

/// Why what is asked is not kept: it is more than one search, or one by whole graphs.
fn kept_apart(ways: &[Way], asked: &Asked<'_>) -> Option<Refusal> {
    asked.settings.checkpoint.as_ref()?;
    let refused = |why| Some(Refusal { what: Refused::Setting(Setting::Checkpoint), why });
    let of_runs = ways.iter().filter(|way| !matches!(way, Way::Search | Way::SharedSearch)).count();
    if of_runs + usize::from(of_runs < ways.len()) > 1 {
        return refused(Why::OneSearch);
    }
    if ways.contains(&Way::Cycles) {
        let s = asked.settings;
        if s.fairness == Fairness::Strong {
            return refused(Why::NotWith(Setting::Fairness));
        }
        if s.order == Order::BreadthFirst {
            return refused(Why::NotWith(Setting::Order));
        }
        if s.emptiness == Some(Emptiness::Nested) {
            return refused(Why::NotWith(Setting::Emptiness));
        }
    }
    None
}

/// Who answers a kind of question unless somebody else is asked.
fn usual_way(kind: Kind) -> Way {
    match kind {
        Kind::Deadlock | Kind::Assertions | Kind::Invariant | Kind::Reachable => Way::Search,
        Kind::Ltl | Kind::Never | Kind::Progress | Kind::Acceptance => Way::Cycles,
        Kind::Tl => Way::Monitor,
        Kind::Automaton => Way::Deterministic,
        Kind::Mu => Way::Equations,
        Kind::Apart | Kind::Coverable => Way::Families,
        Kind::RuntimeErrors | Kind::Target => Way::Counters,
        Kind::Bounded => Way::Channels,
    }
}

/// What makes no sense together, whoever is asked.
fn contradiction(asked: &Asked<'_>) -> Option<Refusal> {
    let s = asked.settings;
    let nested = s.emptiness == Some(Emptiness::Nested) || s.approximation == Some(Approximation::Bitstate);
    let pair = |what, other| Some(Refusal { what: Refused::Setting(what), why: Why::NotWith(other) });
    if s.approximation.is_some() && s.emptiness == Some(Emptiness::Components) {
        return pair(Setting::Emptiness, Setting::Approximation);
    }
    if s.fairness != Fairness::None && s.approximation.is_some() {
        return pair(Setting::Fairness, Setting::Approximation);
    }
    if s.fairness != Fairness::None && nested {
        return pair(Setting::Fairness, Setting::Emptiness);
    }
    if asked.is_given(Setting::Replacement) && s.approximation.is_some() {
        return pair(Setting::Replacement, Setting::Approximation);
    }
    if s.states.is_some() {
        let others = [Setting::Replacement, Setting::Approximation, Setting::Order, Setting::Reduction];
        if let Some(other) = others.into_iter().find(|other| asked.is_given(*other)) {
            return pair(Setting::States, other);
        }
    }
    let kept = s.checkpoint.as_ref().map(|_| Setting::Checkpoint);
    let on_disk = s.spill.as_ref().map(|_| Setting::Spill);
    if let Some(what) = kept.or(on_disk).filter(|_| s.approximation.is_some()) {
        return pair(what, Setting::Approximation);
    }
    // What was counted before is not in the file, and an audit is another search.
    if let Some(other) = [Setting::Coverage, Setting::Audit, Setting::Spill, Setting::States]
        .into_iter()
        .find(|s| asked.is_given(*s))
        && kept.is_some()
    {
        return pair(Setting::Checkpoint, other);
    }
    if let Some(other) =
        [Setting::Replacement, Setting::Reduction, Setting::States].into_iter().find(|s| asked.is_given(*s))
        && on_disk.is_some()
    {
        return pair(Setting::Spill, other);
    }
    // A hunt has its own orders and its own memory, ends at the first error and knows no depth.
    if s.hunt {
        let others = [
            Setting::Order,
            Setting::Depth,
            Setting::AllErrors,
            Setting::MaxErrors,
            Setting::Replacement,
            Setting::States,
            Setting::Approximation,
            Setting::Coverage,
            Setting::Checkpoint,
            Setting::Spill,
        ];
        if let Some(other) = others.into_iter().find(|other| asked.is_given(*other)) {
            return pair(Setting::Hunt, other);
        }
    }
    if asked.is_given(Setting::Parameters) && asked.is_given(Setting::Direction) {
        return pair(Setting::Direction, Setting::Parameters);
    }
    None
}

impl Way {
    /// The engine behind it, as answers name it.
    pub fn engine(self) -> &'static str {
        match self {
            Way::Search | Way::Cycles | Way::Monitor | Way::Deterministic => "explicit",
            Way::SharedSearch | Way::SharedCycles | Way::SharedMonitor | Way::SharedDeterministic => {
                "explicit"
            }
            Way::Equations | Way::SharedEquations => "equations",
            Way::Families => "families",
            Way::Counters | Way::CountedTraces | Way::CountedModal => "counters",
            Way::Channels => "channels",
        }
    }

    /// Why something that is set would make no difference here, if it would not.
    fn ignores(self, setting: Setting, asked: &Asked<'_>) -> Option<Refusal> {
        self.obeys(setting, asked).err().map(|why| Refusal { what: Refused::Setting(setting), why })
    }

    /// How one worker alone would do what several do for questions about runs.
    fn alone(self) -> Option<Way> {
        match self {
            Way::SharedCycles => Some(Way::Cycles),
            Way::SharedMonitor => Some(Way::Monitor),
            Way::SharedDeterministic => Some(Way::Deterministic),
            _ => None,
        }
    }

    /// What several workers make of a setting for a question that one worker alone would answer in this way.
    fn obeyed_together(self, alone: Way, setting: Setting, asked: &Asked<'_>) -> Result<(), Why> {
        let because = match setting {
            Setting::Depth => "several workers do not know how deep they are together",
            Setting::Order => "several workers have no common order",
            Setting::MaxErrors if asked.settings.max_errors > 1 => {
                "workers look for one run that is an error"
            }
            Setting::Replacement | Setting::Approximation => "workers keep every state",
            Setting::Seed => "nothing is left to chance",
            Setting::Coverage => "each worker knows its own statements only",
            Setting::Emptiness => "workers take away what is on no cycle",
            Setting::Fairness if asked.settings.fairness == Fairness::Strong => {
                "strong fairness needs all states in one place"
            }
            _ => return alone.obeys(setting, asked),
        };
        Err(self.no_effect(because))
    }

    fn obeys(self, setting: Setting, asked: &Asked<'_>) -> Result<(), Why> {
        match (self, setting) {
            (Way::CountedTraces, Setting::Runs) | (Way::CountedModal, Setting::Macros) => return Ok(()),
            (Way::CountedTraces | Way::CountedModal, _) => return Way::Counters.obeys(setting, asked),
            _ => {}
        }
        if let Some(alone) = self.alone() {
            return self.obeyed_together(alone, setting, asked);
        }
        let s = asked.settings;
        let searches = matches!(self, Way::Search | Way::Monitor);
        let nested =
            s.emptiness == Some(Emptiness::Nested) || s.approximation == Some(Approximation::Bitstate);
        match setting {
            Setting::Defines | Setting::Plain | Setting::Copies | Setting::Memory | Setting::Time => Ok(()),
            Setting::Capacity => match self {
                Way::Channels => Err(self.no_effect("channels are taken as unbounded")),
                _ => Ok(()),
            },
            Setting::Naming => match self {
                Way::Cycles | Way::Monitor | Way::Deterministic => Ok(()),
                Way::Equations | Way::SharedEquations => Ok(()),
                Way::Families => Err(self.no_effect("events of a family are the texts of statements")),
                _ => Err(self.not_a_search(STEPS)),
            },
            Setting::Depth => match self {
                Way::Search | Way::Monitor => Ok(()),
                Way::Cycles if !nested => Ok(()),
                Way::Cycles => Err(Why::NotWith(Setting::Emptiness)),
                Way::SharedSearch => {
                    Err(self.no_effect("several workers do not know how deep they are together"))
                }
                _ => Err(self.not_a_search(REACHABILITY)),
            },
            Setting::Order => match self {
                Way::Search | Way::Monitor => Ok(()),
                Way::Cycles if s.order == Order::DepthFirst => Ok(()),
                Way::Cycles if nested => Err(Why::NotWith(Setting::Emptiness)),
                Way::Cycles if s.fairness != Fairness::None => Err(Why::NotWith(Setting::Fairness)),
                Way::Cycles => Ok(()),
                Way::SharedSearch => Err(self.no_effect("several workers have no common order")),
                _ => Err(self.not_a_search(REACHABILITY)),
            },
            Setting::AllErrors if matches!(self, Way::Search | Way::SharedSearch) => Ok(()),
            Setting::AllErrors => Err(self.not_a_search(REACHABILITY)),
            Setting::MaxErrors if s.max_errors == 1 && self.engine() == "explicit" => Ok(()),
            Setting::MaxErrors => match self {
                Way::Search | Way::Monitor => Ok(()),
                Way::Cycles if nested => Err(Why::NotWith(Setting::Emptiness)),
                Way::Cycles if s.order == Order::BreadthFirst => Err(Why::NotWith(Setting::Order)),
                Way::Cycles if s.fairness == Fairness::Strong => Err(Why::NotWith(Setting::Fairness)),
                Way::Cycles => Ok(()),
                Way::SharedSearch => Err(self.no_effect("workers find the first error or all")),
                _ => Err(self.not_a_search(SEVERAL)),
            },
            Setting::Reduction => match self {
                Way::Search => Ok(()),
                Way::Cycles if !nested && s.fairness == Fairness::None && s.order == Order::DepthFirst => {
                    Ok(())
                }
                Way::SharedSearch => Err(self.no_effect("workers take all steps")),
                _ => Err(self.not_a_search(REACHABILITY)),
            },
            Setting::Replacement => match self {
                Way::Search | Way::Monitor if s.order == Order::BreadthFirst => {
                    Err(Why::NotWith(Setting::Order))
                }
                Way::Search | Way::Monitor => Ok(()),
                Way::Cycles if nested => Ok(()),
                Way::Cycles => Err(Why::Needs(Setting::Emptiness)),
                _ => Err(self.not_a_search(REACHABILITY)),
            },
            Setting::States if searches => Ok(()),
            Setting::States => Err(self.not_a_search(REACHABILITY)),
            Setting::Approximation => match self {
                Way::Cycles if s.approximation == Some(Approximation::Compact) => Err(self
                    .no_effect("infinite runs are looked for with bits or exactly, not with fingerprints")),
                Way::Cycles => Ok(()),
                _ if searches => Ok(()),
                _ => Err(self.not_a_search(REACHABILITY)),
            },
            Setting::Seed => match self {
                Way::Search | Way::Monitor | Way::Cycles | Way::Deterministic => Ok(()),
                _ => Err(self.no_effect("nothing is left to chance")),
            },
            Setting::Coverage => match self {
                Way::Search | Way::Monitor | Way::Cycles | Way::Deterministic => Ok(()),
                _ => Err(self.no_effect("it does not execute statements one by one")),
            },
            Setting::Checkpoint
                if matches!(
                    self,
                    Way::Cycles
                        | Way::Monitor
                        | Way::Deterministic
                        | Way::Equations
                        | Way::SharedSearch
                        | Way::SharedEquations
                ) =>
            {
                Ok(())
            }
            Setting::Checkpoint | Setting::Spill => match self {
                Way::Search => Ok(()),
                Way::SharedSearch | Way::SharedEquations => {
                    Err(self.no_effect("workers keep their states in memory: ask on one machine"))
                }
                Way::Families | Way::Counters | Way::Channels => Err(self.not_a_search(REACHABILITY)),
                _ => Err(self.no_effect("only the states of a search for states go to the disk")),
            },
            Setting::Hunt if self == Way::Search => Ok(()),
            Setting::Hunt => Err(self.not_a_search(REACHABILITY)),
            Setting::Fairness | Setting::Emptiness if self == Way::Cycles => Ok(()),
            Setting::Fairness | Setting::Emptiness => Err(self.not_a_search(INFINITE)),
            Setting::Runs if self == Way::Monitor => Ok(()),
            Setting::Runs if self == Way::Families => {
                Err(self.no_effect("it decides about finite beginnings of runs, not about whole runs"))
            }
            Setting::Runs => Err(self.not_a_search(&[Kind::Tl])),
            Setting::Solver if self == Way::SharedEquations && s.solver != Solver::Auto => {
                Err(self.no_effect("several workers solve equations breadth first"))
            }
            Setting::Diagnostic if self == Way::Families => Ok(()),
            Setting::Macros | Setting::Solver | Setting::Diagnostic => match self {
                Way::Equations | Way::SharedEquations => Ok(()),
                _ => Err(Why::NotAsked(&[Kind::Mu])),
            },
            Setting::Audit => match self {
                Way::Families | Way::Counters | Way::Channels => {
                    Err(self.no_effect("it answers for more than one search of the model can look through"))
                }
                _ => Ok(()),
            },
            Setting::ForAny | Setting::Method | Setting::Sizes => self.only(Way::Families),
            Setting::Symbolic | Setting::Parameters | Setting::Assumptions | Setting::Direction => {
                self.only(Way::Counters)
            }
        }
    }

    fn only(self, way: Way) -> Result<(), Why> {
        match self == way {
            true => Ok(()),
            false => Err(Why::OtherEngine { asked: self.engine(), does: way.engine() }),
        }
    }

    fn no_effect(self, because: &'static str) -> Why {
        let asked = match self {
            Way::SharedSearch | Way::SharedEquations => "workers",
            shared if shared.alone().is_some() => "workers",
            _ => self.engine(),
        };
        Why::NoEffect { asked, because }
    }

    /// It is for searches: another engine's business, or that of other questions of the same engine.
    fn not_a_search(self, kinds: &'static [Kind]) -> Why {
        match self {
            Way::Search | Way::Cycles | Way::Monitor | Way::Deterministic | Way::Equations => {
                Why::NotAsked(kinds)
            }
            Way::SharedSearch
            | Way::SharedEquations
            | Way::SharedCycles
            | Way::SharedMonitor
            | Way::SharedDeterministic => Why::OtherEngine { asked: "workers", does: "explicit" },
            _ => Why::OtherEngine { asked: self.engine(), does: "explicit" },
        }
    }
}
