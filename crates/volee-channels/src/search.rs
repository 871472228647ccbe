//! The test for unboundedness: depth first, in bounded memory, against every ancestor.
//!
//! The condition ([`Between`]) is looked for against *every* ancestor of equal control, not only the last.
//! What the channels hold together is bounded; if a state was cut off by the bound the search starts again
//! with a larger one. If nothing was cut off, all reachable states were seen and the channels are bounded. In
//! between lies what is undecidable, and a limit.

use std::collections::HashMap;

use volee_system::{Limit, Meter, Progress, Snapshot};

use crate::condition::{Between, ROUNDS, growth};
use crate::fifo::Configuration;
use crate::queued::{Next, Pump, Queued, Stride};
use crate::shorter::shorter;
use volee_store::Forgetful;

/// Without a memory budget, this much.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// Limits are looked at whenever this many messages were compared.
const OFTEN: usize = 50_000;
/// A bound on contents beyond this is not tried.
const LARGEST_BOUND: usize = 1 << 20;

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundedness {
    /// Some channel grows for ever.
    Unbounded(Pump),
    /// No channel ever holds more than this, and each does hold that much at some time: the smallest
    /// capacities that never block a send.
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
            End::Found(pump) if pump.replay(source, ROUNDS).is_some() => {
                let shorter = shorter(source, bound, &pump, meter);
                let repeats = shorter.filter(|pump| pump.replay(source, ROUNDS).is_some());
                Boundedness::Unbounded(repeats.unwrap_or(pump))
            }
            End::Found(_) => Boundedness::Unknown(Limit::Other {
                message: "a loop that seemed to repeat does not; this is a defect of volee".into(),
            }),
            End::Closed(most) => Boundedness::Bounded(most),
            End::Limit(limit) => Boundedness::Unknown(limit),
            End::Cut if bound >= source.longest_queue().min(LARGEST_BOUND) => {
                let message = format!("channels with more than {bound} messages in all were not looked at");
                Boundedness::Unknown(Limit::Other { message })
            }
            End::Cut => {
                bound = (bound + bound.div_ceil(2)).min(source.longest_queue());
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
    store: Forgetful,
    most: Vec<usize>,
    cut: bool,
    bytes: Vec<u8>,
    /// What was done since the limits were looked at, in messages compared.
    work: usize,
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
            store: Forgetful::new(memory / 2),
            most: vec![0; channels],
            cut: false,
            bytes: Vec::new(),
            work: OFTEN,
            statistics,
        }
    }

    fn run(&mut self) -> End {
        let start = self.source.start();
        if let Some(end) = self.enter(start, Stride::default()) {
            return end;
        }
        loop {
            if self.work >= OFTEN {
                self.work = 0;
                if let Err(limit) = self.within_limits() {
                    return End::Limit(limit);
                }
            }
            self.work += 200;
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
        match self.within_limits() {
            Err(limit) => End::Limit(limit),
            Ok(()) if self.cut => End::Cut,
            Ok(()) => End::Closed(self.most.clone()),
        }
    }

    fn within_limits(&mut self) -> Result<(), Limit> {
        let apart = self.path_bytes + self.source.bytes();
        let bytes = apart + self.store.bytes();
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
        if let Some(limit) = self.source.exceeded() {
            return Err(limit);
        }
        let half = self.meter.budget().memory.unwrap_or(DEFAULT_MEMORY) / 2;
        self.meter.check_memory(apart + half, || format!("a path of {} states", self.path.len()))
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
            self.work += ancestors.len() * (1 + configuration.total());
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

    /// Whether the way from the state at `at` to `now` repeats for ever.
    fn repeats(&self, at: usize, now: &Configuration) -> bool {
        let old = &self.path[at];
        let between = Between { old: &old.configuration, now, longest_queue: self.source.longest_queue() };
        between.repeats(|channel, test| test(&self.log[channel][old.sent[channel]..]))
    }

    fn pump(&self, at: usize, now: &Configuration, by: Stride) -> Pump {
        let moves: Vec<Stride> = self.path.iter().skip(1).map(|f| f.by.clone()).chain([by]).collect();
        let growth = growth(&self.path[at].configuration, now);
        Pump { prefix: moves[..at].to_vec(), round: moves[at..].to_vec(), growth }
    }
}

fn frame_bytes(configuration: &Configuration) -> u64 {
    // Control twice (the state and the step to it), queues, and the parts that point to them.
    let words = configuration.control.len() * 2 + configuration.total();
    (words * 2 + configuration.contents.len() * 48 + 320) as u64
}
