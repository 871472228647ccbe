//! A run that grows step by step and can shrink again: what random and interactive simulation share.
//!
//! ```
//! use volee::{Source, walk::Walk};
//!
//! let mut model = Source::open("../../models/demo/courier.pml").expect("it is there").plain().model().expect("it is sound");
//! let mut walk = Walk::new(model.draft.system(), 7).expect("it starts somewhere");
//! let ending = walk.at_random(model.draft.system(), 20, &|| false);
//! assert!(walk.len() <= 20, "{}", ending.word());
//! ```

use volee_report::{Claim, Kind};
use volee_system::{
    Action, Diagnostic, Fault, Random, Reason, ReasonKind, Step, System, Witness, collect_initial,
    collect_steps,
};

/// How a simulation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// No step is possible, as it should be.
    ValidEnd,
    /// No step is possible, though one should be.
    Deadlock,
    /// A step went wrong.
    Fault(Fault),
    /// As many steps were taken as were asked for.
    Steps,
    /// The user had enough.
    Stopped,
}

impl Ending {
    /// In a word, for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Ending::ValidEnd => "end",
            Ending::Deadlock => "deadlock",
            Ending::Fault(_) => "fault",
            Ending::Steps => "steps",
            Ending::Stopped => "stopped",
        }
    }

    /// What the run shows, if anything.
    pub fn claim(&self) -> Option<Claim> {
        match self {
            Ending::Deadlock => Some(Claim::new(Kind::Deadlock, "")),
            Ending::Fault(_) => Some(Claim::new(Kind::Assertions, "")),
            _ => None,
        }
    }

    /// What is wrong with the end of the run, if anything is.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Ending::Deadlock => Some(Reason {
                kind: ReasonKind::InvalidEndState,
                message: "no step is possible, and this is not a valid end".into(),
                place: None,
            }),
            Ending::Fault(fault) => Some(fault.clone().into()),
            _ => None,
        }
    }
}

/// A run under construction.
#[derive(Debug, Clone)]
pub struct Walk {
    initial: Vec<u8>,
    taken: Vec<Taken>,
    /// What was gone back over, the next step last, as long as nothing else was done since.
    undone: Vec<Taken>,
    random: Random,
}

#[derive(Debug, Clone)]
struct Taken {
    ordinal: u32,
    state: Vec<u8>,
    fault: Option<Fault>,
}

impl Walk {
    /// A walk that has not left the first initial state.
    ///
    /// # Errors
    /// There is none.
    pub fn new(system: &mut dyn System, seed: u64) -> Result<Walk, Diagnostic> {
        let initial = collect_initial(system).into_iter().next();
        let initial = initial.ok_or_else(|| Diagnostic::error("the model has no initial state", None))?;
        Ok(Walk { initial, taken: Vec::new(), undone: Vec::new(), random: Random::new(seed) })
    }

    /// The state the walk has reached.
    pub fn state(&self) -> &[u8] {
        self.taken.last().map_or(&self.initial, |t| &t.state)
    }

    /// The state after this many steps.
    pub fn state_after(&self, steps: usize) -> &[u8] {
        steps.checked_sub(1).map_or(&self.initial, |last| &self.taken[last].state)
    }

    /// Whether no step was taken yet.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// How many steps were taken.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// The error met in the last step.
    pub fn fault(&self) -> Option<&Fault> {
        self.taken.last().and_then(|t| t.fault.as_ref())
    }

    /// Goes back until this many steps are left.
    pub fn truncate(&mut self, steps: usize) {
        let from = steps.min(self.taken.len());
        self.undone.extend(self.taken.drain(from..).rev());
    }

    /// Takes again this many of the steps that were gone back over; tells how many there were.
    pub fn redo(&mut self, steps: usize) -> usize {
        let from = self.undone.len().saturating_sub(steps);
        let before = self.taken.len();
        self.taken.extend(self.undone.drain(from..).rev());
        self.taken.len() - before
    }

    /// Takes one of the steps that `collect_steps` lists for the current state.
    pub fn take(&mut self, system: &dyn System, ordinal: usize, (step, state): (Step, Vec<u8>)) {
        let fault = step.fault.map(|f| system.fault(f));
        // The step that was gone back over leads on to those after it; any other makes them history.
        if self.undone.pop().is_some_and(|next| next.state != state || next.ordinal as usize != ordinal) {
            self.undone.clear();
        }
        self.taken.push(Taken { ordinal: ordinal as u32, state, fault });
    }

    /// One of `choices` numbers.
    pub fn draw(&mut self, choices: usize) -> usize {
        self.random.part_of(choices as u64) as usize
    }

    /// Takes random steps until there are this many, or none is possible, or one goes wrong, or the user had
    /// enough.
    pub fn at_random(&mut self, system: &mut dyn System, steps: usize, stop: &dyn Fn() -> bool) -> Ending {
        while self.len() < steps {
            if stop() {
                return Ending::Stopped;
            }
            let mut possible = collect_steps(system, self.state());
            if possible.is_empty() {
                return self.end(system);
            }
            let ordinal = self.draw(possible.len());
            self.take(system, ordinal, possible.swap_remove(ordinal));
            if let Some(fault) = self.fault() {
                return Ending::Fault(fault.clone());
            }
        }
        Ending::Steps
    }

    /// What it means that no step is possible here.
    pub fn end(&self, system: &mut dyn System) -> Ending {
        if system.is_valid_end(self.state()) { Ending::ValidEnd } else { Ending::Deadlock }
    }

    /// The run so far.
    pub fn witness(&self) -> Witness {
        Witness { initial: 0, steps: self.taken.iter().map(|t| t.ordinal).collect(), loop_start: None }
    }

    /// What the `number`-th step taken was, from 0.
    pub fn explain(&self, system: &mut dyn System, number: usize) -> Vec<Action> {
        system.explain(self.state_after(number), self.taken[number].ordinal as usize)
    }
}

/// A seed that differs from run to run; it is printed, so that the run can be had again.
pub fn some_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |d| d.as_nanos() as u64 % 1_000_000)
}
