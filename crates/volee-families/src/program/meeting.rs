//! Rendezvous: which local states meet on which channel, and what becomes of the two processes.

use volee_program::{Action as Does, Transition as Move};
use volee_system::{Action, Event, EventKind};

use super::build::{Builder, Found, refused};
use super::identity::{SELF, is_name, name as name_of};
use super::step::{Local, Wrong};
use super::valuation::Valuation;
use crate::FamilyError;

impl Builder<'_> {
    /// All rendezvous between the local states known so far that were not looked at; whether there are any.
    pub(super) fn meetings(&mut self) -> Result<bool, FamilyError> {
        if !self.world.has_rendezvous() {
            return Ok(false);
        }
        let mut any = false;
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
                let mut g = self.looked_together.get(&(l, m)).copied().unwrap_or(0);
                while g < self.globals.len() && !self.settled.contains(&(l, m)) {
                    if self.agree(l, g) && self.agree(m, g) && self.is_new(l, m, g) {
                        self.meeting(l, m, g)?;
                    }
                    any = true;
                    g += 1;
                }
                self.looked_together.insert((l, m), g);
            }
        }
        Ok(any)
    }

    fn meeting(&mut self, l: usize, m: usize, g: usize) -> Result<(), FamilyError> {
        let world = self.world;
        let mut touched = false;
        let mut met = Vec::new();
        for send in self.transitions(l) {
            let Does::Send { channel, values, .. } = &send.action else { continue };
            let mut sender = self.valuation(l, g);
            let number = sender.value(channel);
            let channel = world.channel(number).filter(|c| c.capacity == 0 && sender.fault.is_none());
            touched |= sender.touched;
            // An error in the channel itself is a step of the sender alone.
            let Some(channel) = channel else { continue };
            let mut message = sender.message(channel, values);
            touched |= sender.touched;
            if let Some(why) = sender.refused.take() {
                return Err(refused(why, send.statement.place.clone()));
            }
            let mut fresh = None;
            if message.contains(&SELF) {
                let k = self.fresh_name(g)?;
                fresh = Some(k);
                message.iter_mut().filter(|v| **v == SELF).for_each(|v| *v = name_of(k));
            }
            touched |= message.iter().any(|v| is_name(*v));
            for receive in self.transitions(m) {
                let Does::Receive { channel, patterns, .. } = &receive.action else { continue };
                let mut receiver = self.valuation(m, g);
                let accepts = receiver.value(channel) == number && receiver.accepts(patterns, &message);
                receiver.fault = sender.fault.clone();
                if accepts {
                    receiver.bind(patterns, &message);
                }
                touched |= receiver.touched;
                if let Some(why) = receiver.refused.take() {
                    return Err(refused(why, receive.statement.place.clone()));
                }
                if accepts {
                    let (globals, locals, fault) = (receiver.globals, receiver.locals, receiver.fault);
                    met.push(Met {
                        send: send.clone(),
                        receive: receive.clone(),
                        number,
                        message: message.clone(),
                        globals,
                        locals,
                        fault,
                        fresh,
                    });
                }
            }
        }
        if !touched && ![l, m].iter().any(|&at| self.moves_names(self.locals[at].0, &self.locals[at].1)) {
            self.settled.insert((l, m));
        }
        for met in met {
            self.add_meeting(l, m, g, touched, met)?;
        }
        Ok(())
    }

    fn valuation(&self, l: usize, g: usize) -> Valuation<'_> {
        let (class, local) = (self.locals[l].0, &self.locals[l].1);
        Valuation::new(self.world, self.me(class, local), self.globals[g].clone(), local.values.clone())
    }

    fn add_meeting(
        &mut self,
        l: usize,
        m: usize,
        g: usize,
        touched: bool,
        met: Met,
    ) -> Result<(), FamilyError> {
        let Met { send, receive, number, message, mut globals, mut locals, fault, fresh } = met;
        let mut sender = self.locals[l].1.values.clone();
        for &(from, length) in &send.resets {
            sender[from as usize..(from + length) as usize].fill(0);
        }
        for &(from, length) in &receive.resets {
            locals[from as usize..(from + length) as usize].fill(0);
        }
        let (class, partner) = (self.locals[l].0, self.locals[m].0);
        let name = |c: usize| self.program.proctypes[self.classes[c].proctype.0 as usize].name.clone();
        let channel = usize::try_from(number).ok().and_then(|c| self.program.channels.get(c.wrapping_sub(1)));
        let event = channel.map(|c| Event {
            kind: EventKind::Rendezvous,
            channel: c.name.clone(),
            channel_id: number as u32,
            values: message.iter().map(ToString::to_string).collect(),
            partner: Some((name(partner), 0)),
        });
        let action = |c: usize, t: &Move, event: Option<Event>| Action {
            process: name(c),
            place: t.statement.place.clone(),
            event,
            ..Action::plain(t.statement.text.as_ref())
        };
        let actions = vec![action(class, &send, event), action(partner, &receive, None)];
        let wrong = fault.map(|message| self.wrong(Wrong { message, place: send.statement.place.clone() }));
        let sender_before = self.locals[l].1.clone();
        let receiver_before = self.locals[m].1.clone();
        let me = fresh.or(sender_before.me);
        let sender = Local { node: send.target.0, values: sender, me };
        let receiver = Local { node: receive.target.0, values: locals, me: receiver_before.me };
        let mut touched = touched | fresh.is_some();
        touched |= self.count_names(class, &sender_before, &sender, &mut globals);
        touched |= self.count_names(partner, &receiver_before, &receiver, &mut globals);
        let found = Found {
            globals: None,
            takes: vec![l, m],
            gives: vec![usize::MAX; 2],
            wrong,
            actions,
            labels: vec![send.statement.text.to_string(), receive.statement.text.to_string()],
        };
        let after = touched.then_some(globals);
        self.record_named(found, (g, after), fresh, vec![(class, sender), (partner, receiver)])
    }
}

/// A rendezvous that can take place, and what the receiver then has.
struct Met {
    send: Move,
    receive: Move,
    number: i32,
    message: Vec<i32>,
    globals: Vec<i32>,
    locals: Vec<i32>,
    fault: Option<String>,
    /// The name that the sender gets.
    fresh: Option<u8>,
}
