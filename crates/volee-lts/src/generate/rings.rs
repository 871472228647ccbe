//! Processes around a table: dining philosophers, and stations that pass a token.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System};

/// N philosophers; each takes the left fork, then the right one, eats, and puts them back left first.
/// All left forks taken is the deadlock. A state has one byte per philosopher.
#[derive(Debug, Clone)]
pub struct Philosophers {
    seats: usize,
}

const THINKING: u8 = 0;
const HAS_LEFT: u8 = 1;
const EATING: u8 = 2;
const HAS_RIGHT: u8 = 3;

impl Philosophers {
    /// With this many seats, at least two.
    pub fn new(seats: u8) -> Self {
        Philosophers { seats: usize::from(seats).max(2) }
    }

    fn move_of(&self, state: &[u8], seat: usize) -> Option<(u8, u8)> {
        // The left fork of a seat is the right fork of the seat before it.
        let before = state[(seat + self.seats - 1) % self.seats];
        let after = state[(seat + 1) % self.seats];
        match state[seat] {
            THINKING => (!matches!(before, EATING | HAS_RIGHT)).then_some((HAS_LEFT, 0)),
            HAS_LEFT => (!matches!(after, HAS_LEFT | EATING)).then_some((EATING, 1)),
            EATING => Some((HAS_RIGHT, 2)),
            _ => Some((THINKING, 3)),
        }
    }
}

impl System for Philosophers {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![THINKING; self.seats])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let mut next = state.to_vec();
        for seat in 0..self.seats {
            if let Some((mode, action)) = self.move_of(state, seat) {
                next[seat] = mode;
                sink.push(Step::labelled(u32::from(action) + 4 * seat as u32), &next)?;
                next[seat] = state[seat];
            }
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        let action = ["TAKE_LEFT", "EAT", "PUT_LEFT", "PUT_RIGHT"][label.0 as usize % 4];
        format!("{action} !{}", label.0 / 4).into()
    }
}

/// N stations and one token. A station may ask (`REQ`); when the token is at it, it enters and leaves the
/// critical section (`ENTER`, `LEAVE`); an idle station passes the token on, internally.
#[derive(Debug, Clone)]
pub struct TokenRing {
    stations: usize,
}

const IDLE: u8 = 0;
const ASKING: u8 = 1;
const INSIDE: u8 = 2;

impl TokenRing {
    /// With this many stations, at least one.
    pub fn new(stations: u8) -> Self {
        TokenRing { stations: usize::from(stations).max(1) }
    }
}

impl System for TokenRing {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; self.stations + 1])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let mut next = state.to_vec();
        let (token, stations) = (usize::from(state[0]), &state[1..]);
        for (station, &mode) in stations.iter().enumerate() {
            let (new, action) = match mode {
                IDLE => (ASKING, 1),
                ASKING if token == station => (INSIDE, 2),
                INSIDE => (IDLE, 3),
                _ => continue,
            };
            next[1 + station] = new;
            sink.push(Step::labelled(action + 3 * station as u32), &next)?;
            next[1 + station] = mode;
        }
        if stations[token] == IDLE {
            next[0] = ((token + 1) % self.stations) as u8;
            sink.push(Step::labelled(0), &next)?;
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        let Some(at) = label.0.checked_sub(1) else { return "i".into() };
        format!("{} !{}", ["REQ", "ENTER", "LEAVE"][at as usize % 3], at / 3).into()
    }
}
