//! A run whose loop leaves more in the channels than it found: what they hold after each step, and how it
//! grows.
//!
//! Such a loop repeats for ever although no state comes twice. Beside the message-sequence chart stands what
//! each channel holds after every step, oldest message first; below it a plot of how many messages that are,
//! over a dozen rounds. The plot beyond the first round is not guessed: a round repeats step by step, so it
//! adds the same each time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use volee_system::{EventKind, Run};

use crate::svg::{CHARACTER, escaped, rect};

/// Rounds that the plot shows.
const ROUNDS: usize = 12;
/// Steps that the plot shows at most, unless one round has more.
const MOST_POINTS: usize = 3_000;
/// Messages of a channel that are drawn; of more than these the newest are left out.
const MOST_CELLS: usize = 8;
const LONGEST_MESSAGE: usize = 9;
const GAP: f64 = 26.0;
const PLOT_HEIGHT: f64 = 150.0;
const COLOURS: [&str; 6] = ["#1d4f91", "#b42318", "#2f7d32", "#8a5a00", "#6a3fa0", "#0b7285"];

/// How a lasso comes back to where its cycle starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Return {
    /// To the same state.
    Same,
    /// To the same state but for these variables, which nobody reads.
    But(Vec<String>),
    /// With more in the channels each time.
    Growing,
    /// It does not move any more: the run has ended.
    Ended,
}

/// How the cycle of a run closes; `None` if it has none.
pub(crate) fn returns(run: &Run) -> Option<Return> {
    let start = run.loop_start?;
    let Some(last) = run.steps.last().filter(|_| start < run.steps.len()) else { return Some(Return::Ended) };
    let first = start.checked_sub(1).map_or(&run.initial, |before| &run.steps[before].state);
    if last.state == *first {
        return Some(Return::Same);
    }
    let differs: Vec<_> = crate::changes(first, &last.state).collect();
    let events = || run.steps.iter().flat_map(|s| &s.actions).filter_map(|a| a.event.as_ref());
    let is_channel = |name: &str| events().any(|event| event.channel == name);
    if differs.is_empty() || differs.iter().any(|v| is_channel(&v.name)) {
        return Some(Return::Growing);
    }
    Some(Return::But(differs.into_iter().map(|v| v.name.clone()).collect()))
}

/// What the channels of a run hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The channels that the run uses, in the order of the model.
    pub channels: Vec<String>,
    /// After each step, the first entry before any: the messages of each channel, oldest first.
    pub after: Vec<Vec<Vec<String>>>,
    /// The step with which a round begins.
    round: usize,
}

impl Contents {
    /// The contents along a run that grows; `None` for every other run, and where its beginning is not known.
    pub(crate) fn of(run: &Run) -> Option<Contents> {
        let round = run.loop_start.filter(|_| run.skipped == 0 && returns(run) == Some(Return::Growing))?;
        let events = run.steps.iter().flat_map(|s| &s.actions).filter_map(|a| a.event.as_ref());
        let queued = events.filter(|e| e.kind != EventKind::Rendezvous);
        let named: BTreeMap<u32, String> = queued.map(|e| (e.channel_id, e.channel.clone())).collect();
        let (ids, channels): (Vec<u32>, Vec<String>) = named.into_iter().unzip();
        let mut now: Vec<Vec<String>> = vec![Vec::new(); ids.len()];
        let mut after = vec![now.clone()];
        for step in &run.steps {
            for event in step.actions.iter().filter_map(|a| a.event.as_ref()) {
                let Some(queue) = ids.iter().position(|id| *id == event.channel_id) else { continue };
                match event.kind {
                    EventKind::Send => now[queue].push(event.values.join(",")),
                    EventKind::Receive if !now[queue].is_empty() => drop(now[queue].remove(0)),
                    EventKind::Receive | EventKind::Rendezvous => {}
                }
            }
            after.push(now.clone());
        }
        Some(Contents { channels, after, round })
    }

    fn length(&self, step: usize, channel: usize) -> usize {
        self.after[step][channel].len()
    }

    fn most(&self, channel: usize) -> usize {
        self.after.iter().map(|all| all[channel].len()).max().unwrap_or(0)
    }

    fn cell(&self, channel: usize) -> f64 {
        let messages = self.after.iter().flat_map(|all| &all[channel]);
        let longest = messages.map(|m| m.chars().count()).max().unwrap_or(1);
        longest.min(LONGEST_MESSAGE) as f64 * CHARACTER + 8.0
    }

    fn column(&self, channel: usize) -> f64 {
        let cells = self.most(channel).clamp(1, MOST_CELLS) as f64;
        let more = if self.most(channel) > MOST_CELLS { 40.0 } else { 0.0 };
        let name = self.channels[channel].chars().count() as f64 * CHARACTER + 8.0;
        (cells * self.cell(channel) + more).max(name)
    }

    /// The width of all columns.
    pub(crate) fn width(&self) -> f64 {
        (0..self.channels.len()).map(|c| self.column(c) + GAP).sum()
    }

    /// The names of the channels, above their columns.
    pub(crate) fn heads(&self, left: f64, y: f64, out: &mut String) {
        let mut x = left;
        for (channel, name) in self.channels.iter().enumerate() {
            let colour = colour(channel);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"head\" style=\"fill:{colour}\">{}</text>",
                escaped(name)
            );
            x += self.column(channel) + GAP;
        }
    }

    /// What every channel holds after a step, as boxes in a row.
    pub(crate) fn row(&self, step: usize, left: f64, y: f64, out: &mut String) {
        let Some(contents) = self.after.get(step) else { return };
        let mut x = left;
        for (channel, messages) in contents.iter().enumerate() {
            let cell = self.cell(channel);
            let at = |i: usize| x + i as f64 * cell;
            for (i, message) in messages.iter().take(MOST_CELLS).enumerate() {
                out.push_str(&rect((at(i), y - 9.0), (cell - 2.0, 18.0), "#fff", colour(channel)));
                let shown = cut(message);
                let middle = at(i) + cell / 2.0 - 1.0;
                let _ = writeln!(
                    out,
                    "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\"><title>{}</title>{}</text>",
                    y + 4.0,
                    escaped(message),
                    escaped(&shown)
                );
            }
            if messages.len() > MOST_CELLS {
                let more = format!("+{}", messages.len() - MOST_CELLS);
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\" class=\"faint\">{more}</text>",
                    at(MOST_CELLS) + 4.0,
                    y + 4.0
                );
            }
            x += self.column(channel) + GAP;
        }
    }

    /// How many rounds the plot has room for.
    fn rounds(&self) -> usize {
        let one = (self.after.len() - 1 - self.round).max(1);
        (MOST_POINTS / one).clamp(1, ROUNDS)
    }

    /// The lengths of a channel after each step of the prefix and of this many rounds.
    fn lengths(&self, channel: usize) -> Vec<usize> {
        let last = self.after.len() - 1;
        let growth =
            self.length(last, channel) - self.length(self.round, channel).min(self.length(last, channel));
        let mut all: Vec<usize> = (0..=self.round).map(|step| self.length(step, channel)).collect();
        for round in 0..self.rounds() {
            let of_round = self.round + 1..=last;
            all.extend(of_round.map(|step| self.length(step, channel) + round * growth));
        }
        all
    }

    /// The height of the plot with its texts.
    pub(crate) fn plot_height() -> f64 {
        PLOT_HEIGHT + 84.0
    }

    /// The lengths of the channels over a dozen rounds.
    pub(crate) fn plot(&self, left: f64, top: f64, width: f64, out: &mut String) {
        let all: Vec<Vec<usize>> = (0..self.channels.len()).map(|c| self.lengths(c)).collect();
        let steps = all.first().map_or(1, |l| l.len() - 1).max(1);
        let most = all.iter().flatten().copied().max().unwrap_or(1).max(1);
        let x = |step: usize| left + width * step as f64 / steps as f64;
        let y = |n: usize| top + 30.0 + PLOT_HEIGHT * (1.0 - n as f64 / most as f64);
        let (floor, one) = (y(0), self.after.len() - 1 - self.round);
        let heading =
            format!("messages in each channel, over the prefix and {} rounds of the loop", self.rounds());
        let _ = writeln!(out, "<text x=\"{left:.1}\" y=\"{:.1}\" class=\"head\">{heading}</text>", top + 8.0);
        for round in (0..self.rounds()).filter(|r| r % 2 == 0) {
            let (from, to) = (x(self.round + round * one), x(self.round + (round + 1) * one));
            out.push_str(&rect((from, y(most)), (to - from, floor - y(most)), "#fff7e0", "none"));
        }
        for (n, anchor) in [(0, floor), (most, y(most))] {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" class=\"faint\">{n}</text>\
                 <line x1=\"{left:.1}\" y1=\"{anchor:.1}\" x2=\"{:.1}\" y2=\"{anchor:.1}\" stroke=\"#b8c1cb\"/>",
                left - 8.0,
                anchor + 4.0,
                left + width
            );
        }
        for (channel, lengths) in all.iter().enumerate() {
            let mut path = format!("M{:.1} {:.1}", x(0), y(lengths[0]));
            for (step, &length) in lengths.iter().enumerate().skip(1) {
                let _ = write!(path, "H{:.1}V{:.1}", x(step), y(length));
            }
            let colour = colour(channel);
            let _ =
                writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        }
        self.legend(left, floor + 22.0, steps, out);
    }

    fn legend(&self, left: f64, y: f64, steps: usize, out: &mut String) {
        let mut x = left;
        for (channel, name) in self.channels.iter().enumerate() {
            let last = self.after.len() - 1;
            let growth = self.length(last, channel).saturating_sub(self.length(self.round, channel));
            let text = match growth {
                0 => format!("{name}: does not grow"),
                n => format!("{name}: +{n} a round"),
            };
            let colour = colour(channel);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill:{colour}\">{}</text>",
                escaped(&text)
            );
            x += text.chars().count() as f64 * CHARACTER + GAP;
        }
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"faint\">{steps} steps</text>");
    }
}

fn colour(channel: usize) -> &'static str {
    COLOURS[channel % COLOURS.len()]
}

fn cut(message: &str) -> String {
    match message.chars().count() > LONGEST_MESSAGE {
        true => message.chars().take(LONGEST_MESSAGE - 1).chain(std::iter::once('…')).collect(),
        false => message.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::{Action, Event, RunState, RunStep, Variable};

    fn step(kind: EventKind, value: &str, holds: usize) -> RunStep {
        let event =
            Event { kind, channel: "c".into(), channel_id: 1, values: vec![value.into()], partner: None };
        RunStep {
            ordinal: 0,
            label: String::new(),
            actions: vec![Action { event: Some(event), ..Action::plain("c") }],
            fault: None,
            state: RunState { variables: vec![Variable { name: "c".into(), value: holds.to_string() }] },
        }
    }

    fn run(steps: Vec<RunStep>, loop_start: Option<usize>) -> Run {
        let initial = RunState { variables: vec![Variable { name: "c".into(), value: "0".into() }] };
        Run { skipped: 0, initial, steps, loop_start }
    }

    #[test]
    fn each_round_of_a_growing_loop_adds_the_same() {
        let send = |v, n| step(EventKind::Send, v, n);
        let grows =
            run(vec![send("a", 1), send("b", 2), step(EventKind::Receive, "a", 1), send("a", 2)], Some(1));
        let contents = Contents::of(&grows).expect("it grows");
        assert_eq!(contents.after[4], [["b", "a"]]);
        assert_eq!(contents.lengths(0)[..8], [0, 1, 2, 1, 2, 3, 2, 3]);
        assert_eq!(contents.lengths(0).len(), 2 + 3 * ROUNDS);
    }

    #[test]
    fn a_loop_that_returns_does_not_grow() {
        let back = run(vec![step(EventKind::Send, "a", 1), step(EventKind::Receive, "a", 0)], Some(0));
        assert_eq!(returns(&back), Some(Return::Same));
        assert_eq!(Contents::of(&back), None);
        assert_eq!(Contents::of(&run(vec![step(EventKind::Send, "a", 1)], None)), None);
    }
}
