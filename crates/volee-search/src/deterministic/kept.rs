//! A search along a deterministic automaton on its way to a file and back: roots, path, arcs and explored
//! pairs, all as bytes. What is known of a pair follows from where it is.

use std::io;

use volee_store::checkpoint::{CheckpointError, Damaged, PIECE, Reader, Refused, Writer};
use volee_system::{Limit, Meter, Progress, System};

use super::{Frame, Known, Root, Traversal};
use crate::pairs::{Arc, Pair, WIDTH, split};

/// What a kept search of this kind begins with.
const KIND: u64 = 5;

impl<S: System + ?Sized> Traversal<'_, S> {
    /// Keeps the search, if it is one that is kept.
    pub(super) fn keep(&mut self, meter: &Meter, progress: &mut dyn Progress) {
        let Some(mut keeper) = self.keeper.take() else { return };
        if let Some(failed) = keeper.keep(self.pairs.len() as u64, meter, |out| self.write(out)) {
            progress.say(&failed);
        }
        self.keeper = Some(keeper);
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        let s = &self.statistics;
        for figure in
            [KIND, s.states, s.transitions, s.max_depth, s.memory_bytes, self.bytes, self.root as u64]
        {
            out.number(figure)?;
        }
        let left_out = self.product.left_out().map(|limit| limit.to_string());
        out.value(&left_out.or_else(|| self.left_out.clone()))?;
        out.value(&self.random)?;
        out.number(self.roots.len() as u64)?;
        for root in &self.roots {
            out.bytes(&root.pair)?;
            out.number(root.parent as u64)?;
            out.number(u64::from(root.initial))?;
            out.list(root.steps.iter())?;
        }
        out.number(self.done.len() as u64)?;
        self.done.iter().try_for_each(|pair| out.bytes(pair))?;
        out.number(self.path.len() as u64)?;
        for frame in &self.path {
            out.bytes(&frame.pair)?;
            out.number(frame.first as u64)?;
            out.number(frame.next as u64)?;
        }
        out.number(self.arcs.len() as u64)?;
        self.arcs.iter().try_for_each(|arc| {
            out.bytes(&arc.target)?;
            out.number(u64::from(arc.ordinal))
        })
    }

    /// Goes on from a file.
    pub(super) fn restore(&mut self, meter: &Meter) -> Result<(), Limit> {
        let Some(mut keeper) = self.keeper.take() else { return Ok(()) };
        let path = keeper.checkpoint.path.clone();
        let restored = Reader::open(&path).map_err(Refused::from).and_then(|mut input| {
            self.read(&mut input, meter)?;
            if self.is_sound() { Ok(()) } else { Err(Damaged.into()) }
        });
        // A file that could not be read is not written over.
        restored.map_err(|refused| refused.into_limit(&path))?;
        keeper.restored(meter);
        self.keeper = Some(keeper);
        Ok(())
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        if input.number()? != KIND {
            return Err(Damaged.into());
        }
        let s = &mut self.statistics;
        for figure in
            [&mut s.states, &mut s.transitions, &mut s.max_depth, &mut s.memory_bytes, &mut self.bytes]
        {
            *figure = input.number()?;
        }
        self.root = input.index()?;
        self.left_out = input.value()?;
        self.random = input.value()?;
        for _ in 0..input.index()? {
            let pair = self.pair(input, meter)?;
            let (parent, initial, steps) = (input.index()?, input.short()?, input.list(meter)?);
            self.pairs.insert(pair.clone(), Known::Root);
            self.roots.push(Root { pair, parent, initial, steps });
        }
        for place in 0..input.short()? {
            let pair = self.pair(input, meter)?;
            self.pairs.insert(pair.clone(), Known::Done(place));
            self.done.push(pair);
        }
        for place in 0..input.short()? {
            let (pair, first, next) = (self.pair(input, meter)?, input.index()?, input.index()?);
            // A root that accepts is not met again on its path.
            if place > 0 || !self.accepts(&pair) {
                self.pairs.insert(pair.clone(), Known::OnPath(place));
            }
            self.path.push(Frame { pair, first, next });
        }
        for _ in 0..input.index()? {
            let (target, ordinal) = (self.pair(input, meter)?, input.short()?);
            self.arcs.push(Arc { target, ordinal });
        }
        Ok(())
    }

    /// A pair, with a state that the automaton has.
    fn pair(&self, input: &mut Reader, meter: &Meter) -> Result<Pair, Refused> {
        if (self.pairs.len() + self.arcs.len()).is_multiple_of(PIECE) {
            meter.check().map_err(Refused::Limit)?;
        }
        let mut bytes = Vec::new();
        input.bytes(&mut bytes)?;
        let states = self.product.claim().automaton.len();
        match bytes.len() >= WIDTH && (split(&bytes).1 as usize) < states {
            true => Ok(bytes.into()),
            false => Err(CheckpointError::Damaged.into()),
        }
    }

    /// Whether what was read fits together.
    fn is_sound(&self) -> bool {
        let ends = self.path.iter().skip(1).map(|frame| frame.first).chain([self.arcs.len()]);
        let mut frames = self.path.iter().zip(ends);
        let top = self.path.len().saturating_sub(1);
        let fits = |(at, (frame, end)): (usize, (&Frame, usize))| {
            let begun = at == top || frame.next > frame.first;
            frame.first <= frame.next && frame.next <= end && begun
        };
        frames.by_ref().enumerate().all(fits)
            && self.root <= self.roots.len()
            && !self.roots.is_empty()
            && (self.path.is_empty() || self.root < self.roots.len())
            && self.roots.iter().enumerate().all(|(at, root)| root.parent <= at)
    }
}
