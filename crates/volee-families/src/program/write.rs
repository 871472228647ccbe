//! Writes the states and steps of a family down as a net, with its questions as targets.
//!
//! A property automaton runs beside the steps: one place for each of its states, exactly one of them marked.
//! A step whose letter changes nothing in any of its states is written as it is; any other once for each
//! state that it can meet.

use std::collections::HashMap;

use super::build::{Builder, Found, UNSTARTED};
use super::identity::Me;
use super::property::{Property, Reading, Seen};
use super::step::Local;
use super::valuation::Valuation;
use super::{Asked, Family, Kind, Questions, Template};
use crate::FamilyError;
use crate::program::build::MAX_STATES;
use volee_nets::{Initial, Mover, Net, PlaceId, Target, Transition};
use volee_system::Diagnostic;

/// Where each kind of place begins.
#[derive(Debug, Clone, Copy)]
struct Layout {
    locals: usize,
    wrongs: usize,
    property: usize,
}

impl Builder<'_> {
    /// Writes everything down.
    pub(super) fn family(self, questions: &Questions) -> Result<Family, FamilyError> {
        let locals = self.globals.len();
        let wrongs = locals + self.locals.len();
        let layout = Layout { locals, wrongs, property: wrongs + self.wrongs.len() };
        let mut net = Net { places: self.place_names(), ..Net::default() };
        if let Some(property) = self.property {
            let states = 0..property.traps.len();
            net.places.extend(states.map(|s| format!("property in state {s}")));
        }
        net.transitions = match self.property {
            None => self.found.iter().map(|found| transition(found, layout)).collect(),
            Some(property) => self.beside(property, layout),
        };
        net.groups = self.groups(layout);
        net.initial = self.initial(layout, net.places.len());
        let templates = self.templates(layout);
        let regulated = self.regulated(layout);
        let mut asked = self.asked(questions, layout)?;
        if questions.deadlock
            && self.property.is_none()
            && let Some(targets) = super::deadlock::deadlocks(&net, &self.rests(layout, net.places.len()))
        {
            asked.insert(0, Asked { question: "deadlock".into(), kind: Kind::Deadlock, targets });
        }
        if let Some(property) = self.property.filter(|p| !p.accepting.is_empty()) {
            let ends = super::deadlock::deadlocks(&net, &vec![false; net.places.len()]);
            asked = ends.map_or_else(Vec::new, |ends| vec![self.for_ever(property, ends, layout)]);
        }
        let once =
            |c: &&super::build::Class| !c.user && !c.regulated && self.locals[c.start].1.node != UNSTARTED;
        let once = self.classes.iter().filter(once).count() as u32;
        Ok(Family {
            kin: self.kin(layout, net.places.len()),
            net,
            templates,
            asked,
            once,
            regulated,
            wrongs: layout.wrongs..layout.property,
            accepting: self.property.map_or_else(Vec::new, |p| {
                let states = (0..p.accepting.len()).filter(|&s| p.accepting[s]);
                states.map(|s| PlaceId((layout.property + s) as u32)).collect()
            }),
        })
    }

    /// A property of infinite runs: its targets are the ends of runs that violate it if their last state
    /// lasts.
    fn for_ever(&self, property: &Property, ends: Vec<Target>, layout: Layout) -> Asked {
        let lasts = |target: &Target| {
            let at = |within: std::ops::Range<usize>| {
                let mut places = target.at_least.iter().map(|b| b.place.index());
                places.find(|p| within.contains(p)).map(|p| p - within.start)
            };
            let states = layout.property..layout.property + property.traps.len();
            let (Some(g), Some(state)) = (at(0..layout.locals), at(states)) else { return true };
            property.stays_bad(state as u32, &self.letter(property, None, g))
        };
        let targets = ends.into_iter().filter(lasts).collect();
        Asked { question: property.name.clone(), kind: Kind::Liveness, targets }
    }

    /// A process may lose its name without moving; whoever follows it in the machine sees no difference.
    fn kin(&self, layout: Layout, places: usize) -> Vec<u32> {
        let mut first: HashMap<(usize, Local), u32> = HashMap::new();
        let mut kin: Vec<u32> = (0..places as u32).collect();
        for (l, (class, local)) in self.locals.iter().enumerate() {
            let place = (layout.locals + l) as u32;
            let nameless = Local { me: None, ..local.clone() };
            kin[place as usize] = *first.entry((*class, nameless)).or_insert(place);
        }
        kin
    }

    /// For each place whether a process may stay there for ever.
    fn rests(&self, layout: Layout, places: usize) -> Vec<bool> {
        let mut rests = vec![true; places];
        for (l, (class, local)) in self.locals.iter().enumerate() {
            let nodes = &self.program.proctypes[self.classes[*class].proctype.0 as usize].nodes;
            rests[layout.locals + l] = nodes.get(local.node as usize).is_none_or(|n| n.valid_end);
        }
        rests
    }

    fn groups(&self, layout: Layout) -> Vec<Vec<PlaceId>> {
        let place = |p: usize| PlaceId(p as u32);
        let mut groups = vec![(0..layout.locals).map(place).collect()];
        for (number, _) in self.classes.iter().enumerate().filter(|(_, c)| !c.user) {
            let own = (0..self.locals.len()).filter(|&l| self.locals[l].0 == number);
            groups.push(own.map(|l| place(layout.locals + l)).collect());
        }
        if let Some(property) = self.property {
            groups.push((0..property.traps.len()).map(|s| place(layout.property + s)).collect());
        }
        groups
    }

    /// One initial marking, or one for each state that the property may be in once it has read the initial
    /// state.
    fn initial(&self, layout: Layout, places: usize) -> Vec<Initial> {
        let mut initial = Initial { base: vec![0; places], open: vec![false; places] };
        initial.base[0] = 1;
        for class in &self.classes {
            let start = layout.locals + class.start;
            if class.user {
                initial.open[start] = true;
            } else {
                initial.base[start] = 1;
            }
        }
        let Some(property) = self.property else { return vec![initial] };
        let first = match property.reading {
            Reading::Steps | Reading::Sources => vec![property.initial],
            Reading::States => (property.step)(property.initial, &self.letter(property, None, 0)),
        };
        let with = |state: &u32| {
            let mut initial = initial.clone();
            initial.base[layout.property + *state as usize] = 1;
            initial
        };
        first.iter().map(with).collect()
    }

    fn templates(&self, layout: Layout) -> Vec<Template> {
        let users = self.classes.iter().filter(|c| c.user);
        users
            .map(|class| Template {
                proctype: class.proctype,
                name: self.program.proctypes[class.proctype.0 as usize].name.clone(),
                place: PlaceId((layout.locals + class.start) as u32),
                regulated: self.classes.iter().filter(|c| c.regulated && c.proctype == class.proctype).count()
                    as u32,
            })
            .collect()
    }

    /// For each place of a regulated replication its template and its rank among the regulated ones of that
    /// template.
    fn regulated(&self, layout: Layout) -> Vec<Option<(volee_program::ProctypeId, u32)>> {
        let mut all = vec![None; layout.wrongs];
        for (l, (class, _)) in self.locals.iter().enumerate() {
            let own = &self.classes[*class];
            if own.regulated {
                let before = &self.classes[..*class];
                let rank = before.iter().filter(|c| c.regulated && c.proctype == own.proctype).count();
                all[layout.locals + l] = Some((own.proctype, rank as u32));
            }
        }
        all
    }

    /// Which atoms are true of a step that ends, or of a state that is, in valuation `globals`.
    fn letter(&self, property: &Property, found: Option<&Found>, globals: usize) -> Vec<bool> {
        let sees = |atom: &Seen| match atom {
            Seen::Condition(condition) => self.is_true(condition, &self.globals[globals]),
            Seen::Event { process, matches } => found.is_some_and(|found| {
                let movers = found.takes.iter().zip(&found.labels);
                movers
                    .into_iter()
                    .any(|(&l, label)| self.is_meant(*process, self.locals[l].0) && matches(label))
            }),
        };
        property.atoms.iter().map(sees).collect()
    }

    /// What has no value is not true.
    fn is_true(&self, expr: &volee_program::Expr, globals: &[i32]) -> bool {
        let mut valuation = Valuation::new(self.world, Me::Outside, globals.to_vec(), Vec::new());
        valuation.holds(expr) && valuation.fault.is_none()
    }

    fn is_meant(&self, process: Option<(volee_program::ProctypeId, Option<u32>)>, class: usize) -> bool {
        let Some((proctype, number)) = process else { return true };
        let own = &self.classes[class];
        // Of a process that exists once any number means itself.
        let once = !own.user && !own.regulated;
        own.proctype == proctype && (number.is_none() || once || own.number == number)
    }

    /// The steps with the property beside them.
    fn beside(&self, property: &Property, layout: Layout) -> Vec<Transition> {
        let mut all = Vec::new();
        for found in &self.found {
            match found.globals {
                None if property.has_conditions() => {
                    for g in 0..self.globals.len() {
                        let there = Found { globals: Some((g, g)), ..found.clone() };
                        self.step_beside(property, &there, layout, &mut all);
                    }
                }
                _ => self.step_beside(property, found, layout, &mut all),
            }
        }
        all
    }

    fn step_beside(&self, property: &Property, found: &Found, layout: Layout, all: &mut Vec<Transition>) {
        let (before, after) = found.globals.unwrap_or_default();
        let read = if property.reading == Reading::Sources { before } else { after };
        let letter = self.letter(property, Some(found), read);
        let states = 0..property.traps.len() as u32;
        let next: Vec<(u32, Vec<u32>)> = states
            .filter(|&state| !property.is_trap(state))
            .map(|state| (state, (property.step)(state, &letter)))
            .collect();
        if next.iter().all(|(state, next)| *next == [*state]) {
            all.push(transition(found, layout));
            return;
        }
        for (state, next) in next {
            for target in next {
                let place = |s: u32| (layout.property as u32 + s, 1);
                all.push(transition_with(found, layout, Some((place(state), place(target)))));
            }
        }
    }

    fn asked(&self, questions: &Questions, layout: Layout) -> Result<Vec<Asked>, FamilyError> {
        if let Some(property) = self.property {
            let traps = (0..property.traps.len()).filter(|&s| property.traps[s]);
            let target =
                |s| Target::covering("the run violates the property", &[((layout.property + s) as u32, 1)]);
            let targets = traps.map(target).collect();
            return Ok(vec![Asked { question: property.name.clone(), kind: Kind::Property, targets }]);
        }
        let mut all = Vec::new();
        if !self.wrongs.is_empty() || self.has_assertions() {
            all.push(Asked {
                question: "assertions".into(),
                kind: Kind::Faults,
                targets: self.faults(layout),
            });
        }
        for (text, expr) in &questions.invariants {
            let targets = self.where_false(text, expr);
            all.push(Asked {
                question: format!("invariant {text}"),
                kind: Kind::Invariant(text.clone()),
                targets,
            });
        }
        for (text, points) in &questions.covers {
            let targets = self.together(text, points, layout)?;
            all.push(Asked {
                question: format!("never together {text}"),
                kind: Kind::Cover(text.clone()),
                targets,
            });
        }
        Ok(all)
    }

    fn has_assertions(&self) -> bool {
        let nodes = self.program.proctypes.iter().flat_map(|p| &p.nodes);
        nodes.flat_map(|n| &n.transitions).any(|t| matches!(t.action, volee_program::Action::Assert(_)))
    }

    fn faults(&self, layout: Layout) -> Vec<Target> {
        let each = self.wrongs.iter().enumerate().map(|(number, wrong)| {
            let place = wrong.place.as_ref().map(|p| format!(" at {p}")).unwrap_or_default();
            let name = format!("{}{place}", wrong.message);
            Target::covering(name, &[((layout.wrongs + number) as u32, 1)])
        });
        each.collect()
    }

    fn where_false(&self, text: &str, expr: &volee_program::Expr) -> Vec<Target> {
        let numbered = self.globals.iter().enumerate().filter(|(_, globals)| !self.is_true(expr, globals));
        numbered.map(|(g, _)| Target::covering(format!("`{text}` is false"), &[(g as u32, 1)])).collect()
    }

    fn together(
        &self,
        text: &str,
        points: &[(volee_program::ProctypeId, volee_program::NodeId)],
        layout: Layout,
    ) -> Result<Vec<Target>, FamilyError> {
        let together = if points.len() > 1 { " together" } else { "" };
        let mut all: Vec<Vec<(u32, u32)>> = vec![Vec::new()];
        for (proctype, node) in points {
            let is_there = |l: &usize| {
                let (class, local) = &self.locals[*l];
                self.classes[*class].proctype == *proctype && local.node == node.0 && local.node != UNSTARTED
            };
            let there: Vec<u32> =
                (0..self.locals.len()).filter(is_there).map(|l| (layout.locals + l) as u32).collect();
            all = all.iter().flat_map(|chosen| there.iter().map(|&p| with(chosen, p))).collect();
            all.sort_unstable();
            all.dedup();
            if all.len() > MAX_STATES {
                let message = format!(
                    "`{text}` can be occupied in more than {MAX_STATES} ways, by the values that processes have there"
                );
                let help =
                    "ask of fewer points at once, or let the processes forget what they no longer need";
                return Err(FamilyError::Refused(vec![Diagnostic::error(message, None).with_help(help)]));
            }
        }
        let targets = all
            .iter()
            .map(|tokens| {
                Target::covering(
                    format!("{text} {} occupied{together}", if points.len() > 1 { "are" } else { "is" }),
                    tokens,
                )
            })
            .collect();
        Ok(targets)
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

fn transition(found: &Found, layout: Layout) -> Transition {
    transition_with(found, layout, None)
}

/// The transition of a step, and of the property from one place to another.
fn transition_with(found: &Found, layout: Layout, property: Option<((u32, u32), (u32, u32))>) -> Transition {
    let local = |l: &usize| ((layout.locals + l) as u32, 1);
    let mut pre: Vec<(u32, u32)> = found.takes.iter().map(local).collect();
    let mut post: Vec<(u32, u32)> = found.gives.iter().map(local).collect();
    if let Some((before, after)) = found.globals {
        pre.push((before as u32, 1));
        post.push((after as u32, 1));
    }
    if let Some(wrong) = found.wrong {
        post.push(((layout.wrongs + wrong) as u32, 1));
    }
    if let Some((before, after)) = property {
        pre.push(before);
        post.push(after);
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
