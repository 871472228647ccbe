//! Finds the states and steps of a family: what processes can do alone.

use std::collections::{HashMap, HashSet};

use volee_program::{ProctypeId, Program, Transition as Move};
use volee_system::{Action, Diagnostic};

use super::identity::{Me, NAMES, Orphan, SELF, counts, index, is_name, name as name_of};
use super::occurrences::Occurrences;
use super::property::{Property, Seen};
use super::step::{Done, Local, Wrong, birth, steps};
use super::valuation::Valuation;
use super::world::World;
use super::{Family, Questions};
use crate::FamilyError;

/// More valuations of the globals, local states or steps than this are no finite-domain model.
pub(super) const MAX_STATES: usize = 20_000;
const MAX_STEPS: usize = 1_000_000;

/// A variable with fewer values than this is not what makes a model large.
const FEW: usize = 20;

/// Stands for the local state of a process that was not started yet.
pub(super) const UNSTARTED: u32 = u32::MAX;

/// A process, or all processes of a template: whatever shares a set of local states.
pub(super) struct Class {
    pub proctype: ProctypeId,
    /// It comes in any number.
    pub user: bool,
    /// It is one replication of a template, named by the property.
    pub regulated: bool,
    /// The number by which the property names it.
    pub number: Option<u32>,
    /// Its first local state.
    pub start: usize,
}

/// A step of the family.
#[derive(Clone)]
pub(super) struct Found {
    /// The valuation of the globals before and after, where it matters.
    pub globals: Option<(usize, usize)>,
    /// The local states that processes leave, those of the actions first.
    pub takes: Vec<usize>,
    /// The local states that processes then have.
    pub gives: Vec<usize>,
    /// The error that is met.
    pub wrong: Option<usize>,
    /// Who does what.
    pub actions: Vec<Action>,
    /// For each action the first statement: what a property sees of it.
    pub labels: Vec<String>,
}

pub(super) struct Builder<'p> {
    pub world: &'p World<'p>,
    pub program: &'p Program,
    pub property: Option<&'p Property>,
    pub classes: Vec<Class>,
    pub globals: Vec<Vec<i32>>,
    global_ids: HashMap<Vec<i32>, usize>,
    /// Local states with the class that they belong to.
    pub locals: Vec<(usize, Local)>,
    local_ids: HashMap<(usize, Local), usize>,
    pub wrongs: Vec<Wrong>,
    pub found: Vec<Found>,
    /// Local states, or pairs that meet, whose steps do not depend on the globals and are known.
    pub settled: HashSet<(usize, usize)>,
    /// For each local state the names that its process holds, and for each valuation those that are held.
    pub names_of: Vec<[i32; NAMES]>,
    pub names_in: Vec<[bool; NAMES]>,
    /// For each local state, and each pair that could meet, how many valuations were looked at.
    looked: Vec<usize>,
    pub looked_together: HashMap<(usize, usize), usize>,
    /// Where names can be held, and how much of that was known when all was looked at last.
    pub occurrences: Occurrences,
    known: usize,
    /// Local states with names, and pairs of which one has a name, whose steps are known for a valuation.
    pub done: HashSet<(usize, usize, usize)>,
    /// Steps that wait for bystanders.
    pub orphans: Vec<Orphan>,
}

/// Builds the net of a family, with a property beside it where there is one.
pub fn build(
    program: &Program,
    users: &[ProctypeId],
    questions: &Questions,
    property: Option<&Property>,
) -> Result<Family, FamilyError> {
    let regulated = property.map_or(0, |p| p.regulated().len());
    let world = World::new(program, users, regulated);
    let mut builder = Builder {
        world: &world,
        program,
        property,
        classes: Vec::new(),
        globals: Vec::new(),
        global_ids: HashMap::new(),
        locals: Vec::new(),
        local_ids: HashMap::new(),
        wrongs: Vec::new(),
        found: Vec::new(),
        settled: HashSet::new(),
        names_of: Vec::new(),
        names_in: Vec::new(),
        looked: Vec::new(),
        looked_together: HashMap::new(),
        occurrences: Occurrences::new(&world),
        known: 0,
        done: HashSet::new(),
        orphans: Vec::new(),
    };
    builder.start(users)?;
    builder.close()?;
    builder.conditions(questions)?;
    builder.family(questions)
}

pub(super) fn refused(message: impl Into<String>, place: Option<volee_system::Place>) -> FamilyError {
    FamilyError::Refused(vec![Diagnostic::error(message, place)])
}

impl Builder<'_> {
    fn start(&mut self, users: &[ProctypeId]) -> Result<(), FamilyError> {
        let program = self.program;
        let mut valuation = Valuation::new(self.world, Me::Outside, vec![0; self.world.cells], Vec::new());
        for (number, channel) in program.channels.iter().enumerate() {
            valuation.store(&channel.holder, number as i32 + 1);
        }
        for (location, expr) in &program.globals_init {
            let value = valuation.value(expr);
            valuation.store(location, value);
        }
        if let Some(fault) = valuation.fault.take() {
            return Err(refused(format!("the initial values: {fault}"), None));
        }
        self.global(valuation.globals.clone())?;
        let single: Vec<ProctypeId> = program.active.iter().copied().filter(|p| !users.contains(p)).collect();
        for (number, &proctype) in single.iter().enumerate() {
            let local = birth(self.world, Me::Number(number as i32), proctype, &[], &mut valuation);
            self.class(proctype, false, local)?;
        }
        for number in 0..program.proctypes.len() {
            let proctype = ProctypeId(number as u8);
            if users.contains(&proctype) {
                let local = birth(self.world, Me::Many(None), proctype, &[], &mut valuation);
                self.name_replications(proctype, &local)?;
                self.class(proctype, true, local)?;
            } else if !single.contains(&proctype) {
                self.class(proctype, false, Local { node: UNSTARTED, values: Vec::new(), me: None })?;
            }
        }
        match valuation.fault.or(valuation.refused) {
            Some(fault) => Err(refused(format!("the initial values: {fault}"), None)),
            None => Ok(()),
        }
    }

    /// The replications of a template that the property names, each a process of its own.
    fn name_replications(&mut self, proctype: ProctypeId, local: &Local) -> Result<(), FamilyError> {
        let named = self.property.map(Property::regulated).unwrap_or_default();
        for (_, number) in named.into_iter().filter(|(p, _)| *p == proctype) {
            self.class(proctype, false, local.clone())?;
            if let Some(class) = self.classes.last_mut() {
                (class.regulated, class.number) = (true, Some(number));
            }
        }
        Ok(())
    }

    fn class(&mut self, proctype: ProctypeId, user: bool, local: Local) -> Result<(), FamilyError> {
        let class = self.classes.len();
        let start = self.local(class, local)?;
        self.classes.push(Class { proctype, user, regulated: false, number: None, start });
        Ok(())
    }

    pub(super) fn global(&mut self, globals: Vec<i32>) -> Result<usize, FamilyError> {
        let next = self.globals.len();
        let id = *self.global_ids.entry(globals.clone()).or_insert(next);
        if id == next {
            if next >= MAX_STATES {
                return Err(self.unbounded());
            }
            self.names_in.push(self.held_in(&globals));
            self.occurrences.add_valuation(&globals, index);
            self.globals.push(globals);
        }
        Ok(id)
    }

    /// The variable with most values is the one to blame, unless it is what channels hold.
    fn unbounded(&self) -> FamilyError {
        let values = |offset: u32| {
            let all: HashSet<i32> = self.globals.iter().map(|g| g[offset as usize]).collect();
            all.len()
        };
        let worst = self.program.globals.iter().max_by_key(|v| values(v.offset));
        if worst.is_none_or(|v| values(v.offset) < FEW) {
            let names = self.globals.iter().any(|g| g.iter().any(|v| is_name(*v)));
            let what = if names { "the process numbers that are held" } else { "what the channels hold" };
            let message = format!(
                "the globals take more than {MAX_STATES} values, most of all {what}: outside the class of families, which have few"
            );
            let help = "give the channels room for fewer messages, or send fewer different values";
            return FamilyError::Refused(vec![Diagnostic::error(message, None).with_help(help)]);
        }
        let name = worst.map_or("", |v| v.name.as_str());
        let message = format!(
            "the globals take more than {MAX_STATES} values, most of all `{name}`: outside the class of families, which have few"
        );
        let help = format!(
            "let `{name}` stay small (`if :: {name} < 3 -> {name}++ :: else fi`), or read it nowhere: what nobody reads is left out"
        );
        let wrong = Diagnostic::error(message, worst.and_then(|v| v.place.clone())).with_help(help);
        FamilyError::Refused(vec![wrong])
    }

    pub(super) fn local(&mut self, class: usize, local: Local) -> Result<usize, FamilyError> {
        let next = self.locals.len();
        let id = *self.local_ids.entry((class, local.clone())).or_insert(next);
        if id == next {
            if next >= MAX_STATES {
                let proctype = &self.program.proctypes[self.classes[class].proctype.0 as usize];
                let message = format!("`{}` has more than {MAX_STATES} local states", proctype.name);
                return Err(refused(message, proctype.place.clone()));
            }
            self.names_of.push(counts(&local.values));
            self.occurrences.add_local(class, &local);
            self.looked.push(0);
            self.locals.push((class, local));
        }
        Ok(id)
    }

    /// Refuses conditions of questions and properties that depend on the numbers of processes.
    fn conditions(&self, questions: &Questions) -> Result<(), FamilyError> {
        let of_property = self.property.iter().flat_map(|p| &p.atoms).filter_map(|atom| match atom {
            Seen::Condition(expr) => Some(expr),
            Seen::Event { .. } => None,
        });
        for expr in questions.invariants.iter().map(|(_, expr)| expr).chain(of_property) {
            for globals in &self.globals {
                let mut valuation = Valuation::new(self.world, Me::Outside, globals.clone(), Vec::new());
                valuation.holds(expr);
                if let Some(why) = valuation.refused {
                    return Err(refused(why, None));
                }
            }
        }
        Ok(())
    }

    /// Finds states and steps until there are no new ones.
    fn close(&mut self) -> Result<(), FamilyError> {
        loop {
            let mut any = false;
            let mut l = 0;
            while l < self.locals.len() {
                while self.looked[l] < self.globals.len() && !self.settled.contains(&(l, usize::MAX)) {
                    let g = self.looked[l];
                    self.looked[l] += 1;
                    any = true;
                    self.alone(l, g)?;
                }
                l += 1;
            }
            any |= self.meetings()?;
            any |= self.adopt()?;
            any |= self.look_again();
            if !any {
                return Ok(());
            }
        }
    }

    /// Whether names can be held where it was not known; then whoever has one is looked at again.
    fn look_again(&mut self) -> bool {
        self.occurrences.close();
        if self.occurrences.size() == self.known {
            return false;
        }
        self.known = self.occurrences.size();
        let locals = &self.locals;
        let named = |l: usize| locals[l].1.me.is_some();
        (0..locals.len()).filter(|&l| named(l)).for_each(|l| self.looked[l] = 0);
        self.looked_together.retain(|(l, m), _| !named(*l) && !named(*m));
        self.orphans.iter_mut().for_each(Orphan::look_again);
        true
    }

    /// Whether the steps of a local state with a name, or of two that meet, are not known for a valuation.
    pub(super) fn is_new(&mut self, l: usize, m: usize, g: usize) -> bool {
        let named = |l: usize| self.locals.get(l).is_some_and(|(_, local)| local.me.is_some());
        !(named(l) || named(m)) || self.done.insert((l, m, g))
    }

    pub(super) fn record(&mut self, found: Found) -> Result<(), FamilyError> {
        if self.found.len() >= MAX_STEPS {
            return Err(refused(format!("more than {MAX_STEPS} steps"), None));
        }
        self.found.push(found);
        Ok(())
    }

    /// The steps of one process in local state `l`.
    fn alone(&mut self, l: usize, g: usize) -> Result<(), FamilyError> {
        if self.locals[l].1.node == UNSTARTED || !self.agree(l, g) || !self.is_new(l, usize::MAX, g) {
            return Ok(());
        }
        let (class, local) = self.locals[l].clone();
        let proctype = self.classes[class].proctype;
        let all = steps(self.world, self.me(class, &local), proctype, &local, &self.globals[g]);
        if let Some((why, place)) = all.refused {
            return Err(refused(why, place));
        }
        if let Some(place) = all.endless {
            return Err(refused("an atomic sequence does not come to an end", place));
        }
        if !all.touched && !self.moves_names(class, &local) {
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
        let Done { local, globals, text, first, place, started, wrong } = done;
        let (mut local, mut globals) = (local, globals);
        let mut fresh = None;
        if globals.contains(&SELF) {
            let k = self.fresh_name(g)?;
            (fresh, local.me) = (Some(k), Some(k));
            globals.iter_mut().filter(|v| **v == SELF).for_each(|v| *v = name_of(k));
        }
        let before = self.locals[l].1.clone();
        let touched = self.count_names(class, &before, &local, &mut globals) | touched;
        let mut found = Found {
            globals: None,
            takes: vec![l],
            gives: vec![usize::MAX],
            wrong: wrong.map(|w| self.wrong(w)),
            actions: vec![Action { process: name, place, ..Action::plain(text) }],
            labels: vec![first],
        };
        for (proctype, local) in started {
            let Some(class) = self.classes.iter().position(|c| c.proctype == proctype && !c.regulated) else {
                continue;
            };
            if !self.classes[class].user {
                found.takes.push(self.classes[class].start);
            }
            found.gives.push(self.local(class, local)?);
        }
        self.record_named(found, (g, touched.then_some(globals)), fresh, vec![(class, local)])
    }

    /// Who a process of a class in a local state is.
    pub(super) fn me(&self, class: usize, local: &Local) -> Me {
        let own = &self.classes[class];
        let before = &self.classes[..class];
        if own.user {
            return Me::Many(local.me);
        }
        if own.regulated {
            return Me::Permanent(before.iter().filter(|c| c.regulated).count() as u8);
        }
        match self.locals[own.start].1.node {
            UNSTARTED => Me::Outside,
            _ => Me::Number(before.iter().filter(|c| !c.user && !c.regulated).count() as i32),
        }
    }

    pub(super) fn wrong(&mut self, wrong: Wrong) -> usize {
        match self.wrongs.iter().position(|w| *w == wrong) {
            Some(i) => i,
            None => {
                self.wrongs.push(wrong);
                self.wrongs.len() - 1
            }
        }
    }

    pub(super) fn transitions(&self, l: usize) -> &[Move] {
        let (class, local) = &self.locals[l];
        let proctype = &self.program.proctypes[self.classes[*class].proctype.0 as usize];
        proctype.nodes.get(local.node as usize).map_or(&[], |n| &n.transitions)
    }
}
