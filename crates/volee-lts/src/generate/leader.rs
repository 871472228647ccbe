//! Leader election on a ring (Chang and Roberts 1979): each station sends its number around when it wakes up,
//! numbers pass stations with smaller ones only, and whose number comes back is the leader.
//!
//! Stations wake up when they like or when a message arrives (`WAKE !n`); `LEADER !n` happens once. Numbers
//! grow against the direction of messages, the order with the most messages. Channels are FIFO with bounded
//! capacity.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System};

/// The protocol as a system. A state has for each station whether it is awake, and the messages on the way to
/// it.
#[derive(Debug, Clone)]
pub struct LeaderElection {
    stations: usize,
    capacity: usize,
}

const ASLEEP: u8 = 0;
const AWAKE: u8 = 1;
const LEADER: u8 = 2;

impl LeaderElection {
    /// With this many stations, at least two, and room for this many messages between two of them.
    pub fn new(stations: u8, capacity: u8) -> Self {
        LeaderElection { stations: usize::from(stations).max(2), capacity: usize::from(capacity).max(1) }
    }

    fn width(&self) -> usize {
        1 + self.capacity
    }

    /// The number of a station, from one.
    fn number(&self, station: usize) -> u8 {
        (self.stations - station) as u8
    }

    /// The queue of messages to a station: zeroes at the end are free places.
    fn queue<'a>(&self, state: &'a [u8], station: usize) -> &'a [u8] {
        &state[station * self.width() + 1..][..self.capacity]
    }

    /// Sends a number from a station to the next; whether there was room.
    fn send(&self, state: &mut [u8], from: usize, number: u8) -> bool {
        let start = (from + 1) % self.stations * self.width() + 1;
        let free = state[start..start + self.capacity].iter_mut().find(|place| **place == 0);
        free.map(|place| *place = number).is_some()
    }

    fn station(&self, state: &[u8], at: usize, sink: &mut dyn Sink) -> Flow {
        let place = at * self.width();
        let own = self.number(at);
        if state[place] == ASLEEP {
            let mut next = state.to_vec();
            next[place] = AWAKE;
            if self.send(&mut next, at, own) {
                sink.push(Step::labelled(1 + at as u32), &next)?;
            }
            return Flow::Continue(());
        }
        let Some(&number) = self.queue(state, at).first().filter(|number| **number != 0) else {
            return Flow::Continue(());
        };
        let mut next = state.to_vec();
        next[place + 1..place + self.width()].rotate_left(1);
        next[place + self.capacity] = 0;
        if number == own {
            next[place] = LEADER;
            return sink.push(Step::labelled((1 + self.stations + at) as u32), &next);
        }
        if number < own || self.send(&mut next, at, number) {
            sink.push(Step::labelled(0), &next)?;
        }
        Flow::Continue(())
    }
}

impl System for LeaderElection {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; self.stations * self.width()])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        (0..self.stations).try_for_each(|at| self.station(state, at, sink))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        match label.0 as usize {
            0 => "i".into(),
            l if l <= self.stations => format!("WAKE !{}", self.number(l - 1)).into(),
            l => format!("LEADER !{}", self.number(l - 1 - self.stations)).into(),
        }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let mut stations = state.chunks(self.width());
        let quiet = stations.all(|station| station[0] != ASLEEP && station[1..].iter().all(|m| *m == 0));
        quiet && state.iter().step_by(self.width()).filter(|mode| **mode == LEADER).count() == 1
    }
}
