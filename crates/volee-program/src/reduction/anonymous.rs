//! Whether anybody can tell processes apart by their numbers, or a dead process from one that has come to its
//! end.

use super::control::{first, inside, started};
use crate::optimise::{visit_action, visit_expr, visit_program};
use crate::program::{Action, Expr, Proctype, ProctypeId, Program, Scope, Transition};

/// Processes that a state has room for.
const MOST_PROCESSES: usize = 255;

/// Whether it may make a difference which number a process has, or whether one that has come to its end is
/// still there. If not, births and deaths commute with everything: the states differ, but only in the numbers
/// of processes and in processes that will do nothing more, and are bisimilar. They do make a difference
/// where somebody asks for a number, where channels are born and die with processes, and where so many
/// processes may be started that there is no room for them.
pub(super) fn numbers_matter(program: &Program, predicates: &[Expr]) -> bool {
    let mut asked = false;
    let mut look = |e: &Expr| {
        asked |= matches!(e, Expr::Pid | Expr::ProcessCount | Expr::At { .. } | Expr::Remote { .. });
    };
    visit_program(program, &mut look);
    predicates.iter().for_each(|e| visit_expr(e, &mut look));
    asked
        || program.never.is_some()
        || program.proctypes.iter().any(|p| !p.channels.is_empty() || keeps_numbers(p))
        || most_processes(program).is_none_or(|most| most > MOST_PROCESSES)
}

/// Whether the number of a process is the same whatever others do beside: all are started by one that is the
/// youngest until then, in one go.
pub(super) fn numbers_are_settled(program: &Program) -> bool {
    let starts = |p: &Proctype| started(p, 0..p.nodes.len());
    let mut starters = program.proctypes.iter().enumerate().filter(|(_, p)| !starts(p).is_empty());
    let Some((number, starter)) = starters.next() else { return true };
    let is_one = |p: &ProctypeId| usize::from(p.0) == number;
    starters.next().is_none()
        && program.active.last().is_some_and(is_one)
        && program.active.iter().filter(|p| is_one(p)).count() == 1
        && !starts(starter).contains(&number)
        && starter.provided.is_none()
        && !has_priorities(program)
        && starts_at_once(starter)
}

fn has_priorities(program: &Program) -> bool {
    let mut has = program.proctypes.iter().any(|p| p.priority != 1);
    visit_program(program, &mut |e| has |= matches!(e, Expr::Run { priority: Some(_), .. }));
    has
}

/// How far a process is with starting others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Births {
    None,
    /// Nobody else has moved since the first.
    Now,
    /// Others may have moved.
    Before,
}

/// Whether a process starts all others in one go: from the first on it keeps control until the last.
fn starts_at_once(proctype: &Proctype) -> bool {
    let mut seen = vec![[false; 3]; proctype.nodes.len()];
    let mut pending = vec![(proctype.entry.0 as usize, Births::None)];
    while let Some((node, mut births)) = pending.pop() {
        let transitions = &proctype.nodes[node].transitions;
        if births == Births::Now && !goes_on(transitions) {
            births = Births::Before;
        }
        if std::mem::replace(&mut seen[node][births as usize], true) {
            continue;
        }
        for transition in transitions {
            let runs = runs(&transition.action) || starts_inside(proctype, &transition.action);
            let after = match births {
                Births::Before if runs => return false,
                Births::None if !runs => Births::None,
                Births::None | Births::Now if transition.atomic => Births::Now,
                _ => Births::Before,
            };
            pending.push((transition.target.0 as usize, after));
        }
    }
    true
}

/// Whether a node neither waits nor gives control away.
fn goes_on(transitions: &[Transition]) -> bool {
    let moves = |t: &Transition| match first(&t.action) {
        Action::Guard(e) => matches!(e, Expr::Run { .. }),
        _ => true,
    };
    transitions.iter().all(|t| t.escape == 0 && keeps_control(&t.action)) && transitions.iter().any(moves)
}

/// Whether an indivisible sequence starts a process.
fn starts_inside(proctype: &Proctype, action: &Action) -> bool {
    let Action::DStep(entry) = first(action) else { return false };
    let nodes = inside(proctype, *entry);
    nodes.iter().flat_map(|&n| &proctype.nodes[n].transitions).any(|t| runs(&t.action))
}

fn keeps_control(action: &Action) -> bool {
    match action {
        Action::Skip | Action::Else | Action::Guard(_) => true,
        Action::Assign(..) | Action::Assert(_) | Action::Print(_) => true,
        Action::Sequence(actions) => actions.iter().all(keeps_control),
        Action::Send { .. } | Action::Receive { .. } | Action::SetPriority(..) => false,
        Action::End | Action::DStep(_) => false,
    }
}

/// Whether an action starts a process.
fn runs(action: &Action) -> bool {
    let mut runs = false;
    visit_action(action, &mut |e| runs |= matches!(e, Expr::Run { .. }));
    runs
}

/// Whether the number of a started process is stored anywhere.
fn keeps_numbers(proctype: &Proctype) -> bool {
    fn keeps(action: &Action) -> bool {
        match action {
            Action::Assign(location, Expr::Run { .. }) => location.scope != Scope::Nowhere,
            Action::Sequence(actions) => actions.iter().any(keeps),
            Action::Guard(Expr::Run { .. }) => false,
            action => runs(action),
        }
    }
    proctype.nodes.iter().flat_map(|n| &n.transitions).any(|t| keeps(&t.action))
}

/// How many processes there can ever be, if only those that exist from the start start others and none does
/// so in a loop.
fn most_processes(program: &Program) -> Option<usize> {
    let mut most = program.active.len();
    let starters = program.proctypes.iter().enumerate();
    for (number, proctype) in starters {
        let starts: Vec<usize> =
            (0..proctype.nodes.len()).filter(|&n| !started(proctype, n..n + 1).is_empty()).collect();
        if starts.is_empty() {
            continue;
        }
        let everywhere = 0..proctype.nodes.len();
        let is_started = |p: &Proctype| started(p, 0..p.nodes.len()).contains(&number);
        if program.proctypes.iter().any(is_started) || starts.iter().any(|&n| returns(proctype, n)) {
            return None;
        }
        let copies = program.active.iter().filter(|p| usize::from(p.0) == number).count();
        let mut runs = 0;
        for transition in everywhere.flat_map(|n| &proctype.nodes[n].transitions) {
            visit_action(&transition.action, &mut |e| runs += usize::from(matches!(e, Expr::Run { .. })));
        }
        most += copies * runs;
    }
    Some(most)
}

/// Whether control can come back to a node.
fn returns(proctype: &Proctype, node: usize) -> bool {
    let mut seen = vec![false; proctype.nodes.len()];
    let mut pending = vec![node];
    while let Some(at) = pending.pop() {
        for transition in &proctype.nodes[at].transitions {
            let mut targets = vec![transition.target.0 as usize];
            if let Action::DStep(entry) = first(&transition.action) {
                targets.push(entry.0 as usize);
            }
            for target in targets {
                if target == node {
                    return true;
                }
                if !std::mem::replace(&mut seen[target], true) {
                    pending.push(target);
                }
            }
        }
    }
    false
}
