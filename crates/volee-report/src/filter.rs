//! Less noise: what a reader does not want to see of a run is taken out of it, and the steps keep their
//! numbers.
//!
//! A step of which nothing is left stays in its place but says nothing: [`is_silent`] tells, and no form of a
//! run shows it. What is stored for replaying is never filtered.

use std::fmt;
use std::sync::Arc;

use volee_system::{Action, EventKind, Run, RunState, RunStep, Variable};

use crate::is_location;
use crate::pending::Pending;

/// What is shown of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only messages that are sent, received or handed over, and what goes wrong.
    pub only_messages: bool,
    /// Processes that are not shown: all of a type (`Client`), or one by its number (`Client(2)`, `2`).
    pub hide: Vec<String>,
    /// Events that are not shown.
    pub hidden_events: HiddenEvents,
    /// Only these variables; all where there are none. A name means every element of an array and every local
    /// of that name.
    pub show: Vec<String>,
}

/// Whether one of the names of an event is meant.
type Means = dyn Fn(&[String]) -> bool + Send + Sync;

/// Events that are not shown, by patterns that somebody else understands.
#[derive(Clone, Default)]
pub struct HiddenEvents {
    patterns: Vec<String>,
    means: Option<Arc<Means>>,
}

impl HiddenEvents {
    /// The events that `means` says; `patterns` are what was written.
    pub fn new(
        patterns: Vec<String>,
        means: impl Fn(&[String]) -> bool + Send + Sync + 'static,
    ) -> HiddenEvents {
        HiddenEvents { patterns, means: Some(Arc::new(means)) }
    }

    /// Whether what a process does is hidden, by its event or by its statement.
    fn hide(&self, action: &Action) -> bool {
        let Some(means) = &self.means else { return false };
        let who = format!("{}[{}]:", action.process, action.pid);
        let mut names = vec![format!("{who}{}", action.text)];
        if let Some(event) = &action.event {
            let sign = if event.kind == EventKind::Receive { '?' } else { '!' };
            names.push(format!("{who}{}{sign}{}", event.channel, event.values.join(",")));
        }
        means(&names)
    }
}

impl fmt::Debug for HiddenEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.patterns).finish()
    }
}

impl PartialEq for HiddenEvents {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl Eq for HiddenEvents {}

impl Filter {
    /// Whether it leaves everything as it is.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// The run without what is not wanted.
    #[must_use]
    pub fn apply(&self, run: &Run) -> Run {
        let mut shown = run.clone();
        if self.is_empty() {
            return shown;
        }
        self.tell_receivers(&mut shown);
        self.keep_variables(&mut shown.initial);
        for step in &mut shown.steps {
            self.keep_actions(step);
            self.keep_variables(&mut step.state);
        }
        shown
    }

    /// Names the receivers of messages whose receipts are hidden: without them it would seem that nobody has
    /// received them.
    fn tell_receivers(&self, run: &mut Run) {
        let mut pending = Pending::new();
        let mut receivers = Vec::new();
        for (index, step) in run.steps.iter().enumerate() {
            for (at, action) in step.actions.iter().enumerate() {
                let Some(event) = &action.event else { continue };
                match event.kind {
                    EventKind::Send => pending.send(event, (index, at)),
                    EventKind::Receive => {
                        let sent = pending.take(action, event).filter(|_| self.hides(action));
                        receivers.extend(sent.map(|sent| (sent, (action.process.clone(), action.pid))));
                    }
                    EventKind::Rendezvous => {}
                }
            }
        }
        for ((index, at), receiver) in receivers {
            if let Some(event) = &mut run.steps[index].actions[at].event {
                event.partner = Some(receiver);
            }
        }
    }

    fn keep_actions(&self, step: &mut RunStep) {
        let had_some = !step.actions.is_empty();
        let failing = step.fault.as_ref().and_then(|fault| fault.place.clone());
        step.actions.retain(|action| {
            let fails = failing.is_some() && action.place == failing;
            fails || (!self.hides(action) && (!self.only_messages || action.event.is_some()))
        });
        for action in &mut step.actions {
            action.changed.retain(|variable| self.shows(variable));
        }
        if step.actions.is_empty() && (had_some || self.only_messages) {
            step.label.clear();
        }
    }

    fn hides(&self, action: &Action) -> bool {
        let pid = action.pid.to_string();
        let names = [
            action.process.clone(),
            format!("{}({pid})", action.process),
            format!("{}[{pid}]", action.process),
        ];
        self.hidden_events.hide(action)
            || self
                .hide
                .iter()
                .any(|hidden| names.contains(hidden) || (!action.process.is_empty() && *hidden == pid))
    }

    fn keep_variables(&self, state: &mut RunState) {
        state.variables.retain(|variable| is_location(variable) || self.shows(variable));
    }

    /// Whether a variable is shown.
    pub fn shows(&self, variable: &Variable) -> bool {
        let name = variable.name.as_str();
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        let base = |name: &str| name.split(['[', '.']).next().unwrap_or_default().to_string();
        let means = |wanted: &String| {
            *wanted == name || *wanted == local || *wanted == base(local) || *wanted == base(name)
        };
        self.show.is_empty() || self.show.iter().any(means)
    }
}

/// Whether nothing of a step is shown.
pub fn is_silent(step: &RunStep) -> bool {
    step.actions.is_empty() && step.label.is_empty() && step.fault.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::Event;

    fn step(process: &str, pid: u32, text: &str, sends: bool) -> RunStep {
        let event = sends.then(|| Event {
            kind: EventKind::Send,
            channel: "c".into(),
            channel_id: 1,
            values: vec!["1".into()],
            partner: None,
        });
        let action = Action { process: process.into(), pid, event, ..Action::plain(text) };
        let state = RunState {
            variables: ["x", "a[0]", "P[1]:x", "y"]
                .map(|name| Variable { name: name.into(), value: "1".into() })
                .to_vec(),
        };
        RunStep { ordinal: 0, label: text.into(), actions: vec![action], fault: None, state }
    }

    fn run() -> Run {
        let steps =
            vec![step("P", 1, "x = 1", false), step("Q", 2, "c!1", true), step("Q", 3, "y = 1", false)];
        Run { skipped: 0, initial: steps[0].state.clone(), steps, loop_start: None }
    }

    fn left(filter: &Filter) -> Vec<String> {
        let shown = filter.apply(&run());
        assert_eq!(shown.steps.len(), 3, "steps keep their numbers");
        shown.steps.iter().filter(|s| !is_silent(s)).map(|s| s.label.clone()).collect()
    }

    #[test]
    fn only_messages_and_hidden_processes_leave_the_numbers_of_steps() {
        assert_eq!(left(&Filter::default()), ["x = 1", "c!1", "y = 1"]);
        assert_eq!(left(&Filter { only_messages: true, ..Filter::default() }), ["c!1"]);
        let hide = |name: &str| Filter { hide: vec![name.into()], ..Filter::default() };
        assert_eq!(left(&hide("Q")), ["x = 1"]);
        assert_eq!(left(&hide("Q(3)")), ["x = 1", "c!1"]);
        assert_eq!(left(&hide("Q[2]")), ["x = 1", "y = 1"]);
        assert_eq!(left(&hide("3")), ["x = 1", "c!1"]);
        assert_eq!(left(&hide("P(3)")), ["x = 1", "c!1", "y = 1"]);
        let hidden_events = HiddenEvents::new(vec!["c!1".into()], |names| names.contains(&"Q[2]:c!1".into()));
        assert_eq!(left(&Filter { hidden_events, ..Filter::default() }), ["x = 1", "y = 1"]);
    }

    #[test]
    fn a_name_means_arrays_and_locals_as_well() {
        let names = |show: &str| {
            let shown = Filter { show: vec![show.into()], ..Filter::default() }.apply(&run());
            shown.initial.variables.into_iter().map(|v| v.name).collect::<Vec<_>>()
        };
        assert_eq!(names("x"), ["x", "P[1]:x"]);
        assert_eq!(names("a"), ["a[0]"]);
        assert_eq!(names("P[1]:x"), ["P[1]:x"]);
        assert_eq!(names("nothing"), Vec::<String>::new());
    }

    #[test]
    fn what_goes_wrong_is_always_shown() {
        let mut run = run();
        let place = volee_system::Place::new("m.pml", 3, 1);
        run.steps[2].actions[0].place = Some(place.clone());
        run.steps[2].fault = Some(volee_system::Fault {
            kind: volee_system::FaultKind::Assertion,
            message: "y is 1".into(),
            place: Some(place),
        });
        let filter = Filter { only_messages: true, hide: vec!["Q".into()], ..Filter::default() };
        let shown = filter.apply(&run);
        assert!(!is_silent(&shown.steps[2]) && shown.steps[2].actions.len() == 1);
    }
}
