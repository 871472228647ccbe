//! What one process can do by itself: a statement, or an indivisible sequence of them.

use volee_program::{Action, Expr, Proctype, ProctypeId, Program, Transition};
use volee_system::Place;

use super::class::meets;
use super::valuation::{Undefined, Valuation};

/// More moves than this in one indivisible sequence are taken to be a loop.
const LONGEST_SEQUENCE: usize = 10_000;

/// Where a process is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Local {
    pub node: u32,
    pub values: Vec<i32>,
}

/// An error met in a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wrong {
    pub message: String,
    pub place: Option<Place>,
}

/// The outcome of one step.
#[derive(Debug, Clone)]
pub struct Done {
    pub local: Local,
    pub globals: Vec<i32>,
    pub text: String,
    /// The first statement of it.
    pub first: String,
    pub place: Option<Place>,
    /// Processes it started, with their first local values.
    pub started: Vec<(ProctypeId, Local)>,
    pub wrong: Option<Wrong>,
}

/// All steps of a process that need no partner.
#[derive(Debug, Default)]
pub struct Steps {
    pub done: Vec<Done>,
    /// They depend on the globals.
    pub touched: bool,
    /// An indivisible sequence did not come to an end.
    pub endless: Option<Option<Place>>,
}

struct Point {
    node: u32,
    valuation: Valuation,
    text: String,
    first: String,
    place: Option<Place>,
    started: Vec<(ProctypeId, Local)>,
    wrong: Option<Wrong>,
}

enum Acted {
    Yes,
    Blocked,
    Wrong(Wrong),
}

/// The steps from a local state under a valuation of the globals.
pub fn steps(program: &Program, id: ProctypeId, local: &Local, globals: &[i32]) -> Steps {
    let proctype = &program.proctypes[id.0 as usize];
    let valuation = Valuation { globals: globals.to_vec(), locals: local.values.clone(), touched: false };
    let start = Point {
        node: local.node,
        valuation,
        text: String::new(),
        first: String::new(),
        place: None,
        started: Vec::new(),
        wrong: None,
    };
    let mut all = Steps::default();
    let mut work = vec![(start, true)];
    let mut moves = 0;
    while let Some((point, first)) = work.pop() {
        moves += 1;
        if moves > LONGEST_SEQUENCE {
            all.endless = Some(point.place);
            return all;
        }
        let (next, touched) = moves_of(program, proctype, &point);
        all.touched |= touched;
        if next.is_empty() && !first {
            all.done.push(finish(point));
            continue;
        }
        for (point, goes_on) in next {
            all.touched |= point.valuation.touched;
            if goes_on && point.wrong.is_none() {
                work.push((point, false));
            } else {
                all.done.push(finish(point));
            }
        }
    }
    all.done.reverse();
    all
}

fn finish(point: Point) -> Done {
    let Point { node, valuation, text, first, place, started, wrong } = point;
    let Valuation { globals, locals, .. } = valuation;
    Done { local: Local { node, values: locals }, globals, text, first, place, started, wrong }
}

/// The single moves from a point, each with whether the process keeps control; and whether they depend on globals.
fn moves_of(program: &Program, proctype: &Proctype, point: &Point) -> (Vec<(Point, bool)>, bool) {
    let mut next = Vec::new();
    let mut touched = false;
    for t in &proctype.nodes[point.node as usize].transitions {
        let possible = match &t.action {
            Action::Else => next.is_empty(),
            Action::End => false,
            action => !meets(action),
        };
        if !possible {
            continue;
        }
        let (after, read) = make(program, proctype, point, t);
        touched |= read;
        if let Some(after) = after {
            next.push((after, t.atomic));
        }
    }
    (next, touched)
}

fn make(program: &Program, proctype: &Proctype, point: &Point, t: &Transition) -> (Option<Point>, bool) {
    let mut valuation = point.valuation.clone();
    let mut started = point.started.clone();
    let acted = act(program, proctype, &t.action, t, &mut valuation, &mut started);
    let touched = valuation.touched;
    let wrong = match acted {
        Acted::Blocked => return (None, touched),
        Acted::Yes => None,
        Acted::Wrong(wrong) => Some(wrong),
    };
    for &(from, length) in &t.resets {
        valuation.locals[from as usize..(from + length) as usize].fill(0);
    }
    let (text, first) = if point.text.is_empty() {
        (t.statement.text.to_string(), t.statement.text.to_string())
    } else {
        (format!("{}; {}", point.text, t.statement.text), point.first.clone())
    };
    let place = point.place.clone().or_else(|| t.statement.place.clone());
    let wrong = point.wrong.clone().or(wrong);
    (Some(Point { node: t.target.0, valuation, text, first, place, started, wrong }), touched)
}

fn act(
    program: &Program,
    proctype: &Proctype,
    action: &Action,
    t: &Transition,
    valuation: &mut Valuation,
    started: &mut Vec<(ProctypeId, Local)>,
) -> Acted {
    let result: Result<bool, Undefined> = match action {
        Action::Skip | Action::Else | Action::Print(_) | Action::End => Ok(true),
        Action::Guard(Expr::Run { proctype, arguments, .. }) => {
            birth(program, *proctype, arguments, valuation).map(|local| {
                started.push((*proctype, local));
                true
            })
        }
        Action::Guard(e) => valuation.value(e).map(|v| v != 0),
        Action::Assign(location, e) => {
            valuation.value(e).and_then(|v| valuation.store(location, v)).map(|()| true)
        }
        Action::Assert(e) => match valuation.value(e) {
            Ok(0) => Err(Undefined(format!("assertion violated: {}", t.statement.text))),
            other => other.map(|_| true),
        },
        Action::Sequence(actions) => {
            for (i, action) in actions.iter().enumerate() {
                match act(program, proctype, action, t, valuation, started) {
                    Acted::Yes => {}
                    Acted::Blocked if i == 0 => return Acted::Blocked,
                    Acted::Blocked => return wrong(t, "a sequence blocks after its first statement"),
                    other => return other,
                }
            }
            Ok(true)
        }
        Action::DStep(entry) => return d_step(program, proctype, entry.0, t, valuation, started),
        Action::Send { .. } | Action::Receive { .. } | Action::SetPriority(..) => Ok(false),
    };
    match result {
        Ok(true) => Acted::Yes,
        Ok(false) => Acted::Blocked,
        Err(Undefined(message)) => wrong(t, &message),
    }
}

fn wrong(t: &Transition, message: &str) -> Acted {
    Acted::Wrong(Wrong { message: message.to_string(), place: t.statement.place.clone() })
}

/// Runs a `d_step`: the first possible transition each time, to its end.
fn d_step(
    program: &Program,
    proctype: &Proctype,
    entry: u32,
    t: &Transition,
    valuation: &mut Valuation,
    started: &mut Vec<(ProctypeId, Local)>,
) -> Acted {
    let mut node = entry;
    for moves in 0..LONGEST_SEQUENCE {
        if node == t.target.0 {
            return Acted::Yes;
        }
        let mut moved = None;
        for inner in &proctype.nodes[node as usize].transitions {
            let mut attempt = valuation.clone();
            match act(program, proctype, &inner.action, inner, &mut attempt, started) {
                Acted::Yes => moved = Some((inner.target.0, attempt)),
                Acted::Blocked => valuation.touched |= attempt.touched,
                other => {
                    valuation.touched |= attempt.touched;
                    return other;
                }
            }
            if moved.is_some() {
                break;
            }
        }
        match moved {
            Some((target, after)) => {
                node = target;
                let touched = valuation.touched;
                *valuation = after;
                valuation.touched |= touched;
            }
            None if moves == 0 => return Acted::Blocked,
            None => return wrong(t, "a d_step sequence blocks after its first statement"),
        }
    }
    wrong(t, "a d_step sequence runs for ever")
}

/// The first local state of a new process.
pub fn birth(
    program: &Program,
    id: ProctypeId,
    arguments: &[Expr],
    from: &mut Valuation,
) -> Result<Local, Undefined> {
    let proctype = &program.proctypes[id.0 as usize];
    let values = arguments.iter().map(|e| from.value(e)).collect::<Result<Vec<i32>, _>>()?;
    let mut valuation = Valuation {
        globals: from.globals.clone(),
        locals: vec![0; proctype.locals_size as usize + 4],
        touched: false,
    };
    for (location, value) in proctype.parameters.iter().zip(values) {
        valuation.store(location, value)?;
    }
    for (location, expr) in &proctype.locals_init {
        let value = valuation.value(expr)?;
        valuation.store(location, value)?;
    }
    from.touched |= valuation.touched;
    Ok(Local { node: proctype.entry.0, values: valuation.locals })
}
