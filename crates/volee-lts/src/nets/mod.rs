//! Nets with counters as systems: Petri nets in PNML, and the `.spec` nets of the coverability tools.
//!
//! A state is the marking, four bytes per place. A rule has guards (`x >= 2`, `x = 0`) and gives each counter a new
//! value: a sum of old counters and a constant, which covers ordinary transitions, resets and transfers. A rule that
//! would make a counter negative is not enabled. Markings may grow without bound: explore them within a budget.

mod pnml;
mod spec;

pub use pnml::read_pnml;
pub use spec::read_spec;

use std::borrow::Cow;
use std::collections::HashMap;

use volee_system::{
    Diagnostic, Fault, FaultId, FaultKind, Flow, Label, Place, PredicateId, Sink, Step, System, Variable,
};

/// A condition on one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Which counter.
    pub counter: usize,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub value: u32,
}

/// How a counter is compared with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// At least.
    AtLeast,
    /// At most.
    AtMost,
    /// Exactly.
    Equal,
}

impl Condition {
    fn holds(&self, marking: &[u32]) -> bool {
        let counter = marking[self.counter];
        match self.comparison {
            Comparison::AtLeast => counter >= self.value,
            Comparison::AtMost => counter <= self.value,
            Comparison::Equal => counter == self.value,
        }
    }
}

/// A new value of a counter: a sum of old ones and a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Which counter.
    pub counter: usize,
    /// The counters that are added up, each with its factor.
    pub terms: Vec<(i64, usize)>,
    /// The constant.
    pub constant: i64,
}

/// A rule of a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name, the label of its steps.
    pub name: String,
    /// What must hold.
    pub guards: Vec<Condition>,
    /// What changes.
    pub updates: Vec<Update>,
}

/// A net, as a system.
#[derive(Debug, Clone)]
pub struct Net {
    /// The names of the counters.
    pub counters: Vec<String>,
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// The initial marking; a counter that may start anywhere above a bound starts at the bound.
    pub initial: Vec<u32>,
    /// Which counters may start anywhere above their initial value.
    pub open: Vec<usize>,
    /// The target of a coverability question, one conjunction per alternative.
    pub targets: Vec<Vec<Condition>>,
    predicates: Vec<Vec<Vec<Condition>>>,
}

impl Net {
    fn new(counters: Vec<String>) -> Self {
        let initial = vec![0; counters.len()];
        Net {
            counters,
            rules: Vec::new(),
            initial,
            open: Vec::new(),
            targets: Vec::new(),
            predicates: Vec::new(),
        }
    }

    /// Sets where a counter starts: to choose an instance of a net that may start anywhere above a bound.
    ///
    /// # Errors
    /// There is no such counter.
    pub fn start_with(&mut self, counter: &str, value: u32) -> Result<(), Diagnostic> {
        let Some(at) = self.counters.iter().position(|c| c == counter) else {
            return Err(Diagnostic::error(format!("the net has no counter `{counter}`"), None));
        };
        self.initial[at] = value;
        self.open.retain(|&open| open != at);
        Ok(())
    }

    /// The marking after a rule: none if it is not enabled; an error if a counter does not fit.
    fn fire(rule: &Rule, marking: &[u32], next: &mut [u32]) -> Option<Result<(), ()>> {
        if !rule.guards.iter().all(|g| g.holds(marking)) {
            return None;
        }
        next.copy_from_slice(marking);
        for update in &rule.updates {
            let mut value = i128::from(update.constant);
            for &(factor, counter) in &update.terms {
                value += i128::from(factor) * i128::from(marking[counter]);
            }
            if value < 0 {
                return None;
            }
            match u32::try_from(value) {
                Ok(value) => next[update.counter] = value,
                Err(_) => return Some(Err(())),
            }
        }
        Some(Ok(()))
    }
}

fn unpack(state: &[u8]) -> Vec<u32> {
    state.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn pack(marking: &[u32], out: &mut Vec<u8>) {
    out.clear();
    out.extend(marking.iter().flat_map(|c| c.to_le_bytes()));
}

impl System for Net {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let mut packed = Vec::new();
        pack(&self.initial, &mut packed);
        push(&packed)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let marking = unpack(state);
        let mut next = marking.clone();
        let mut packed = Vec::with_capacity(state.len());
        for (at, rule) in self.rules.iter().enumerate() {
            match Net::fire(rule, &marking, &mut next) {
                None => {}
                Some(Ok(())) => {
                    pack(&next, &mut packed);
                    sink.push(Step::labelled(at as u32), &packed)?;
                }
                Some(Err(())) => {
                    sink.push(Step { fault: Some(FaultId(0)), ..Step::labelled(at as u32) }, state)?;
                }
            }
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.rules[label.0 as usize].name.as_str().into()
    }

    fn fault(&self, _: FaultId) -> Fault {
        Fault { kind: FaultKind::Runtime, message: "a counter exceeds 2³² - 1".into(), place: None }
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let shown = self.counters.iter().zip(unpack(state));
        shown.map(|(name, value)| Variable { name: name.clone(), value: value.to_string() }).collect()
    }

    /// `target`, or conditions like those of a target: `x >= 2, y = 0`.
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let conditions = match text.trim() {
            "target" if !self.targets.is_empty() => self.targets.clone(),
            _ => vec![spec::conditions(text, &self.counters)?],
        };
        self.predicates.push(conditions);
        Ok(PredicateId(self.predicates.len() as u32 - 1))
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let marking = unpack(state);
        let alternatives = &self.predicates[predicate.0 as usize];
        Ok(alternatives.iter().any(|all| all.iter().all(|c| c.holds(&marking))))
    }
}

/// Names to numbers, with a message for names that are not there.
struct Names {
    numbers: HashMap<String, usize>,
}

impl Names {
    fn new(names: &[String]) -> Self {
        Names { numbers: names.iter().enumerate().map(|(n, name)| (name.clone(), n)).collect() }
    }

    fn find(&self, name: &str, place: Option<Place>) -> Result<usize, Diagnostic> {
        let known = self.numbers.get(name).copied();
        known.ok_or_else(|| Diagnostic::error(format!("there is no counter `{name}`"), place))
    }
}
