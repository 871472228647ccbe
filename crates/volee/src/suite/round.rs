//! Models, and what was found out about them so far: what has not changed since keeps its answer.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use volee_report::{Member, MemberAnswer};
use volee_system::{Diagnostic, Limit};

use super::watch::{Watched, files_of};
use super::{CallOutcome, Task, call};

/// How often files are looked at.
const PERIOD: Duration = Duration::from_millis(100);

/// One round of checks.
#[derive(Default)]
pub struct Round {
    /// The models, and the files that each depends on as they were when the round began.
    pub tasks: Vec<(Task, Watched)>,
    /// What was found out about each, and the whole answer, as far as it is known.
    pub answers: Vec<Option<(Member, Value)>>,
    /// Why there is nothing to check.
    pub wrong: Vec<Diagnostic>,
}

impl Round {
    /// The round of these tasks, which come from what was named.
    pub fn new(tasks: Vec<Task>, named: &[PathBuf]) -> Self {
        let folders = |task: &Task| task.model.parent().map(|p| p.join("."));
        let others: Vec<PathBuf> = named.iter().cloned().chain(tasks.iter().filter_map(folders)).collect();
        let watched =
            |task: &Task| Watched::now(files_of(&task.model).into_iter().chain(others.iter().cloned()));
        let answers = tasks.iter().map(|_| None).collect();
        let tasks = tasks.into_iter().map(|task| (task.clone(), watched(&task))).collect();
        Round { tasks, answers, wrong: Vec::new() }
    }

    /// The answers about all models, where they are known.
    pub fn members(&self) -> Option<Vec<Member>> {
        self.answers.iter().map(|known| Some(known.as_ref()?.0.clone())).collect()
    }

    /// The answers about all models; one that was not reached was interrupted.
    pub fn reached(&self) -> Vec<Member> {
        let all = self.answers.iter().zip(&self.tasks);
        let open = |task: &Task| task.member(MemberAnswer::unknown(&Limit::Cancelled));
        all.map(|(known, (task, _))| known.as_ref().map_or_else(|| open(task), |(m, _)| m.clone())).collect()
    }

    /// Checks what is not checked yet, each by the process that `command` gives, as long as `go_on` says so.
    pub fn check(&mut self, command: &dyn Fn(&Task) -> Command, go_on: &mut dyn FnMut() -> bool) {
        for ((task, _), known) in self.tasks.iter().zip(&mut self.answers) {
            if known.is_none() {
                let CallOutcome::Answered(value, answer) = call(command(task), go_on) else { return };
                *known = Some((task.member(answer), value));
            }
        }
    }

    /// The files of all models.
    pub fn watched(&self) -> Vec<Watched> {
        self.tasks.iter().map(|(_, watched)| watched.clone()).collect()
    }

    /// Goes on with a fresh look at the models; tells whether something is to be done or told.
    pub fn renew(&mut self, fresh: Result<Round, Vec<Diagnostic>>) -> bool {
        let mut fresh = match fresh {
            Ok(fresh) => fresh,
            Err(wrong) => {
                let again = self.wrong == wrong;
                *self = Round { wrong, ..Round::default() };
                return !again;
            }
        };
        let mut news = !self.wrong.is_empty() || fresh.tasks.len() != self.tasks.len();
        for ((task, files), answer) in fresh.tasks.iter().zip(&mut fresh.answers) {
            let known = self.tasks.iter().position(|(t, w)| t == task && w.same_contents(files));
            *answer = known.and_then(|at| self.answers[at].take());
            news |= answer.is_none();
        }
        *self = fresh;
        news
    }
}

/// Looks at the models, checks them and shows the answers, again whenever a file changes, as long as `go_on`
/// says so. A round whose files change while it is checked is not shown.
pub fn watch(
    look: &dyn Fn() -> Result<Round, Vec<Diagnostic>>,
    command: &dyn Fn(&Task) -> Command,
    show: &mut dyn FnMut(&Round, &[Member]),
    go_on: &dyn Fn() -> bool,
) {
    let mut round = Round::default();
    while go_on() {
        let news = round.renew(look());
        let watched = round.watched();
        let same = || go_on() && watched.iter().all(|files| files.changed().is_empty());
        if news {
            round.check(command, &mut || same());
            if let Some(members) = round.members() {
                show(&round, &members);
            }
        }
        while same() {
            std::thread::sleep(PERIOD);
            if watched.is_empty() {
                break;
            }
        }
    }
}
