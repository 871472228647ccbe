//! Who may move: what `provided` clauses and priorities say of a process, and whether it has anything to do.
//!
//! Priorities and `enabled()` ask of a process whether it can move without moving it; both ask the statements
//! at its point of control, partners of a rendezvous included.

use volee_system::FaultId;

use crate::code::{Compiled, Move};
use crate::eval::Context;
use crate::exec::{Ready, accepts, prepare, ready};
use crate::frame::Frame;
use crate::moves::{any_mark, sending};

/// Whether `provided` clauses and priorities let a process move.
#[inline]
pub(crate) fn may_move(compiled: &Compiled, frame: &Frame, pid: usize, timeout: bool) -> bool {
    if !is_provided(compiled, frame, pid, timeout) {
        return false;
    }
    if !compiled.layout.has_priority {
        return true;
    }
    let mine = frame.priority(&compiled.layout, pid);
    !(0..frame.count()).any(|other| {
        other != pid
            && frame.priority(&compiled.layout, other) > mine
            && is_provided(compiled, frame, other, timeout)
            && can_move(|| Context::of(compiled, frame, other, timeout)).unwrap_or(true)
    })
}

pub(crate) fn is_provided(compiled: &Compiled, frame: &Frame, pid: usize, timeout: bool) -> bool {
    let provided = &compiled.bodies[frame.proctype(pid)].provided;
    provided.as_ref().is_none_or(|code| Context::of(compiled, frame, pid, timeout).truth(code))
}

/// Whether a process has a statement that can be done now, rendezvous partners included; what `provided`
/// clauses and priorities say is not asked. `context` gives fresh contexts of the process.
///
/// # Errors
/// That of the first statement that cannot be decided, if none before it can be done.
pub(crate) fn can_move<'a>(context: impl Fn() -> Context<'a>) -> Result<bool, FaultId> {
    let Context { compiled, frame, pid, timeout, .. } = context();
    for m in &compiled.bodies[frame.proctype(pid)].nodes[frame.control(&compiled.layout, pid)] {
        let mut cx = context();
        let answer = ready(&mut cx, &m.op, false);
        if let Some(fault) = cx.fault {
            return Err(fault);
        }
        let can = match answer {
            Ready::No => false,
            Ready::Yes => true,
            Ready::WithPartner(channel) => has_partner(compiled, frame, pid, m, channel, timeout),
        };
        if can {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn has_partner(
    compiled: &Compiled,
    frame: &Frame,
    sender: usize,
    m: &Move,
    channel: i32,
    timeout: bool,
) -> bool {
    let (Some(send), Some(at)) = (sending(&m.op), frame.channel(channel)) else { return false };
    let mut message = Vec::new();
    prepare(&mut Context::of(compiled, frame, sender, timeout), send, at, &mut message);
    (0..frame.count()).filter(|&r| r != sender).any(|receiver| {
        if !is_provided(compiled, frame, receiver, timeout) {
            return false;
        }
        let moves =
            &compiled.bodies[frame.proctype(receiver)].nodes[frame.control(&compiled.layout, receiver)];
        let mut cx = Context::of(compiled, frame, receiver, timeout);
        moves.iter().any(|other| accepts(&mut cx, &other.op, channel, &message))
    })
}

/// `np_`: no process is at a progress label, and the run goes on. A run that ends is none without progress,
/// though a claim continues it by repeating its last state.
pub(crate) fn lacks_progress(compiled: &Compiled, frame: &Frame) -> bool {
    !any_mark(compiled, frame, |b| &b.progress)
        && (0..frame.count()).any(|pid| {
            [false, true].into_iter().any(|timeout| {
                is_provided(compiled, frame, pid, timeout)
                    && can_move(|| Context::of(compiled, frame, pid, timeout)).unwrap_or(true)
            })
        })
}
