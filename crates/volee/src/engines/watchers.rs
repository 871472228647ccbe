//! The automata that watch runs of counter programs, and what they look at.
//!
//! They are here by themselves because each is a reading of a formula that knows nothing of programs: the monitor
//! of a finite-trace formula, the automaton of the negation of a formula of LTL, and the diamonds of a formula of
//! the mu-calculus. `watching.rs` chooses one for a question and puts it beside the program.

use std::collections::HashMap;

use volee_counters::{EventAtom, Watcher};
use volee_logic::automaton::{Automaton, degeneralise};
use volee_logic::formula::{AtomKind, EventMatcher, EventPattern, Formula, LabelPattern};
use volee_logic::ltl::translate;
use volee_logic::mu::{self, Node, NodeId, Sign};
use volee_logic::tl::{Alphabet, Limits, Monitor, MonitorState, Verdict3};
use volee_search::{Claim, Names};
use volee_system::Diagnostic;

use crate::answer::AskError;

/// The most atoms of a formula: a bit each.
const ATOMS: usize = 63;

/// What an atom looks at.
#[derive(Clone)]
pub(super) enum Seen {
    /// A state in which an expression is true.
    Condition(String),
    /// A step that a pattern means.
    Event(EventPattern, EventMatcher),
    /// A state without steps.
    Ended,
}

impl Seen {
    /// The event, as a counter program is told of it.
    pub fn event(&self) -> Option<EventAtom> {
        let Seen::Event(pattern, matcher) = self else { return None };
        let matcher = matcher.clone();
        let (numbers, joins) = match &pattern.label {
            LabelPattern::Regex(_) => (None, true),
            LabelPattern::Name(text) | LabelPattern::Exact(text) | LabelPattern::Channel(text) => {
                (Some(numbers(text)), text.contains(';'))
            }
        };
        Some(EventAtom { matches: Box::new(move |name| matcher.matches(name)), numbers, joins })
    }
}

/// The numbers that stand in a pattern; truth values are numbers there.
fn numbers(text: &str) -> Vec<i64> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let number = |word: &str| match word {
        "true" => Some(1),
        "false" => Some(0),
        other => other.parse().ok(),
    };
    words.filter_map(number).collect()
}

/// What an automaton looks at, in the order of its letters' bits.
pub(super) fn atoms_of(formula: &Formula, names: Names) -> Result<Vec<Seen>, AskError> {
    let mut all = Vec::new();
    for id in formula.atoms() {
        all.push(match &formula.pool.atoms()[id.0 as usize].kind {
            AtomKind::Predicate(text) => Seen::Condition(text.to_string()),
            AtomKind::Name(name) if names == Names::States => Seen::Condition(name.to_string()),
            AtomKind::Name(name) => event(&EventPattern::any_process(LabelPattern::Name(name.clone())))?,
            AtomKind::Event(pattern) => event(pattern)?,
        });
    }
    few(all)
}

fn few(atoms: Vec<Seen>) -> Result<Vec<Seen>, AskError> {
    match atoms.len() > ATOMS {
        true => {
            Err(Diagnostic::error(format!("the formula speaks of more than {ATOMS} things"), None).into())
        }
        false => Ok(atoms),
    }
}

fn event(pattern: &EventPattern) -> Result<Seen, AskError> {
    let matcher = pattern.matcher().map_err(|e| Diagnostic::error(e.to_string(), None))?;
    Ok(Seen::Event(pattern.clone(), matcher))
}

/// A finite-trace formula.
pub(super) struct Traces {
    monitor: Monitor,
    numbers: HashMap<MonitorState, u32>,
    states: Vec<MonitorState>,
}

impl Traces {
    pub fn new(parsed: &Formula) -> Result<Self, AskError> {
        let monitor = Monitor::new(parsed, Alphabet::Sets, Limits::default())
            .map_err(|e| Diagnostic::error(e.to_string(), None))?;
        Ok(Traces { monitor, numbers: HashMap::new(), states: Vec::new() })
    }

    fn number(&mut self, state: MonitorState) -> u32 {
        let states = &mut self.states;
        *self.numbers.entry(state.clone()).or_insert_with(|| {
            states.push(state);
            states.len() as u32 - 1
        })
    }
}

impl Watcher for Traces {
    fn initial(&mut self) -> u32 {
        self.number(self.monitor.initial())
    }

    fn step(&mut self, from: u32, letter: u64) -> Vec<u32> {
        let mut state = self.states[from as usize].clone();
        self.monitor.step(&mut state, |atom| letter >> atom & 1 == 1);
        vec![self.number(state)]
    }

    fn is_bad(&self, state: u32) -> bool {
        self.monitor.rejecting(&self.states[state as usize]).is_some()
    }

    fn is_settled(&self, state: u32) -> bool {
        self.monitor.verdict(&self.states[state as usize]) == Verdict3::Satisfied
    }
}

/// A formula of LTL, by the automaton of what violates it.
pub(super) struct Violations(Claim);

impl Violations {
    /// Nothing where a violation need not show after finitely many steps.
    pub fn new(parsed: Formula) -> Result<Option<Self>, AskError> {
        let automaton = translate(&parsed.negated()).map_err(|e| Diagnostic::error(e.to_string(), None))?;
        let claim = Claim::new(automaton, Vec::new());
        Ok(claim.is_terminal().then_some(Violations(claim)))
    }
}

impl Watcher for Violations {
    fn initial(&mut self) -> u32 {
        self.0.automaton.initial
    }

    fn step(&mut self, from: u32, letter: u64) -> Vec<u32> {
        self.0.automaton.successors(from, |atom| letter >> atom & 1 == 1).map(|edge| edge.target).collect()
    }

    fn is_bad(&self, state: u32) -> bool {
        self.0.is_trap(state as usize)
    }

    fn is_settled(&self, _: u32) -> bool {
        false
    }
}

/// A formula of LTL that only what goes on for ever violates, by an automaton whose accepting states such a run
/// passes again and again.
pub(super) struct Recurrences(Automaton);

impl Recurrences {
    pub fn new(parsed: &Formula) -> Result<Self, AskError> {
        let automaton =
            translate(&parsed.clone().negated()).map_err(|e| Diagnostic::error(e.to_string(), None))?;
        Ok(Recurrences(degeneralise(automaton)))
    }
}

impl Watcher for Recurrences {
    fn initial(&mut self) -> u32 {
        self.0.initial
    }

    fn step(&mut self, from: u32, letter: u64) -> Vec<u32> {
        self.0.successors(from, |atom| letter >> atom & 1 == 1).map(|edge| edge.target).collect()
    }

    fn is_bad(&self, state: u32) -> bool {
        self.0.state_marks(state as usize) != 0
    }

    fn is_settled(&self, _: u32) -> bool {
        false
    }

    fn is_recurrent(&self) -> bool {
        true
    }
}

/// A formula of the mu-calculus that asks whether some run does something, or in its dual form whether none
/// does.
pub(super) struct Modal {
    formula: mu::Formula,
    /// Box and diamond, and all else, have changed places.
    dual: bool,
    /// The bits of events and conditions, and of the end of a run.
    bits: Bits,
}

#[derive(Default)]
struct Bits {
    atoms: Vec<Seen>,
    actions: Vec<(EventPattern, u32)>,
    predicates: Vec<u32>,
    ended: u32,
}

const START: u32 = 0;
const FOUND: u32 = 1;
/// The state of a diamond is its node's number and this.
const FIRST: u32 = 2;

impl Modal {
    /// The automaton, and whether what it finds makes the formula true; nothing for other formulas.
    pub fn new(formula: mu::Formula) -> Result<Option<(Self, bool)>, AskError> {
        let bits = Bits::of(&formula)?;
        let mut modal = Modal { formula, dual: false, bits };
        for dual in [false, true] {
            modal.dual = dual;
            if modal.is_of_this_kind() {
                return Ok(Some((modal, !dual)));
            }
        }
        Ok(None)
    }

    pub fn atoms(&self) -> &[Seen] {
        &self.bits.atoms
    }

    /// A node as it reads when box and diamond have changed places.
    fn node(&self, id: NodeId) -> Node {
        match (self.formula.node(id), self.dual) {
            (node, false) => node,
            (Node::Constant(value), true) => Node::Constant(!value),
            (Node::Predicate(at, negated), true) => Node::Predicate(at, !negated),
            (Node::And(f, g), true) => Node::Or(f, g),
            (Node::Or(f, g), true) => Node::And(f, g),
            (Node::Diamond(a, f), true) => Node::Box(a, f),
            (Node::Box(a, f), true) => Node::Diamond(a, f),
            (Node::Fix(sign, x, f), true) => Node::Fix(sign.dual(), x, f),
            (node @ Node::Variable(_), true) => node,
        }
    }

    /// Whether a node is about one state, and about its steps only whether there are any.
    fn is_local(&self, id: NodeId) -> bool {
        let every = |a: mu::ActionId| self.formula.actions[usize::from(a.0)] == mu::Action::Constant(true);
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Constant(_) | Node::Predicate(..) => {}
                Node::And(f, g) | Node::Or(f, g) => stack.extend([f, g]),
                Node::Diamond(a, f) if every(a) && self.node(f) == Node::Constant(true) => {}
                Node::Box(a, f) if every(a) && self.node(f) == Node::Constant(false) => {}
                _ => return false,
            }
        }
        true
    }

    fn is_of_this_kind(&self) -> bool {
        let mut seen = vec![false; self.formula.nodes.len()];
        let mut stack = vec![self.formula.root];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) || self.is_local(id) {
                continue;
            }
            match self.node(id) {
                Node::Or(f, g) => stack.extend([f, g]),
                Node::And(f, g) if self.is_local(f) => stack.push(g),
                Node::And(f, g) if self.is_local(g) => stack.push(f),
                Node::Diamond(_, f) | Node::Fix(Sign::Mu, _, f) => stack.push(f),
                Node::Variable(_) => {}
                _ => return false,
            }
        }
        true
    }

    /// The value of a node that is about one state; operands come before their users.
    fn value(&self, id: NodeId, letter: u64) -> bool {
        let bit = |bit: u32| letter >> bit & 1 == 1;
        let mut values: HashMap<NodeId, bool> = HashMap::new();
        let mut stack = vec![(id, false)];
        while let Some((id, ready)) = stack.pop() {
            let value = match self.node(id) {
                Node::Constant(value) => value,
                Node::Predicate(at, negated) => bit(self.bits.predicates[at as usize]) != negated,
                Node::Diamond(..) => !bit(self.bits.ended),
                Node::Box(..) => bit(self.bits.ended),
                Node::And(f, g) | Node::Or(f, g) if !ready => {
                    stack.extend([(id, true), (f, false), (g, false)]);
                    continue;
                }
                Node::And(f, g) => values[&f] && values[&g],
                Node::Or(f, g) => values[&f] || values[&g],
                Node::Variable(_) | Node::Fix(..) => unreachable!("these are about runs"),
            };
            values.insert(id, value);
        }
        values[&id]
    }

    /// What remains to be found after a letter.
    fn open(&self, id: NodeId, letter: u64) -> Vec<u32> {
        let mut seen = vec![false; self.formula.nodes.len()];
        let (mut stack, mut all) = (vec![id], Vec::new());
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            if self.is_local(id) {
                if self.value(id, letter) {
                    return vec![FOUND];
                }
                continue;
            }
            match self.node(id) {
                Node::Or(f, g) => stack.extend([f, g]),
                Node::And(f, g) => {
                    let (here, then) = if self.is_local(f) { (f, g) } else { (g, f) };
                    stack.extend(self.value(here, letter).then_some(then));
                }
                Node::Diamond(..) => all.push(id.0 + FIRST),
                Node::Fix(_, _, f) => stack.push(f),
                Node::Variable(x) => stack.extend(self.formula.binders[x.0 as usize]),
                Node::Constant(_) | Node::Predicate(..) | Node::Box(..) => {}
            }
        }
        all
    }
}

impl Watcher for Modal {
    fn initial(&mut self) -> u32 {
        START
    }

    fn step(&mut self, from: u32, letter: u64) -> Vec<u32> {
        if from == START {
            return self.open(self.formula.root, letter);
        }
        let Node::Diamond(action, then) = self.node(NodeId(from - FIRST)) else { return Vec::new() };
        match self.bits.is_meant(&self.formula.actions[usize::from(action.0)], letter) {
            true => self.open(then, letter),
            false => Vec::new(),
        }
    }

    fn is_bad(&self, state: u32) -> bool {
        state == FOUND
    }

    fn is_settled(&self, _: u32) -> bool {
        false
    }
}

impl Bits {
    fn of(formula: &mu::Formula) -> Result<Self, AskError> {
        let mut bits = Bits::default();
        let mut named = Vec::new();
        formula.actions.iter().for_each(|action| action.named(&mut named));
        for action in named {
            if let mu::Action::Event(pattern, matcher) = action
                && !bits.actions.iter().any(|(known, _)| known == pattern)
            {
                bits.actions.push((pattern.clone(), bits.atoms.len() as u32));
                bits.atoms.push(Seen::Event(pattern.clone(), matcher.clone()));
            }
        }
        for predicate in &formula.predicates {
            bits.predicates.push(bits.atoms.len() as u32);
            bits.atoms.push(Seen::Condition(predicate.text.clone()));
        }
        bits.ended = bits.atoms.len() as u32;
        bits.atoms.push(Seen::Ended);
        bits.atoms = few(bits.atoms)?;
        Ok(bits)
    }

    fn is_meant(&self, action: &mu::Action, letter: u64) -> bool {
        match action {
            mu::Action::Constant(value) => *value,
            mu::Action::Event(pattern, _) => {
                self.actions.iter().any(|(known, bit)| known == pattern && letter >> bit & 1 == 1)
            }
            // Steps of programs have names.
            mu::Action::Internal => false,
            mu::Action::Not(inner) => !self.is_meant(inner, letter),
            mu::Action::And(all) => all.iter().all(|action| self.is_meant(action, letter)),
            mu::Action::Or(all) => all.iter().any(|action| self.is_meant(action, letter)),
        }
    }
}
