//! What does not change while a family is built: the layout of its channels, and which globals nobody ever
//! assigns.
//!
//! The contents of buffered channels are finite, so they are part of a valuation of the globals: behind the
//! variables each channel has its length and its slots. A global that is never assigned is the same in all
//! valuations; reading it does not make a step depend on the globals, which keeps nets small (most channel
//! variables are such).

use volee_program::{Action, ChannelType, Expr, Location, Pattern, Proctype, ProctypeId, Program, Scope};

use super::class::run_of;
use super::identity::NAMES;

/// The unchanging part.
pub struct World<'p> {
    pub program: &'p Program,
    channels: Vec<ChannelAt>,
    /// Offsets of globals that some statement may assign: (first, last).
    assigned: Vec<(u32, u32)>,
    /// Cells of a valuation of the globals; the last ones count the names that each holder has.
    pub cells: usize,
    /// Processes that are not of the many, and may hold their numbers.
    pub holders: usize,
    /// The proctypes that come in any number.
    pub users: Vec<ProctypeId>,
    /// Processes that exist once, from the start: the first numbers.
    pub once: i32,
    /// A process that is started late may get the number of one that has ended.
    pub numbers_return: bool,
}

/// Where a channel keeps its messages.
#[derive(Debug, Clone, Copy)]
pub struct ChannelAt {
    kind: u16,
    pub capacity: usize,
    /// The cell of its length; the slots follow.
    pub start: usize,
    pub fields: usize,
}

impl ChannelAt {
    /// The first cell of a slot.
    pub fn slot(&self, number: usize) -> usize {
        self.start + 1 + number * self.fields
    }
}

impl<'p> World<'p> {
    /// The world in which that many replications of the many are told apart for good.
    pub fn new(program: &'p Program, users: &[ProctypeId], regulated: usize) -> Self {
        // Four cells more than bytes: the widest scalar.
        let mut cells = program.globals_size as usize + 4;
        let mut channels = Vec::new();
        for channel in &program.channels {
            let kind = &program.channel_types[channel.channel.0 as usize];
            let (capacity, fields) = (kind.capacity as usize, kind.fields.len());
            channels.push(ChannelAt { kind: channel.channel.0, capacity, start: cells, fields });
            if capacity > 0 {
                cells += 1 + capacity * fields;
            }
        }
        let once = program.active.iter().filter(|p| !users.contains(p)).count() as i32;
        let users = users.to_vec();
        let holders = once as usize + program.proctypes.len() + regulated;
        let cells = cells + NAMES * holders;
        let numbers_return = may_return(program, &users);
        let assigned = Vec::new();
        let mut world = World { program, channels, assigned, cells, holders, users, once, numbers_return };
        for transition in program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions) {
            world.note(&transition.action);
        }
        world
    }

    /// What each cell that is no count belongs to: the globals, or a channel.
    pub fn regions(&self) -> Vec<u16> {
        let mut all = vec![0; self.cells - NAMES * self.holders];
        for (number, channel) in self.channels.iter().enumerate().filter(|(_, c)| c.capacity > 0) {
            all[channel.start..channel.slot(channel.capacity)].fill(number as u16 + 1);
        }
        all
    }

    /// Whether there is a channel on which processes meet.
    pub fn has_rendezvous(&self) -> bool {
        self.channels.iter().any(|c| c.capacity == 0)
    }

    fn note(&mut self, action: &Action) {
        match action {
            Action::Assign(location, _) => self.note_location(location),
            Action::Receive { patterns, .. } => {
                for pattern in patterns {
                    if let Pattern::Bind(location) = pattern {
                        self.note_location(location);
                    }
                }
            }
            Action::Sequence(all) => all.iter().for_each(|a| self.note(a)),
            _ => {}
        }
    }

    fn note_location(&mut self, location: &Location) {
        if location.scope == Scope::Global {
            let span: u32 = location.indices.iter().map(|i| i.count.saturating_sub(1) * i.stride).sum();
            self.assigned.push((location.offset, location.offset + span));
        }
    }

    /// Whether a global has its initial value for ever.
    pub fn is_fixed(&self, offset: usize) -> bool {
        !self.assigned.iter().any(|&(first, last)| (first as usize..=last as usize).contains(&offset))
    }

    /// The channel with this number.
    pub fn channel(&self, number: i32) -> Option<ChannelAt> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|n| self.channels.get(n).copied())
    }

    pub fn kind(&self, channel: ChannelAt) -> &'p ChannelType {
        &self.program.channel_types[channel.kind as usize]
    }

    /// Whether a channel expression can mean a rendezvous channel.
    pub fn may_meet(&self, channel: &Expr) -> bool {
        if let Expr::Load(location) = channel
            && location.scope == Scope::Global
            && location.indices.is_empty()
            && self.is_fixed(location.offset as usize)
        {
            let own = self.program.channels.iter().position(|c| c.holder.offset == location.offset);
            return own.is_none_or(|c| self.channels[c].capacity == 0);
        }
        self.channels.iter().any(|c| c.capacity == 0)
    }
}

/// Whether one of the many may be started after another process has ended, whose number it then gets. When
/// the first process ends, nobody is left to start others.
fn may_return(program: &Program, users: &[ProctypeId]) -> bool {
    let started = |action: &Action| run_of(action).is_some_and(|p| users.contains(&p));
    let mut transitions = program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions);
    if !transitions.any(|t| started(&t.action)) {
        return false;
    }
    let first = program.active.first().filter(|p| !users.contains(p) && !is_again(program, **p));
    let numbered = program.proctypes.iter().enumerate();
    numbered.filter(|(number, _)| first.is_none_or(|f| usize::from(f.0) != *number)).any(|(_, p)| can_end(p))
}

fn is_again(program: &Program, proctype: ProctypeId) -> bool {
    let mut transitions = program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions);
    program.active.iter().filter(|p| **p == proctype).count() > 1
        || transitions.any(|t| run_of(&t.action) == Some(proctype))
}

fn can_end(proctype: &Proctype) -> bool {
    let mut seen = vec![false; proctype.nodes.len()];
    let mut work = vec![proctype.entry.0 as usize];
    while let Some(node) = work.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        for t in &proctype.nodes[node].transitions {
            if matches!(t.action, Action::End) {
                return true;
            }
            work.push(t.target.0 as usize);
            if let Action::DStep(entry) = t.action {
                work.push(entry.0 as usize);
            }
        }
    }
    false
}
