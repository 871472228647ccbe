//! Rendezvous: which local states meet on which channel, and what becomes of the two processes.

use volee_program::{Action as Does, Expr, Pattern, Transition as Move};
use volee_system::{Action, Event, EventKind};

use super::build::{Builder, Found};
use super::step::Local;
use super::valuation::Valuation;
use crate::FamilyError;

impl Builder<'_> {
    /// All rendezvous between the local states known so far.
    pub(super) fn meetings(&mut self) -> Result<(), FamilyError> {
        let can = |this: &Self, l: usize, test: fn(&Does) -> bool| {
            this.transitions(l).iter().any(|t| test(&t.action))
        };
        let all = 0..self.locals.len();
        let senders: Vec<usize> =
            all.clone().filter(|&l| can(self, l, |a| matches!(a, Does::Send { .. }))).collect();
        let receivers: Vec<usize> =
            all.filter(|&l| can(self, l, |a| matches!(a, Does::Receive { .. }))).collect();
        for &l in &senders {
            for &m in &receivers {
                let (class, partner) = (self.locals[l].0, self.locals[m].0);
                if class == partner && !self.classes[class].user {
                    continue;
                }
                let mut g = 0;
                while g < self.globals.len() {
                    if self.is_new(l, m, g) {
                        self.meeting(l, m, g)?;
                    }
                    g += 1;
                }
            }
        }
        Ok(())
    }

    fn meeting(&mut self, l: usize, m: usize, g: usize) -> Result<(), FamilyError> {
        let mut touched = false;
        let mut met = Vec::new();
        for send in self.transitions(l) {
            let Does::Send { channel, values, .. } = &send.action else { continue };
            let mut sender = self.valuation(l, g);
            let message: Result<Vec<i32>, _> =
                std::iter::once(channel).chain(values).map(|e| sender.value(e)).collect();
            touched |= sender.touched;
            let Ok(mut message) = message else { continue };
            self.wrap(&mut message);
            for receive in self.transitions(m) {
                let mut receiver = self.valuation(m, g);
                let accepted = accept(&mut receiver, &receive.action, &message);
                touched |= receiver.touched;
                if accepted {
                    met.push((send.clone(), receive.clone(), receiver, message.clone()));
                }
            }
        }
        if !touched {
            self.settled.insert((l, m));
        }
        for (send, receive, receiver, message) in met {
            self.add_meeting(l, m, g, touched, (&send, &receive), receiver, &message)?;
        }
        Ok(())
    }

    /// Makes the fields of a message what the channel's fields can hold.
    fn wrap(&self, message: &mut [i32]) {
        let Some((channel, values)) = message.split_first_mut() else { return };
        let Some(instance) =
            usize::try_from(*channel).ok().and_then(|c| self.program.channels.get(c.wrapping_sub(1)))
        else {
            return;
        };
        let fields = &self.program.channel_types[instance.channel.0 as usize].fields;
        for (value, (scalar, _)) in values.iter_mut().zip(fields) {
            *value = scalar.wrap(*value);
        }
    }

    fn valuation(&self, l: usize, g: usize) -> Valuation {
        Valuation {
            globals: self.globals[g].clone(),
            locals: self.locals[l].1.values.clone(),
            touched: false,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn add_meeting(
        &mut self,
        l: usize,
        m: usize,
        g: usize,
        touched: bool,
        (send, receive): (&Move, &Move),
        mut receiver: Valuation,
        message: &[i32],
    ) -> Result<(), FamilyError> {
        let mut sender = self.locals[l].1.values.clone();
        for &(from, length) in &send.resets {
            sender[from as usize..(from + length) as usize].fill(0);
        }
        for &(from, length) in &receive.resets {
            receiver.locals[from as usize..(from + length) as usize].fill(0);
        }
        let (class, partner) = (self.locals[l].0, self.locals[m].0);
        let name = |c: usize| self.program.proctypes[self.classes[c].proctype.0 as usize].name.clone();
        let channel =
            usize::try_from(message[0]).ok().and_then(|c| self.program.channels.get(c.wrapping_sub(1)));
        let event = channel.map(|c| Event {
            kind: EventKind::Rendezvous,
            channel: c.name.clone(),
            channel_id: message[0] as u32,
            values: message[1..].iter().map(ToString::to_string).collect(),
            partner: Some((name(partner), 0)),
        });
        let action = |c: usize, t: &Move, event: Option<Event>| Action {
            process: name(c),
            place: t.statement.place.clone(),
            event,
            ..Action::plain(t.statement.text.as_ref())
        };
        let actions = vec![action(class, send, event), action(partner, receive, None)];
        let found = Found {
            globals: if touched { Some((g, self.global(receiver.globals)?)) } else { None },
            takes: vec![l, m],
            gives: vec![
                self.local(class, Local { node: send.target.0, values: sender })?,
                self.local(partner, Local { node: receive.target.0, values: receiver.locals })?,
            ],
            wrong: None,
            actions,
            labels: vec![send.statement.text.to_string(), receive.statement.text.to_string()],
        };
        self.record(found)
    }
}

fn accept(receiver: &mut Valuation, action: &Does, message: &[i32]) -> bool {
    let Does::Receive { channel, patterns, .. } = action else { return false };
    if receiver.value(channel).ok() != Some(message[0]) {
        return false;
    }
    let matches = |receiver: &mut Valuation, e: &Expr, value: i32| receiver.value(e).ok() == Some(value);
    let fields = || patterns.iter().zip(message[1..].iter().copied().chain(std::iter::repeat(0)));
    for (pattern, value) in fields() {
        if let Pattern::Match(e) = pattern
            && !matches(receiver, e, value)
        {
            return false;
        }
    }
    for (pattern, value) in fields() {
        if let Pattern::Bind(location) = pattern
            && receiver.store(location, value).is_err()
        {
            return false;
        }
    }
    true
}
