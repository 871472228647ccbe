//! Which programs are families, and the reasons of those that are not, each with its place.
//!
//! A net counts processes and cannot tell them apart, nor see that a place is empty. So: process numbers only
//! where a process names itself and others give the name back ([`super::identity`]), no counting of
//! processes, nothing that asks whether somebody else *cannot* do something (`else` beside a rendezvous,
//! `timeout`, `enabled`, escapes), and `run` of a single process only where it can happen once.

use volee_program::{Action, Expr, Node, Pattern, Proctype, ProctypeId, Program, visit_expr};
use volee_system::{Diagnostic, Place};

use super::world::World;

/// Checks a program; the proctypes that come in any number.
pub fn check(program: &Program, for_any: &[String]) -> Result<Vec<ProctypeId>, Vec<Diagnostic>> {
    let world = World::new(program, &[], 0);
    let mut class = Class {
        program,
        world: &world,
        users: Vec::new(),
        errors: Vec::new(),
        here: None,
        runs: Vec::new(),
        inside: true,
    };
    class.find_users(for_any);
    class.program();
    if class.errors.is_empty() { Ok(class.users) } else { Err(class.errors) }
}

/// Checks that an expression over the globals can be asked of a family.
pub fn check_expression(program: &Program, text: &str, expr: &Expr) -> Result<(), Vec<Diagnostic>> {
    let world = World::new(program, &[], 0);
    let mut class = Class {
        program,
        world: &world,
        users: Vec::new(),
        errors: Vec::new(),
        here: None,
        runs: Vec::new(),
        inside: false,
    };
    class.expr(expr);
    for error in &mut class.errors {
        error.message = format!("`{text}`: {}", error.message);
    }
    if class.errors.is_empty() { Ok(()) } else { Err(class.errors) }
}

struct Class<'p> {
    program: &'p Program,
    world: &'p World<'p>,
    users: Vec<ProctypeId>,
    errors: Vec<Diagnostic>,
    /// The statement being looked at.
    here: Option<Place>,
    /// Single processes started by a `run`.
    runs: Vec<ProctypeId>,
    /// What is looked at belongs to a process.
    inside: bool,
}

/// The code of the message that nobody has said which processes come in any number.
pub const NO_FAMILY: &str = "no-family-named";

impl Class<'_> {
    fn refuse(&mut self, what: &str, place: &Option<Place>, help: Option<&str>) {
        let place = place.clone().or_else(|| self.here.clone());
        let mut error =
            Diagnostic::error(format!("{what}: outside the class of families of any size"), place);
        error.help = help.map(String::from);
        if self.errors.len() < 20 && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn find_users(&mut self, for_any: &[String]) {
        if for_any.is_empty() {
            let names: Vec<&str> = self.program.proctypes.iter().map(|p| p.name.as_str()).collect();
            let error = Diagnostic::error("which processes come in any number?", None);
            let error = error.with_help(format!("name them; this model has {}", names.join(", ")));
            self.errors.push(Diagnostic { code: Some(NO_FAMILY.into()), ..error });
        }
        for name in for_any {
            match self.program.proctypes.iter().position(|p| p.name == *name) {
                Some(i) => {
                    self.users.push(ProctypeId(i as u8));
                    let proctype = &self.program.proctypes[i];
                    if !proctype.parameters.is_empty() {
                        let help = "give the values in an array, or choose them in its first statements";
                        self.refuse(&format!("`{name}` has parameters"), &proctype.place, Some(help));
                    }
                }
                None => self.errors.push(Diagnostic::error(format!("there is no proctype `{name}`"), None)),
            }
        }
    }

    fn program(&mut self) {
        let program = self.program;
        if let Some(monitor) = &program.monitor {
            self.refuse("a trace declaration", &monitor.place, None);
        }
        if program.uses_priorities {
            self.refuse("priorities", &None, None);
        }
        for (number, proctype) in program.proctypes.iter().enumerate() {
            self.proctype(ProctypeId(number as u8), proctype);
        }
    }

    fn proctype(&mut self, id: ProctypeId, proctype: &Proctype) {
        if let Some(choice) = proctype.possible_choice() {
            let help = "write `proctype`, which may choose";
            self.refuse("a `D_proctype` that may have a choice", &choice.statement.place, Some(help));
        }
        if let Some(channel) = proctype.channels.first() {
            self.refuse(&format!("the local channel `{}`", channel.name), &channel.holder.place, None);
        }
        if proctype.provided.is_some() {
            self.refuse("a `provided` clause", &proctype.place, None);
        }
        for (number, node) in proctype.nodes.iter().enumerate() {
            self.node(node);
            for transition in &node.transitions {
                self.here.clone_from(&transition.statement.place);
                self.action(&transition.action);
                if let Some(run) = run_of(&transition.action) {
                    self.run(id, proctype, number, run);
                }
            }
        }
    }

    fn node(&mut self, node: &Node) {
        let rendezvous = node.transitions.iter().any(|t| self.may_meet(&t.action));
        for t in &node.transitions {
            self.here.clone_from(&t.statement.place);
            if t.escape != 0 {
                self.refuse("an `unless`", &None, None);
            }
            if matches!(t.action, Action::Else) && rendezvous {
                self.refuse(
                    "`else` beside a rendezvous",
                    &None,
                    Some("whether a partner is ready cannot be counted"),
                );
            }
            if t.atomic && self.may_meet(&t.action) {
                self.refuse("a rendezvous inside `atomic`", &None, None);
            }
            if node.in_d_step && self.may_meet(&t.action) {
                self.refuse("a rendezvous inside `d_step`", &None, None);
            }
        }
    }

    fn run(&mut self, from: ProctypeId, proctype: &Proctype, node: usize, run: ProctypeId) {
        if self.users.contains(&run) {
            return;
        }
        let name = self.program.proctypes[run.0 as usize].name.clone();
        let again = self.runs.contains(&run) || self.program.active.contains(&run);
        if again || self.users.contains(&from) || on_cycle(proctype, node) {
            let help = format!("start it once, outside loops, or let `{name}` come in any number");
            self.refuse(&format!("`run {name}` may happen more than once"), &None, Some(&help));
        }
        self.runs.push(run);
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip | Action::Else | Action::Print(_) | Action::End | Action::DStep(_) => {}
            Action::Guard(Expr::Run { arguments, .. }) => arguments.iter().for_each(|e| self.expr(e)),
            Action::Guard(e) | Action::Assert(e) => self.expr(e),
            Action::Assign(_, Expr::Run { place, .. }) => {
                self.refuse("the number of a new process", place, None)
            }
            Action::Assign(location, e) => {
                location.parts().for_each(|e| self.expr(e));
                self.expr(e);
            }
            Action::Send { channel, values, .. } => {
                self.expr(channel);
                values.iter().for_each(|e| self.expr(e));
            }
            Action::Receive { channel, patterns, .. } => {
                self.expr(channel);
                patterns.iter().flat_map(Pattern::parts).for_each(|e| self.expr(e));
            }
            Action::SetPriority(..) => self.refuse("priorities", &None, None),
            Action::Sequence(actions) => {
                if actions.iter().any(|a| self.may_meet(a)) {
                    self.refuse("a rendezvous inside an indivisible sequence", &None, None);
                }
                actions.iter().for_each(|a| self.action(a));
            }
        }
    }

    /// Whether an action may need a partner.
    fn may_meet(&self, action: &Action) -> bool {
        match action {
            Action::Send { channel, .. } | Action::Receive { channel, .. } => self.world.may_meet(channel),
            _ => false,
        }
    }

    fn expr(&mut self, expr: &Expr) {
        visit_expr(expr, &mut |part| match part {
            Expr::Pid if !self.inside => self.refuse(
                "a process number (`_pid`)",
                &None,
                Some("processes of a family cannot be told apart from outside"),
            ),
            Expr::ProcessCount => self.refuse("the number of processes (`_nr_pr`)", &None, None),
            Expr::Last => self.refuse("`_last`", &None, None),
            Expr::Timeout => self.refuse("`timeout`", &None, None),
            Expr::NonProgress => self.refuse("`np_`", &None, None),
            Expr::Enabled(..) => self.refuse("`enabled`", &None, None),
            Expr::PcValue(_) => self.refuse("`pc_value`", &None, None),
            Expr::Priority(_) => self.refuse("a priority", &None, None),
            Expr::At { place, .. } | Expr::Remote { place, .. } => {
                self.refuse("a remote reference", place, None)
            }
            Expr::Run { place, .. } => self.refuse("a `run` inside an expression", place, None),
            _ => {}
        });
    }
}

/// The process that an action starts.
pub(super) fn run_of(action: &Action) -> Option<ProctypeId> {
    match action {
        Action::Guard(Expr::Run { proctype, .. }) => Some(*proctype),
        Action::Sequence(actions) => actions.iter().find_map(run_of),
        _ => None,
    }
}

/// Whether control can return to a node.
fn on_cycle(proctype: &Proctype, node: usize) -> bool {
    let mut seen = vec![false; proctype.nodes.len()];
    let mut work = vec![node];
    while let Some(at) = work.pop() {
        for t in &proctype.nodes[at].transitions {
            let inner = match t.action {
                Action::DStep(entry) => Some(entry),
                _ => None,
            };
            for next in [Some(t.target), inner].into_iter().flatten() {
                let next = next.0 as usize;
                if next == node {
                    return true;
                }
                if next < seen.len() && !seen[next] {
                    seen[next] = true;
                    work.push(next);
                }
            }
        }
    }
    false
}
