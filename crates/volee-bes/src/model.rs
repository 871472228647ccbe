//! A system and a formula of the mu-calculus as a boolean graph, on the fly.
//!
//! The variable `(state, equation)` says that the state satisfies the subformula of that modal equation
//! (Joubert & Mateescu 2006, section 3.1). A right-hand side is produced by one enumeration of the state's
//! steps, during which local facts (`<true> true`, say) are decided as well; a fact that decides the equation
//! makes it a constant.
//!
//! Labels are looked at once: a step with an unknown label stops the enumeration, the label's text is matched
//! against the formula's action predicates, and the enumeration starts again.
//!
//! Where one thread solves the equations it may ask for states by number, whose steps are made once
//! ([`ModelGraph::number_states`]); places are then four bytes, until the graph is told to use states again.

mod told;

use volee_logic::mu::{Equations, Item, Labels, Local, LocalOp, Operator, Sign};
use volee_system::{Diagnostic, Draft, Flow, Label, PredicateId, Step, System, collect_initial};

use volee_search::{NamedStep, Recall};

use crate::audit::{Seen, Told, audit};
use crate::graph::{BooleanGraph, Node, Shape, Successors, Trouble};
use crate::made::{Made, Steps};

/// Fewer threads than this take longer than one that has numbers for states and remembers steps, and another that
/// makes them again meanwhile ([`crate::audit`]): all together need 1.3 to 2 times the processor time of those two, and
/// the first of the two is busy for 0.5 to 0.9 of it.
const FEWEST: usize = 4;

/// A system × a formula.
pub struct ModelGraph<'s, S: ?Sized> {
    system: &'s mut S,
    equations: Equations,
    labels: Labels,
    predicates: Vec<PredicateId>,
    /// The left sides of implications that were true nowhere so far.
    unmet: Vec<(String, PredicateId)>,
    initial: Vec<Vec<u8>>,
    plans: Vec<Plan>,
    /// Those of the equations; before them one for the conjunction of several initial states.
    blocks: Vec<Sign>,
    shapes: Vec<Shape>,
    first_block: u16,
    numbered: Option<u32>,
    /// The states by number, where places are such numbers.
    made: Option<Box<Made>>,
    /// Where places are states: their steps from memory, and those of the last one.
    recall: Option<Box<Recall>>,
    recalled: Vec<NamedStep>,
    /// Scratch space of local facts.
    stack: Vec<bool>,
}

/// What expanding an equation needs.
#[derive(Debug, Clone, Default)]
struct Plan {
    here: Vec<u16>,
    /// The bit of the action predicate, and the equation after the step.
    steps: Vec<(u64, u16)>,
    locals: Vec<Local>,
    /// The action predicates whose enabledness the local facts ask for.
    asked: u64,
    /// Some local fact is about the state itself.
    looks: bool,
}

impl<'s> ModelGraph<'s, dyn System + 's> {
    /// Tells a system what a formula asks of its states, and joins them.
    ///
    /// # Errors
    /// A state predicate of the formula is not one of the system, or the system has no initial state.
    pub fn of(draft: &'s mut dyn Draft, equations: Equations) -> Result<Self, Diagnostic> {
        let asked = equations.formula.predicates.iter();
        let told = asked.map(|p| draft.predicate(&p.text).map_err(|error| relocate(error, &p.place)));
        let predicates = told.collect::<Result<_, _>>()?;
        let mut unmet = Vec::new();
        for text in &equations.formula.left_sides {
            let told = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
            unmet.extend(draft.predicate(text).ok().map(|id| (told.to_string(), id)));
        }
        Ok(ModelGraph { unmet, ..ModelGraph::new(draft.system(), equations, predicates)? })
    }
}

impl ModelGraph<'_, dyn System + '_> {
    /// The graph for whoever takes any; its code is made here, where it is optimised.
    pub fn as_graph(&mut self) -> &mut dyn BooleanGraph {
        self
    }
}

impl<'s, S: System + ?Sized> ModelGraph<'s, S> {
    /// Joins a system and a formula whose state predicates it knows, in the formula's order.
    ///
    /// # Errors
    /// These are not as many as the formula has, or the system has no initial state.
    pub fn new(
        system: &'s mut S,
        equations: Equations,
        predicates: Vec<PredicateId>,
    ) -> Result<Self, Diagnostic> {
        if predicates.len() != equations.formula.predicates.len() {
            return Err(Diagnostic::error(
                "the system was not told what the formula asks of its states",
                None,
            ));
        }
        let initial = collect_initial(system);
        if initial.is_empty() {
            return Err(Diagnostic::error("the system has no initial state", None));
        }
        let plans = equations.equations.iter().map(plan).collect();
        let (mut blocks, mut shapes) = (equations.blocks.clone(), shapes(&equations));
        let first_block = u16::from(initial.len() > 1);
        if first_block == 1 {
            blocks.insert(0, Sign::Nu);
            shapes.insert(0, Shape::Conjunctive);
        }
        let numbered = system.numbered();
        let labels = Labels::new(&equations.formula.actions);
        Ok(ModelGraph {
            system,
            equations,
            labels,
            predicates,
            unmet: Vec::new(),
            initial,
            plans,
            blocks,
            shapes,
            first_block,
            numbered,
            made: None,
            recall: None,
            recalled: Vec::new(),
            stack: Vec::new(),
        })
    }

    /// From now on places are the numbers of states, whose steps are made once, as long as those that are kept
    /// take no more than `room` bytes. Where the system has numbers for its states, and so its steps at hand,
    /// nothing is gained by that.
    pub fn number_states(&mut self, room: Option<u64>) {
        if self.numbered.is_none() {
            let room = room.and_then(|room| usize::try_from(room).ok());
            self.made = Some(Box::new(Made::new(self.system, &self.labels, room.unwrap_or(usize::MAX))));
        }
    }

    /// From now on steps are remembered as the searches do, where the system makes them part by part and the
    /// formula does not look at their labels. Places stay what they are.
    pub fn remember_steps(&mut self) {
        if self.labels.blind().is_some() && self.system.divisible().is_some() {
            self.recall = Recall::new(self.system, false).map(Box::new);
        }
    }

    /// The state that a place stands for.
    pub(crate) fn state(&mut self, place: &[u8]) -> Vec<u8> {
        match &mut self.made {
            Some(made) => made.state(number(place)).to_vec(),
            None => place.to_vec(),
        }
    }

    /// The modal equations.
    pub fn equations(&self) -> &Equations {
        &self.equations
    }

    /// The system.
    pub fn system(&mut self) -> &mut S {
        self.system
    }

    /// The formula's state predicates as the system knows them.
    pub(crate) fn predicates(&self) -> &[PredicateId] {
        &self.predicates
    }

    /// The value of a state predicate; one that has none is not true.
    pub(crate) fn predicate_holds(&mut self, index: u32, place: &[u8]) -> bool {
        self.system.holds(self.predicates[index as usize], place).unwrap_or(false)
    }

    /// Looks for left sides of implications that are true here.
    #[inline]
    fn meet(&mut self, place: &[u8]) {
        let system = &mut *self.system;
        self.unmet.retain(|(_, predicate)| system.holds(*predicate, place) != Ok(true));
    }

    /// What the formula names but no step that was looked at is, and what it supposes that was true nowhere.
    /// Where the states are numbers all of them are looked at.
    pub fn silent(&mut self) -> Vec<String> {
        if self.labels.silent().next().is_some() {
            for state in 0..self.numbered.unwrap_or(0) {
                let mut unknown = Vec::new();
                let labels = &self.labels;
                let _ = self.system.steps(&state.to_le_bytes(), &mut |step: Step, _: &[u8]| {
                    unknown.extend(labels.known(step.label).is_none().then_some(step.label));
                    Flow::Continue(())
                });
                for label in unknown {
                    self.labels.learn(self.system, label);
                }
            }
        }
        self.unheard()
    }

    /// The same, of the steps and states that were looked at.
    pub fn unheard(&self) -> Vec<String> {
        let unmet = self.unmet.iter().map(|(text, _)| text.clone());
        self.labels.silent().map(ToString::to_string).chain(unmet).collect()
    }

    /// The initial states.
    pub fn initial(&self) -> &[Vec<u8>] {
        &self.initial
    }

    /// The node that stands for "all initial states satisfy the formula", where there are several.
    pub fn conjunction_of_initial(&self) -> Option<Node> {
        (self.initial.len() > 1).then_some(self.plans.len() as Node)
    }

    fn decide(&mut self, place: &[u8], plan: usize, local: usize, enabled: u64) -> Result<bool, Trouble> {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        for op in &self.plans[plan].locals[local].0 {
            let value = match *op {
                LocalOp::Constant(value) => value,
                LocalOp::Enabled(action, negated) => (enabled >> action.0 & 1 == 1) != negated,
                LocalOp::Predicate(index, negated) => {
                    let id = self.predicates[index as usize];
                    match self.system.holds(id, place) {
                        Ok(value) => value != negated,
                        Err(fault) => return Err(self.no_value(place, index, fault)),
                    }
                }
                LocalOp::Join(operator) => {
                    let (b, a) = (stack.pop().unwrap_or(false), stack.pop().unwrap_or(false));
                    if operator == Operator::And { a && b } else { a || b }
                }
            };
            stack.push(value);
        }
        let value = stack.pop().unwrap_or(false);
        self.stack = stack;
        Ok(value)
    }

    #[cold]
    fn no_value(&self, place: &[u8], index: u32, fault: volee_system::FaultId) -> Trouble {
        let text = &self.equations.formula.predicates[index as usize].text;
        let variables = self.system.variables(place);
        let state: Vec<String> = variables.iter().map(|v| format!("{} = {}", v.name, v.value)).collect();
        let reason = self.system.fault(fault).message;
        Trouble(format!("`{text}` has no value in the state {}: {reason}", state.join(", ")))
    }
}

/// A message about a state predicate, moved to its place in the formula.
fn relocate(error: Diagnostic, at: &volee_system::Place) -> Diagnostic {
    let place = match &error.place {
        Some(inner) if inner.line > 1 => {
            volee_system::Place::new(at.file.clone(), at.line + inner.line - 1, inner.column)
        }
        Some(inner) => volee_system::Place::new(at.file.clone(), at.line, at.column + inner.column - 1),
        None => at.clone(),
    };
    Diagnostic { place: Some(place), ..error }
}

/// The state that a place stands for.
fn state_of<'a>(made: Option<&'a mut Made>, place: &'a [u8]) -> &'a [u8] {
    made.map_or(place, |made| made.state(number(place)))
}

/// Pushes what follows steps that were made, and gives the action predicates that they satisfy; nothing when
/// the sink has seen enough.
#[inline]
fn push_made(plan: &Plan, steps: Steps<'_>, sink: &mut dyn Successors) -> Option<u64> {
    let mut enabled = 0;
    let pushed = steps.each(|target, mask| {
        enabled |= mask;
        for &(action, node) in &plan.steps {
            if mask & action != 0 {
                sink.variable(&target.to_le_bytes(), node)?;
            }
        }
        Flow::Continue(())
    });
    pushed.is_continue().then_some(enabled)
}

fn plan(equation: &volee_logic::mu::Equation) -> Plan {
    let mut plan = Plan { locals: equation.locals.clone(), ..Plan::default() };
    for item in &equation.items {
        match *item {
            Item::Here(target) => plan.here.push(target),
            Item::Step(action, target) => plan.steps.push((1 << action.0, target)),
        }
    }
    for op in plan.locals.iter().flat_map(|local| &local.0) {
        match op {
            LocalOp::Enabled(action, _) => plan.asked |= 1 << action.0,
            LocalOp::Predicate(..) => plan.looks = true,
            LocalOp::Constant(_) | LocalOp::Join(_) => {}
        }
    }
    plan
}

/// A conjunction spoils a disjunctive block when it may have two variables of that block: through a step, of
/// which there may be many, or through two items in the same state. Dually for disjunctions.
fn shapes(equations: &Equations) -> Vec<Shape> {
    let mut spoiled = vec![[false; 2]; equations.blocks.len()];
    for equation in &equations.equations {
        let own: u32 = equation
            .items
            .iter()
            .map(|item| match *item {
                Item::Here(t) => u32::from(equations.equations[usize::from(t)].block == equation.block),
                Item::Step(_, t) => {
                    2 * u32::from(equations.equations[usize::from(t)].block == equation.block)
                }
            })
            .sum();
        if own > 1 {
            spoiled[usize::from(equation.block)][usize::from(equation.operator == Operator::And)] = true;
        }
    }
    let shape = |[by_or, by_and]: [bool; 2]| match (by_and, by_or) {
        (false, _) => Shape::Disjunctive,
        (true, false) => Shape::Conjunctive,
        (true, true) => Shape::Mixed,
    };
    spoiled.into_iter().map(shape).collect()
}

impl<S: System + ?Sized> BooleanGraph for ModelGraph<'_, S> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        let node = self.conjunction_of_initial().unwrap_or(0);
        match &mut self.made {
            Some(made) => Ok((number_of(made, &self.initial[0])?.to_vec(), node)),
            None => Ok((self.initial[0].clone(), node)),
        }
    }

    fn blocks(&self) -> &[Sign] {
        &self.blocks
    }

    fn alternation_free(&self) -> bool {
        self.equations.alternation_free()
    }

    fn nodes(&self) -> Node {
        let own = self.plans.len() as Node;
        own + Node::from(self.conjunction_of_initial().is_some())
    }

    fn equation(&self, _: &[u8], node: Node) -> (Operator, u16) {
        match self.equations.equations.get(usize::from(node)) {
            Some(equation) => (equation.operator, equation.block + self.first_block),
            None => (Operator::And, 0),
        }
    }

    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let Some(mut made) = self.made.take() else {
            return self.right_hand_side(place, node, None, sink);
        };
        let done = self.right_hand_side(place, node, Some(&mut made), sink);
        self.made = Some(made);
        done
    }

    fn numbers_as_met(&self) -> bool {
        self.made.is_some()
    }

    fn distrust(&mut self) {
        self.recall = None;
        if let Some(made) = &mut self.made {
            made.distrust();
        }
    }

    fn audit(&mut self, told: &mut dyn Iterator<Item = Told>) -> Option<Seen> {
        audit(self.system, &mut self.labels, told)
    }

    fn forget_numbers(&mut self) {
        if self.made.take().is_some() {
            self.remember_steps();
        }
    }

    fn memory(&self) -> usize {
        self.made.as_ref().map_or(0, |made| made.memory())
    }

    fn outruns(&self, threads: usize) -> bool {
        threads < FEWEST && self.made.as_ref().is_some_and(|made| made.is_quick())
    }

    fn numbered(&self) -> Option<u32> {
        self.numbered
    }

    fn shape(&self, block: u16) -> Shape {
        self.shapes[usize::from(block)]
    }
}

/// The number that a place is.
#[inline]
fn number(place: &[u8]) -> u32 {
    place.try_into().map_or(0, u32::from_le_bytes)
}

/// The place of a state.
fn number_of(made: &mut Made, state: &[u8]) -> Result<[u8; 4], Trouble> {
    made.number(state).map(u32::to_le_bytes).map_err(|limit| Trouble(limit.to_string()))
}

impl<S: System + ?Sized> ModelGraph<'_, S> {
    /// Pushes a right-hand side. Where there are numbers of states, the place is one.
    fn right_hand_side(
        &mut self,
        place: &[u8],
        node: Node,
        mut made: Option<&mut Made>,
        sink: &mut dyn Successors,
    ) -> Result<(), Trouble> {
        if !self.unmet.is_empty() {
            self.meet(state_of(made.as_deref_mut(), place));
        }
        let Some(plan) = self.plans.get(usize::from(node)) else {
            for initial in &self.initial {
                let numbered = made.as_mut().map(|made| number_of(made, initial)).transpose()?;
                if sink.variable(numbered.as_ref().map_or(initial, |place| place), 0).is_break() {
                    break;
                }
            }
            return Ok(());
        };
        // Facts about the state alone come first: they may save the enumeration of its steps.
        if plan.asked == 0 && !plan.locals.is_empty() {
            let state = state_of(made.as_deref_mut(), place);
            if self.push_locals(state, node, 0, sink)?.is_break() {
                return Ok(());
            }
        }
        let plan = &self.plans[usize::from(node)];
        for &target in &plan.here {
            if sink.variable(place, target).is_break() {
                return Ok(());
            }
        }
        if plan.asked == 0 && plan.steps.is_empty() {
            return Ok(());
        }
        let enabled = match &mut made {
            Some(made) => push_made(plan, made.steps(self.system, &mut self.labels, number(place))?, sink),
            None => {
                let enabled = match self.recall.take() {
                    Some(recall) => self.push_recalled(recall, place, node, sink)?,
                    None => self.push_steps(place, node, sink),
                };
                if let Some(limit) = self.system.left_out() {
                    return Err(Trouble(limit.to_string()));
                }
                enabled
            }
        };
        match enabled {
            Some(enabled) if self.plans[usize::from(node)].asked != 0 => {
                // Where no fact is about the state itself, it is not looked at.
                let looks = self.plans[usize::from(node)].looks;
                let state = if looks { state_of(made, place) } else { place };
                self.push_locals(state, node, enabled, sink).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Pushes what follows the steps of a state as they are remembered, as [`ModelGraph::push_steps`] does.
    fn push_recalled(
        &mut self,
        mut recall: Box<Recall>,
        place: &[u8],
        node: Node,
        sink: &mut dyn Successors,
    ) -> Result<Option<u64>, Trouble> {
        let full = recall.steps_of_state(self.system, place, &mut self.recalled);
        if full.is_err() || !recall.is_light() {
            // Names would be kept for every state, which are kept as they are.
            return Ok(self.push_steps(place, node, sink));
        }
        let mask = self.labels.blind().unwrap_or(0);
        let followed = |(action, _): &&(u64, u16)| mask & action != 0;
        let plan = &self.plans[usize::from(node)];
        let mut enabled = Some(if self.recalled.is_empty() { 0 } else { mask });
        'steps: for &(name, _) in &self.recalled {
            let target = recall.load(name);
            for &(_, node) in plan.steps.iter().filter(followed) {
                if sink.variable(target, node).is_break() {
                    enabled = None;
                    break 'steps;
                }
            }
        }
        self.recall = Some(recall);
        Ok(enabled)
    }

    fn push_locals(
        &mut self,
        place: &[u8],
        node: Node,
        enabled: u64,
        sink: &mut dyn Successors,
    ) -> Result<Flow, Trouble> {
        for at in 0..self.plans[usize::from(node)].locals.len() {
            let value = self.decide(place, usize::from(node), at, enabled)?;
            if sink.constant(value).is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Pushes what follows the steps of a state and gives the action predicates that its steps satisfy;
    /// nothing when the sink has seen enough.
    fn push_steps(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Option<u64> {
        let plan = &self.plans[usize::from(node)];
        let only_asked = plan.steps.is_empty();
        let (mut enabled, mut done) = (0, 0usize);
        loop {
            let labels = &self.labels;
            let mut unknown: Option<Label> = None;
            let mut stopped = false;
            let mut at = 0;
            let _ = self.system.steps(place, &mut |step: Step, target: &[u8]| {
                at += 1;
                if at <= done {
                    // Pushed before an unknown label stopped the enumeration.
                    return Flow::Continue(());
                }
                let Some(mask) = labels.known(step.label) else {
                    unknown = Some(step.label);
                    return Flow::Break(());
                };
                done = at;
                enabled |= mask;
                for &(action, node) in &plan.steps {
                    if mask & action != 0 && sink.variable(target, node).is_break() {
                        stopped = true;
                        return Flow::Break(());
                    }
                }
                if only_asked && enabled & plan.asked == plan.asked {
                    Flow::Break(())
                } else {
                    Flow::Continue(())
                }
            });
            match unknown {
                Some(label) => {
                    self.labels.learn(self.system, label);
                }
                None => return (!stopped).then_some(enabled),
            }
        }
    }
}
