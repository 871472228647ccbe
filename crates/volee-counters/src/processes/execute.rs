//! What transitions do: to the explicit part of a state, and to the unbounded variables.
//!
//! A failed assertion and an error in what a statement does lead into the location of that failure, and the
//! run goes on as well, as in the machine.

use volee_integers::{Int, Row};
use volee_program::{self as promela, Action, Expr, Pattern};
use volee_system::{FaultKind, Place};

use super::evaluate::{Branch, Refusal, Result, unsupported};
use super::events::Way;
use super::explore::Explorer;
use super::formula::Formula;
use super::state::{Explicit, Process};

/// A receive that can take what a rendezvous offers.
pub(super) struct Partner<'a> {
    pid: usize,
    receive: &'a promela::Transition,
    patterns: &'a [Pattern],
    message: Vec<Row>,
    pub(super) when: Formula,
}

impl<'a> Explorer<'a> {
    /// Executes a transition and adds what it leads to.
    pub(super) fn take(&mut self, at: u32, mut branch: Branch, pid: usize, transition: &promela::Transition) {
        let text = &transition.statement.text;
        let place = transition.statement.place.as_ref();
        let heard = self.heard(&branch.explicit, pid, transition);
        branch.events |= self.accept(heard, text, place).unwrap_or(0);
        branch.explicit.processes[pid].node = transition.target.0;
        let mut work = vec![branch];
        let actions: Vec<&Action> = match &transition.action {
            Action::Sequence(all) => all.iter().collect(),
            one => vec![one],
        };
        for action in actions {
            let mut next = Vec::new();
            for branch in work {
                let guard = branch.guard.clone();
                let done = self.execute(at, branch.clone(), pid, action, transition, &mut next);
                self.note(at, &guard, transition);
                // Go on as if it did nothing: there may be more to complain about.
                if self.accept(done, text, place).is_none() {
                    next.push(branch);
                }
            }
            work = next;
        }
        for mut branch in work {
            self.settle(&mut branch.explicit, pid, transition);
            self.edge(at, branch, text, place);
        }
    }

    /// Adds the errors met in a statement that is executed under a condition.
    fn note(&mut self, at: u32, guard: &Formula, transition: &promela::Transition) {
        let (text, place) = (&transition.statement.text, &transition.statement.place);
        for fault in self.evaluator.take_faults() {
            let when = guard.and(&fault.when).map_err(Refusal::from);
            let Some(when) = self.accept(when, text, place.as_ref()) else { continue };
            let own = fault.place.or_else(|| place.clone());
            self.fail(at, &when, text, FaultKind::Runtime, &fault.message, own);
        }
    }

    fn execute(
        &mut self,
        at: u32,
        mut branch: Branch,
        pid: usize,
        action: &Action,
        transition: &promela::Transition,
        out: &mut Vec<Branch>,
    ) -> Result<()> {
        let place = &transition.statement.place;
        match action {
            Action::Guard(Expr::Run { proctype, arguments, place, .. }) => {
                out.extend(self.start(branch, pid, proctype.0, arguments, place)?.map(|(b, _)| b));
            }
            Action::Assign(location, Expr::Run { proctype, arguments, place, .. }) => {
                if let Some((branch, born)) = self.start(branch, pid, proctype.0, arguments, place)? {
                    out.extend(self.evaluator.store(branch, Some(pid), location, vec![Int::from(born)])?);
                }
            }
            Action::Assign(location, expr) => {
                for case in self.evaluator.cases(&branch, Some(pid), expr)? {
                    let guard = branch.guard.and(&case.when)?;
                    if !guard.is_false() {
                        let next = Branch { guard, ..branch.clone() };
                        out.extend(self.evaluator.store(next, Some(pid), location, case.value)?);
                    }
                }
            }
            Action::Assert(expr) => {
                let holds = self.evaluator.truth(&branch, Some(pid), expr)?;
                let bad = branch.guard.and(&holds.not()?)?;
                let text = &transition.statement.text;
                let message = format!("assertion violated: {text}");
                self.fail(at, &bad, text, FaultKind::Assertion, &message, place.clone());
                out.push(branch);
            }
            Action::Send { channel, values, sorted } => {
                let Some(channel) = self.evaluator.channel(&branch, Some(pid), channel, place)? else {
                    return Ok(());
                };
                for (when, message) in self.evaluator.message(&branch, pid, channel, values)? {
                    let guard = branch.guard.and(&when)?;
                    if !guard.is_false() {
                        let mut next = Branch { guard, ..branch.clone() };
                        self.evaluator.insert(&mut next, channel, &message, *sorted)?;
                        out.extend(self.passed(next, (pid, None), Way::In, channel, &message)?);
                    }
                }
            }
            Action::Receive { channel, patterns, anywhere, keep } => {
                let Some(channel) = self.evaluator.channel(&branch, Some(pid), channel, place)? else {
                    return Ok(());
                };
                self.wrong_fields(&branch, channel, patterns, place)?;
                for (slot, when) in self.evaluator.receivable(&branch, pid, channel, patterns, *anywhere)? {
                    let guard = branch.guard.and(&when)?;
                    if !guard.is_false() {
                        let mut next = Branch { guard, ..branch.clone() };
                        let message = self.evaluator.remove(&mut next, channel, slot, *keep);
                        let way = if *keep { Way::Stays } else { Way::Out };
                        for next in self.passed(next, (pid, None), way, channel, &message)? {
                            out.extend(self.evaluator.bind(next, pid, patterns, &message)?);
                        }
                    }
                }
            }
            Action::End => {
                let proctype = branch.explicit.processes[pid].proctype;
                branch.explicit.processes.pop();
                for _ in &self.program.proctypes[proctype as usize].channels {
                    let last = branch.explicit.channels.len() - 1;
                    self.evaluator.clear(&mut branch, last);
                    branch.explicit.channels.pop();
                }
                self.forget(&mut branch, pid, proctype);
                out.push(branch);
            }
            Action::DStep(entry) => {
                branch.explicit.processes[pid].node = entry.0;
                branch.explicit.d_step = Some((transition.target.0, transition.atomic));
                out.push(branch);
            }
            _ => out.push(branch),
        }
        Ok(())
    }

    /// A receive that stores nothing must name every field.
    fn wrong_fields(
        &mut self,
        branch: &Branch,
        channel: usize,
        patterns: &[Pattern],
        place: &Option<Place>,
    ) -> Result<()> {
        let (named, all) = (patterns.len(), self.evaluator.kind(branch, channel).fields.len());
        let stores_nothing = patterns.iter().all(|p| matches!(p, Pattern::Match(_)));
        if named > all || (named < all && stores_nothing) {
            let message = "this receive has not as many fields as the channel".into();
            self.evaluator.fail(&Formula::truth(true), message, place.clone())?;
        }
        Ok(())
    }

    /// Starts a process; where there are too many the whole step is stuck.
    fn start(
        &mut self,
        branch: Branch,
        pid: usize,
        proctype: u8,
        arguments: &[Expr],
        place: &Option<Place>,
    ) -> Result<Option<(Branch, usize)>> {
        let values = arguments.iter().map(|a| self.single(&branch, Some(pid), a)).collect::<Result<_>>()?;
        let born = self.spawn(branch, proctype, values)?;
        if born.is_none() {
            let message = "too many processes or channels: at most 255 of each can exist at once".into();
            self.evaluator.fail(&Formula::truth(true), message, place.clone())?;
        }
        Ok(born)
    }

    /// Who can take what a send on a rendezvous channel offers; `None` for everything else.
    pub(super) fn partners(
        &mut self,
        base: &Branch,
        pid: usize,
        transition: &promela::Transition,
    ) -> Result<Option<Vec<Partner<'a>>>> {
        let place = &transition.statement.place;
        let Action::Send { channel, values, .. } = &transition.action else { return Ok(None) };
        let Some(channel) = self.evaluator.channel(base, Some(pid), channel, place)? else { return Ok(None) };
        if !self.evaluator.meets(base, channel) {
            return Ok(None);
        }
        if base.explicit.d_step.is_some() {
            return unsupported("a rendezvous inside a d_step is not supported", place.clone());
        }
        // An error in the message is one of the step itself, noted when it is made.
        if !self.evaluator.take_faults().is_empty() {
            return Ok(None);
        }
        let messages = self.evaluator.message(base, pid, channel, values)?;
        self.evaluator.take_faults();
        let mut all = Vec::new();
        for receiver in (0..base.explicit.processes.len()).filter(|&r| r != pid) {
            let provided = self.provided(base, receiver)?;
            for (when, message) in &messages {
                let when = when.and(&provided)?;
                self.receivers(base, receiver, channel, &when, message, &mut all)?;
            }
        }
        Ok(Some(all))
    }

    fn receivers(
        &mut self,
        base: &Branch,
        pid: usize,
        channel: usize,
        when: &Formula,
        message: &[Row],
        all: &mut Vec<Partner<'a>>,
    ) -> Result<()> {
        let process = &base.explicit.processes[pid];
        let program = self.program;
        let nodes = &program.proctypes[process.proctype as usize].nodes;
        let mut escapes: Vec<(u32, Formula)> = Vec::new();
        for receive in &nodes[process.node as usize].transitions {
            let (from, patterns) = match &receive.action {
                Action::Receive { channel, patterns, .. } => (channel, patterns),
                Action::DStep(entry) => {
                    let inner = &nodes[entry.0 as usize].transitions;
                    if inner.iter().any(|t| matches!(t.action, Action::Receive { .. })) {
                        let place = receive.statement.place.clone();
                        return unsupported(
                            "a receive at the start of a d_step is not supported here",
                            place,
                        );
                    }
                    continue;
                }
                _ => continue,
            };
            let number = self.evaluator.number(base, Some(pid), from)?;
            let fits = self.evaluator.accepts(base, Some(pid), patterns, message)?;
            self.evaluator.take_faults();
            if number != channel as i64 + 1 {
                continue;
            }
            let mut when = when.and(&fits)?;
            for (other, before) in &escapes {
                if *other != receive.escape {
                    when = when.and(&before.not()?)?;
                }
            }
            if receive.escape != 0 {
                escapes.push((receive.escape, when.clone()));
            }
            if !when.is_false() {
                all.push(Partner { pid, receive, patterns, message: message.to_vec(), when });
            }
        }
        Ok(())
    }

    /// Adds a rendezvous with each partner.
    pub(super) fn meet(
        &mut self,
        at: u32,
        base: &Branch,
        pid: usize,
        send: &promela::Transition,
        partners: &[Partner<'a>],
        allowed: &Formula,
    ) {
        let place = send.statement.place.as_ref();
        let Action::Send { channel, values, .. } = &send.action else { return };
        for partner in partners {
            let text = format!("{} / {}", send.statement.text, partner.receive.statement.text);
            let done = self.hand_over(at, base, pid, send, (channel, values), partner, allowed);
            for branch in self.accept(done, &text, place).unwrap_or_default() {
                self.edge(at, branch, &text, place);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn hand_over(
        &mut self,
        at: u32,
        base: &Branch,
        pid: usize,
        send: &promela::Transition,
        (channel, values): (&Expr, &[Expr]),
        partner: &Partner<'a>,
        allowed: &Formula,
    ) -> Result<Vec<Branch>> {
        let guard = partner.when.and(allowed)?;
        let mut branch = Branch { guard: guard.clone(), ..base.clone() };
        branch.events |= self.heard(&base.explicit, pid, send)? | self.taken(&base.explicit, partner);
        branch.explicit.processes[pid].node = send.target.0;
        branch.explicit.processes[partner.pid].node = partner.receive.target.0;
        branch.explicit.owner = partner.receive.atomic.then_some(partner.pid as u8);
        // Once more for the errors in it.
        let mut branches = vec![branch];
        if let Some(channel) = self.evaluator.channel(base, Some(pid), channel, &None)? {
            self.evaluator.message(base, pid, channel, values)?;
            let both = (pid, Some(partner.pid));
            let passed = |b| self.passed(b, both, Way::In, channel, &partner.message);
            branches = branches.into_iter().map(passed).collect::<Result<Vec<_>>>()?.concat();
        }
        let mut done = Vec::new();
        for branch in branches {
            done.extend(self.evaluator.bind(branch, partner.pid, partner.patterns, &partner.message)?);
        }
        self.note(at, &guard, send);
        Ok(done)
    }

    /// The events that the receiving statement of a rendezvous is.
    fn taken(&self, explicit: &Explicit, partner: &Partner<'_>) -> u64 {
        self.said(explicit, partner.pid, &partner.receive.statement.text)
    }

    /// Who may move after a transition.
    fn settle(&self, explicit: &mut Explicit, pid: usize, transition: &promela::Transition) {
        if let Action::DStep(_) = transition.action {
            explicit.owner = Some(pid as u8);
            return;
        }
        match explicit.d_step {
            Some((end, keeps)) => {
                let nodes = |p: &Process| &self.program.proctypes[p.proctype as usize].nodes;
                let inside = |p: &Process| nodes(p)[p.node as usize].in_d_step;
                if !explicit.processes.get(pid).is_some_and(inside) {
                    explicit.d_step = None;
                    explicit.owner = keeps.then_some(pid as u8);
                    if let Some(process) = explicit.processes.get_mut(pid) {
                        process.node = end;
                    }
                }
            }
            None => explicit.owner = transition.atomic.then_some(pid as u8),
        }
        // A process that is gone holds nothing.
        if explicit.owner.is_some_and(|p| p as usize >= explicit.processes.len()) {
            explicit.owner = None;
            explicit.d_step = None;
        }
    }
}
