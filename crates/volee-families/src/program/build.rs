//! Finds the states and steps of a family and writes them down as a net.

use std::collections::{HashMap, HashSet, VecDeque};

use volee_program::{Action as Does, Expr, Pattern, ProctypeId, Program, Transition as Move};
use volee_system::{Action, Diagnostic, Event, EventKind, Run};

use super::Questions;
use super::step::{Done, Local, Wrong, birth, steps};
use super::valuation::Valuation;
use crate::FamilyError;
use crate::answer::Counterexample;
use crate::net::{Initial, Mover, Net, PlaceId, Target, Transition};

/// More valuations of the globals, local states or steps than this are no finite-domain model.
const MAX_STATES: usize = 20_000;
const MAX_STEPS: usize = 1_000_000;

/// Stands for the local state of a process that was not started yet.
const UNSTARTED: u32 = u32::MAX;

/// A program as a net, with what leads back from markings to numbers of processes.
#[derive(Debug, Clone)]
pub struct Family {
    /// The net.
    pub net: Net,
    /// The proctypes that come in any number, and the places where they begin.
    pub templates: Vec<(ProctypeId, PlaceId)>,
    names: Vec<String>,
}

impl Family {
    /// How many processes of each template an initial marking stands for.
    pub fn sizes(&self, marking: &[u32]) -> Vec<(&str, u32)> {
        let counts = self.templates.iter().map(|(_, place)| marking[place.index()]);
        self.names.iter().map(String::as_str).zip(counts).collect()
    }

    /// The ordinary program with that many processes.
    pub fn instance(&self, program: &Program, marking: &[u32]) -> Program {
        let mut instance = program.clone();
        instance.active.retain(|p| self.templates.iter().all(|(t, _)| t != p));
        for (proctype, place) in &self.templates {
            instance.active.extend(std::iter::repeat_n(*proctype, marking[place.index()] as usize));
        }
        instance
    }
}

/// Follows the tokens of a counterexample as processes with numbers, and writes these into its replayed run.
///
/// In a marking processes of one local state are alike; in a story they are not. Whoever has been in a place longest moves
/// first, which is one of the runs that the marking stands for.
pub fn name_processes(net: &Net, example: &Counterexample, run: &mut Run) {
    let mut next = 0;
    let mut there: HashMap<PlaceId, VecDeque<u32>> = HashMap::new();
    let living: HashSet<PlaceId> = net.transitions.iter().flat_map(|t| &t.movers).map(|m| m.from).collect();
    for (p, &count) in example.marking.iter().enumerate() {
        let place = PlaceId(p as u32);
        if living.contains(&place) {
            let start = next;
            next = start + count;
            there.insert(place, (start..next).collect());
        }
    }
    for (at, t) in example.trace.iter().enumerate() {
        let movers = &net.transitions[t.index()].movers;
        let mut pids = Vec::new();
        for mover in movers {
            let pid = there.get_mut(&mover.from).and_then(VecDeque::pop_front).unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            pids.push(pid);
        }
        for (mover, &pid) in movers.iter().zip(&pids) {
            there.entry(mover.to).or_default().push_back(pid);
        }
        let step = at.checked_sub(run.skipped).and_then(|i| run.steps.get_mut(i));
        let Some(step) = step else { continue };
        let second = pids.get(1).copied();
        for (action, &pid) in step.actions.iter_mut().zip(&pids) {
            action.pid = pid;
            if let (Some(Event { partner: Some((_, other)), .. }), Some(second)) = (&mut action.event, second)
            {
                *other = second;
            }
        }
    }
}

/// A process, or all processes of a template: whatever shares a set of local states.
struct Class {
    proctype: ProctypeId,
    user: bool,
    start: usize,
}

/// A step of the family.
struct Found {
    /// The valuation of the globals before and after, where it matters.
    globals: Option<(usize, usize)>,
    takes: Vec<usize>,
    gives: Vec<usize>,
    wrong: Option<usize>,
    actions: Vec<Action>,
}

struct Builder<'p> {
    program: &'p Program,
    classes: Vec<Class>,
    globals: Vec<Vec<i32>>,
    global_ids: HashMap<Vec<i32>, usize>,
    locals: Vec<(usize, Local)>,
    local_ids: HashMap<(usize, Local), usize>,
    wrongs: Vec<Wrong>,
    found: Vec<Found>,
    /// Local states, or pairs that meet, whose steps do not depend on the globals and are known.
    settled: HashSet<(usize, usize)>,
    /// Those whose steps are known for a valuation.
    seen: HashSet<(usize, usize, usize)>,
}

/// Builds the net of a family.
pub fn build(program: &Program, users: &[ProctypeId], questions: &Questions) -> Result<Family, FamilyError> {
    let mut builder = Builder {
        program,
        classes: Vec::new(),
        globals: Vec::new(),
        global_ids: HashMap::new(),
        locals: Vec::new(),
        local_ids: HashMap::new(),
        wrongs: Vec::new(),
        found: Vec::new(),
        settled: HashSet::new(),
        seen: HashSet::new(),
    };
    builder.start(users)?;
    builder.close()?;
    Ok(builder.family(users, questions))
}

fn refused(message: impl Into<String>, place: Option<volee_system::Place>) -> FamilyError {
    FamilyError::Refused(vec![Diagnostic::error(message, place)])
}

impl Builder<'_> {
    fn start(&mut self, users: &[ProctypeId]) -> Result<(), FamilyError> {
        let program = self.program;
        let mut valuation = Valuation {
            globals: vec![0; program.globals_size as usize + 4],
            locals: Vec::new(),
            touched: false,
        };
        let undefined = |u: super::valuation::Undefined| refused(u.0, None);
        for (number, channel) in program.channels.iter().enumerate() {
            valuation.store(&channel.holder, number as i32 + 1).map_err(undefined)?;
        }
        for (location, expr) in &program.globals_init {
            let value = valuation.value(expr).map_err(undefined)?;
            valuation.store(location, value).map_err(undefined)?;
        }
        self.global(valuation.globals.clone())?;
        let single: Vec<ProctypeId> = program.active.iter().copied().filter(|p| !users.contains(p)).collect();
        for &proctype in &single {
            let local = birth(program, proctype, &[], &mut valuation).map_err(undefined)?;
            self.class(proctype, false, local)?;
        }
        for number in 0..program.proctypes.len() {
            let proctype = ProctypeId(number as u8);
            if users.contains(&proctype) {
                let local = birth(program, proctype, &[], &mut valuation).map_err(undefined)?;
                self.class(proctype, true, local)?;
            } else if !single.contains(&proctype) {
                self.class(proctype, false, Local { node: UNSTARTED, values: Vec::new() })?;
            }
        }
        Ok(())
    }

    fn class(&mut self, proctype: ProctypeId, user: bool, local: Local) -> Result<(), FamilyError> {
        let class = self.classes.len();
        let start = self.local(class, local)?;
        self.classes.push(Class { proctype, user, start });
        Ok(())
    }

    fn global(&mut self, globals: Vec<i32>) -> Result<usize, FamilyError> {
        let next = self.globals.len();
        let id = *self.global_ids.entry(globals.clone()).or_insert(next);
        if id == next {
            if next >= MAX_STATES {
                return Err(self.unbounded());
            }
            self.globals.push(globals);
        }
        Ok(id)
    }

    /// The variable with most values is the one to blame.
    fn unbounded(&self) -> FamilyError {
        let worst = self.program.globals.iter().max_by_key(|v| {
            let values: HashSet<i32> = self.globals.iter().map(|g| g[v.offset as usize]).collect();
            values.len()
        });
        let name = worst.map_or("", |v| v.name.as_str());
        refused(
            format!(
                "the globals take more than {MAX_STATES} values, most of all `{name}`: outside the class of families, which have few"
            ),
            worst.and_then(|v| v.place.clone()),
        )
    }

    fn local(&mut self, class: usize, local: Local) -> Result<usize, FamilyError> {
        let next = self.locals.len();
        let id = *self.local_ids.entry((class, local.clone())).or_insert(next);
        if id == next {
            if next >= MAX_STATES {
                let proctype = &self.program.proctypes[self.classes[class].proctype.0 as usize];
                let message = format!("`{}` has more than {MAX_STATES} local states", proctype.name);
                return Err(refused(message, proctype.place.clone()));
            }
            self.locals.push((class, local));
        }
        Ok(id)
    }

    /// Finds states and steps until there are no new ones.
    fn close(&mut self) -> Result<(), FamilyError> {
        loop {
            let before = (self.seen.len(), self.settled.len());
            let mut l = 0;
            while l < self.locals.len() {
                let mut g = 0;
                while g < self.globals.len() {
                    self.alone(l, g)?;
                    g += 1;
                }
                l += 1;
            }
            self.meetings()?;
            if before == (self.seen.len(), self.settled.len()) {
                return Ok(());
            }
        }
    }

    fn is_new(&mut self, l: usize, m: usize, g: usize) -> bool {
        !self.settled.contains(&(l, m)) && self.seen.insert((l, m, g))
    }

    fn record(&mut self, found: Found) -> Result<(), FamilyError> {
        if self.found.len() >= MAX_STEPS {
            return Err(refused(format!("more than {MAX_STEPS} steps"), None));
        }
        self.found.push(found);
        Ok(())
    }

    /// The steps of one process in local state `l`.
    fn alone(&mut self, l: usize, g: usize) -> Result<(), FamilyError> {
        let (class, local) = self.locals[l].clone();
        if local.node == UNSTARTED || !self.is_new(l, usize::MAX, g) {
            return Ok(());
        }
        let proctype = self.classes[class].proctype;
        let all = steps(self.program, proctype, &local, &self.globals[g]);
        if let Some(place) = all.endless {
            return Err(refused("an atomic sequence does not come to an end", place));
        }
        if !all.touched {
            self.settled.insert((l, usize::MAX));
        }
        for done in all.done {
            self.add_alone(class, l, g, all.touched, done)?;
        }
        Ok(())
    }

    fn add_alone(
        &mut self,
        class: usize,
        l: usize,
        g: usize,
        touched: bool,
        done: Done,
    ) -> Result<(), FamilyError> {
        let name = self.program.proctypes[self.classes[class].proctype.0 as usize].name.clone();
        let Done { local, globals, text, place, started, wrong } = done;
        let mut found = Found {
            globals: if touched { Some((g, self.global(globals)?)) } else { None },
            takes: vec![l],
            gives: vec![self.local(class, local)?],
            wrong: wrong.map(|w| self.wrong(w)),
            actions: vec![Action { process: name, place, ..Action::plain(text) }],
        };
        for (proctype, local) in started {
            let Some(class) = self.classes.iter().position(|c| c.proctype == proctype) else { continue };
            if !self.classes[class].user {
                found.takes.push(self.classes[class].start);
            }
            found.gives.push(self.local(class, local)?);
        }
        self.record(found)
    }

    fn wrong(&mut self, wrong: Wrong) -> usize {
        match self.wrongs.iter().position(|w| *w == wrong) {
            Some(i) => i,
            None => {
                self.wrongs.push(wrong);
                self.wrongs.len() - 1
            }
        }
    }

    fn transitions(&self, l: usize) -> &[Move] {
        let (class, local) = &self.locals[l];
        let proctype = &self.program.proctypes[self.classes[*class].proctype.0 as usize];
        proctype.nodes.get(local.node as usize).map_or(&[], |n| &n.transitions)
    }

    /// All rendezvous between the local states known so far.
    fn meetings(&mut self) -> Result<(), FamilyError> {
        let can = |this: &Self, l: usize, test: fn(&Does) -> bool| {
            this.transitions(l).iter().any(|t| test(&t.action))
        };
        let all = 0..self.locals.len();
        let senders: Vec<usize> =
            all.clone().filter(|&l| can(self, l, |a| matches!(a, Does::Send { .. }))).collect();
        let receivers: Vec<usize> =
            all.filter(|&l| can(self, l, |a| matches!(a, Does::Receive { .. }))).collect();
        for &l in &senders {
            for &m in &receivers {
                let (class, partner) = (self.locals[l].0, self.locals[m].0);
                if class == partner && !self.classes[class].user {
                    continue;
                }
                let mut g = 0;
                while g < self.globals.len() {
                    if self.is_new(l, m, g) {
                        self.meeting(l, m, g)?;
                    }
                    g += 1;
                }
            }
        }
        Ok(())
    }

    fn meeting(&mut self, l: usize, m: usize, g: usize) -> Result<(), FamilyError> {
        let mut touched = false;
        let mut met = Vec::new();
        for send in self.transitions(l) {
            let Does::Send { channel, values, .. } = &send.action else { continue };
            let mut sender = self.valuation(l, g);
            let message: Result<Vec<i32>, _> =
                std::iter::once(channel).chain(values).map(|e| sender.value(e)).collect();
            touched |= sender.touched;
            let Ok(mut message) = message else { continue };
            self.wrap(&mut message);
            for receive in self.transitions(m) {
                let mut receiver = self.valuation(m, g);
                let accepted = accept(&mut receiver, &receive.action, &message);
                touched |= receiver.touched;
                if accepted {
                    met.push((send.clone(), receive.clone(), receiver, message.clone()));
                }
            }
        }
        if !touched {
            self.settled.insert((l, m));
        }
        for (send, receive, receiver, message) in met {
            self.add_meeting(l, m, g, touched, (&send, &receive), receiver, &message)?;
        }
        Ok(())
    }

    /// Makes the fields of a message what the channel's fields can hold.
    fn wrap(&self, message: &mut [i32]) {
        let Some((channel, values)) = message.split_first_mut() else { return };
        let Some(instance) =
            usize::try_from(*channel).ok().and_then(|c| self.program.channels.get(c.wrapping_sub(1)))
        else {
            return;
        };
        let fields = &self.program.channel_types[instance.channel.0 as usize].fields;
        for (value, (scalar, _)) in values.iter_mut().zip(fields) {
            *value = scalar.wrap(*value);
        }
    }

    fn valuation(&self, l: usize, g: usize) -> Valuation {
        Valuation {
            globals: self.globals[g].clone(),
            locals: self.locals[l].1.values.clone(),
            touched: false,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn add_meeting(
        &mut self,
        l: usize,
        m: usize,
        g: usize,
        touched: bool,
        (send, receive): (&Move, &Move),
        mut receiver: Valuation,
        message: &[i32],
    ) -> Result<(), FamilyError> {
        let mut sender = self.locals[l].1.values.clone();
        for &(from, length) in &send.resets {
            sender[from as usize..(from + length) as usize].fill(0);
        }
        for &(from, length) in &receive.resets {
            receiver.locals[from as usize..(from + length) as usize].fill(0);
        }
        let (class, partner) = (self.locals[l].0, self.locals[m].0);
        let name = |c: usize| self.program.proctypes[self.classes[c].proctype.0 as usize].name.clone();
        let channel =
            usize::try_from(message[0]).ok().and_then(|c| self.program.channels.get(c.wrapping_sub(1)));
        let event = channel.map(|c| Event {
            kind: EventKind::Rendezvous,
            channel: c.name.clone(),
            channel_id: message[0] as u32,
            values: message[1..].iter().map(ToString::to_string).collect(),
            partner: Some((name(partner), 0)),
        });
        let action = |c: usize, t: &Move, event: Option<Event>| Action {
            process: name(c),
            place: t.statement.place.clone(),
            event,
            ..Action::plain(t.statement.text.as_ref())
        };
        let actions = vec![action(class, send, event), action(partner, receive, None)];
        let found = Found {
            globals: if touched { Some((g, self.global(receiver.globals)?)) } else { None },
            takes: vec![l, m],
            gives: vec![
                self.local(class, Local { node: send.target.0, values: sender })?,
                self.local(partner, Local { node: receive.target.0, values: receiver.locals })?,
            ],
            wrong: None,
            actions,
        };
        self.record(found)
    }

    /// Writes everything down.
    fn family(self, users: &[ProctypeId], questions: &Questions) -> Family {
        let first_local = self.globals.len();
        let first_wrong = first_local + self.locals.len();
        let mut net = Net { places: self.place_names(), ..Net::default() };
        for found in &self.found {
            net.transitions.push(transition(found, first_local, first_wrong));
        }
        let mut initial = Initial { base: vec![0; net.places.len()], open: vec![false; net.places.len()] };
        initial.base[0] = 1;
        net.groups.push((0..first_local as u32).map(PlaceId).collect());
        let mut templates = Vec::new();
        let mut names = Vec::new();
        for (number, class) in self.classes.iter().enumerate() {
            let start = first_local + class.start;
            if class.user {
                initial.open[start] = true;
                templates.push((class.proctype, PlaceId(start as u32)));
                names.push(self.program.proctypes[class.proctype.0 as usize].name.clone());
            } else {
                initial.base[start] = 1;
                let all = (0..self.locals.len()).filter(|&l| self.locals[l].0 == number);
                net.groups.push(all.map(|l| PlaceId((first_local + l) as u32)).collect());
            }
        }
        debug_assert!(users.len() >= templates.len());
        net.initial.push(initial);
        for (number, wrong) in self.wrongs.iter().enumerate() {
            let place = wrong.place.as_ref().map(|p| format!(" at {p}")).unwrap_or_default();
            let name = format!("{}{place}", wrong.message);
            net.targets.push(Target::covering(name, &[((first_wrong + number) as u32, 1)]));
        }
        self.questions(questions, first_local, &mut net);
        Family { net, templates, names }
    }

    fn questions(&self, questions: &Questions, first_local: usize, net: &mut Net) {
        for (text, expr) in &questions.invariants {
            for (number, globals) in self.globals.iter().enumerate() {
                let mut valuation =
                    Valuation { globals: globals.clone(), locals: Vec::new(), touched: false };
                if !valuation.value(expr).is_ok_and(|v| v != 0) {
                    let name = format!("`{text}` is false");
                    net.targets.push(Target::covering(name, &[(number as u32, 1)]));
                }
            }
        }
        for (text, points) in &questions.covers {
            let mut all: Vec<Vec<(u32, u32)>> = vec![Vec::new()];
            for (proctype, node) in points {
                let there: Vec<u32> = (0..self.locals.len())
                    .filter(|&l| {
                        let (class, local) = &self.locals[l];
                        self.classes[*class].proctype == *proctype && local.node == node.0
                    })
                    .map(|l| (first_local + l) as u32)
                    .collect();
                all = all.iter().flat_map(|chosen| there.iter().map(|&p| with(chosen, p))).collect();
                all.sort_unstable();
                all.dedup();
                all.truncate(MAX_STATES);
            }
            net.targets
                .extend(all.iter().map(|tokens| Target::covering(format!("`{text}` is covered"), tokens)));
        }
    }

    fn place_names(&self) -> Vec<String> {
        let shown: Vec<_> =
            self.program.globals.iter().filter(|v| v.shown && v.dimensions.is_empty()).collect();
        let varies =
            |offset: u32| self.globals.iter().any(|g| g[offset as usize] != self.globals[0][offset as usize]);
        let mut names = Vec::new();
        for (number, globals) in self.globals.iter().enumerate() {
            let values: Vec<String> = shown
                .iter()
                .filter(|v| varies(v.offset))
                .map(|v| format!("{}={}", v.name, globals[v.offset as usize]))
                .collect();
            names.push(if values.is_empty() { format!("globals #{number}") } else { values.join(" ") });
        }
        for (class, local) in &self.locals {
            names.push(self.local_name(*class, local));
        }
        names.extend(self.wrongs.iter().map(|w| w.message.clone()));
        names
    }

    fn local_name(&self, class: usize, local: &Local) -> String {
        let proctype = &self.program.proctypes[self.classes[class].proctype.0 as usize];
        if local.node == UNSTARTED {
            return format!("{} not started", proctype.name);
        }
        let next = proctype.nodes[local.node as usize].transitions.first();
        let point = match next {
            Some(t) if !matches!(t.action, Does::End) => {
                let line =
                    t.statement.place.as_ref().map(|p| format!(" (line {})", p.line)).unwrap_or_default();
                format!("before {}{line}", t.statement.text)
            }
            _ => "at its end".to_string(),
        };
        let values: Vec<String> = proctype
            .locals
            .iter()
            .filter(|v| v.shown && v.dimensions.is_empty())
            .map(|v| format!(" {}={}", v.name, local.values.get(v.offset as usize).copied().unwrap_or(0)))
            .collect();
        format!("{} {point}{}", proctype.name, values.concat())
    }
}

fn with(chosen: &[(u32, u32)], place: u32) -> Vec<(u32, u32)> {
    let mut more = chosen.to_vec();
    match more.iter_mut().find(|c| c.0 == place) {
        Some(entry) => entry.1 += 1,
        None => more.push((place, 1)),
    }
    more.sort_unstable();
    more
}

fn accept(receiver: &mut Valuation, action: &Does, message: &[i32]) -> bool {
    let Does::Receive { channel, patterns, .. } = action else { return false };
    if receiver.value(channel).ok() != Some(message[0]) {
        return false;
    }
    let matches = |receiver: &mut Valuation, e: &Expr, value: i32| receiver.value(e).ok() == Some(value);
    let fields = || patterns.iter().zip(message[1..].iter().copied().chain(std::iter::repeat(0)));
    for (pattern, value) in fields() {
        if let Pattern::Match(e) = pattern
            && !matches(receiver, e, value)
        {
            return false;
        }
    }
    for (pattern, value) in fields() {
        if let Pattern::Bind(location) = pattern
            && receiver.store(location, value).is_err()
        {
            return false;
        }
    }
    true
}

fn transition(found: &Found, first_local: usize, first_wrong: usize) -> Transition {
    let local = |l: &usize| ((first_local + l) as u32, 1);
    let mut pre: Vec<(u32, u32)> = found.takes.iter().map(local).collect();
    let mut post: Vec<(u32, u32)> = found.gives.iter().map(local).collect();
    if let Some((before, after)) = found.globals {
        pre.push((before as u32, 1));
        post.push((after as u32, 1));
    }
    if let Some(wrong) = found.wrong {
        post.push(((first_wrong + wrong) as u32, 1));
    }
    let name: Vec<String> = found.actions.iter().map(|a| format!("{}: {}", a.process, a.text)).collect();
    let movers =
        found.actions.iter().zip(found.takes.iter().zip(&found.gives)).map(|(action, (from, to))| Mover {
            action: action.clone(),
            from: PlaceId(local(from).0),
            to: PlaceId(local(to).0),
        });
    Transition { movers: movers.collect(), ..Transition::arcs(name.join(" / "), &pre, &post) }
}
