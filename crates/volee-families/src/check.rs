//! One question, one answer: runs an engine, or several by turns, and believes nobody.
//!
//! A proof counts when its certificate is re-checked, a violation when its run is replayed on a concrete
//! instance of the net as the user wrote it. A violation is then made small: fewer processes where a search
//! of smaller instances finds that they suffice, and a shortest run for that number.

use volee_system::{Budget, Limit, Meter, Progress, Reason, ReasonKind, Verdict, Violation};

use crate::FamilyError;
use crate::answer::{Answer, Counterexample, Method, Outcome, Statistics};
use crate::backward::Backward;
use crate::certificate::Certificate;
use crate::cutoff::{CutOff, Erg, Why, cut_off};
use crate::emerson_namjoshi::{EmersonNamjoshi, Maximal, emerson_namjoshi};
use crate::exact::{self, Exactly};
use crate::instance::{Found, search_instance, witness};
use crate::karp_miller::karp_miller;
use crate::omega_tree::OmegaTree;
use crate::sizes::Sizes;
use volee_nets::Net;

/// Which engine to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// Backward, Emerson–Namjoshi and cut-offs by turns, until one answers.
    #[default]
    Auto,
    /// This one.
    Only(Method),
}

/// The checked answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// For reports: the witness is one of [`Instance::new`](volee_nets::Instance::new) with the marking of
    /// `counterexample`.
    pub verdict: Verdict,
    /// The proof, where it holds.
    pub certificate: Option<Certificate>,
    /// The instance and its run, where it is violated.
    pub counterexample: Option<Counterexample>,
    /// Whether all smaller instances were searched and are good.
    pub least: bool,
    /// Who answered.
    pub method: Method,
    /// What it took.
    pub statistics: Statistics,
    /// How a cut-off was found, where one was.
    pub why: Option<Box<Why>>,
}

/// Markings stored while one instance is searched, and in all of them together, to make a violation small.
const SMALL_SEARCH: usize = 20_000;
const SMALL_SEARCHES: usize = 200_000;

/// Decides whether any target of the net can be reached, for every initial marking.
///
/// # Errors
/// The net is malformed.
pub fn check(
    net: &Net,
    choice: Choice,
    budget: Budget,
    progress: &mut dyn Progress,
) -> Result<Checked, FamilyError> {
    net.validate()?;
    net.is_additive().map_err(|wrong| FamilyError::Refused(vec![wrong]))?;
    let meter = Meter::start(budget);
    let relaxed = net.relaxed();
    let outcome = match choice {
        Choice::Auto => by_turns(&relaxed, &meter, progress),
        Choice::Only(Method::Backward) => Backward::new(&relaxed).run(&meter, progress),
        Choice::Only(Method::KarpMiller) => karp_miller(&relaxed, &meter, progress),
        Choice::Only(Method::EmersonNamjoshi) => emerson_namjoshi(&relaxed, &meter, progress),
        Choice::Only(Method::CutOff) => cut_off(&relaxed, &meter, progress),
        Choice::Only(Method::Instances) => instances(net, &meter),
        Choice::Only(Method::Sets) => sets(net, &meter),
    };
    let Outcome { answer, method, statistics, why } = outcome;
    let mut checked = Checked {
        verdict: Verdict::Holds,
        certificate: None,
        counterexample: None,
        least: false,
        method,
        statistics,
        why,
    };
    match answer {
        Answer::Unknown(limit) => checked.verdict = Verdict::Unknown(limit),
        Answer::Holds(certificate @ Certificate::Sets { .. }) => checked.certificate = Some(certificate),
        Answer::Holds(certificate) => match certificate.check(&relaxed) {
            Ok(()) => checked.certificate = Some(certificate),
            Err(error) => {
                checked.verdict = Verdict::Unknown(Limit::Other { message: error.to_string() });
            }
        },
        Answer::Violated(example) => violated(net, example, &meter, &mut checked),
    }
    Ok(checked)
}

fn violated(net: &Net, example: Counterexample, meter: &Meter, checked: &mut Checked) {
    let (example, least) = match witness(net, &example) {
        Ok(_) => smaller(net, example, meter),
        // Only the net with its upper bounds relaxed does this.
        Err(_) => match few_instances(net, meter) {
            Some(found) => {
                checked.method = Method::Instances;
                (found, true)
            }
            None => match exact::decide(net, meter) {
                Exactly::Violated(found) => {
                    checked.method = Method::Sets;
                    smaller(net, found, meter)
                }
                Exactly::Holds { sets, control } => {
                    checked.method = Method::Sets;
                    checked.certificate = Some(Certificate::Sets { sets, control });
                    return;
                }
                Exactly::Unknown(limit) => {
                    checked.verdict = Verdict::Unknown(limit);
                    return;
                }
            },
        },
    };
    match witness(net, &example) {
        Ok(witness) => {
            let target = &net.targets[example.target].name;
            let reason =
                Reason { kind: ReasonKind::Reachable, message: format!("{target} is reached"), place: None };
            checked.verdict = Verdict::Violated(vec![Violation { reason, witness }]);
            checked.counterexample = Some(example);
            checked.least = least;
        }
        Err(message) => checked.verdict = Verdict::Unknown(Limit::Other { message }),
    }
}

/// Looks for a violation with fewer processes, and for a shortest run; also says whether no smaller instance
/// has one.
fn smaller(net: &Net, example: Counterexample, meter: &Meter) -> (Counterexample, bool) {
    let mut left = affordable(net, meter, SMALL_SEARCHES);
    let mut certain = true;
    let total: u64 = example.marking.iter().map(|&n| u64::from(n)).sum();
    for (initial, marking) in Sizes::new(net, 400) {
        let size: u64 = marking.iter().map(|&n| u64::from(n)).sum();
        if size > total || left == 0 || meter.check().is_err() {
            break;
        }
        let limit = SMALL_SEARCH.min(left);
        match search_instance(net, &marking, limit) {
            Found::Bad { trace, target } => {
                return (Counterexample { initial, marking, trace, target }, certain);
            }
            Found::Nothing => left = left.saturating_sub(500),
            Found::TooMany => {
                certain = false;
                left -= limit;
            }
        }
    }
    (example, false)
}

/// The smallest instances, which show most violations there are.
fn few_instances(net: &Net, meter: &Meter) -> Option<Counterexample> {
    const FEW: usize = 12;
    let limit = affordable(net, meter, SMALL_SEARCH);
    for (initial, marking) in Sizes::new(net, FEW) {
        meter.check().ok()?;
        if let Found::Bad { trace, target } = search_instance(net, &marking, limit) {
            return Some(Counterexample { initial, marking, trace, target });
        }
    }
    None
}

/// How many markings fit into the memory budget, at most `wanted`.
fn affordable(net: &Net, meter: &Meter, wanted: usize) -> usize {
    let each = net.places.len() as u64 * 8 + 160;
    let fit = meter.budget().memory.map_or(u64::MAX, |bytes| bytes / each);
    wanted.min(usize::try_from(fit).unwrap_or(usize::MAX))
}

/// Sets of vectors alone.
fn sets(net: &Net, meter: &Meter) -> Outcome {
    let answer = match exact::decide(net, meter) {
        Exactly::Holds { sets, control } => Answer::Holds(Certificate::Sets { sets, control }),
        Exactly::Violated(example) => Answer::Violated(example),
        Exactly::Unknown(limit) => Answer::Unknown(limit),
    };
    Outcome { answer, method: Method::Sets, statistics: Statistics::default(), why: None }
}

/// Explicit search of instances of growing size: the last resort where nothing is monotone.
fn instances(net: &Net, meter: &Meter) -> Outcome {
    let mut statistics = Statistics::default();
    let mut answer = None;
    let limit = affordable(net, meter, SMALL_SEARCHES);
    for (initial, marking) in Sizes::new(net, usize::MAX) {
        if let Err(limit) = meter.check() {
            answer = Some(Answer::Unknown(limit));
            break;
        }
        statistics.states += 1;
        match search_instance(net, &marking, limit) {
            Found::Bad { trace, target } => {
                answer = Some(Answer::Violated(Counterexample { initial, marking, trace, target }));
                break;
            }
            Found::Nothing => {}
            Found::TooMany => statistics.pruned += 1,
        }
        if statistics.states >= 300 {
            break;
        }
    }
    let answer = answer.unwrap_or_else(|| {
        let message = format!(
            "{} instances were searched and none is bad, which proves nothing for larger ones",
            statistics.states
        );
        Answer::Unknown(Limit::Other { message })
    });
    Outcome { answer, method: Method::Instances, statistics, why: None }
}

/// Gives each engine a slice of work in turn, the slices growing, so that the total is a small multiple of
/// the fastest.
fn by_turns(net: &Net, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
    let mut backward = Backward::new(net);
    let mut forward: EmersonNamjoshi<'_> = OmegaTree::new(net, Maximal::default());
    let mut cut = CutOff::new(net);
    let mut turns = [true; 3];
    let mut slice = 64;
    loop {
        for turn in 0..3 {
            if !turns[turn] {
                continue;
            }
            let (answer, method, statistics) = match turn {
                0 => (backward.advance(slice, meter), Method::Backward, backward.statistics()),
                1 => (forward.advance(slice / 4, meter), Method::EmersonNamjoshi, forward.statistics()),
                _ => (cut.advance(1, meter), Method::CutOff, cut.statistics()),
            };
            progress.report(&volee_system::Snapshot {
                states: statistics.states,
                transitions: statistics.transitions,
                ..volee_system::Snapshot::default()
            });
            match answer {
                // The others may still answer, unless it is the clock that ended this one.
                Some(Answer::Unknown(limit)) => {
                    turns[turn] = false;
                    if meter.check().is_err() || turns == [false; 3] || (turn != 2 && !turns[0] && !turns[1])
                    {
                        return Outcome { answer: Answer::Unknown(limit), method, statistics, why: None };
                    }
                }
                Some(answer) => {
                    let own =
                        |erg: Option<&Erg>| Why { inductions: cut.inductions().to_vec(), erg: erg.cloned() };
                    let why = (turn == 2).then(|| Box::new(own(cut.erg())));
                    return Outcome { answer, method, statistics, why };
                }
                None => {}
            }
        }
        slice += slice / 2;
    }
}
