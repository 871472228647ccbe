//! The test for unboundedness: depth first, in bounded memory, against every ancestor.
//!
//! Jard and Jéron (1991, section 3.4; Jéron, STACS 1991). Let `w` lead from `S` to `S'`, both with the same control. If for every
//! channel `C(S)·out(w)` is a prefix of `C(S')·out(w)` (the report prints `out(S)` by a slip), then `w` can be fired again and
//! again: what it takes from a channel is found at its front, for the front of `C(S')·out(w)` is that of `C(S)·out(w)`, from which `w`
//! took it the first time. A channel that is longer in `S'` grows in every round. The argument needs that a move sees of a
//! channel only its front message; the readers refuse anything else.
//!
//! The condition is looked for against *every* ancestor of equal control, not only the last. What the channels hold together is
//! bounded; if a state was cut off by the bound the search starts again with a larger one. If nothing was cut off, all
//! reachable states were seen and the channels are bounded. In between lies what is undecidable, and a limit.

use std::collections::HashMap;

use volee_system::{Limit, Meter, Progress, Snapshot};

use crate::fifo::Configuration;
use crate::queued::{GONE, Next, Pump, Queued, Stride};
use crate::store::Store;

/// Rounds for which a loop is replayed before anybody hears of it.
const ROUNDS: usize = 12;
/// Without a memory budget, this much.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// A bound on contents beyond this is not tried.
const LARGEST_BOUND: usize = 1 << 20;

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundedness {
    /// Some channel grows for ever.
    Unbounded(Pump),
    /// No channel ever holds more than this, and each does hold that much at some time: the smallest capacities that never
    /// block a send.
    Bounded(Vec<usize>),
    /// A limit was reached first.
    Unknown(Limit),
}

/// Figures of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// States looked at, again and again where they were forgotten.
    pub states: u64,
    /// States remembered at the end.
    pub stored: u64,
    /// States forgotten.
    pub replaced: u64,
    /// The longest path.
    pub depth: u64,
    /// The last bound on what the channels hold together.
    pub bound: u64,
    /// Most bytes in use at once.
    pub bytes: u64,
}

/// An answer with its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub answer: Boundedness,
    /// What it took.
    pub statistics: Statistics,
}

/// Decides, where it can, whether some channel is unbounded.
pub fn search(source: &mut dyn Queued, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
    let mut statistics = Statistics::default();
    let mut bound = 2;
    loop {
        statistics.bound = bound as u64;
        let mut round = Round::new(&mut *source, meter, &mut *progress, bound, statistics);
        let end = round.run();
        statistics = round.statistics;
        let answer = match end {
            End::Found(pump) if pump.replay(source, ROUNDS).is_some() => Boundedness::Unbounded(pump),
            End::Found(_) => Boundedness::Unknown(Limit::Other {
                message: "a loop that seemed to repeat does not; this is a defect of volee".into(),
            }),
            End::Closed(most) => Boundedness::Bounded(most),
            End::Limit(limit) => Boundedness::Unknown(limit),
            End::Cut if bound >= source.largest_bound().min(LARGEST_BOUND) => {
                let message = format!("channels with more than {bound} messages in all were not looked at");
                Boundedness::Unknown(Limit::Other { message })
            }
            End::Cut => {
                bound = (bound + bound.div_ceil(2)).min(source.largest_bound());
                continue;
            }
        };
        return Outcome { answer, statistics };
    }
}

enum End {
    Found(Pump),
    Closed(Vec<usize>),
    Cut,
    Limit(Limit),
}

/// A state on the current path.
struct Frame {
    configuration: Configuration,
    /// Messages sent per channel before this state was reached.
    sent: Vec<usize>,
    /// The step that led here.
    by: Stride,
    /// What it was counted as when it was entered.
    bytes: u64,
    /// The steps still to be taken, the last first.
    left: Vec<Next>,
}

/// One search under one bound.
struct Round<'r> {
    source: &'r mut dyn Queued,
    meter: &'r Meter,
    progress: &'r mut dyn Progress,
    bound: usize,
    path: Vec<Frame>,
    path_bytes: u64,
    /// The frames of each control state.
    by_control: HashMap<Vec<u16>, Vec<usize>>,
    /// All messages sent on the path, per channel.
    log: Vec<Vec<u16>>,
    store: Store,
    most: Vec<usize>,
    cut: bool,
    bytes: Vec<u8>,
    statistics: Statistics,
}

impl<'r> Round<'r> {
    fn new(
        source: &'r mut dyn Queued,
        meter: &'r Meter,
        progress: &'r mut dyn Progress,
        bound: usize,
        statistics: Statistics,
    ) -> Self {
        let memory = meter.budget().memory.unwrap_or(DEFAULT_MEMORY);
        let channels = source.channel_names().len();
        Round {
            source,
            meter,
            progress,
            bound,
            path: Vec::new(),
            path_bytes: 0,
            by_control: HashMap::new(),
            log: vec![Vec::new(); channels],
            store: Store::new(memory / 2),
            most: vec![0; channels],
            cut: false,
            bytes: Vec::new(),
            statistics,
        }
    }

    fn run(&mut self) -> End {
        let start = self.source.start();
        if let Some(end) = self.enter(start, Stride::default()) {
            return end;
        }
        let mut turns = 0u64;
        loop {
            if turns.is_multiple_of(256)
                && let Err(limit) = self.within_limits()
            {
                return End::Limit(limit);
            }
            turns += 1;
            let Some(frame) = self.path.last_mut() else { break };
            match frame.left.pop() {
                None => self.leave(),
                Some(next) => {
                    if let Some(end) = self.step(next) {
                        return end;
                    }
                }
            }
        }
        if self.cut { End::Cut } else { End::Closed(self.most.clone()) }
    }

    fn within_limits(&mut self) -> Result<(), Limit> {
        let bytes = self.path_bytes + self.store.bytes();
        self.statistics.bytes = self.statistics.bytes.max(bytes);
        self.statistics.stored = self.store.len() as u64;
        self.statistics.replaced = self.store.replaced;
        self.progress.report(&Snapshot {
            states: self.statistics.states,
            depth: self.path.len() as u64,
            max_depth: self.statistics.depth,
            memory: bytes,
            ..Snapshot::default()
        });
        self.meter.check()?;
        let half = self.meter.budget().memory.unwrap_or(DEFAULT_MEMORY) / 2;
        self.meter.check_memory(self.path_bytes + half, || format!("a path of {} states", self.path.len()))
    }

    fn step(&mut self, Next { key, sends, target }: Next) -> Option<End> {
        self.statistics.states += 1;
        if target.total() > self.bound {
            self.cut = true;
            return None;
        }
        for &(channel, message) in &sends {
            self.log[usize::from(channel)].push(message);
        }
        let depth = self.path.len();
        let by = Stride { key, control: target.control.clone(), sends };
        let end = self.enter(target, by.clone());
        if end.is_none() && self.path.len() == depth {
            self.unsend(&by);
        }
        end
    }

    fn unsend(&mut self, by: &Stride) {
        for &(channel, _) in &by.sends {
            self.log[usize::from(channel)].pop();
        }
    }

    /// Goes on from a state unless it is known; ends where it repeats an ancestor and more.
    fn enter(&mut self, configuration: Configuration, by: Stride) -> Option<End> {
        for (most, queue) in self.most.iter_mut().zip(&configuration.contents) {
            *most = (*most).max(queue.len());
        }
        if let Some(ancestors) = self.by_control.get(&configuration.control) {
            for &at in ancestors.iter().rev() {
                if self.path[at].configuration == configuration {
                    return None;
                }
                if self.repeats(at, &configuration) {
                    return Some(End::Found(self.pump(at, &configuration, by.clone())));
                }
            }
        }
        configuration.encode(&mut self.bytes);
        if self.store.contains(&self.bytes) {
            return None;
        }
        self.store.insert(&self.bytes);
        let mut left = self.source.next(&configuration);
        left.reverse();
        let bytes = frame_bytes(&configuration) * (1 + left.len() as u64);
        self.path_bytes += bytes;
        self.by_control.entry(configuration.control.clone()).or_default().push(self.path.len());
        let sent = self.log.iter().map(Vec::len).collect();
        self.path.push(Frame { configuration, sent, by, bytes, left });
        self.statistics.depth = self.statistics.depth.max(self.path.len() as u64);
        None
    }

    fn leave(&mut self) {
        let Some(frame) = self.path.pop() else { return };
        self.path_bytes -= frame.bytes;
        if let Some(same) = self.by_control.get_mut(&frame.configuration.control) {
            same.pop();
            if same.is_empty() {
                self.by_control.remove(&frame.configuration.control);
            }
        }
        self.unsend(&frame.by);
    }

    /// The condition: from the state at `at` to `now`, every channel keeps its prefix and one grows.
    fn repeats(&self, at: usize, now: &Configuration) -> bool {
        let old = &self.path[at];
        let mut grows = false;
        for (channel, queue) in now.contents.iter().enumerate() {
            let before = &old.configuration.contents[channel];
            if before.len() > queue.len() {
                return false;
            }
            grows |= before.len() < queue.len();
            let out = &self.log[channel][old.sent[channel]..];
            if before.len() < queue.len() && out.contains(&GONE) {
                return false;
            }
            let left = before.iter().chain(out);
            let right = queue.iter().chain(out);
            if !left.zip(right).all(|(a, b)| a == b) {
                return false;
            }
        }
        grows
    }

    fn pump(&self, at: usize, now: &Configuration, by: Stride) -> Pump {
        let moves: Vec<Stride> = self.path.iter().skip(1).map(|f| f.by.clone()).chain([by]).collect();
        let lengths = |c: &Configuration| c.contents.iter().map(Vec::len).collect::<Vec<_>>();
        let growth =
            lengths(now).into_iter().zip(lengths(&self.path[at].configuration)).map(|(n, o)| n - o).collect();
        Pump { prefix: moves[..at].to_vec(), round: moves[at..].to_vec(), growth }
    }
}

fn frame_bytes(configuration: &Configuration) -> u64 {
    let words = configuration.control.len() * 2 + configuration.total();
    (words * 2 + configuration.contents.len() * 40 + 160) as u64
}
