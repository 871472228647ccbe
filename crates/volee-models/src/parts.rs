//! Models that tell their actions part by part: their steps are remembered, as those of Promela's processes
//! are.
//!
//! What a part does depends on what it looks at, and a search remembers it for all states that agree on that
//! ([`Divisible`]). Nobody declares what it looks at; it is observed. Fields of a state that are no rows
//! cannot tell, so every part is taken to look at all of them; rows are watched, value by value, in the
//! state and in its successors. To that comes what a step changes. An execution reads nothing else: whatever
//! the model itself holds never changes.
//!
//! A part is a record of the state (see [`Components`]) that is always the same: one byte behind the packed
//! state, and one byte before it that says how many there are. Each field is a component.

use volee::system::{Components, Divisible, Fineness, Flow, Kinds, Part, Records, Sink, Touched};

use crate::explored::{Explored, MOST_COMPONENTS};
use crate::model::Model;
use crate::pack::Pack;

/// How the states of a model with parts are laid out.
pub(crate) struct Parts {
    pub(crate) number: u8,
    /// The component of each field; none of a field without bytes.
    components: Vec<Option<u8>>,
    cut: Components,
}

impl Parts {
    /// For fields of these widths; `None` where there are too many, or no parts.
    pub(crate) fn new(number: u8, widths: &[usize]) -> Option<Self> {
        let (mut ends, mut end, mut components) = (Vec::new(), 1u32, Vec::new());
        for &width in widths {
            end += u32::try_from(width).ok()?;
            let own = (width > 0).then_some(ends.len());
            if own.is_some() {
                ends.push(end);
            }
            components.push(own.map(u8::try_from).transpose().ok()?);
        }
        let fits = number > 0 && !ends.is_empty() && ends.len() + usize::from(number) <= MOST_COMPONENTS;
        let cut = Components { ends, records: Some(Records { count_at: 0, lengths: vec![1] }) };
        fits.then_some(Parts { number, components, cut })
    }

    pub(crate) fn components(&self) -> &Components {
        &self.cut
    }

    /// The components of a state that were seen, as a set. `None` where that is not known.
    pub(crate) fn seen(&self, state: &impl Pack) -> Option<u64> {
        let (mut rows, mut seen) = (0, Vec::new());
        state.seen(&mut rows, &mut seen)?;
        if seen.len() != self.components.len() {
            return None;
        }
        let components = seen.iter().zip(&self.components);
        let seen = components.filter_map(|(seen, component)| component.filter(|_| *seen));
        Some(seen.fold(0, |set, component| set | 1 << component))
    }

    /// The components in which two states differ.
    pub(crate) fn changed(&self, one: &[u8], other: &[u8]) -> u64 {
        let starts = std::iter::once(0).chain(self.cut.ends.iter().copied());
        let differs = |start: u32, end: u32| {
            let place = start as usize..end as usize;
            one.get(place.clone()) != other.get(place)
        };
        let all = starts.zip(&self.cut.ends).zip(0..);
        all.filter(|((start, end), _)| differs(*start, **end))
            .fold(0, |set, (_, number)| set | 1u64 << number)
    }
}

impl<M: Model> Divisible for Explored<M> {
    fn parts(&mut self, _: &[u8], record: u8, _: Fineness, _: &Kinds, parts: &mut Vec<Part>) {
        parts.push(Part { record, first: 0, last: 1, partner: None });
    }

    fn divide(&mut self, state: &[u8]) {
        self.load(state);
    }

    fn part_steps(&mut self, part: Part, told: Option<(&mut Touched, &Kinds)>, sink: &mut dyn Sink) -> Flow {
        let watched = told.is_some();
        let mut seen = watched.then_some(Some(0));
        let bytes = std::mem::take(&mut self.read);
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        self.watch_source(watched);
        self.model.actions_of(part.record, self.state(), &mut actions);
        let mut flow = Flow::Continue(());
        for action in &actions {
            let Some((step, target)) = self.step(&bytes, action, seen.as_mut()) else { continue };
            flow = sink.push(step, target);
            if flow.is_break() {
                break;
            }
        }
        if let Some((touched, _)) = told {
            let seen = seen.flatten().and_then(|seen| self.seen_in_source(seen));
            // Where nobody can tell, it depends on everything.
            touched.reads = seen.unwrap_or(u64::MAX);
            self.watch_source(false);
        }
        self.actions = actions;
        self.read = bytes;
        flow
    }
}
