//! Which of the events that somebody looks for a transition is.
//!
//! The names of a step are those of the machine: a message with its values, who sends it and who takes it, the
//! statement, and its label where no message passes. A value that is not known in a location is compared with
//! the numbers that a pattern names, which makes a branch of each; a pattern that is not about single values
//! is refused there.

use std::collections::HashMap;

use volee_integers::{Int, Row};
use volee_program::{Action, Kind, NodeId, Program, Transition, value_text};

use super::evaluate::{Branch, Result, unsupported};
use super::explore::Explorer;
use super::formula::{Formula, add, constant};
use super::state::Explicit;

/// An event that somebody looks for.
pub struct EventAtom {
    /// Whether a name of a step means it.
    pub matches: Box<dyn Fn(&str) -> bool>,
    /// The numbers that it names, if nothing else of values makes a difference to it.
    pub numbers: Option<Vec<i64>>,
    /// Whether it can mean several statements of an indivisible sequence together.
    pub joins: bool,
}

impl std::fmt::Debug for EventAtom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventAtom").field("numbers", &self.numbers).field("joins", &self.joins).finish()
    }
}

/// A `d_step`: whether messages can pass in it, and whether it has a label.
#[derive(Clone, Copy)]
struct Within {
    passes: bool,
    labelled: bool,
}

/// What is listened to.
pub(super) struct Listener<'a> {
    pub(super) atoms: &'a [EventAtom],
    /// By process type and node inside a `d_step`.
    inside: HashMap<(u8, u32), Within>,
}

/// How a message moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
    /// It is looked at and stays.
    Stays,
}

impl<'a> Listener<'a> {
    pub(super) fn new(program: &Program, atoms: &'a [EventAtom]) -> Self {
        let mut inside = HashMap::new();
        for (number, proctype) in program.proctypes.iter().enumerate().filter(|_| !atoms.is_empty()) {
            for transition in proctype.nodes.iter().flat_map(|node| &node.transitions) {
                let Action::DStep(entry) = &transition.action else { continue };
                let nodes = within(proctype, *entry);
                let passes = |node: &u32| {
                    let all = &proctype.nodes[*node as usize].transitions;
                    all.iter().any(|t| matches!(t.action, Action::Send { .. } | Action::Receive { .. }))
                };
                let passes = nodes.iter().any(passes);
                let labelled = transition.statement.label.is_some();
                inside.extend(nodes.iter().map(|&n| ((number as u8, n), Within { passes, labelled })));
            }
        }
        Listener { atoms, inside }
    }

    fn bits(&self, name: &str) -> u64 {
        let means = |(bit, atom): (usize, &EventAtom)| u64::from((atom.matches)(name)) << bit;
        self.atoms.iter().enumerate().map(means).fold(0, |all, bit| all | bit)
    }
}

/// The nodes of a `d_step`.
fn within(proctype: &volee_program::Proctype, entry: NodeId) -> Vec<u32> {
    let mut seen = vec![entry.0];
    let mut at = 0;
    while let Some(&node) = seen.get(at) {
        at += 1;
        for transition in &proctype.nodes[node as usize].transitions {
            let target = transition.target.0;
            if proctype.nodes[target as usize].in_d_step && !seen.contains(&target) {
                seen.push(target);
            }
        }
    }
    seen
}

fn plain_who(program: &Program, explicit: &Explicit, pid: usize) -> String {
    format!("{}[{pid}]", program.proctypes[explicit.processes[pid].proctype as usize].name)
}

fn who(program: &Program, explicit: &Explicit, pid: usize) -> String {
    plain_who(program, explicit, pid).replacen(":init:", "init", 1)
}

/// The name of the declaration that made a channel, by its position.
fn channel_name(program: &Program, explicit: &Explicit, channel: usize) -> String {
    if let Some(global) = program.channels.get(channel) {
        return global.name.clone();
    }
    let mut number = channel - program.channels.len();
    for (pid, process) in explicit.processes.iter().enumerate() {
        let own = &program.proctypes[process.proctype as usize].channels;
        match own.get(number) {
            Some(found) => return format!("{}.{}", who(program, explicit, pid), found.name),
            None => number -= own.len(),
        }
    }
    format!("channel_{}", channel + 1)
}

impl Explorer<'_> {
    /// The events that a statement is, whatever passes in it.
    pub(super) fn heard(&self, explicit: &Explicit, pid: usize, transition: &Transition) -> Result<u64> {
        let listener = &self.listener;
        if listener.atoms.is_empty() {
            return Ok(0);
        }
        let statement = &transition.statement;
        let (process, who) = (&explicit.processes[pid], who(self.program, explicit, pid));
        let mut bits = listener.bits(&format!("{who}:{}", statement.text));
        let inside = listener.inside.get(&(process.proctype, process.node));
        let entered = match transition.action {
            Action::DStep(entry) => listener.inside.get(&(process.proctype, entry.0)),
            _ => None,
        };
        if inside.is_none() {
            bits |= self.said(explicit, pid, &statement.text);
        }
        let Some(label) = &statement.label else { return Ok(bits) };
        let named = listener.bits(&format!("{who}:{label}"));
        let counts = match (inside, entered) {
            (Some(within), _) => !within.passes && !within.labelled,
            (None, Some(within)) => !within.passes,
            (None, None) => !matches!(transition.action, Action::Send { .. } | Action::Receive { .. }),
        };
        let unclear = inside.or(entered).is_some_and(|within| within.passes);
        if unclear && named & !bits != 0 {
            let reason = "it is asked about by a label in a d_step in which messages may pass";
            return unsupported(reason, statement.place.clone());
        }
        Ok(if counts { bits | named } else { bits })
    }

    /// The events that a statement is by its text and who executes it.
    pub(super) fn said(&self, explicit: &Explicit, pid: usize, text: &str) -> u64 {
        match self.listener.atoms.is_empty() {
            true => 0,
            false => self.listener.bits(&format!("{} {text}", plain_who(self.program, explicit, pid))),
        }
    }

    /// The events that a message is that passes, in each way in which its values make a difference.
    pub(super) fn passed(
        &self,
        branch: Branch,
        (pid, partner): (usize, Option<usize>),
        way: Way,
        channel: usize,
        message: &[Row],
    ) -> Result<Vec<Branch>> {
        if self.listener.atoms.is_empty() {
            return Ok(vec![branch]);
        }
        let mut out = Vec::new();
        for (mut branch, values) in self.told_apart(branch, message)? {
            let text = self.message_text(&branch.explicit, channel, &values);
            let (program, explicit) = (self.program, &branch.explicit);
            let channel = channel_name(program, explicit, channel);
            let event = match way {
                Way::In => format!("{channel}!{text}"),
                Way::Out => format!("{channel}?{text}"),
                Way::Stays => format!("{channel}?<{text}>"),
            };
            let mut bits = self.listener.bits(&format!("{}:{event}", who(program, explicit, pid)));
            if let Some(partner) = partner {
                let taken = event.replacen('!', "?", 1);
                bits |= self.listener.bits(&format!("{}:{taken}", who(program, explicit, partner)));
            }
            branch.events |= bits;
            out.push(branch);
        }
        Ok(out)
    }

    fn message_text(&self, explicit: &Explicit, channel: usize, values: &[i64]) -> String {
        let shape = &self.program.channel_types[explicit.channels[channel].kind as usize];
        let text = |(at, &value): (usize, &i64)| match shape.fields.get(at).map_or(Kind::Number, |f| f.1) {
            Kind::Channel if value > 0 => channel_name(self.program, explicit, value as usize - 1),
            kind => {
                i32::try_from(value).map_or_else(|_| value.to_string(), |v| value_text(self.program, kind, v))
            }
        };
        values.iter().enumerate().map(text).collect::<Vec<_>>().join(",")
    }

    /// The values of a message; where one is not known, a branch for each number that is looked for and one
    /// for all others, which a number stands for that nobody looks for.
    fn told_apart(&self, branch: Branch, message: &[Row]) -> Result<Vec<(Branch, Vec<i64>)>> {
        let mut all = vec![(branch, Vec::new())];
        for row in message {
            if let Some(number) = constant(row).and_then(Int::to_i64) {
                all.iter_mut().for_each(|(_, values)| values.push(number));
                continue;
            }
            let mut numbers: Vec<i64> = Vec::new();
            for atom in self.listener.atoms {
                let Some(own) = &atom.numbers else {
                    return unsupported(
                        "a regular expression asks for a message whose value is not bounded",
                        None,
                    );
                };
                numbers.extend(own);
            }
            numbers.sort_unstable();
            numbers.dedup();
            let other = (1 << 40..).find(|n| numbers.binary_search(n).is_err()).unwrap_or_default();
            let mut next = Vec::new();
            for (branch, values) in all {
                let mut rest = branch.guard.clone();
                for &number in &numbers {
                    let equal = Formula::zero(add(row, -1, &[Int::from(number)]))?;
                    let guard = branch.guard.and(&equal)?;
                    rest = rest.and(&equal.not()?)?;
                    next.push((Branch { guard, ..branch.clone() }, with(&values, number)));
                }
                next.push((Branch { guard: rest, ..branch }, with(&values, other)));
            }
            next.retain(|(branch, _)| !branch.guard.is_false());
            all = next;
        }
        Ok(all)
    }
}

fn with(values: &[i64], last: i64) -> Vec<i64> {
    values.iter().copied().chain([last]).collect()
}
