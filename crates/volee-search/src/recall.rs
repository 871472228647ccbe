//! The states and steps of a system by name, for engines that keep states by name and order them in their own
//! way: the names and the remembered steps of the searches ([`volee_store::Names`], `memo`), without a search.
//!
//! Steps are remembered where the system makes them part by part, with their labels where somebody looks at
//! them; otherwise the system makes them, and their targets are named. Faults are no matter here: a step that has one leads
//! where it leads.

use volee_store::{Full, Names, Renaming, StateRef, Tuple};
use volee_system::{Flow, Label, Step, System};

use crate::memo::{Memo, Recalled, Stage, rename_steps};

/// Names for the states of a system, and its steps between names.
pub struct Recall {
    names: Names,
    memo: Memo<u64>,
    wide_memo: Memo<Tuple>,
    state: Vec<u8>,
    labels: bool,
}

/// A step: where it leads, and its label where it was looked at.
pub type NamedStep = (StateRef, Option<Label>);

struct Targets<'t, const L: bool>(&'t mut Vec<NamedStep>);

impl<const L: bool> Stage for Targets<'_, L> {
    const LABELS: bool = L;

    #[inline(always)]
    fn label(&mut self, label: Label) {
        if let Some(last) = self.0.last_mut().filter(|_| L) {
            last.1 = Some(label);
        }
    }

    #[inline(always)]
    fn one(&mut self, target: StateRef) {
        self.0.push((target, None));
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn up_to_two(&mut self, targets: [StateRef; 2], count: usize) {
        targets[..count].iter().for_each(|&target| self.one(target));
    }
}

impl Recall {
    /// For a system that tells its components. `labels`: whether somebody looks at the labels of steps.
    pub fn new<S: System + ?Sized>(system: &mut S, labels: bool) -> Option<Self> {
        let components = system.components()?;
        let (memo, wide_memo) = match labels {
            true => (Memo::with_labels(system), Memo::with_labels(system)),
            false => (Memo::new(system), Memo::new(system)),
        };
        Some(Recall { names: Names::new(Some(components)), memo, wide_memo, state: Vec::new(), labels })
    }

    /// The name of a state, for now: see [`Recall::rename`].
    pub fn name(&mut self, state: &[u8]) -> StateRef {
        self.names.name(state)
    }

    /// The state of a name.
    pub fn load(&mut self, name: StateRef) -> &[u8] {
        self.names.load(name, &mut self.state);
        &self.state
    }

    /// Appends the steps of a state to `out`, in order.
    #[inline]
    pub fn steps<S: System + ?Sized>(&mut self, system: &mut S, name: StateRef, out: &mut Vec<NamedStep>) {
        let begin = out.len();
        let recalled = match self.labels {
            true => self.recall::<S, true>(system, name, out),
            false => self.recall::<S, false>(system, name, out),
        };
        if recalled == Recalled::Ask {
            out.truncate(begin);
            self.steps_anew(system, name, out);
        }
    }

    /// Appends what is remembered of the steps of a state to `out`.
    #[inline]
    fn recall<S: System + ?Sized, const L: bool>(
        &mut self,
        system: &mut S,
        name: StateRef,
        out: &mut Vec<NamedStep>,
    ) -> Recalled {
        let Some(tuples) = self.names.tuples() else { return Recalled::Ask };
        let (state, mut stage) = ((name, &mut self.state), Targets::<L>(out));
        match tuples.is_wide() {
            true => self.wide_memo.expand(system, tuples, state, &mut stage),
            false => self.memo.expand(system, tuples, state, &mut stage),
        }
    }

    /// The same as the system itself makes them, whatever is remembered.
    pub fn steps_anew<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        name: StateRef,
        out: &mut Vec<NamedStep>,
    ) {
        self.names.load(name, &mut self.state);
        let names = &mut self.names;
        let _ = system.steps(&self.state, &mut |step: Step, target: &[u8]| {
            out.push((names.name(target), Some(step.label)));
            Flow::Continue(())
        });
    }

    /// The steps of a state of which only the bytes are known, in the place of what was in `out`. Whoever has
    /// kept names from before cannot ask so.
    ///
    /// # Errors
    /// There is no room for more names.
    pub fn steps_of_state<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        state: &[u8],
        out: &mut Vec<NamedStep>,
    ) -> Result<(), Full> {
        out.clear();
        out.push((self.names.name(state), None));
        self.settle(out);
        let name = out[0].0;
        out.clear();
        self.steps(system, name, out);
        self.settle(out);
        self.names.full().map_or(Ok(()), Err)
    }

    /// Gives these names that are new, where some wait for that.
    #[inline]
    fn settle(&mut self, steps: &mut [NamedStep]) {
        if self.names.has_waiting()
            && let Some(mut renaming) = self.rename()
        {
            let names = &mut self.names;
            steps.iter_mut().for_each(|step| step.0 = renaming.translate(names, step.0));
        }
    }

    /// Whether names are words by themselves, so that naming a state keeps nothing.
    pub fn is_light(&mut self) -> bool {
        self.names.tuples().is_some_and(|tuples| !tuples.is_wide())
    }

    /// Whether some of the names given last are to be replaced, and all others with them.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.names.has_waiting()
    }

    /// Gives states that wait their names; whoever keeps names must translate them all, by
    /// [`Recall::translate`].
    pub fn rename(&mut self) -> Option<Renaming> {
        let renaming = self.names.rename(u64::BITS - 1)?;
        rename_steps(&renaming, &mut self.names, (&mut self.memo, &mut self.wide_memo));
        Some(renaming)
    }

    /// The new name of a state.
    #[inline]
    pub fn translate(&mut self, renaming: &mut Renaming, name: StateRef) -> StateRef {
        renaming.translate(&mut self.names, name)
    }

    /// Why some names given since the start mean nothing, if so.
    #[inline(always)]
    pub fn full(&self) -> Option<Full> {
        self.names.full()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.names.bytes() + self.memo.bytes() + self.wide_memo.bytes()
    }
}

impl std::fmt::Debug for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "names of {} bits, {} bytes", self.names.width(), self.bytes())
    }
}
