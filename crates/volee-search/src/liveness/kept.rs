//! A search by components on its way to a file and back.
//!
//! Nodes are written in the order of their numbers, each as the bytes of its state and the state of the
//! automaton, so that whoever reads them gives them the same numbers, whatever names the states have by then.
//! Everything else that the search has on its stacks is numbers.

use std::io;

use volee_system::{Limit, Meter, Progress, System};

use super::components::{Frame, Root, Search};
use super::marks::Marks;
use super::nodes::{DEAD, UNVISITED};
use super::product::Arc;
use super::reduced::Expansions;
use super::{Claim, crew};
use volee_store::checkpoint::{CheckpointError, Damaged, PIECE, Reader, Refused, Writer};

/// What a kept search of this kind begins with.
const KIND: u64 = 4;

/// What a file begins with.
pub(super) struct Header {
    pub kind: u64,
    pub words: u64,
    pub transitions: u64,
    pub reduced: u64,
    pub max_depth: u64,
    pub initial: u64,
    pub settle_after: u64,
    /// Several threads know that there is an error, and one is to find it.
    pub is_left_to_one: u64,
}

impl Header {
    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        let [one, two] = [
            [self.kind, self.words, self.transitions, self.reduced],
            [self.max_depth, self.initial, self.settle_after, self.is_left_to_one],
        ];
        one.into_iter().chain(two).try_for_each(|number| out.number(number))
    }

    pub fn read(input: &mut Reader) -> Result<Self, CheckpointError> {
        Ok(Header {
            kind: input.number()?,
            words: input.number()?,
            transitions: input.number()?,
            reduced: input.number()?,
            max_depth: input.number()?,
            initial: input.number()?,
            settle_after: input.number()?,
            is_left_to_one: input.number()?,
        })
    }
}

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
        let header = Header {
            kind: KIND,
            words: W as u64,
            transitions: product.transitions,
            reduced: product.reduced,
            max_depth: self.max_depth as u64,
            initial: u64::from(self.initial),
            settle_after: self.settle_after as u64,
            is_left_to_one: u64::from(self.is_left_to_one),
        };
        header.write(out)?;
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
        write_stacks(&self.waiting, &self.frames, &self.open, &self.roots, out)
    }

    /// Goes on from a file, where there is one to go on from.
    pub(super) fn restore(&mut self, claim: &Claim, meter: &Meter) -> Result<(), Limit> {
        let Some(keeper) = self.keeper.take_if(|keeper| keeper.checkpoint.resume) else { return Ok(()) };
        let path = keeper.checkpoint.path.clone();
        let restored = Reader::open(&path).map_err(Refused::from).and_then(|mut input| {
            let header = Header::read(&mut input)?;
            if header.kind == crew::KIND {
                self.kept_by_crew = true;
                return Ok(());
            }
            self.read(header, &mut input, claim, meter)
        });
        restored.map_err(|refused| refused.into_limit(&path))?;
        // A file that could not be read is not written over.
        let keeper = self.keeper.insert(keeper);
        if !self.kept_by_crew {
            keeper.restored(meter);
        }
        Ok(())
    }

    fn read(
        &mut self,
        header: Header,
        input: &mut Reader,
        claim: &Claim,
        meter: &Meter,
    ) -> Result<(), Refused> {
        if (header.kind, header.words) != (KIND, W as u64) {
            return Err(Damaged.into());
        }
        self.product.transitions = header.transitions;
        self.product.reduced = header.reduced;
        self.max_depth = usize::try_from(header.max_depth).map_err(|_| Damaged)?;
        self.initial = u32::try_from(header.initial).map_err(|_| Damaged)?;
        self.settle_after = usize::try_from(header.settle_after).map_err(|_| Damaged)?;
        if header.is_left_to_one == 1 {
            (self.is_left_to_one, self.ask_after) = (true, usize::MAX);
        }
        self.left_out = input.value()?;
        self.errors = input.value()?;
        let letters: Vec<u64> = input.value()?;
        self.product.met_before(&letters);
        self.read_nodes(input, claim, meter)?;
        self.read_expansions(input, meter)?;
        let read = Stacks::read(input, &self.product.nodes.order)?;
        Stacks { waiting: self.waiting, frames: self.frames, open: self.open, roots: self.roots } = read;
        Ok(())
    }

    /// Reads nodes, which get the numbers that they had.
    pub(super) fn read_nodes(
        &mut self,
        input: &mut Reader,
        claim: &Claim,
        meter: &Meter,
    ) -> Result<(), Refused> {
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
        Ok(())
    }

    /// Reads which states of the reduced system have all their steps, where that was settled.
    pub(super) fn read_expansions(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        let mut bytes = Vec::new();
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
        Ok(())
    }

    pub(super) fn look(&self, at: usize, meter: &Meter) -> Result<(), Refused> {
        if at.is_multiple_of(PIECE) {
            let needs = || "the search in the file needs more".to_owned();
            meter.check().and_then(|()| meter.check_memory(self.bytes(), needs)).map_err(Refused::Limit)?;
        }
        Ok(())
    }

    fn no_room(&self) -> Refused {
        Refused::Limit(Limit::Memory { budget: self.bytes(), needed: "there are too many states".into() })
    }
}

/// The stacks of a search by components: transitions that wait, the path, open nodes, components.
pub(super) struct Stacks<const W: usize> {
    pub waiting: Vec<Arc<W>>,
    pub frames: Vec<Frame>,
    pub open: Vec<u32>,
    pub roots: Vec<Root<W>>,
}

pub(super) fn write_stacks<const W: usize>(
    waiting: &[Arc<W>],
    frames: &[Frame],
    open: &[u32],
    roots: &[Root<W>],
    out: &mut Writer,
) -> io::Result<()> {
    out.number(waiting.len() as u64)?;
    for arc in waiting {
        out.number(u64::from(arc.node))?;
        out.number(u64::from(arc.ordinal.wrapping_add(2)))?;
        out.number(arc.process.map_or(0, |process| u64::from(process) + 1))?;
        arc.marks.0.iter().try_for_each(|&word| out.number(word))?;
    }
    out.number(frames.len() as u64)?;
    for frame in frames {
        out.number(u64::from(frame.node))?;
        out.number(frame.first as u64)?;
        out.number(frame.next as u64)?;
    }
    out.number(open.len() as u64)?;
    open.iter().try_for_each(|&node| out.number(u64::from(node)))?;
    out.number(roots.len() as u64)?;
    for root in roots {
        out.number(root.start as u64)?;
        root.entry.0.iter().chain(&root.inside.0).try_for_each(|&word| out.number(word))?;
        out.number(u64::from(root.told))?;
    }
    Ok(())
}

impl<const W: usize> Stacks<W> {
    /// Reads the stacks of nodes with these orders.
    pub fn read(input: &mut Reader, orders: &[u32]) -> Result<Self, Refused> {
        let mut read =
            Stacks { waiting: Vec::new(), frames: Vec::new(), open: Vec::new(), roots: Vec::new() };
        for _ in 0..input.index()? {
            let (node, ordinal) = (input.short()?, input.short()?.wrapping_sub(2));
            let process = input.short()?.checked_sub(1).map(u8::try_from);
            let process = process.transpose().map_err(|_| Damaged)?;
            read.waiting.push(Arc { node, ordinal, process, marks: marks(input)? });
        }
        for _ in 0..input.index()? {
            let (node, first, next) = (input.short()?, input.index()?, input.index()?);
            read.frames.push(Frame { node, first, next });
        }
        for _ in 0..input.index()? {
            read.open.push(input.short()?);
        }
        for _ in 0..input.index()? {
            let (start, entry, inside) = (input.index()?, marks(input)?, marks(input)?);
            read.roots.push(Root { start, entry, inside, told: input.number()? == 1 });
        }
        if read.is_sound(orders) { Ok(read) } else { Err(Damaged.into()) }
    }

    /// Whether what was read fits together.
    fn is_sound(&self, orders: &[u32]) -> bool {
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
