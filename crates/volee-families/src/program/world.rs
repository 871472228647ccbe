//! What does not change while a family is built: the layout of its channels, and which globals nobody ever assigns.
//!
//! The contents of buffered channels are finite, so they are part of a valuation of the globals: behind the variables each
//! channel has its length and its slots. A global that is never assigned is the same in all valuations; reading it does not
//! make a step depend on the globals, which keeps nets small (most channel variables are such).

use volee_program::{Action, ChannelType, Expr, Location, Pattern, ProctypeId, Program, Scope};

use super::identity::NAMES;

/// The unchanging part.
pub struct World<'p> {
    pub program: &'p Program,
    channels: Vec<ChannelAt>,
    /// Offsets of globals that some statement may assign: (first, last).
    assigned: Vec<(u32, u32)>,
    /// Cells of a valuation of the globals; the last ones count names.
    pub cells: usize,
    /// The proctypes that come in any number.
    pub users: Vec<ProctypeId>,
    /// Processes that exist once, from the start: the first numbers.
    pub once: i32,
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
    pub fn new(program: &'p Program, users: &[ProctypeId]) -> Self {
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
        let cells = cells + NAMES;
        let mut world = World { program, channels, assigned: Vec::new(), cells, users, once };
        for transition in program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions) {
            world.note(&transition.action);
        }
        world
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
