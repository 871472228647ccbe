//! What the search explores: anything whose state is a control part and queues of messages.

use volee_system::Limit;

use crate::fifo::Configuration;

/// Stands for a message that is sent and received within one indivisible step, so that nobody knows which it
/// was. The search never takes two of them for equal.
pub const GONE: u16 = u16::MAX;

/// A step from a configuration.
#[derive(Debug, Clone)]
pub struct Next {
    /// Names the step apart from the others of its source, whatever the queues hold.
    pub key: u64,
    /// The messages it sends, in order: channel and message.
    pub sends: Vec<(u16, u16)>,
    /// Where it leads.
    pub target: Configuration,
}

/// A system with unbounded queues, of which a step sees only the fronts.
pub trait Queued {
    /// The start.
    fn start(&mut self) -> Configuration;

    /// The steps of a configuration, in the order in which a witness counts them.
    fn next(&mut self, now: &Configuration) -> Vec<Next>;

    /// Names of the channels.
    fn channel_names(&self) -> Vec<String>;

    /// A queue holding more than this cannot be represented.
    fn longest_queue(&self) -> usize {
        usize::MAX
    }

    /// Bytes it keeps by itself.
    fn bytes(&self) -> u64 {
        0
    }

    /// What cannot be represented and was met; from then on no answer counts.
    fn exceeded(&self) -> Option<Limit> {
        None
    }
}

/// A step as it is recognised when it comes again with other messages in the queues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stride {
    /// The step.
    pub key: u64,
    /// The control it leads to.
    pub control: Vec<u16>,
    /// What it sends.
    pub sends: Vec<(u16, u16)>,
}

/// A prefix, and a loop after which every channel holds at least what it held, some more: it repeats for
/// ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pump {
    /// The steps that lead to the loop.
    pub prefix: Vec<Stride>,
    /// The steps of one round.
    pub round: Vec<Stride>,
    /// How much each channel grows in one round.
    pub growth: Vec<usize>,
}

impl Pump {
    /// Takes the prefix and then the loop `rounds` times. The ordinals of all these steps, if every round
    /// could be taken, came back to its control and grew as it says.
    pub fn replay(&self, source: &mut dyn Queued, rounds: usize) -> Option<Vec<u32>> {
        if self.growth.iter().all(|&g| g == 0) || self.round.is_empty() {
            return None;
        }
        let mut ordinals = Vec::new();
        let start = source.start();
        let mut now = take(source, start, &self.prefix, &mut ordinals)?;
        for _ in 0..rounds {
            let before = now.clone();
            now = take(source, now, &self.round, &mut ordinals)?;
            let grew = |c: usize| before.contents[c].len() + self.growth[c] == now.contents[c].len();
            if now.control != before.control || !(0..self.growth.len()).all(grew) {
                return None;
            }
        }
        Some(ordinals)
    }
}

fn take(
    source: &mut dyn Queued,
    mut now: Configuration,
    strides: &[Stride],
    ordinals: &mut Vec<u32>,
) -> Option<Configuration> {
    for stride in strides {
        let all = source.next(&now);
        let same =
            |n: &Next| n.key == stride.key && n.target.control == stride.control && n.sends == stride.sends;
        let ordinal = all.iter().position(same)?;
        ordinals.push(u32::try_from(ordinal).ok()?);
        now = all.into_iter().nth(ordinal)?.target;
    }
    Some(now)
}
