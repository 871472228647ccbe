//! From the atoms of a formula to what is looked at in a system: state predicates, labels, marks of control.
//!
//! A bare name is an event in a question about events and a predicate in a question about states. An event is
//! meant by any of the names of its step: `Sender[2]:c!msg,3`, or the statement `Sender[2] c!msg,n` behind
//! it.

use volee_logic::formula::{Atom, AtomKind, EventMatcher, EventPattern, Formula, LabelPattern};
use volee_system::{Diagnostic, Draft, FaultId, Label, PredicateId, Scanner, System};

use crate::silence::Letters;

/// What an atom looks at.
#[derive(Debug, Clone)]
pub enum BoundAtom {
    /// A predicate of the system.
    Predicate(PredicateId),
    /// The label of a step.
    Event(EventMatcher),
    /// Some process is at a progress label, or the run has ended: only what goes on for ever lacks progress.
    Progress,
    /// Some process is at an accept label.
    Accept,
}

/// What bare names of a formula are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Events: finite-trace formulas.
    Events,
    /// Predicates where the system has them, else events: formulas over infinite runs.
    States,
}

/// Binds the atoms of a formula, in the order of [`Formula::atoms`].
///
/// # Errors
/// An atom means nothing to this system; `file` names the formula in the message.
pub fn bind(
    draft: &mut dyn Draft,
    formula: &Formula,
    names: Names,
    text: &str,
    file: &str,
) -> Result<Vec<BoundAtom>, Diagnostic> {
    let has_predicates = draft.predicate("true").is_ok();
    let mut atoms = Vec::new();
    for id in formula.atoms() {
        let atom = &formula.pool.atoms()[id.0 as usize];
        let atom = match &atom.kind {
            AtomKind::Predicate(expression) => predicate(draft, expression, atom, text, file)?,
            AtomKind::Name(name) if names == Names::States && has_predicates => {
                predicate(draft, name, atom, text, file)?
            }
            AtomKind::Name(name) => event(&EventPattern::any_process(LabelPattern::Name(name.clone())))?,
            AtomKind::Event(pattern) => event(pattern)?,
        };
        atoms.push(atom);
    }
    Ok(atoms)
}

/// Whether a formula's bound atoms look at steps.
pub fn looks_at_events(atoms: &[BoundAtom]) -> bool {
    atoms.iter().any(|w| matches!(w, BoundAtom::Event(_)))
}

/// Which of some bound atoms look at steps, as bits; nothing where they are too many for that.
pub(crate) fn event_bits(atoms: &[BoundAtom]) -> Option<u64> {
    let events = atoms.iter().enumerate().filter(|(_, atom)| matches!(atom, BoundAtom::Event(_)));
    (atoms.len() <= u64::BITS as usize).then(|| events.fold(0, |mask, (at, _)| mask | 1 << at))
}

/// Tells a system that is being built that of its steps only those matter that these atoms may mean.
pub fn watch_only(draft: &mut dyn Draft, atoms: &[BoundAtom]) {
    let counts = |process: &str, event: &str| {
        let meant = |atom: &BoundAtom| matches!(atom, BoundAtom::Event(e) if e.may_mean(process, event));
        atoms.iter().any(meant)
    };
    draft.only_events(&counts);
}

fn event(pattern: &EventPattern) -> Result<BoundAtom, Diagnostic> {
    pattern.matcher().map(BoundAtom::Event).map_err(|e| Diagnostic::error(e.to_string(), None))
}

fn predicate(
    draft: &mut dyn Draft,
    expression: &str,
    atom: &Atom,
    text: &str,
    file: &str,
) -> Result<BoundAtom, Diagnostic> {
    draft.predicate(expression).map(BoundAtom::Predicate).map_err(|wrong| {
        let mut place = Scanner::new(file, text).place_of(atom.span.start);
        place.column += wrong.place.as_ref().filter(|p| p.line == 1).map_or(0, |p| p.column - 1);
        Diagnostic { place: Some(place), ..wrong }
    })
}

/// What is seen in a state and in a step: the letter of an automaton.
pub(crate) struct Valuation<'a> {
    atoms: &'a [BoundAtom],
    letter: Vec<bool>,
    events: Vec<usize>,
    predicates: Vec<(usize, PredicateId)>,
    marks: bool,
    /// For each label met, which of `events` it is.
    labels: Vec<Option<Box<[bool]>>>,
    /// The letters met.
    letters: Letters,
}

impl<'a> Valuation<'a> {
    pub fn new(atoms: &'a [BoundAtom]) -> Self {
        let events = atoms.iter().enumerate().filter(|(_, w)| matches!(w, BoundAtom::Event(_)));
        let predicates = atoms.iter().enumerate().filter_map(|(i, w)| match w {
            BoundAtom::Predicate(p) => Some((i, *p)),
            _ => None,
        });
        Valuation {
            atoms,
            letter: vec![false; atoms.len()],
            events: events.map(|(i, _)| i).collect(),
            predicates: predicates.collect(),
            marks: atoms.iter().any(|w| matches!(w, BoundAtom::Progress | BoundAtom::Accept)),
            labels: Vec::new(),
            letters: Letters::default(),
        }
    }

    /// Whether steps of one state can have different letters.
    pub fn sees_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Remembers the current letter.
    #[inline]
    pub fn meet(&mut self) {
        self.letters.meet(&self.letter);
    }

    /// Letters that were met before this search went on.
    pub fn met_before(&mut self, letters: &[u64]) {
        self.letters.met_before(letters);
    }

    /// The letters that were to be remembered.
    pub fn letters(&self) -> &[u64] {
        self.letters.all()
    }

    /// Whether an atom is true in the current letter.
    #[inline]
    pub fn sees(&self, atom: u32) -> bool {
        self.letter[atom as usize]
    }

    /// Fills in what concerns the state.
    ///
    /// # Errors
    /// A predicate has no value there.
    pub fn look_at_state<S: System + ?Sized>(&mut self, system: &mut S, state: &[u8]) -> Result<(), FaultId> {
        for &(atom, predicate) in &self.predicates {
            self.letter[atom] = system.holds(predicate, state)?;
        }
        if self.marks {
            let marks = system.marks(state);
            for (at, atom) in self.atoms.iter().enumerate() {
                match atom {
                    BoundAtom::Progress => self.letter[at] = marks.progress,
                    BoundAtom::Accept => self.letter[at] = marks.accept,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The state that was looked at is the last of its run, which from now on only repeats it.
    pub fn end_of_run(&mut self) {
        for (seen, atom) in self.letter.iter_mut().zip(self.atoms) {
            *seen |= matches!(atom, BoundAtom::Progress);
        }
    }

    /// Fills in what concerns the step; without a label no event happens.
    pub fn look_at_step<S: System + ?Sized>(&mut self, system: &S, label: Option<Label>) {
        let Some(label) = label else {
            self.events.iter().for_each(|&atom| self.letter[atom] = false);
            return;
        };
        let index = label.0 as usize;
        if self.labels.len() <= index {
            self.labels.resize(index + 1, None);
        }
        if self.labels[index].is_none() {
            self.labels[index] = Some(self.read_label(&system.names(label)));
        }
        if let Some(seen) = &self.labels[index] {
            for (&atom, &seen) in self.events.iter().zip(seen.iter()) {
                self.letter[atom] = seen;
            }
        }
    }

    fn read_label(&self, names: &[String]) -> Box<[bool]> {
        let matches = |&atom: &usize| match &self.atoms[atom] {
            BoundAtom::Event(event) => event.matches_any(names),
            _ => false,
        };
        self.events.iter().map(matches).collect()
    }
}
