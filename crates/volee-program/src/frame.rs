//! A packed state with the offsets of its parts.
//!
//! Layout of a state:
//!
//! ```text
//! processes │ last? │ monitor? │ globals │ global channels │ process 0 │ its channels │ process 1 │ …
//! process = type │ control point (1 or 2 bytes) │ priority? │ locals
//! ```
//!
//! Processes die youngest first, so a process and the channels made at its birth are always the end of the
//! vector. Offsets are recomputed when a state is loaded and kept up to date while processes are born and
//! die; they are not part of the state.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::program::{ChannelType, Program};

/// Where the fixed parts of a state are.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub last_at: usize,
    pub monitor_at: usize,
    pub globals_at: usize,
    pub channels_at: usize,
    pub processes_at: usize,
    /// Two bytes for control points instead of one.
    pub wide_control: bool,
    pub has_priority: bool,
    /// Bytes of a process before its locals.
    pub process_header: usize,
    /// Per proctype: bytes of a process without its channels.
    pub process_bytes: Vec<usize>,
    /// Per proctype: bytes of a process with the channels made at its birth.
    pub born_bytes: Vec<usize>,
    /// Per channel type: bytes in a state, bytes of a message, capacity.
    pub channels: Vec<ChannelShape>,
    /// Per proctype: the channels made at birth.
    pub born_channels: Vec<Vec<u16>>,
    /// The channels that are there from the start.
    pub global_channels: Vec<u16>,
}

/// What the hot loop needs of a channel type.
#[derive(Debug, Clone)]
pub(crate) struct ChannelShape {
    pub bytes: usize,
    pub message: usize,
    pub capacity: u32,
    /// Offset and type of each field in a message.
    pub fields: Vec<(usize, crate::types::Scalar)>,
}

impl ChannelShape {
    fn of(channel: &ChannelType) -> Self {
        let mut at = 0;
        let mut fields = Vec::with_capacity(channel.fields.len());
        for &(scalar, _) in &channel.fields {
            fields.push((at, scalar));
            at += scalar.bytes() as usize;
        }
        ChannelShape { bytes: channel.bytes() as usize, message: at, capacity: channel.capacity, fields }
    }
}

impl Layout {
    pub fn of(program: &Program) -> Self {
        let last_at = 1;
        let monitor_at = last_at + usize::from(program.uses_last);
        let globals_at = monitor_at + if program.monitor.is_some() { 2 } else { 0 };
        let channels_at = globals_at + program.globals_size as usize;
        let channels: Vec<_> = program.channel_types.iter().map(ChannelShape::of).collect();
        let global_channels: Vec<_> = program.channels.iter().map(|c| c.channel.0).collect();

        let global_bytes: usize = global_channels.iter().map(|&c| channels[c as usize].bytes).sum();
        let wide_control = program.proctypes.iter().any(|p| p.nodes.len() > 256);
        let has_priority = program.uses_priorities;
        let process_header = 2 + usize::from(wide_control) + usize::from(has_priority);
        let process_bytes: Vec<_> =
            program.proctypes.iter().map(|p| process_header + p.locals_size as usize).collect();
        let born_channels: Vec<Vec<u16>> =
            program.proctypes.iter().map(|p| p.channels.iter().map(|c| c.channel.0).collect()).collect();
        let made = |born: &Vec<u16>| born.iter().map(|&c| channels[c as usize].bytes).sum::<usize>();
        let born_bytes =
            process_bytes.iter().zip(&born_channels).map(|(own, born)| own + made(born)).collect();
        Layout {
            last_at,
            monitor_at,
            globals_at,
            channels_at,
            processes_at: channels_at + global_bytes,
            wide_control,
            has_priority,
            process_header,
            process_bytes,
            born_bytes,
            channels,
            born_channels,
            global_channels,
        }
    }
}

/// Where a channel is in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChannelAt {
    pub offset: u32,
    pub shape: u16,
}

/// A state being read or written.
///
/// Where processes and channels are changes only when a process is born or dies. Frames that agree on it
/// carry the same stamp, and copying one to the other copies the bytes alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub bytes: Vec<u8>,
    pub processes: Vec<u32>,
    pub channels: Vec<ChannelAt>,
    /// The type of each process.
    types: Vec<u8>,
    stamp: u64,
}

/// A stamp that no other frame has. Only equality of stamps is ever looked at.
fn fresh_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Frame {
    /// A frame of these bytes, without channels and processes.
    pub fn bare(bytes: Vec<u8>) -> Self {
        Frame { bytes, stamp: fresh_stamp(), ..Frame::default() }
    }

    /// Loads a stored state.
    pub fn load(&mut self, layout: &Layout, state: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(state);
        if !self.fits(layout) {
            self.locate(layout);
        }
    }

    /// Whether processes and channels are where they were in the state loaded before.
    #[inline]
    fn fits(&self, layout: &Layout) -> bool {
        let mut at = layout.processes_at;
        self.stamp != 0
            && usize::from(self.bytes[0]) == self.types.len()
            && self.types.iter().all(|&known| {
                let same = self.bytes[at] == known;
                at += layout.born_bytes[usize::from(known)];
                same
            })
    }

    /// Finds the processes and channels of the loaded state.
    #[cold]
    fn locate(&mut self, layout: &Layout) {
        self.stamp = fresh_stamp();
        self.processes.clear();
        self.channels.clear();
        self.types.clear();
        let mut at = layout.channels_at;
        for &shape in &layout.global_channels {
            self.channels.push(ChannelAt { offset: at as u32, shape });
            at += layout.channels[shape as usize].bytes;
        }
        for _ in 0..self.bytes[0] {
            let proctype = self.bytes[at];
            self.processes.push(at as u32);
            self.types.push(proctype);
            at += layout.process_bytes[usize::from(proctype)];
            for &shape in &layout.born_channels[usize::from(proctype)] {
                self.channels.push(ChannelAt { offset: at as u32, shape });
                at += layout.channels[shape as usize].bytes;
            }
        }
        debug_assert_eq!(at, self.bytes.len());
    }

    /// Becomes a copy without allocating once it has grown.
    #[inline]
    pub fn copy_from(&mut self, other: &Frame) {
        self.bytes.clone_from(&other.bytes);
        if self.stamp != other.stamp {
            self.processes.clone_from(&other.processes);
            self.channels.clone_from(&other.channels);
            self.types.clone_from(&other.types);
            self.stamp = other.stamp;
        }
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    #[inline]
    pub fn base(&self, pid: usize) -> usize {
        self.processes[pid] as usize
    }

    #[inline]
    pub fn proctype(&self, pid: usize) -> usize {
        usize::from(self.types[pid])
    }

    /// The types of all processes.
    #[inline]
    pub fn types(&self) -> &[u8] {
        &self.types
    }

    #[inline]
    pub fn control(&self, layout: &Layout, pid: usize) -> usize {
        let at = self.base(pid) + 1;
        if layout.wide_control {
            usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
        } else {
            usize::from(self.bytes[at])
        }
    }

    #[inline]
    pub fn set_control(&mut self, layout: &Layout, pid: usize, node: u32) {
        let at = self.base(pid) + 1;
        if layout.wide_control {
            self.bytes[at..at + 2].copy_from_slice(&(node as u16).to_le_bytes());
        } else {
            self.bytes[at] = node as u8;
        }
    }

    pub fn priority(&self, layout: &Layout, pid: usize) -> u8 {
        if layout.has_priority { self.bytes[self.base(pid) + layout.process_header - 1] } else { 1 }
    }

    pub fn set_priority(&mut self, layout: &Layout, pid: usize, priority: u8) {
        if layout.has_priority {
            let at = self.base(pid) + layout.process_header - 1;
            self.bytes[at] = priority;
        }
    }

    /// Adds a process with zeroed locals and empty channels; returns its number.
    pub fn add_process(&mut self, layout: &Layout, proctype: usize, entry: u32, priority: u8) -> usize {
        let pid = self.processes.len();
        let at = self.bytes.len();
        self.stamp = fresh_stamp();
        self.processes.push(at as u32);
        self.types.push(proctype as u8);
        self.bytes.resize(at + layout.process_bytes[proctype], 0);
        self.bytes[at] = proctype as u8;
        self.set_control(layout, pid, entry);
        self.set_priority(layout, pid, priority);
        for &shape in &layout.born_channels[proctype] {
            self.add_channel(layout, shape);
        }
        self.bytes[0] = (pid + 1) as u8;
        pid
    }

    pub fn add_channel(&mut self, layout: &Layout, shape: u16) {
        let at = self.bytes.len();
        self.channels.push(ChannelAt { offset: at as u32, shape });
        self.bytes.resize(at + layout.channels[shape as usize].bytes, 0);
    }

    /// Removes the youngest process and the channels made at its birth.
    pub fn remove_youngest(&mut self, layout: &Layout) {
        let at = self.processes.pop().expect("only a living process ends") as usize;
        let proctype = self.types.pop().expect("every process has a type");
        self.stamp = fresh_stamp();
        let born = layout.born_channels[usize::from(proctype)].len();
        self.channels.truncate(self.channels.len() - born);
        self.bytes.truncate(at);
        self.bytes[0] = self.processes.len() as u8;
    }

    /// The channel with this number, if there is one.
    #[inline]
    pub fn channel(&self, number: i32) -> Option<ChannelAt> {
        self.channels.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }

    #[inline]
    pub fn length(&self, layout: &Layout, channel: ChannelAt) -> u32 {
        if layout.channels[channel.shape as usize].capacity == 0 {
            0
        } else {
            u32::from(self.bytes[channel.offset as usize])
        }
    }
}
