//! A search by components on its way to a file and back.
//!
//! Nodes are written in the order of their numbers, each as the bytes of its state and the state of the
//! automaton, so that whoever reads them gives them the same numbers, whatever names the states have by then.
//! Everything else that the search has on its stacks is numbers.

use std::io;

use volee_system::{Limit, Meter, Progress, System};

use super::Claim;
use super::components::{Frame, Root, Search};
use super::marks::Marks;
use super::nodes::{DEAD, UNVISITED};
use super::product::Arc;
use super::reduced::Expansions;
use volee_store::checkpoint::{CheckpointError, Damaged, PIECE, Reader, Refused, Writer};

/// What a kept search of this kind begins with.
const KIND: u64 = 4;

impl<S: System + ?Sized, const W: usize> Search<'_, S, W> {
    /// Keeps the search, if it is one that is kept. It goes on if that fails, and says so.
    pub(super) fn keep(&mut self, meter: &Meter, progress: &mut dyn Progress) {
        let Some(mut keeper) = self.keeper.take() else { return };
        if let Some(failed) = keeper.keep(self.product.nodes.len() as u64, meter, |out| self.write(out)) {
            progress.say(&failed);
        }
        self.keeper = Some(keeper);
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        let product = &mut self.product;
        let left_out = product.system.left_out().map(|limit| limit.to_string());
        for number in [
            KIND,
            W as u64,
            product.transitions,
            product.reduced,
            self.max_depth as u64,
            u64::from(self.initial),
            self.settle_after as u64,
        ] {
            out.number(number)?;
        }
        out.value(&left_out.or_else(|| self.left_out.clone()))?;
        out.value(&self.errors)?;
        out.value(&product.letters())?;
        let nodes = product.nodes.len();
        out.number(nodes as u64)?;
        for node in 0..nodes {
            let (name, state) = product.nodes.key(node as u32);
            out.bytes(product.load(name))?;
            out.number(u64::from(state))?;
            out.number(u64::from(product.nodes.order[node].wrapping_add(1)))?;
        }
        let settled = product.expansions.as_ref().map_or(0, |settled| settled.len() + 1);
        out.number(settled as u64)?;
        for state in 0..settled.saturating_sub(1) {
            let (name, order) = product.expansions.as_ref().expect("there are some").get(state as u32);
            out.bytes(product.load(name))?;
            out.number(u64::from(order))?;
        }
        self.write_stacks(out)
    }

    fn write_stacks(&self, out: &mut Writer) -> io::Result<()> {
        out.number(self.waiting.len() as u64)?;
        for arc in &self.waiting {
            out.number(u64::from(arc.node))?;
            out.number(u64::from(arc.ordinal.wrapping_add(2)))?;
            out.number(arc.process.map_or(0, |process| u64::from(process) + 1))?;
            arc.marks.0.iter().try_for_each(|&word| out.number(word))?;
        }
        out.number(self.frames.len() as u64)?;
        for frame in &self.frames {
            out.number(u64::from(frame.node))?;
            out.number(frame.first as u64)?;
            out.number(frame.next as u64)?;
        }
        out.number(self.open.len() as u64)?;
        self.open.iter().try_for_each(|&node| out.number(u64::from(node)))?;
        out.number(self.roots.len() as u64)?;
        for root in &self.roots {
            out.number(root.start as u64)?;
            root.entry.0.iter().chain(&root.inside.0).try_for_each(|&word| out.number(word))?;
            out.number(u64::from(root.told))?;
        }
        Ok(())
    }

    /// Goes on from a file, where there is one to go on from.
    pub(super) fn restore(&mut self, claim: &Claim, meter: &Meter) -> Result<(), Limit> {
        let Some(keeper) = self.keeper.take_if(|keeper| keeper.checkpoint.resume) else { return Ok(()) };
        let path = keeper.checkpoint.path.clone();
        let restored = Reader::open(&path).map_err(Refused::from).and_then(|mut input| {
            self.read(&mut input, claim, meter)?;
            if self.is_sound() { Ok(()) } else { Err(Damaged.into()) }
        });
        restored.map_err(|refused| refused.into_limit(&path))?;
        // A file that could not be read is not written over.
        self.keeper.insert(keeper).restored(meter);
        Ok(())
    }

    fn read(&mut self, input: &mut Reader, claim: &Claim, meter: &Meter) -> Result<(), Refused> {
        if (input.number()?, input.number()?) != (KIND, W as u64) {
            return Err(Damaged.into());
        }
        self.product.transitions = input.number()?;
        self.product.reduced = input.number()?;
        self.max_depth = input.index()?;
        self.initial = input.short()?;
        self.settle_after = input.index()?;
        self.left_out = input.value()?;
        self.errors = input.value()?;
        let letters: Vec<u64> = input.value()?;
        self.product.met_before(&letters);
        let states = claim.automaton.states.len() as u32;
        let mut bytes = Vec::new();
        for node in 0..input.index()? {
            input.bytes(&mut bytes)?;
            let state = input.short()?;
            let order = input.short()?.wrapping_sub(1);
            let given = self.product.intern(&bytes, state).ok_or_else(|| self.no_room())?;
            if state >= states || given as usize != node {
                return Err(Damaged.into());
            }
            self.product.nodes.order[node] = order;
            self.look(node, meter)?;
        }
        if let Some(settled) = input.index()?.checked_sub(1) {
            self.product.expansions = Some(Expansions::none());
            for state in 0..settled {
                input.bytes(&mut bytes)?;
                let order = input.short()?;
                let name = self.product.name(&bytes).ok_or_else(|| self.no_room())?;
                self.product.expansions.as_mut().ok_or(Damaged)?.put(name, order);
                self.look(state, meter)?;
            }
        }
        self.read_stacks(input)
    }

    fn look(&self, at: usize, meter: &Meter) -> Result<(), Refused> {
        if at.is_multiple_of(PIECE) {
            let needs = || "the search in the file needs more".to_owned();
            meter.check().and_then(|()| meter.check_memory(self.bytes(), needs)).map_err(Refused::Limit)?;
        }
        Ok(())
    }

    fn no_room(&self) -> Refused {
        Refused::Limit(Limit::Memory { budget: self.bytes(), needed: "there are too many states".into() })
    }

    fn read_stacks(&mut self, input: &mut Reader) -> Result<(), Refused> {
        for _ in 0..input.index()? {
            let (node, ordinal) = (input.short()?, input.short()?.wrapping_sub(2));
            let process = input.short()?.checked_sub(1).map(u8::try_from);
            let process = process.transpose().map_err(|_| Damaged)?;
            self.waiting.push(Arc { node, ordinal, process, marks: marks(input)? });
        }
        for _ in 0..input.index()? {
            let (node, first, next) = (input.short()?, input.index()?, input.index()?);
            self.frames.push(Frame { node, first, next });
        }
        for _ in 0..input.index()? {
            self.open.push(input.short()?);
        }
        for _ in 0..input.index()? {
            let (start, entry, inside) = (input.index()?, marks(input)?, marks(input)?);
            self.roots.push(Root { start, entry, inside, told: input.number()? == 1 });
        }
        Ok(())
    }

    /// Whether what was read fits together.
    fn is_sound(&self) -> bool {
        let orders = &self.product.nodes.order;
        let nodes = orders.len() as u32;
        let arcs = self.waiting.iter().all(|arc| arc.node < nodes);
        let ends = self.frames.iter().skip(1).map(|frame| frame.first).chain([self.waiting.len()]);
        let mut frames = self.frames.iter().zip(ends);
        let top = self.frames.len().saturating_sub(1);
        let fits = |(at, (frame, end)): (usize, (&Frame, usize))| {
            let begun = at == top || frame.next > frame.first;
            frame.node < nodes && frame.first <= frame.next && frame.next <= end && begun
        };
        let open = |(place, &node): (usize, &u32)| orders.get(node as usize) == Some(&(place as u32 + 1));
        let is_open = |&order: &u32| order != UNVISITED && order != DEAD;
        let starts = self.roots.iter().map(|root| root.start);
        arcs && frames.by_ref().enumerate().all(fits)
            && self.open.iter().enumerate().all(open)
            && orders.iter().filter(|order| is_open(order)).count() == self.open.len()
            && self.frames.iter().all(|frame| orders.get(frame.node as usize).is_some_and(is_open))
            && self.frames.is_empty() == self.open.is_empty()
            && self.roots.first().map_or(0, |root| root.start) == 0
            && self.roots.is_empty() == self.open.is_empty()
            && starts.clone().zip(starts.skip(1).chain([self.open.len()])).all(|(start, next)| start < next)
    }
}

fn marks<const W: usize>(input: &mut Reader) -> Result<Marks<W>, CheckpointError> {
    let mut words = [0; W];
    for word in &mut words {
        *word = input.number()?;
    }
    Ok(Marks(words))
}
