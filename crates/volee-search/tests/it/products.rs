//! The product of a system and a claim against its definition: step by step, as a system, and as what every
//! search for accepted runs makes of it, with errors, runs that end, conditions without a value, and sets of
//! steps that stand for all, chosen by the state or settled before.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use volee_logic::automaton::{Automaton, Edge};
use volee_logic::bdd::Bdd;
use volee_logic::formula::{Formula, Shape, random_formula};
use volee_logic::ltl::translate;
use volee_search::{
    BoundAtom, Check, Claim, ClaimOptions, ClaimOutcome, ClaimProduct, Crew, Emptiness, Fairness,
    NestedStore, Reduction, check_claim, is_fair,
};
use volee_system::{
    Action, Budget, Components, Fault, FaultId, FaultKind, Flow, Label, Limit, Marks, Meter, PersistentSet,
    PredicateId, Quiet, Random, ReasonKind, Records, Reducible, Sink, Step, System, Verdict, Violation,
    collect_initial, collect_steps, replay,
};

/// Who may move.
const PROCESSES: usize = 3;

/// States are single bytes. All is random, the sets that stand for all steps too: the product has to believe
/// them.
#[derive(Debug, Clone)]
struct Plan {
    /// Steps with their targets.
    steps: Vec<Vec<(Step, u8)>>,
    /// By predicate and state.
    values: Vec<Vec<Option<bool>>>,
    /// By state: sets of steps, by their numbers, and whether they cut cycles.
    sets: Vec<Vec<(Vec<usize>, bool)>>,
    reducible: bool,
    /// What it says its states consist of; where it says that they have more to them than there is, also that
    /// it leaves some out.
    components: Option<Components>,
}

impl Plan {
    fn random(random: &mut Random) -> Self {
        let n = 1 + random.below(6);
        let mut label = 0;
        let mut steps = Vec::new();
        let mut sets = Vec::new();
        for at in 0..n {
            let own: Vec<(Step, u8)> = (0..random.below(4))
                .map(|_| {
                    label += 1;
                    let fault = random.one_in(9).then(|| FaultId(random.below(3)));
                    let stays = fault.is_some() && random.one_in(2);
                    let target = if stays { at as u8 } else { random.below(n) as u8 };
                    (
                        Step { label: Label(label), process: random.below(PROCESSES) as u8, fault, stays },
                        target,
                    )
                })
                .collect();
            let some = |random: &mut Random| {
                let set: Vec<usize> = (0..own.len()).filter(|_| random.one_in(2)).collect();
                (if set.is_empty() { (0..own.len()).collect() } else { set }, random.one_in(2))
            };
            sets.push(if own.is_empty() {
                Vec::new()
            } else {
                (0..random.below(4)).map(|_| some(random)).collect()
            });
            steps.push(own);
        }
        let value = |random: &mut Random| (!random.one_in(12)).then(|| random.one_in(2));
        let values = (0..2).map(|_| (0..n).map(|_| value(random)).collect()).collect();
        Plan { steps, values, sets, reducible: random.one_in(2), components: None }
    }
}

impl System for Plan {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0])
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.steps[state[0] as usize].iter().try_for_each(|&(step, target)| sink.push(step, &[target]))
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("e{}", label.0 % 3).into()
    }
    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        vec![Action::plain(format!("step {ordinal} of {}", state[0]))]
    }
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        state[0] % 2 == 1
    }
    fn fault(&self, fault: FaultId) -> Fault {
        Fault { kind: FaultKind::Assertion, message: format!("fault {}", fault.0), place: None }
    }
    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.values[predicate.0 as usize][state[0] as usize].ok_or(FaultId(7))
    }
    fn marks(&mut self, state: &[u8]) -> Marks {
        Marks { progress: state[0] % 3 == 1, accept: state[0] % 3 == 2 }
    }
    fn components(&self) -> Option<Components> {
        self.components.clone()
    }
    fn left_out(&self) -> Option<Limit> {
        let more = self.components.as_ref().is_some_and(|components| components.records.is_some());
        more.then_some(Limit::Depth { bound: 77 })
    }
    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        if self.reducible { Some(self) } else { None }
    }
}

impl Reducible for Plan {
    fn persistent_steps(
        &mut self,
        state: &[u8],
        attempt: u32,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<PersistentSet>> {
        let at = state[0] as usize;
        let Some((set, cuts_cycles)) = self.sets[at].get(attempt as usize) else {
            return ControlFlow::Continue(None);
        };
        for &number in set {
            let (step, target) = self.steps[at][number];
            sink.push(step, &[target])?;
        }
        let next = attempt + 1;
        ControlFlow::Continue(Some(PersistentSet {
            others_may_be_ignored: false,
            cuts_cycles: *cuts_cycles,
            next,
        }))
    }
}

/// Which of the steps of a state are taken.
#[derive(Debug, Clone)]
enum Taken {
    All,
    /// The first set without errors that cuts no cycles, if there is one.
    FirstUncut,
    /// The first set without errors, in these states.
    Settled(Vec<bool>),
}

/// A step of the product: what the system does, if anything, with its number where all are given, and where it
/// leads.
#[derive(Debug, Clone, PartialEq)]
struct Expected {
    step: Option<Step>,
    number: Option<usize>,
    fault: Option<FaultId>,
    stays: bool,
    /// The automaton's, and from [`FAIR`] on those of the processes that move or cannot.
    marks: u64,
    target: (u8, u32),
}

const FAIR: u32 = 32;

impl Plan {
    fn first_set(&self, at: u8, fits: impl Fn(bool) -> bool) -> Option<&[usize]> {
        let own = &self.steps[at as usize];
        let plain = |set: &[usize]| set.iter().all(|&n| own[n].0.fault.is_none() && !own[n].0.stays);
        self.sets[at as usize].iter().find(|(set, cuts)| plain(set) && fits(*cuts)).map(|(set, _)| &set[..])
    }

    fn chosen(&self, at: u8, taken: &Taken) -> Option<&[usize]> {
        match taken {
            Taken::All => None,
            Taken::FirstUncut => self.first_set(at, |cuts| !cuts),
            Taken::Settled(reduced) => self.first_set(at, |_| true).filter(|_| reduced[at as usize]),
        }
    }

    fn ends(&self, at: u8) -> bool {
        self.steps[at as usize].iter().all(|(step, _)| step.stays)
    }

    fn is_blind(&self, claim: &Claim, at: u8) -> bool {
        let value = |p: &PredicateId| self.values[p.0 as usize][at as usize];
        claim.atoms.iter().any(|a| matches!(a, BoundAtom::Predicate(p) if value(p).is_none()))
    }

    /// Which states have their first set for all their steps: depth-first, all steps where one leads back to
    /// the path. None if an error ends it.
    fn settled(&self, faults: bool) -> Option<Taken> {
        let mut became = vec![None; self.steps.len()];
        self.settle(0, faults, &mut vec![false; self.steps.len()], &mut became)?;
        Some(Taken::Settled(became.into_iter().map(|reduced| reduced == Some(true)).collect()))
    }

    fn settle(&self, at: u8, faults: bool, path: &mut [bool], became: &mut [Option<bool>]) -> Option<()> {
        let own = &self.steps[at as usize];
        let all = || -> Option<Vec<u8>> {
            let wrong = faults && own.iter().any(|(step, _)| step.fault.is_some());
            let moves = own.iter().filter(|(step, _)| !step.stays).map(|(_, to)| *to);
            (!wrong).then(|| if self.ends(at) { vec![at] } else { moves.collect() })
        };
        path[at as usize] = true;
        let set = self.first_set(at, |_| true);
        let mut reduced = set.is_some();
        let mut targets = match set {
            Some(set) => set.iter().map(|&n| own[n].1).collect(),
            None => all()?,
        };
        let mut next = 0;
        while let Some(&to) = targets.get(next) {
            next += 1;
            if path[to as usize] {
                if reduced {
                    (reduced, next, targets) = (false, 0, all()?);
                }
            } else if became[to as usize].is_none() {
                self.settle(to, faults, path, became)?;
            }
        }
        path[at as usize] = false;
        became[at as usize] = Some(reduced);
        Some(())
    }
}

/// The definition. Letters that are met are added.
fn expected(
    plan: &Plan,
    claim: &Claim,
    (at, q): (u8, u32),
    taken: &Taken,
    letters: &mut BTreeSet<u64>,
) -> Vec<Expected> {
    let own = &plan.steps[at as usize];
    let mut taken: Vec<(Option<usize>, Option<Step>, u8)> = match plan.chosen(at, taken) {
        Some(set) => set.iter().map(|&n| (None, Some(own[n].0), own[n].1)).collect(),
        None => own.iter().enumerate().map(|(n, (step, to))| (Some(n), Some(*step), *to)).collect(),
    };
    let ends = plan.ends(at);
    if ends {
        taken.push((None, None, at));
    }
    let stuck =
        |step, number, fault| Expected { step, number, fault, stays: true, marks: 0, target: (at, q) };
    if plan.is_blind(claim, at) {
        return vec![stuck(None, None, Some(FaultId(7)))];
    }
    let sees_events = claim.atoms.iter().any(|a| matches!(a, BoundAtom::Event(_)));
    let idle = |p: usize| own.iter().all(|(step, _)| step.stays || usize::from(step.process) != p);
    let idle: u64 = (0..PROCESSES).filter(|&p| idle(p)).map(|p| 1 << (FAIR + p as u32)).sum();
    let mut all = Vec::new();
    for (number, step, to) in taken {
        if let Some(step) = step.filter(|step| step.stays) {
            all.push(stuck(Some(step), number, step.fault));
            continue;
        }
        let names = step.map(|step| vec![plan.label(step.label).into_owned()]).unwrap_or_default();
        let sees = |atom: u32| match &claim.atoms[atom as usize] {
            BoundAtom::Predicate(p) => plan.values[p.0 as usize][at as usize] == Some(true),
            BoundAtom::Event(event) => event.matches_any(&names),
            BoundAtom::Progress => at % 3 == 1 || ends,
            BoundAtom::Accept => at % 3 == 2,
        };
        letters.insert((0..claim.atoms.len() as u32).map(|atom| u64::from(sees(atom)) << atom).sum());
        let edges = claim.automaton.states[q as usize].iter();
        let fitting: Vec<&Edge> = edges.filter(|e| claim.automaton.manager.eval(e.guard, sees)).collect();
        let fault = step.and_then(|step| step.fault);
        let moves = step.map_or(0, |step| 1 << (FAIR + u32::from(step.process)));
        for edge in &fitting {
            let marks = edge.marks | idle | moves;
            all.push(Expected { step, number, fault, stays: false, marks, target: (to, edge.target) });
        }
        if fitting.is_empty() && (fault.is_some() || sees_events) {
            all.push(stuck(step, number, fault));
        }
    }
    all
}

/// Everything that can be reached, by the definition.
struct Naive {
    pairs: BTreeMap<(u8, u32), Vec<Expected>>,
    letters: BTreeSet<u64>,
}

impl Naive {
    fn new(plan: &Plan, claim: &Claim, taken: &Taken) -> Self {
        let (mut pairs, mut letters) = (BTreeMap::new(), BTreeSet::new());
        let mut pending = vec![(0, claim.automaton.initial)];
        while let Some(pair) = pending.pop() {
            if pairs.contains_key(&pair) {
                continue;
            }
            let steps = expected(plan, claim, pair, taken, &mut letters);
            pending.extend(steps.iter().filter(|e| !e.stays).map(|e| e.target));
            pairs.insert(pair, steps);
        }
        Naive { pairs, letters }
    }

    fn transitions(&self) -> usize {
        self.pairs.values().flatten().filter(|e| !e.stays).count()
    }

    /// Whether some pair comes back to itself by way of all these marks.
    fn has_cycle(&self, wanted: u64) -> bool {
        self.pairs.keys().any(|&start| {
            let mut seen = HashSet::new();
            let mut pending = vec![(start, 0)];
            while let Some((at, marks)) = pending.pop() {
                for step in self.pairs[&at].iter().filter(|e| !e.stays) {
                    let next = (step.target, marks | step.marks & wanted);
                    if next == (start, wanted) {
                        return true;
                    }
                    if seen.insert(next) {
                        pending.push(next);
                    }
                }
            }
            false
        })
    }
}

fn random_claim(random: &mut Random, plan: &Plan) -> Claim {
    let operators = 1 + random.below(5);
    let formula: Formula = random_formula(random, Shape { atoms: 2, operators });
    let automaton: Automaton = translate(&formula).expect("small");
    let kind = random.below(3u32);
    let event = |name: &str| {
        let formula = volee_logic::formula::parse(name, "f").expect("a name");
        volee_search::bind(&mut Events(plan.clone()), &formula, volee_search::Names::Events, name, "f")
            .expect("an event")
            .remove(0)
    };
    let atoms = (0..formula.atoms().len()).map(|index| match kind {
        0 => BoundAtom::Predicate(PredicateId(index as u32 % 2)),
        1 => event(&format!("e{index}")),
        _ => [BoundAtom::Progress, BoundAtom::Accept][index % 2].clone(),
    });
    let mut claim = Claim::new(automaton, atoms.collect());
    // Nobody leaves out steps beside a claim that sees them.
    claim.stutter_invariant = kind != 1 && random.one_in(2);
    claim.lassos_only = random.one_in(4);
    if !claim.lassos_only && random.one_in(2) {
        claim.traps = claim.automaton.states.iter().map(|_| random.one_in(4)).collect();
    }
    claim
}

/// A system whose bare names are events.
struct Events(Plan);

impl volee_system::Draft for Events {
    fn predicate(&mut self, _: &str) -> Result<PredicateId, volee_system::Diagnostic> {
        Err(volee_system::Diagnostic::error("events alone", None))
    }
    fn system(&mut self) -> &mut dyn System {
        &mut self.0
    }
    fn build(self: Box<Self>) -> Box<dyn System> {
        Box::new(self.0)
    }
}

fn pair(state: &[u8]) -> (u8, u32) {
    (state[4], u32::from_le_bytes([state[0], state[1], state[2], state[3]]))
}

fn is_trap(claim: &Claim, q: u32) -> bool {
    let all = claim.automaton.all_marks();
    let accepts_all = |e: &Edge| e.guard == Bdd::TRUE && e.target == q && e.marks == all;
    let given = claim.traps.get(q as usize).copied().unwrap_or(false);
    !claim.lassos_only && (given || claim.automaton.states[q as usize].iter().any(accepts_all))
}

#[test]
fn every_step_of_the_product_is_one_by_its_definition() {
    let mut random = Random::new(2003);
    let (mut reduced, mut stuck, mut ended) = (0, 0, 0);
    for round in 0..4000 {
        let mut plan = Plan::random(&mut random);
        let records = Some(Records { count_at: 0, lengths: vec![2] });
        plan.components = Some(Components { ends: vec![1], records });
        let claim = random_claim(&mut random, &plan);
        let wants = random.one_in(2);
        let reduces = wants && claim.stutter_invariant && plan.reducible;
        let taken = if reduces { Taken::FirstUncut } else { Taken::All };
        let (mut own, twin, mut told_of) = (plan.clone(), plan.clone(), plan.clone());
        // What explains looks at more steps than it is asked for, so it has letters of its own.
        let mut telling = ClaimProduct::new(&mut told_of, &claim, wants);
        let mut product = ClaimProduct::new(&mut plan, &claim, wants);
        let faults = random.one_in(2);
        let mut how = Check::new().goal("nobody asks for it", PredicateId(1));
        how.faults = faults;
        let questions = product.questions(&how);
        let waiting = questions.invariants[0].1;
        assert!(!questions.deadlocks && questions.goals.is_empty() && questions.faults == faults);
        assert_eq!(product.left_out(), Some(Limit::Depth { bound: 77 }));
        assert_eq!(product.components().expect("some").ends, [5]);
        assert_eq!(product.components().and_then(|c| c.records).expect("some").count_at, 4);
        let mut letters = BTreeSet::new();
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let mut pending = collect_initial(&mut product);
        assert_eq!(pending.iter().map(|p| pair(p)).collect::<Vec<_>>(), [(0, claim.automaton.initial)]);
        let mut sets = 0;
        while let Some(state) = pending.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let (at, q) = pair(&state);
            let before = product.reduced();
            let found = collect_steps(&mut product, &state);
            sets += product.reduced() - before;
            let wanted = expected(&twin, &claim, (at, q), &taken, &mut letters);
            let context = || format!("round {round}: {twin:?} at {at}, {q}");
            assert_eq!(found.len(), wanted.len(), "{}", context());
            for (index, ((step, target), wanted)) in found.iter().zip(&wanted).enumerate() {
                assert_eq!((step.fault, step.stays), (wanted.fault, wanted.stays), "{}", context());
                assert_eq!(pair(target), wanted.target, "{}", context());
                let explained = telling.explain(&state, index);
                match wanted.step {
                    Some(own_step) => {
                        assert_eq!(step.label, own_step.label);
                        assert_eq!(product.label(step.label), own.label(own_step.label));
                        assert_eq!(product.names(step.label), own.names(own_step.label));
                        let number = wanted.number.or_else(|| {
                            let all = expected(&twin, &claim, (at, q), &Taken::All, &mut BTreeSet::new());
                            let same = |e: &&Expected| !e.stays && e.target == wanted.target;
                            let fine = all.iter().filter(|e| e.fault.is_none()).find(same);
                            fine.or_else(|| all.iter().find(same)).and_then(|e| e.number)
                        });
                        let told = own.explain(&[at], number.expect("a step of the system"));
                        assert_eq!(explained, told, "{}", context());
                    }
                    None => {
                        ended += 1;
                        assert_eq!(product.label(step.label), "the end, for ever");
                        assert!(product.names(step.label).is_empty() && explained.is_empty());
                    }
                }
                stuck += u64::from(wanted.stays);
                if !step.stays {
                    pending.push(target.clone());
                }
            }
            assert_eq!(product.is_valid_end(&state), own.is_valid_end(&[at]));
            assert_eq!(product.marks(&state), own.marks(&[at]));
            assert_eq!(product.variables(&state), own.variables(&[at]));
            assert_eq!(product.holds(PredicateId(1), &state), own.holds(PredicateId(1), &[at]));
            let waits = product.holds(waiting, &state);
            match twin.is_blind(&claim, at) && !faults {
                true => assert!(waits.is_err(), "{}", context()),
                false => assert_eq!(waits, Ok(!is_trap(&claim, q)), "{}", context()),
            }
        }
        assert_eq!(product.letters().iter().copied().collect::<BTreeSet<u64>>(), letters, "round {round}");
        assert_eq!(product.letters().len(), letters.len());
        assert_eq!(product.fault(FaultId(1)).message, "fault 1");
        let sets_by_definition = seen.iter().filter(|s| twin.chosen(pair(s).0, &taken).is_some()).count();
        assert_eq!(sets, sets_by_definition as u64, "round {round}");
        reduced += sets;
    }
    assert!(reduced > 200 && stuck > 500 && ended > 500, "{reduced} {stuck} {ended}");
}

/// What a run has to be that shows an error.
fn is_shown(plan: &mut Plan, claim: &Claim, violation: &Violation, faults: bool, context: &str) {
    let Violation { reason, witness } = violation;
    let run = replay(plan, witness).unwrap_or_else(|e| panic!("{e}: {context}"));
    match reason.kind {
        ReasonKind::Assertion if reason.message == "fault 7" => {
            let mut at = vec![0];
            for &step in &witness.steps {
                at = collect_steps(plan, &at).swap_remove(step as usize).1;
            }
            assert!(plan.is_blind(claim, at[0]), "{context}");
        }
        ReasonKind::Assertion => {
            let last = run.steps.last().and_then(|step| step.fault.as_ref());
            assert_eq!(last.map(|fault| &fault.message), Some(&reason.message), "{context}");
            assert!(faults, "{context}");
        }
        ReasonKind::Trap | ReasonKind::AcceptanceCycle => {
            assert_eq!(claim.accepts(plan, witness), Some(true), "{reason:?} {witness:?} {context}");
        }
        _ => panic!("{reason:?}: {context}"),
    }
}

#[test]
fn every_search_for_accepted_runs_finds_what_the_definition_has() {
    let meter = Meter::start(Budget::default());
    let mut random = Random::new(1997);
    let (mut violated, mut held, mut reduced, mut settled, mut terminal, mut by_several) = (0, 0, 0, 0, 0, 0);
    for round in 0..4000 {
        let mut plan = Plan::random(&mut random);
        let claim = random_claim(&mut random, &plan);
        let faults = random.one_in(2);
        plan.components = (round % 4 > 0).then(|| Components { ends: vec![1], records: None });
        let twin = plan.clone();
        let another = || Some((Box::new(twin.clone()) as Box<dyn System>, claim.clone()));
        let crew = Crew::new([2, 1, 3, 8][round / 4 % 4], &another).from(round as u64 % 7);
        let plain = ClaimOptions { faults, max_errors: 1, ..ClaimOptions::default() };
        let persistent = ClaimOptions { reduction: Reduction::Persistent, ..plain };
        let nested = Emptiness::Nested(NestedStore::Exact);
        let ways = [
            plain,
            ClaimOptions { emptiness: nested, ..plain },
            ClaimOptions { shortest: true, ..plain },
            ClaimOptions { fairness: Fairness::Weak, ..plain },
            persistent,
            ClaimOptions { emptiness: nested, ..persistent },
            ClaimOptions { settles_first: true, ..persistent },
            ClaimOptions { settles_first: true, ..plain },
            ClaimOptions { crew: Some(&crew), ..plain },
            ClaimOptions { crew: Some(&crew), fairness: Fairness::Weak, ..plain },
            ClaimOptions { crew: Some(&crew), ..persistent },
            ClaimOptions { crew: Some(&crew), settles_first: true, ..persistent },
        ];
        terminal += u32::from(claim.is_terminal());
        for (way, options) in ways.into_iter().enumerate() {
            let reduces = options.reduces() && claim.stutter_invariant && plan.reducible;
            let taken = match reduces {
                true if options.settles_first => twin.settled(faults).unwrap_or(Taken::FirstUncut),
                true => Taken::FirstUncut,
                false => Taken::All,
            };
            let context = format!("round {round}, way {way}, faults {faults}: {taken:?} {twin:?}");
            let naive = Naive::new(&twin, &claim, &taken);
            let is_wrong = |(&(at, q), steps): (&(u8, u32), &Vec<Expected>)| {
                let wrong = steps.iter().any(|e| e.fault.is_some()) && faults;
                wrong || twin.is_blind(&claim, at) || is_trap(&claim, q)
            };
            let fair = (0..PROCESSES as u32).map(|p| 1 << (FAIR + p)).sum::<u64>();
            let fair = if options.fairness == Fairness::Weak { fair } else { 0 };
            let expected =
                naive.pairs.iter().any(is_wrong) || naive.has_cycle(claim.automaton.all_marks() | fair);
            let outcome = check_claim(&mut plan, &claim, options, &meter, &mut Quiet);
            let ClaimOutcome { verdict, statistics, letters } = outcome;
            let Verdict::Violated(violations) = verdict else {
                assert_eq!((&verdict, expected), (&Verdict::Holds, false), "{context}");
                held += 1;
                let sets = naive.pairs.keys().filter(|pair| twin.chosen(pair.0, &taken).is_some()).count();
                if options.emptiness == Emptiness::Components && !options.shortest {
                    assert_eq!(statistics.states, naive.pairs.len() as u64, "{context}");
                    let shared = statistics.workers > 0;
                    by_several += usize::from(shared);
                    assert_eq!(
                        letters.iter().copied().collect::<BTreeSet<u64>>(),
                        naive.letters,
                        "{context}"
                    );
                    // Several may expand a pair more than once.
                    let figures = (statistics.transitions, statistics.reduced);
                    let wanted = (naive.transitions() as u64, sets as u64);
                    assert!(figures == wanted || shared && figures >= wanted, "{figures:?} {context}");
                    reduced += sets;
                    settled += usize::from(matches!(taken, Taken::Settled(_)));
                }
                continue;
            };
            assert!(expected, "{context}");
            violated += 1;
            is_shown(&mut plan, &claim, &violations[0], faults, &context);
            if fair != 0 && violations[0].witness.loop_start.is_some() {
                assert_eq!(is_fair(&mut plan, &violations[0].witness), Some(true), "{context}");
            }
        }
    }
    let counts = [violated, held, reduced, settled, terminal as usize, by_several];
    assert!(counts.iter().all(|&count| count > 150), "{counts:?}");
}

/// Programs, unlike graphs, have steps that are remembered and names that are given anew; `cargo xtask temporal
/// random` asks of many more.
#[test]
fn formulas_about_random_programs_are_answered_as_a_naive_evaluator_does() {
    let compared = volee_testkit::products::compare(500, 0x5ea);
    assert!(compared.violated > 20 && compared.smaller > 5, "{compared:?}");
}
