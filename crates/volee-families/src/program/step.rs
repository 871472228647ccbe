//! What one process can do by itself: a statement, or an indivisible sequence of them.
//!
//! This follows the machine, also into errors: a failed assertion and an error in what a statement does leave
//! their mark and the run goes on; an error in what a statement waits for is a step that does not move.

use volee_program::{Action, Expr, Pattern, Proctype, ProctypeId, Transition};
use volee_system::Place;

use super::identity::{Me, is_name};
use super::valuation::Valuation;
use super::world::World;

/// More moves than this in one indivisible sequence are taken to be a loop.
const LONGEST_SEQUENCE: usize = 10_000;

/// Where a process is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Local {
    pub node: u32,
    pub values: Vec<i32>,
    /// The name of one of many whose number is held by others.
    pub me: Option<u8>,
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
    /// Something depends on the numbers of processes.
    pub refused: Option<(String, Option<Place>)>,
}

#[derive(Clone)]
struct Point<'w> {
    node: u32,
    valuation: Valuation<'w>,
    text: String,
    first: String,
    place: Option<Place>,
    started: Vec<(ProctypeId, Local)>,
    wrong: Option<Wrong>,
}

/// The steps from a local state under a valuation of the globals.
pub fn steps(world: &World<'_>, me: Me, id: ProctypeId, local: &Local, globals: &[i32]) -> Steps {
    let proctype = &world.program.proctypes[id.0 as usize];
    let start = Point {
        node: local.node,
        valuation: Valuation::new(world, me, globals.to_vec(), local.values.clone()),
        text: String::new(),
        first: String::new(),
        place: None,
        started: Vec::new(),
        wrong: None,
    };
    let mut all = Steps::default();
    let mut work = vec![(start.clone(), true)];
    let mut moves = 0;
    while let Some((point, first)) = work.pop() {
        moves += 1;
        if moves > LONGEST_SEQUENCE {
            all.endless = Some(point.place);
            return all;
        }
        let next = moves_of(world, proctype, &point, &mut all);
        if next.is_empty() && !first {
            all.done.push(finish(point));
            continue;
        }
        for moved in next {
            match moved {
                Moved::On(point) => work.push((point, false)),
                Moved::Done(point) => all.done.push(finish(point)),
                Moved::Stuck(point) => {
                    let Point { text, first, place, wrong, .. } = point;
                    all.done.push(finish(Point { text, first, place, wrong, ..start.clone() }));
                }
            }
        }
    }
    all.done.reverse();
    all
}

impl Steps {
    fn note_refusal(&mut self, valuation: &Valuation<'_>, t: &Transition) {
        if let Some(why) = &valuation.refused {
            self.refused.get_or_insert_with(|| (why.clone(), t.statement.place.clone()));
        }
    }
}

fn finish(point: Point<'_>) -> Done {
    let Point { node, valuation, text, first, place, started, wrong } = point;
    let Valuation { globals, locals, me, .. } = valuation;
    let me = if let Me::Many(name) = me { name } else { None };
    Done { local: Local { node, values: locals, me }, globals, text, first, place, started, wrong }
}

/// What a single move leads to.
enum Moved<'w> {
    /// The process keeps control.
    On(Point<'w>),
    /// The step ends here.
    Done(Point<'w>),
    /// The whole step ends in its error, and nothing has moved.
    Stuck(Point<'w>),
}

/// The single moves from a point.
fn moves_of<'w>(
    world: &'w World<'w>,
    proctype: &Proctype,
    point: &Point<'w>,
    steps: &mut Steps,
) -> Vec<Moved<'w>> {
    let mut all = Vec::new();
    let mut moved = false;
    for t in &proctype.nodes[point.node as usize].transitions {
        let mut before = point.valuation.clone();
        let ready = ready(&mut before, proctype, &t.action, moved);
        steps.touched |= before.touched;
        steps.note_refusal(&before, t);
        if let Some(message) = before.fault.take() {
            let mut stuck = taken(point, t);
            stuck.wrong = Some(Wrong { message, place: t.statement.place.clone() });
            all.push(Moved::Stuck(stuck));
            continue;
        }
        if !ready {
            continue;
        }
        moved = true;
        let mut next = taken(point, t);
        let stays = apply(world, proctype, &t.action, t, &mut next);
        steps.touched |= next.valuation.touched;
        steps.note_refusal(&next.valuation, t);
        if stays {
            all.push(Moved::Stuck(next));
            continue;
        }
        for &(from, length) in &t.resets {
            next.valuation.locals[from as usize..(from + length) as usize].fill(0);
        }
        next.node = t.target.0;
        all.push(if t.atomic { Moved::On(next) } else { Moved::Done(next) });
    }
    all
}

/// The point with the words of one more statement.
fn taken<'w>(point: &Point<'w>, t: &Transition) -> Point<'w> {
    let mut next = point.clone();
    if next.text.is_empty() {
        next.text = t.statement.text.to_string();
        next.first = next.text.clone();
    } else {
        next.text = format!("{}; {}", next.text, t.statement.text);
    }
    next.place = next.place.or_else(|| t.statement.place.clone());
    next
}

/// Whether an action can be done without a partner; `moved` says whether an earlier option could.
fn ready(valuation: &mut Valuation<'_>, proctype: &Proctype, action: &Action, moved: bool) -> bool {
    match action {
        Action::Skip | Action::Print(_) | Action::Assign(..) | Action::Assert(_) => true,
        Action::SetPriority(..) => true,
        Action::Else => !moved,
        // A process that has ended stays where it is: it can do nothing more.
        Action::End => false,
        Action::Guard(Expr::Run { .. }) => true,
        Action::Guard(e) => valuation.holds(e),
        Action::Send { channel, .. } => match valuation.channel(channel) {
            Some(channel) if channel.capacity > 0 => valuation.length(channel) < channel.capacity,
            _ => false,
        },
        Action::Receive { channel, patterns, anywhere, .. } => match valuation.channel(channel) {
            Some(channel) if channel.capacity > 0 => valuation.find(channel, patterns, *anywhere).is_some(),
            _ => false,
        },
        Action::DStep(entry) => {
            let inner = &proctype.nodes[entry.0 as usize].transitions;
            inner.iter().any(|t| ready(valuation, proctype, &t.action, false))
        }
        Action::Sequence(all) => all.first().is_none_or(|first| ready(valuation, proctype, first, moved)),
    }
}

/// Does an action; `true` where the whole step is stuck in its error.
fn apply<'w>(
    world: &'w World<'w>,
    proctype: &Proctype,
    action: &Action,
    t: &Transition,
    point: &mut Point<'w>,
) -> bool {
    match action {
        Action::Guard(Expr::Run { proctype, arguments, .. }) => {
            let many = world.users.contains(proctype);
            let me = if many { Me::Many(None) } else { Me::Outside };
            let local = birth(world, me, *proctype, arguments, &mut point.valuation);
            point.started.push((*proctype, local));
        }
        Action::Assign(location, e) => {
            let value = point.valuation.value(e);
            point.valuation.store(location, value);
        }
        Action::Assert(e) => {
            if !point.valuation.holds(e) {
                point.valuation.fail(format!("assertion violated: {}", t.statement.text));
            }
        }
        Action::Send { channel, values, sorted } => {
            if let Some(channel) = point.valuation.channel(channel) {
                let message = point.valuation.message(channel, values);
                point.valuation.insert(channel, &message, *sorted);
            }
        }
        Action::Receive { channel, patterns, anywhere, keep } => {
            receive(&mut point.valuation, channel, patterns, *anywhere, *keep);
        }
        Action::Sequence(all) => return all.iter().any(|a| apply(world, proctype, a, t, point)),
        Action::DStep(entry) => return d_step(world, proctype, entry.0, t, point),
        Action::Skip | Action::Else | Action::Guard(_) | Action::Print(_) => {}
        Action::End | Action::SetPriority(..) => {}
    }
    note(point, t);
    false
}

/// Keeps the first error of the step.
fn note(point: &mut Point<'_>, t: &Transition) {
    if let Some(message) = point.valuation.fault.take() {
        let place = t.statement.place.clone();
        point.wrong.get_or_insert(Wrong { message, place });
    }
}

fn receive(valuation: &mut Valuation<'_>, channel: &Expr, patterns: &[Pattern], anywhere: bool, keep: bool) {
    let Some(channel) = valuation.channel(channel) else { return };
    let Some(slot) = valuation.find(channel, patterns, anywhere) else { return };
    let (named, all) = (patterns.len(), channel.fields);
    let stores_nothing = patterns.iter().all(|p| matches!(p, Pattern::Match(_)));
    if named > all || (named < all && stores_nothing) {
        valuation.fail("this receive has not as many fields as the channel");
    }
    let message = valuation.take(channel, slot, keep);
    valuation.bind(patterns, &message);
}

/// Runs a `d_step`: the first possible transition each time, until control is outside of it.
fn d_step<'w>(
    world: &'w World<'w>,
    proctype: &Proctype,
    entry: u32,
    t: &Transition,
    point: &mut Point<'w>,
) -> bool {
    let mut node = entry;
    for _ in 0..LONGEST_SEQUENCE {
        let mut chosen = None;
        for inner in &proctype.nodes[node as usize].transitions {
            let can = ready(&mut point.valuation, proctype, &inner.action, false);
            note(point, t);
            if can {
                chosen = Some(inner);
                break;
            }
        }
        let Some(inner) = chosen else { break };
        if apply(world, proctype, &inner.action, inner, point) {
            return true;
        }
        node = inner.target.0;
        if !proctype.nodes[node as usize].in_d_step {
            return false;
        }
    }
    let message = "a d_step sequence blocks, or never ends, after its first statement".to_owned();
    point.wrong.get_or_insert(Wrong { message, place: t.statement.place.clone() });
    true
}

/// The first local state of a new process.
pub fn birth(
    world: &World<'_>,
    me: Me,
    id: ProctypeId,
    arguments: &[Expr],
    from: &mut Valuation<'_>,
) -> Local {
    let proctype = &world.program.proctypes[id.0 as usize];
    let values: Vec<i32> = arguments.iter().map(|e| from.value(e)).collect();
    if values.iter().any(|v| is_name(*v)) {
        from.refused.get_or_insert("a process number given to a new process".into());
    }
    let locals = vec![0; proctype.locals_size as usize + 4];
    let mut valuation = Valuation::new(world, me, from.globals.clone(), locals);
    for (location, value) in proctype.parameters.iter().zip(values) {
        valuation.store(location, value);
    }
    for (location, expr) in &proctype.locals_init {
        let value = valuation.value(expr);
        valuation.store(location, value);
    }
    from.touched |= valuation.touched;
    if let Some(fault) = valuation.fault {
        from.fail(fault);
    }
    if let Some(why) = valuation.refused {
        from.refused.get_or_insert(why);
    }
    for &(start, length) in &proctype.entry_resets {
        valuation.locals[start as usize..(start + length) as usize].fill(0);
    }
    Local { node: proctype.entry.0, values: valuation.locals, me: None }
}
