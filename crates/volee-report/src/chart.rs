//! A run as a message-sequence chart, before it is drawn: lifelines, and in order what happens on them.
//!
//! The run only tells "a message entered channel 3" and later "a message left channel 3"; the chart joins the
//! two. Messages without a partner stay: received from the initial contents, or never received at all. A
//! message whose receipt is not shown, or may be among steps that are left out, is only said to be sent.

use std::collections::HashMap;

use volee_system::{Action, Event, EventKind, Fault, Run, Variable};

use crate::pending::Pending;
use crate::text::{process_name, shown_steps, spoken, untold};
use crate::{is_location, is_silent};

/// A message-sequence chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart {
    /// The processes, by number and name.
    pub lifelines: Vec<String>,
    /// What happens, from top to bottom.
    pub rows: Vec<Row>,
    /// The rows of the cycle of a lasso: first and last.
    pub cycle: Option<(usize, usize)>,
}

/// One line of the chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// The step it belongs to, from 1; 0 where steps were left out.
    pub step: usize,
    /// The line in the source.
    pub line: Option<u32>,
    /// The lifeline that acts.
    pub lifeline: usize,
    /// What it does.
    pub mark: Mark,
    /// What changed.
    pub changed: Vec<String>,
}

/// What a process does in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Something that only concerns the process.
    Internal(String),
    /// A message leaves; `received` is the row of its receipt.
    Send { text: String, received: Option<usize> },
    /// A message arrives; `sent` is the row of its sending.
    Receive { text: String, sent: Option<usize> },
    /// A message passes at once to another lifeline.
    Rendezvous { text: String, to: usize },
    /// An error.
    Fault(String),
    /// A number of steps are not shown.
    LeftOut(usize),
}

impl Chart {
    /// The chart of a run; of a run longer than `longest` steps only the beginning and the end.
    pub(crate) fn of(run: &Run, longest: usize) -> Chart {
        let mut builder = Builder::new(run);
        let told: Vec<usize> = (0..run.steps.len()).filter(|&i| !is_silent(&run.steps[i])).collect();
        let shown = shown_steps(told.len(), longest);
        let mut next = 0;
        if run.skipped > 0 {
            builder.left_out(run.skipped);
        }
        let mut cycle_start = None;
        for &position in &shown {
            let index = told[position];
            if position > next {
                builder.left_out(position - next);
            }
            let first = builder.rows.len();
            builder.step(run, index);
            if run.loop_start.is_some_and(|start| start <= index) && cycle_start.is_none() {
                cycle_start = Some(first);
            }
            next = position + 1;
        }
        let last = builder.rows.len().saturating_sub(1);
        Chart {
            lifelines: builder.lifelines,
            rows: builder.rows,
            cycle: cycle_start.map(|first| (first, last)),
        }
    }
}

struct Builder {
    lifelines: Vec<String>,
    numbers: HashMap<(String, u32), usize>,
    rows: Vec<Row>,
    /// The rows whose message is still in its channel.
    pending: Pending<usize>,
}

impl Builder {
    fn new(run: &Run) -> Builder {
        let mut processes: Vec<(u32, String)> = Vec::new();
        let mut add = |name: &str, pid: u32| {
            if !processes.iter().any(|(p, n)| *p == pid && n == name) {
                processes.push((pid, name.to_string()));
            }
        };
        for action in run.steps.iter().flat_map(|s| &s.actions) {
            add(&action.process, action.pid);
            let meets = action.event.as_ref().filter(|e| e.kind == EventKind::Rendezvous);
            if let Some((name, pid)) = meets.and_then(|e| e.partner.as_ref()) {
                add(name, *pid);
            }
        }
        processes.sort_by_key(|(pid, _)| *pid);
        if processes.is_empty() {
            processes.push((0, String::new()));
        }
        let name = |(pid, name): &(u32, String)| match name.is_empty() {
            true => "system".to_string(),
            false => process_name(name, *pid),
        };
        Builder {
            lifelines: processes.iter().map(name).collect(),
            numbers: processes.into_iter().enumerate().map(|(i, (pid, name))| ((name, pid), i)).collect(),
            rows: Vec::new(),
            pending: Pending::new(),
        }
    }

    fn lifeline(&self, name: &str, pid: u32) -> usize {
        self.numbers.get(&(name.to_string(), pid)).copied().unwrap_or(0)
    }

    fn push(&mut self, step: usize, lifeline: usize, line: Option<u32>, mark: Mark) {
        self.rows.push(Row { step, line, lifeline, mark, changed: Vec::new() });
    }

    fn left_out(&mut self, steps: usize) {
        self.push(0, 0, None, Mark::LeftOut(steps));
        // What was sent before may have been received in between: nobody can tell from what is shown.
        for row in self.pending.drain() {
            if let Mark::Send { text, .. } = &self.rows[row].mark {
                self.rows[row].mark = only_sent(text);
            }
        }
    }

    fn step(&mut self, run: &Run, index: usize) {
        let step = &run.steps[index];
        let number = run.skipped + index + 1;
        if step.actions.is_empty() {
            self.push(number, 0, None, Mark::Internal(step.label.clone()));
        }
        let mut fault = step.fault.as_ref();
        for action in &step.actions {
            self.action(number, action);
            // Behind the statement it is about, where that is known.
            if let Some(here) = fault.take_if(|f| f.place.is_some() && f.place == action.place) {
                self.fault(number, here);
            }
        }
        if let Some(fault) = fault {
            self.fault(number, fault);
        }
        let before = if index == 0 { &run.initial } else { &run.steps[index - 1].state };
        let untold: Vec<String> = untold(before, step).map(assignment).collect();
        if let Some(row) = self.rows.last_mut() {
            let told = std::mem::take(&mut row.changed);
            row.changed = told.into_iter().chain(untold).collect();
        }
    }

    fn fault(&mut self, number: usize, fault: &Fault) {
        let lifeline = self.rows.last().map_or(0, |r| r.lifeline);
        let line = fault.place.as_ref().map(|p| p.line);
        self.push(number, lifeline, line, Mark::Fault(fault.message.clone()));
    }

    /// Whether an action is the receiving half of the rendezvous in the last row, whose arrow shows it
    /// already.
    fn is_received(&self, number: usize, action: &Action) -> bool {
        let lifeline = self.lifeline(&action.process, action.pid);
        let met = |row: &Row| {
            row.step == number && matches!(row.mark, Mark::Rendezvous { to, .. } if to == lifeline)
        };
        action.event.is_none() && action.text.contains('?') && self.rows.last().is_some_and(met)
    }

    fn action(&mut self, number: usize, action: &Action) {
        let changed = action.changed.iter().filter(|v| !is_location(v)).map(assignment);
        if self.is_received(number, action) {
            let row = self.rows.last_mut();
            row.into_iter().for_each(|r| r.changed.extend(changed.clone()));
            return;
        }
        let lifeline = self.lifeline(&action.process, action.pid);
        let line = action.place.as_ref().map(|p| p.line);
        let mark = match &action.event {
            None => Mark::Internal(spoken(&action.text).to_string()),
            Some(event) => self.event(action, event),
        };
        self.push(number, lifeline, line, mark);
        if let Some(row) = self.rows.last_mut() {
            row.changed = changed.collect();
        }
    }

    fn event(&mut self, action: &Action, event: &Event) -> Mark {
        let text = message_text(event);
        let here = self.rows.len();
        match event.kind {
            EventKind::Rendezvous => match &event.partner {
                Some((name, pid)) => Mark::Rendezvous { text, to: self.lifeline(name, *pid) },
                None => Mark::Send { text, received: None },
            },
            EventKind::Send if event.partner.is_some() => only_sent(&text),
            EventKind::Send => {
                self.pending.send(event, here);
                Mark::Send { text, received: None }
            }
            EventKind::Receive => {
                let sent = self.pending.take(action, event);
                if let Some(Mark::Send { received, .. }) = sent.map(|row| &mut self.rows[row].mark) {
                    received.get_or_insert(here);
                }
                Mark::Receive { text, sent }
            }
        }
    }
}

/// A message of which nothing is known, or shown, but that it was sent.
fn only_sent(text: &str) -> Mark {
    Mark::Internal(format!("sends {text}"))
}

fn assignment(variable: &Variable) -> String {
    format!("{} = {}", variable.name, variable.value)
}

fn message_text(event: &Event) -> String {
    match event.values.is_empty() {
        true => event.channel.clone(),
        false => format!("{}: {}", event.channel, event.values.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::{RunState, RunStep};

    fn event(kind: EventKind, channel_id: u32, value: &str, partner: Option<(&str, u32)>) -> Event {
        Event {
            kind,
            channel: "c".into(),
            channel_id,
            values: vec![value.into()],
            partner: partner.map(|(n, p)| (n.to_string(), p)),
        }
    }

    fn step(process: &str, pid: u32, text: &str, event: Option<Event>) -> RunStep {
        let action = Action { process: process.into(), pid, event, ..Action::plain(text) };
        RunStep {
            ordinal: 0,
            label: text.into(),
            actions: vec![action],
            fault: None,
            state: RunState { variables: Vec::new() },
        }
    }

    fn run(steps: Vec<RunStep>) -> Run {
        Run { skipped: 0, initial: RunState { variables: Vec::new() }, steps, loop_start: None }
    }

    fn sent_rows(chart: &Chart) -> Vec<Option<usize>> {
        let receipts = chart.rows.iter().filter_map(|r| match &r.mark {
            Mark::Receive { sent, .. } => Some(*sent),
            _ => None,
        });
        receipts.collect()
    }

    #[test]
    fn messages_are_received_in_the_order_of_their_sending() {
        let send = |v| step("A", 1, "c!v", Some(event(EventKind::Send, 1, v, None)));
        let receive = |v| step("B", 2, "c?v", Some(event(EventKind::Receive, 1, v, None)));
        let chart = Chart::of(&run(vec![send("x"), send("x"), receive("x"), receive("x"), receive("y")]), 99);
        assert_eq!(chart.lifelines, ["A(1)", "B(2)"]);
        assert_eq!(sent_rows(&chart), [Some(0), Some(1), None]);
        assert_eq!(chart.rows[0].mark, Mark::Send { text: "c: x".into(), received: Some(2) });
    }

    #[test]
    fn a_receipt_out_of_order_takes_the_message_with_its_values() {
        let send = |v| step("A", 1, "c!v", Some(event(EventKind::Send, 1, v, None)));
        let receive = |v| step("B", 2, "c??v", Some(event(EventKind::Receive, 1, v, None)));
        let chart = Chart::of(&run(vec![send("x"), send("y"), receive("y"), receive("x")]), 99);
        assert_eq!(sent_rows(&chart), [Some(1), Some(0)]);
    }

    #[test]
    fn a_copy_leaves_the_message_for_its_receiver() {
        let send = step("A", 1, "c!x", Some(event(EventKind::Send, 1, "x", None)));
        let copy = step("B", 2, "c?<x>", Some(event(EventKind::Receive, 1, "x", None)));
        let receive = step("B", 2, "c?x", Some(event(EventKind::Receive, 1, "x", None)));
        let chart = Chart::of(&run(vec![send, copy, receive]), 99);
        assert_eq!(sent_rows(&chart), [None, Some(0)]);
    }

    #[test]
    fn a_message_whose_receipt_is_hidden_or_left_out_is_not_told_to_be_lost() {
        let send = step("A", 1, "c!x", Some(event(EventKind::Send, 1, "x", None)));
        let receive = step("B", 2, "c?x", Some(event(EventKind::Receive, 1, "x", None)));
        let lost = step("A", 1, "c!y", Some(event(EventKind::Send, 1, "y", None)));
        let filter = crate::Filter { hide: vec!["B".into()], ..crate::Filter::default() };
        let filtered = filter.apply(&run(vec![send.clone(), receive, lost.clone()]));
        let chart = Chart::of(&filtered, 99);
        assert_eq!(chart.lifelines, ["A(1)"]);
        assert_eq!(chart.rows[0].mark, Mark::Internal("sends c: x".into()));
        assert_eq!(chart.rows[1].mark, Mark::Send { text: "c: y".into(), received: None });
        let long = run((0..9).map(|_| send.clone()).collect());
        let chart = Chart::of(&long, 4);
        assert_eq!(chart.rows[0].mark, Mark::Internal("sends c: x".into()));
    }

    #[test]
    fn a_rendezvous_names_its_partner_even_if_it_never_acts_itself() {
        let meet = step("A", 1, "c!x", Some(event(EventKind::Rendezvous, 1, "x", Some(("B", 0)))));
        let chart = Chart::of(&run(vec![meet]), 99);
        assert_eq!(chart.lifelines, ["B(0)", "A(1)"]);
        assert_eq!(chart.rows[0].mark, Mark::Rendezvous { text: "c: x".into(), to: 0 });
    }

    #[test]
    fn the_cycle_of_a_lasso_covers_its_rows() {
        let mut lasso = run((0..4).map(|_| step("A", 1, "x++", None)).collect());
        lasso.loop_start = Some(2);
        assert_eq!(Chart::of(&lasso, 99).cycle, Some((2, 3)));
    }
}
