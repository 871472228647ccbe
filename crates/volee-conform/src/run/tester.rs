//! The tester: sends, observes, judges.
//!
//! Messages cross: an output that was on its way when a stimulus was sent looks as if it came after it. So
//! the tester keeps all that may be true: a hypothesis is a node of the test and the stimuli that the
//! implementation has not yet taken. Sending adds to the queue, and an implementation may take from it at any
//! time; an output is judged in every hypothesis; silence means that everything was taken. Only when no
//! hypothesis allows what was seen is it a failure. What has arrived is looked at before anything is sent,
//! and the plan is made anew after every event.
//!
//! A program that has ended says nothing any more, whatever it is sent. That a stimulus was written before
//! the end came is chance, and whether it was read nobody can tell; so one that comes after the end counts as
//! sent all the same, and the verdict is that of the silence behind it. Only a program that goes on without
//! its input refuses a stimulus.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use volee_system::Meter;

use super::guide::{After, Guide, Plan};
use super::mapping::Mapping;
use super::wire::{Adapter, Deaf, Heard};
use crate::ConformError;
use crate::graph::Verdict;

/// More outputs than this in a row, without a stimulus or a silence between them, are a flood.
const FLOOD: usize = 1000;
/// Before the first stimulus a program is listened to for at most this long: what it says by itself, or that
/// it ends, is then seen first.
const START: Duration = Duration::from_millis(250);
/// Ctrl-C is looked at this often.
const SLICE: Duration = Duration::from_millis(50);

/// How a test is run.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Nothing for this long is quiescence.
    pub silence: Duration,
    /// Stimuli, outputs and silences after which a run ends.
    pub steps: usize,
    /// The verdict of a run that reaches this bound.
    pub at_bound: Verdict,
    /// Messages cannot cross: a stimulus has been taken when it was sent.
    pub synchronous: bool,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "event")]
pub enum Event {
    /// The tester sent something.
    Sent {
        /// The label.
        label: String,
        /// As it was on the wire.
        line: String,
    },
    /// Something came.
    Seen {
        /// The label; none where no rule of the mapping is about the line.
        label: Option<String>,
        /// As it was on the wire.
        line: String,
    },
    /// Nothing came.
    Silence,
    /// The stream ended.
    Ended {
        /// How the program ended, where that is known.
        status: Option<String>,
    },
}

/// An event and when it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the start of the run.
    pub milliseconds: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The purpose is reached.
    Purpose,
    /// All steps were taken and nothing was wrong.
    Steps,
    /// An output that is not allowed here.
    UnexpectedOutput,
    /// Silence where an output is due.
    UnexpectedSilence,
    /// The program ended where an output is due.
    Ended,
    /// A line that no rule of the mapping is about.
    UnknownLine,
    /// Bytes that are not text.
    Binary,
    /// A line without an end.
    EndlessLine,
    /// The purpose can no longer be reached.
    OffPurpose,
    /// The program does not take a stimulus.
    Refused,
    /// Outputs without end.
    Flood,
    /// The bound on steps.
    Bound,
    /// A budget, or Ctrl-C.
    Limit,
}

/// How a run went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub cause: Cause,
    /// Why, in a sentence without a full stop.
    pub message: String,
    /// What happened, in order.
    pub log: Vec<Entry>,
    /// The transitions of the guide that were taken, as node and label (none for silence).
    #[serde(skip)]
    pub taken: Vec<(u32, Option<String>)>,
    /// Seconds from start to end.
    pub seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Node(u32),
    Passed,
    Off,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hypothesis {
    place: Place,
    /// Which of the stimuli sent the implementation has taken.
    taken: usize,
    /// The last transition, as an index of the path.
    path: Option<usize>,
}

/// A step of a hypothesis: the one before, the node it started from, and the label.
type Taken = (Option<usize>, u32, Option<String>);

struct Tester<'a, G: Guide> {
    guide: &'a mut G,
    rules: &'a Rules,
    sent: Vec<String>,
    hypotheses: Vec<Hypothesis>,
    path: Vec<Taken>,
    start: Instant,
    log: Vec<Entry>,
}

/// Runs a test against an implementation.
///
/// # Errors
/// The mapping does not know a label, or the specification makes no sense. Limits end the run as
/// inconclusive.
pub fn execute<G: Guide>(
    guide: &mut G,
    wire: &mut dyn Adapter,
    mapping: &Mapping,
    rules: &Rules,
    meter: &Meter,
) -> Result<Report, ConformError> {
    let initial = guide.initial()?;
    let first = Hypothesis { place: Place::Node(initial), taken: 0, path: None };
    let mut tester = Tester {
        guide,
        rules,
        sent: Vec::new(),
        hypotheses: vec![first],
        path: Vec::new(),
        start: Instant::now(),
        log: Vec::new(),
    };
    match tester.run(wire, mapping, meter) {
        Ok((verdict, cause, message)) => Ok(tester.report(verdict, cause, message)),
        Err(ConformError::Limit(limit)) => {
            Ok(tester.report(Verdict::Inconclusive, Cause::Limit, limit.to_string()))
        }
        Err(error) => Err(error),
    }
}

type Ending = (Verdict, Cause, String);

impl<G: Guide> Tester<'_, G> {
    fn run(
        &mut self,
        wire: &mut dyn Adapter,
        mapping: &Mapping,
        meter: &Meter,
    ) -> Result<Ending, ConformError> {
        let mut flood = 0;
        for _ in 0..self.rules.steps {
            meter.check()?;
            let plan = self.plan()?;
            // What has arrived comes first, whatever the plan.
            let wait = match plan {
                Plan::Observe => self.rules.silence,
                Plan::Send(_) if self.log.is_empty() => self.rules.silence.min(START),
                Plan::Send(_) => Duration::ZERO,
            };
            let heard = self.hear(wire, mapping, wait, meter)?;
            let ended = match (heard, plan) {
                (Some(Heard::End(status)), Plan::Send(label)) if self.end_label(mapping).is_none() => {
                    self.end(status);
                    self.sent(label.clone(), mapping.line(&label)?)?
                }
                (Some(Heard::End(status)), _) => self.judge(Heard::End(status), mapping)?,
                (Some(heard), _) => {
                    flood += 1;
                    if flood > FLOOD {
                        let message = format!("the program floods: {FLOOD} outputs in a row");
                        return Ok((Verdict::Inconclusive, Cause::Flood, message));
                    }
                    self.judge(heard, mapping)?
                }
                (None, Plan::Observe) => {
                    flood = 0;
                    self.silence("nothing came")?
                }
                (None, Plan::Send(label)) => {
                    flood = 0;
                    let line = mapping.line(&label)?;
                    match wire.say(&line) {
                        Ok(()) => self.sent(label, line)?,
                        Err(Deaf::Closed) => self.closed(label, line, (&mut *wire, mapping, meter))?,
                        Err(Deaf::Slow) => Some(self.refused(&label, "it does not read its input")),
                    }
                }
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
        let steps = self.rules.steps;
        Ok(match self.rules.at_bound {
            Verdict::Pass => (Verdict::Pass, Cause::Steps, format!("nothing wrong in {steps} steps")),
            other => {
                (other, Cause::Bound, format!("the bound of {steps} steps was reached before a verdict"))
            }
        })
    }

    /// The input is closed: because the program ends, or although it goes on.
    fn closed(
        &mut self,
        label: String,
        line: String,
        (wire, mapping, meter): (&mut dyn Adapter, &Mapping, &Meter),
    ) -> Result<Option<Ending>, ConformError> {
        let heard = self.hear(wire, mapping, self.rules.silence, meter)?;
        let end = match heard {
            None => return Ok(Some(self.refused(&label, "it has closed its input"))),
            Some(Heard::End(status)) if self.end_label(mapping).is_none() => {
                self.end(status);
                None
            }
            other => other,
        };
        match (self.sent(label, line)?, end) {
            (None, Some(heard)) => self.judge(heard, mapping),
            (ending, _) => Ok(ending),
        }
    }

    /// Waits for something that means something.
    fn hear(
        &mut self,
        wire: &mut dyn Adapter,
        mapping: &Mapping,
        wait: Duration,
        meter: &Meter,
    ) -> Result<Option<Heard>, ConformError> {
        let deadline = Instant::now() + wait;
        let mut ignored = 0u32;
        let mut left = wait;
        loop {
            let heard = wire.hear(left.min(SLICE));
            left = deadline.saturating_duration_since(Instant::now());
            match heard {
                Some(Heard::Line(line)) if mapping.ignores(&line) => {
                    ignored += 1;
                    if ignored.is_multiple_of(4096) {
                        meter.check()?;
                        // Lines that mean nothing are silence, however many there are.
                        if left.is_zero() {
                            return Ok(None);
                        }
                    }
                }
                None if !left.is_zero() => meter.check()?,
                heard => return Ok(heard),
            }
        }
    }

    fn end_was_seen(&self) -> bool {
        self.log.iter().any(|e| matches!(e.event, Event::Ended { .. }))
    }

    /// The label of the end of the stream, unless it was seen before.
    fn end_label(&self, mapping: &Mapping) -> Option<String> {
        mapping.end.clone().filter(|_| !self.end_was_seen())
    }

    fn judge(&mut self, heard: Heard, mapping: &Mapping) -> Result<Option<Ending>, ConformError> {
        match heard {
            Heard::Line(line) => {
                let label = mapping.label(&line);
                self.note(Event::Seen { label: label.clone(), line: line.clone() });
                match label {
                    Some(label) => self.output(&label, &format!("`{label}`")),
                    None => {
                        let message = format!(
                            "no [[receive]] rule of the mapping is about the line `{}`",
                            brief(&line)
                        );
                        Ok(Some((Verdict::Fail, Cause::UnknownLine, message)))
                    }
                }
            }
            Heard::Binary(bytes) => {
                let shown: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
                let message = format!("the program answered bytes that are not text: {}", shown.join(" "));
                Ok(Some((Verdict::Fail, Cause::Binary, message)))
            }
            Heard::Endless => {
                let message = "the program answered a line that does not end within 64 kB".to_owned();
                Ok(Some((Verdict::Fail, Cause::EndlessLine, message)))
            }
            Heard::End(status) => {
                let label = self.end_label(mapping);
                self.end(status.clone());
                match label {
                    Some(label) => self.output(&label, &format!("`{label}` (the end of the stream)")),
                    // Nothing will ever come: silence, without waiting for it.
                    None => self.silence(&format!("the program has ended{}", how(status.as_ref()))),
                }
            }
        }
    }

    fn end(&mut self, status: Option<String>) {
        if !self.end_was_seen() {
            self.note(Event::Ended { status });
        }
    }

    fn note(&mut self, event: Event) {
        let milliseconds = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.log.push(Entry { milliseconds, event });
    }

    fn refused(&self, label: &str, why: &str) -> Ending {
        (Verdict::Inconclusive, Cause::Refused, format!("the program did not take `{label}`: {why}"))
    }

    fn plan(&mut self) -> Result<Plan, ConformError> {
        let settled = self.hypotheses.iter().find(|h| h.taken == self.sent.len());
        match settled.map(|h| h.place) {
            Some(Place::Node(node)) => self.guide.plan(node),
            _ => Ok(Plan::Observe),
        }
    }

    fn sent(&mut self, label: String, line: String) -> Result<Option<Ending>, ConformError> {
        self.note(Event::Sent { label: label.clone(), line });
        self.sent.push(label);
        self.settle()?;
        if self.rules.synchronous {
            let sent = self.sent.len();
            self.hypotheses.retain(|h| h.taken == sent);
        }
        Ok(self.ending())
    }

    /// Adds the hypotheses in which the implementation has taken more of what was sent.
    fn settle(&mut self) -> Result<(), ConformError> {
        let mut at = 0;
        while at < self.hypotheses.len() {
            let from = self.hypotheses[at].clone();
            at += 1;
            if from.taken == self.sent.len() {
                continue;
            }
            let label = self.sent[from.taken].clone();
            let place = match from.place {
                Place::Node(node) => match self.guide.input(node, &label)? {
                    After::Node(next) => Place::Node(next),
                    After::End(Verdict::Pass) => Place::Passed,
                    After::End(_) | After::Forbidden => Place::Off,
                },
                end => end,
            };
            let path = self.step(&from, Some(label));
            self.add(Hypothesis { place, taken: from.taken + 1, path });
        }
        // Those that have taken most come first: they make the plan.
        self.hypotheses.sort_by_key(|h| std::cmp::Reverse(h.taken));
        Ok(())
    }

    fn step(&mut self, from: &Hypothesis, label: Option<String>) -> Option<usize> {
        let Place::Node(node) = from.place else { return from.path };
        self.path.push((from.path, node, label));
        Some(self.path.len() - 1)
    }

    fn add(&mut self, new: Hypothesis) {
        if !self.hypotheses.iter().any(|h| (h.place, h.taken) == (new.place, new.taken)) {
            self.hypotheses.push(new);
        }
    }

    fn output(&mut self, label: &str, shown: &str) -> Result<Option<Ending>, ConformError> {
        let before = std::mem::take(&mut self.hypotheses);
        let mut expected = None;
        for from in &before {
            let place = match from.place {
                Place::Node(node) => match self.guide.output(node, Some(label))? {
                    After::Node(next) => Place::Node(next),
                    After::End(Verdict::Pass) => Place::Passed,
                    After::End(_) => Place::Off,
                    After::Forbidden => {
                        expected.get_or_insert(node);
                        continue;
                    }
                },
                end => end,
            };
            let path = self.step(from, Some(label.to_owned()));
            self.add(Hypothesis { place, taken: from.taken, path });
        }
        if self.hypotheses.is_empty() {
            self.hypotheses = before;
            let message = format!("{shown} came, but {}", self.expectation(expected)?);
            return Ok(Some((Verdict::Fail, Cause::UnexpectedOutput, message)));
        }
        self.settle()?;
        Ok(self.ending())
    }

    fn silence(&mut self, shown: &str) -> Result<Option<Ending>, ConformError> {
        let ended = self.end_was_seen();
        if !ended {
            self.note(Event::Silence);
        }
        let sent = self.sent.len();
        let before: Vec<Hypothesis> = self.hypotheses.drain(..).filter(|h| h.taken == sent).collect();
        let mut expected = None;
        for from in &before {
            let place = match from.place {
                Place::Node(node) => match self.guide.output(node, None)? {
                    After::Node(next) => Place::Node(next),
                    After::End(Verdict::Pass) => Place::Passed,
                    After::End(_) => Place::Off,
                    After::Forbidden => {
                        expected.get_or_insert(node);
                        continue;
                    }
                },
                end => end,
            };
            let path = self.step(from, None);
            self.add(Hypothesis { place, taken: from.taken, path });
        }
        if self.hypotheses.is_empty() {
            self.hypotheses = before;
            let cause = if ended { Cause::Ended } else { Cause::UnexpectedSilence };
            let message = format!("{shown}, but {}", self.expectation(expected)?);
            return Ok(Some((Verdict::Fail, cause, message)));
        }
        Ok(self.ending())
    }

    /// What a node allows, in words.
    fn expectation(&mut self, node: Option<u32>) -> Result<String, ConformError> {
        let allowed = node.map_or(Ok(Vec::new()), |node| self.guide.allowed(node))?;
        Ok(expectation(allowed))
    }

    fn ending(&self) -> Option<Ending> {
        if self.hypotheses.iter().any(|h| h.place == Place::Passed) {
            return Some((Verdict::Pass, Cause::Purpose, "the purpose is reached".into()));
        }
        let off = self.hypotheses.iter().all(|h| h.place == Place::Off);
        let message = "nothing wrong was seen, but the purpose can no longer be reached";
        off.then(|| (Verdict::Inconclusive, Cause::OffPurpose, message.into()))
    }

    fn report(self, verdict: Verdict, cause: Cause, message: String) -> Report {
        let mut taken = Vec::new();
        let mut at = self.hypotheses.first().and_then(|h| h.path);
        while let Some(index) = at {
            let (before, node, label) = &self.path[index];
            taken.push((*node, label.clone()));
            at = *before;
        }
        taken.reverse();
        Report { verdict, cause, message, log: self.log, taken, seconds: self.start.elapsed().as_secs_f64() }
    }
}

fn how(status: Option<&String>) -> String {
    status.map_or(String::new(), |s| format!(" ({s})"))
}

fn brief(line: &str) -> String {
    match line.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.into(),
    }
}

/// What was allowed instead.
fn expectation(mut allowed: Vec<String>) -> String {
    allowed.sort();
    allowed.dedup();
    let quiet = allowed.iter().position(|a| a == "δ").map(|at| allowed.remove(at)).is_some();
    let more = allowed.len().saturating_sub(5);
    let mut shown: Vec<String> = allowed.iter().take(5).map(|a| format!("`{a}`")).collect();
    if more > 0 {
        shown.push(format!("{more} others"));
    }
    if quiet {
        shown.push("silence".into());
    }
    match shown.as_slice() {
        [] => "nothing is allowed here".into(),
        [one] => format!("only {one} is allowed here"),
        [rest @ .., last] => format!("only {} or {last} are allowed here", rest.join(", ")),
    }
}
