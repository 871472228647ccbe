//! Evaluation of compiled expressions in a packed state.
//!
//! Expressions have no side effects, so evaluation borrows the frame. A run-time error is remembered in the
//! context (the first one wins) and evaluation goes on with 0: whoever asked decides what the error means.

use volee_system::FaultId;

use crate::code::{Cell, Code, Compiled, Element, Poll, Target, Width};
use crate::frame::{ChannelAt, Frame};
use crate::program::{BinaryOp, ChannelTest};
use crate::types::Scalar;

/// Who evaluates, where.
pub(crate) struct Context<'a> {
    pub compiled: &'a Compiled,
    pub frame: &'a Frame,
    /// Offset of the acting process's record (0 where there is none).
    pub base: usize,
    pub pid: usize,
    pub timeout: bool,
    pub fault: Option<FaultId>,
    /// Who asked, by `enabled`, whether this process can move.
    pub asked_by: Option<&'a Asker<'a>>,
}

/// A process whose statement asks `enabled` of another, and who asked it in turn.
pub(crate) struct Asker<'a> {
    /// None for a claim or predicate.
    pid: Option<usize>,
    asked_by: Option<&'a Asker<'a>>,
}

/// Processes through which `enabled` may ask: every one more may multiply the work.
const MOST_ASKERS: usize = 3;

impl<'a> Context<'a> {
    #[inline]
    pub fn of(compiled: &'a Compiled, frame: &'a Frame, pid: usize, timeout: bool) -> Self {
        Context { compiled, frame, base: frame.base(pid), pid, timeout, fault: None, asked_by: None }
    }

    /// A context without an acting process: predicates, claims, initial values of globals.
    pub fn outside(compiled: &'a Compiled, frame: &'a Frame) -> Self {
        Context { compiled, frame, base: 0, pid: 0, timeout: false, fault: None, asked_by: None }
    }

    #[inline]
    pub fn fail(&mut self, fault: FaultId) -> i32 {
        self.fault.get_or_insert(fault);
        0
    }

    #[inline]
    pub fn truth(&mut self, code: &Code) -> bool {
        self.eval(code) != 0
    }

    pub fn eval(&mut self, code: &Code) -> i32 {
        match code {
            Code::Const(k) => *k,
            Code::Global8(offset) => i32::from(self.frame.bytes[*offset as usize]),
            Code::Local8(offset) => i32::from(self.frame.bytes[self.base + *offset as usize]),
            Code::Compare(op, cell, k) => {
                let value = self.read(*cell, self.base);
                match op {
                    BinaryOp::Eq => i32::from(value == *k),
                    BinaryOp::Ne => i32::from(value != *k),
                    _ => op.apply(value, *k).unwrap_or(0),
                }
            }
            Code::Load(cell) => self.read(*cell, self.base),
            Code::Element(element) => self.load_element(element, self.base),
            Code::Not(e) => i32::from(self.eval(e) == 0),
            Code::Neg(e) => self.eval(e).wrapping_neg(),
            Code::Complement(e) => !self.eval(e),
            Code::Binary(op, sides) => {
                let a = self.eval(&sides.0);
                let b = self.eval(&sides.1);
                op.apply(a, b).unwrap_or(0)
            }
            Code::Divide(op, sides, fault) => {
                let a = self.eval(&sides.0);
                let b = self.eval(&sides.1);
                op.apply(a, b).unwrap_or_else(|| self.fail(*fault))
            }
            Code::And(sides) => i32::from(self.truth(&sides.0) && self.truth(&sides.1)),
            Code::Or(sides) => i32::from(self.truth(&sides.0) || self.truth(&sides.1)),
            Code::Cond(parts) => {
                if self.truth(&parts.0) {
                    self.eval(&parts.1)
                } else {
                    self.eval(&parts.2)
                }
            }
            Code::Channel(test, channel, fault) => self.channel_test(*test, channel, *fault),
            Code::Poll(poll) => i32::from(self.poll(poll)),
            Code::Pid => self.pid as i32,
            Code::ProcessCount => self.frame.count() as i32,
            Code::Last => i32::from(self.frame.bytes[self.compiled.layout.last_at]),
            Code::Timeout => i32::from(self.timeout),
            Code::NonProgress => i32::from(crate::permission::lacks_progress(self.compiled, self.frame)),
            Code::Enabled(pid, circular) => self.enabled(pid, *circular),
            Code::PcValue(pid) => match self.process(pid) {
                Some(pid) => self.frame.control(&self.compiled.layout, pid) as i32,
                None => 0,
            },
            Code::Priority(pid) => match self.process(pid) {
                Some(pid) => i32::from(self.frame.priority(&self.compiled.layout, pid)),
                None => 0,
            },
            Code::At { proctype, pid, node, fault } => match self.remote(*proctype, pid.as_deref(), *fault) {
                Some(pid) => i32::from(self.frame.control(&self.compiled.layout, pid) == *node as usize),
                None => 0,
            },
            Code::Remote { proctype, pid, element, fault } => {
                match self.remote(*proctype, pid.as_deref(), *fault) {
                    Some(pid) => self.load_element(element, self.frame.base(pid)),
                    None => 0,
                }
            }
        }
    }

    /// `enabled(pid)`: whether the process exists and has a statement that can be done.
    fn enabled(&mut self, pid: &Code, circular: FaultId) -> i32 {
        let Some(pid) = self.process(pid) else { return 0 };
        let asker = Asker { pid: (self.base != 0).then_some(self.pid), asked_by: self.asked_by };
        let mut chain = std::iter::successors(Some(&asker), |asker| asker.asked_by);
        if chain.clone().count() > MOST_ASKERS || chain.any(|asker| asker.pid == Some(pid)) {
            return self.fail(circular);
        }
        let cx = || Context {
            asked_by: Some(&asker),
            ..Context::of(self.compiled, self.frame, pid, self.timeout)
        };
        match crate::permission::can_move(cx) {
            Ok(can) => i32::from(can),
            Err(fault) => self.fail(fault),
        }
    }

    fn process(&mut self, pid: &Code) -> Option<usize> {
        usize::try_from(self.eval(pid)).ok().filter(|&p| p < self.frame.count())
    }

    /// The process that a remote reference means: the given one, or the first of its type. A process that is
    /// not there is at no label and has no variables; only a number that never was one is an error.
    fn remote(&mut self, proctype: u8, pid: Option<&Code>, fault: FaultId) -> Option<usize> {
        let Some(pid) = pid else {
            return (0..self.frame.count()).find(|&p| self.frame.proctype(p) == usize::from(proctype));
        };
        let number = self.eval(pid);
        if !(0..=255).contains(&number) {
            self.fail(fault);
            return None;
        }
        let number = number as usize;
        (number < self.frame.count() && self.frame.proctype(number) == usize::from(proctype))
            .then_some(number)
    }

    #[inline]
    pub fn read(&self, cell: Cell, base: usize) -> i32 {
        let at = if cell.local { base + cell.offset as usize } else { cell.offset as usize };
        read_at(&self.frame.bytes, at, cell.width)
    }

    fn load_element(&mut self, element: &Element, base: usize) -> i32 {
        match self.element_at(element, base) {
            Some(at) => read_at(&self.frame.bytes, at, element.cell.width),
            None => 0,
        }
    }

    #[inline]
    pub fn element_at(&mut self, element: &Element, base: usize) -> Option<usize> {
        let mut at = element.cell.offset as usize + if element.cell.local { base } else { 0 };
        for (index, count, stride, fault) in &element.indices {
            let value = self.eval(index);
            if value < 0 || value as u32 >= *count {
                self.fail(*fault);
                return None;
            }
            at += value as usize * *stride as usize;
        }
        Some(at)
    }

    /// Where a value for `target` goes: offset and type.
    #[inline]
    pub fn target_at(&mut self, target: &Target) -> Option<(usize, Scalar)> {
        match target {
            Target::Cell(cell, scalar) => {
                Some((cell.offset as usize + if cell.local { self.base } else { 0 }, *scalar))
            }
            Target::Element(element, scalar) => self.element_at(element, self.base).map(|at| (at, *scalar)),
            Target::Nowhere => None,
        }
    }

    #[inline]
    pub fn channel(&mut self, code: &Code, fault: FaultId) -> Option<ChannelAt> {
        let number = self.eval(code);
        let channel = self.frame.channel(number);
        if channel.is_none() {
            self.fail(fault);
        }
        channel
    }

    fn channel_test(&mut self, test: ChannelTest, code: &Code, fault: FaultId) -> i32 {
        let Some(channel) = self.channel(code, fault) else { return 0 };
        let layout = &self.compiled.layout;
        let length = self.frame.length(layout, channel);
        let capacity = layout.channels[channel.shape as usize].capacity;
        match test {
            ChannelTest::Len => length as i32,
            ChannelTest::Empty => i32::from(length == 0),
            ChannelTest::NotEmpty => i32::from(length != 0),
            ChannelTest::Full => i32::from(length >= capacity.max(1)),
            ChannelTest::NotFull => i32::from(length < capacity.max(1)),
        }
    }

    fn poll(&mut self, poll: &Poll) -> bool {
        let Some(channel) = self.channel(&poll.channel, poll.no_channel) else { return false };
        if self.compiled.layout.channels[channel.shape as usize].capacity == 0 {
            self.fail(poll.rendezvous);
            return false;
        }
        let length = self.frame.length(&self.compiled.layout, channel);
        let candidates = if poll.anywhere { length } else { length.min(1) };
        (0..candidates).any(|slot| {
            poll.fields.iter().enumerate().all(|(f, field)| match field {
                Some(code) => self.eval(code) == self.message_field(channel, slot, f),
                None => true,
            })
        })
    }

    /// A field of a buffered message; 0 for a field the channel does not have.
    #[inline]
    pub fn message_field(&self, channel: ChannelAt, slot: u32, field: usize) -> i32 {
        let shape = &self.compiled.layout.channels[channel.shape as usize];
        let Some(&(at, scalar)) = shape.fields.get(field) else { return 0 };
        let at = channel.offset as usize + 1 + slot as usize * shape.message + at;
        read_scalar(&self.frame.bytes, at, scalar)
    }
}

#[inline(always)]
fn read_at(bytes: &[u8], at: usize, width: Width) -> i32 {
    match width {
        Width::U8 => i32::from(bytes[at]),
        Width::I16 => i32::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])),
        Width::U16 => i32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
        Width::I32 => i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
    }
}

/// Reads a stored scalar.
#[inline]
pub(crate) fn read_scalar(bytes: &[u8], at: usize, scalar: Scalar) -> i32 {
    match scalar {
        Scalar::Bit | Scalar::Byte => i32::from(bytes[at]),
        Scalar::Short => read_at(bytes, at, Width::I16),
        Scalar::Int => read_at(bytes, at, Width::I32),
        Scalar::Unsigned(_) => match scalar.bytes() {
            1 => i32::from(bytes[at]),
            2 => read_at(bytes, at, Width::U16),
            _ => read_at(bytes, at, Width::I32),
        },
    }
}

/// Stores a value, wrapped to its type.
#[inline]
pub(crate) fn write_scalar(bytes: &mut [u8], at: usize, scalar: Scalar, value: i32) {
    let value = scalar.wrap(value);
    match scalar.bytes() {
        1 => bytes[at] = value as u8,
        2 => bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
        _ => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
    }
}
