//! All ways to search a program answer the same.
//!
//! The plain program, explored by the simplest code there is, is what everything else is measured against:
//! searches of the plain and of the optimised program, in every order and reduction, in little memory, by two
//! workers, by threads over one table, as a hunt; and for infinite runs each way to look for them. Every run found in an optimised program is led
//! along the plain one.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use volee_logic::formula;
use volee_program::{Machine, MachineOptions, Program};
use volee_promela::{Lowered, lower, parse};
use volee_search::{
    Answer, BoundAtom, Check, Claim, ClaimOptions, ClaimOutcome, Crew, Emptiness, Fairness, LtlQuestion,
    NestedStore, Order, Outcome, Reduction, check, check_claim, check_with,
};
use volee_system::{
    Budget, Draft as _, Inspectable, Lifted, Limit, Meter, PredicateId, Quiet, ReasonKind, Severity, System,
    Verdict, Violation, collect_initial, collect_steps, lift, replay,
};

/// States up to which a program is compared, unless fewer are asked for.
pub const MOST_STATES: usize = 3_000;

/// A program that has more steps than this for each of this many states is too large as well.
const STEPS_BY_STATE: usize = 8;

/// And one that executes more statements than this for each of this many states: sequences may be long
/// without being steps.
const STATEMENTS_BY_STATE: u64 = 64;

/// Predicates that mean something in every random program.
const INVARIANTS: [&str; 5] =
    ["g0 < 2", "len(qb) == 0", "_nr_pr < 4", "g0 + len(qb) != 2", "g0 != 1 || empty(qb)"];

/// Makes the never claim of a program an automaton.
pub type NeverClaim = dyn Fn(&Program, &mut Machine) -> Option<Claim>;

/// Searches a program by two workers.
pub type ByTwo = dyn Fn(&Machine, &Check) -> Result<Outcome, String>;

/// What only the crates above these can do.
#[derive(Clone, Copy, Default)]
pub struct Hooks<'a> {
    /// The never claim of a program as an automaton.
    pub never: Option<&'a NeverClaim>,
    /// The search of a program by two workers.
    pub by_two: Option<&'a ByTwo>,
    /// States up to which a program is compared: many small programs find more than a few large ones.
    pub most_states: Option<usize>,
}

/// What a comparison came to where nothing differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// The front end does not take the program, with its first message.
    Refused(String),
    /// It has too many states to be compared.
    TooLarge,
    /// All answers are the same.
    Same(Plain),
}

/// What the plain program does, by the simplest exploration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plain {
    /// How many states.
    pub states: usize,
    /// Transitions as SPIN counts them.
    pub transitions: usize,
    /// Some state is an invalid end.
    pub deadlock: bool,
    /// The errors, as texts.
    pub faults: BTreeSet<String>,
    /// Whether an invariant fails.
    pub invariant_fails: bool,
    /// The program's own claims, by name, and whether each is violated.
    pub claims: Vec<(String, bool)>,
}

/// The lowered program of a text.
///
/// # Errors
/// The first message of the front end.
pub fn read(text: &str) -> Result<Lowered, String> {
    let (model, diagnostics) = parse("random.pml", text, &volee_promela::Options::default());
    let Some(model) = model else {
        let error = diagnostics.iter().find(|d| d.severity == Severity::Error);
        return Err(error.map_or_else(|| "no message".into(), ToString::to_string));
    };
    lower(Arc::new(model)).map_err(|all| all[0].to_string())
}

/// How many statements a machine has executed so far.
fn executed(machine: &Machine) -> u64 {
    machine.coverage().iter().map(|statement| statement.times).sum()
}

/// Explores a plain program; none if it has too many states.
pub fn explore_plainly(
    machine: &mut Machine,
    invariant: &str,
    most_states: usize,
) -> Result<Option<Plain>, String> {
    let predicate = machine.predicate(invariant).map_err(|d| d.to_string())?;
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut pending = collect_initial(machine);
    let mut plain = Plain { transitions: pending.len(), ..Plain::default() };
    while let Some(state) = pending.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > most_states || plain.transitions / STEPS_BY_STATE > most_states {
            return Ok(None);
        }
        if (seen.len().is_power_of_two() || seen.len().is_multiple_of(256))
            && executed(machine) / STATEMENTS_BY_STATE > most_states as u64
        {
            return Ok(None);
        }
        plain.invariant_fails |= machine.holds(predicate, &state) == Ok(false);
        let steps = collect_steps(machine, &state);
        plain.deadlock |= steps.is_empty() && !machine.is_valid_end(&state);
        for (step, target) in steps {
            if let Some(fault) = step.fault {
                let fault = machine.fault(fault);
                let place = fault.place.map(|p| p.to_string()).unwrap_or_default();
                plain.faults.insert(format!("{place} {}", fault.message));
            }
            if !step.stays {
                plain.transitions += 1;
                pending.push(target);
            }
        }
    }
    plain.states = seen.len();
    Ok(Some(plain))
}

/// Compares all ways to search a program; `seed` decides what is left to chance.
///
/// # Errors
/// What differs, in words.
pub fn compare(text: &str, seed: u64, hooks: Hooks<'_>) -> Result<Agreement, String> {
    let lowered = match read(text) {
        Ok(lowered) => lowered,
        Err(message) => return Ok(Agreement::Refused(message)),
    };
    let mut random = crate::Random::new(seed);
    let invariant = *random.pick(&INVARIANTS);
    // Made once: to make a machine takes longer than to search a small program.
    let made =
        [false, true].map(|plain| lowered.machine(MachineOptions { plain, ..MachineOptions::default() }));
    let machine = |plain: bool| made[usize::from(plain)].clone();
    let most_states = hooks.most_states.unwrap_or(MOST_STATES);
    let Some(mut plain) = explore_plainly(&mut machine(true), invariant, most_states)? else {
        return Ok(Agreement::TooLarge);
    };
    let mut watching = made.clone();
    let predicates = watching.each_mut().map(|machine| machine.predicate(invariant));
    let [default, judge] = predicates.map(|predicate| predicate.map_err(|d| d.to_string()));
    let (watching, predicates) = (watching, [default?, judge?]);
    let watching = |plain: bool| (watching[usize::from(plain)].clone(), predicates[usize::from(plain)]);
    let searches = Searches { machine: &machine, watching: &watching, plain: &plain, invariant, seed };
    searches.all(hooks.by_two.filter(|_| random.one_in(24)))?;
    plain.claims = claims(&lowered, &machine, hooks, random.one_in(4))?;
    Ok(Agreement::Same(plain))
}

/// More memory than any search of a small program needs.
const PLENTY: u64 = 1 << 30;

/// Less than many of them need.
const LITTLE: u64 = 1 << 18;

/// A search that forgets may take very long: it gets little time, and what it would have said is then not
/// known.
const HURRY: Duration = Duration::from_millis(100);

fn meter(memory: u64) -> Meter {
    let time = if memory < PLENTY { HURRY } else { Duration::from_secs(3600) };
    Meter::start(Budget { time: Some(time), memory: Some(memory), ..Budget::default() })
}

fn hurried() -> Meter {
    Meter::start(Budget { time: Some(HURRY), memory: Some(PLENTY), ..Budget::default() })
}

/// The finite questions of one program.
struct Searches<'a> {
    machine: &'a dyn Fn(bool) -> Machine,
    /// The same with its invariant.
    watching: &'a dyn Fn(bool) -> (Machine, PredicateId),
    plain: &'a Plain,
    invariant: &'a str,
    seed: u64,
}

impl Searches<'_> {
    fn all(&self, by_two: Option<&ByTwo>) -> Result<(), String> {
        let full = self.search("plain", true, Check::new(), PLENTY)?;
        let (states, transitions) = (full.statistics.states, full.statistics.transitions);
        let Plain { states: all, transitions: steps, .. } = *self.plain;
        if (states, transitions) != (all as u64, steps as u64) {
            return Err(format!("plain: {states} states, {transitions} transitions; simply {all}, {steps}"));
        }
        self.search("plain, breadth first", true, Check::new().order(Order::BreadthFirst), PLENTY)?;
        let default = self.search("default", false, Check::new(), PLENTY)?;
        let simply = explore_plainly(&mut (self.machine)(false), self.invariant, usize::MAX)?
            .map_or(0, |p| p.states as u64);
        if default.statistics.states != simply || simply > states {
            let found = default.statistics.states;
            return Err(format!("default: {found} states, simply {simply}, plain {states}"));
        }
        let breadth = self.search("breadth first", false, Check::new().order(Order::BreadthFirst), PLENTY)?;
        // Searches that forget take long: of the eight that there are a program gets two.
        let mut random = crate::Random::new(self.seed);
        let mut forgets = || all > 200 && random.one_in(4);
        for (plain, memory) in
            [(true, full.statistics.memory_bytes), (false, default.statistics.memory_bytes)]
        {
            let name = if plain { "plain" } else { "default" };
            for reduction in [Reduction::Persistent, Reduction::Sleep, Reduction::Both] {
                let how = Check::new().reduction(reduction).seed(self.seed);
                self.search(&format!("{name}, {reduction:?}"), plain, how.clone(), PLENTY)?;
                if forgets() {
                    self.search(
                        &format!("{name}, {reduction:?}, little memory"),
                        plain,
                        how,
                        memory * 2 / 3,
                    )?;
                }
            }
            if forgets() {
                let how = Check::new().seed(self.seed);
                self.search(&format!("{name}, little memory"), plain, how, memory / 2)?;
            }
        }
        self.by_threads(&default)?;
        by_two.map_or(Ok(()), |search| self.by_two(search, &breadth))
    }

    /// What was met lately is not looked up again, from the beginning in every other program.
    fn near(&self) -> u64 {
        if self.seed.is_multiple_of(2) { 0 } else { Check::default().near }
    }

    /// Threads over one table, from early on, have the answers of one thread; what they find as a hunt is
    /// there, and where they find nothing there is nothing.
    fn by_threads(&self, alone: &Outcome) -> Result<(), String> {
        let (machine, predicate) = (self.watching)(false);
        let usual = Check::new().invariant(self.invariant, predicate).seed(self.seed).near(self.near());
        for workers in [1, 2, 3, 8] {
            let search = |how: &Check| {
                let another = || Some((Box::new(machine.clone()) as Box<dyn System>, how.clone()));
                let crew = Crew::new(workers, &another).from(self.seed % 50);
                check_with(&mut machine.clone(), how, Some(&crew), &meter(PLENTY), &mut Quiet)
            };
            let name = format!("{workers} threads");
            let all = search(&usual.clone().all_errors(true));
            if all.answers != alone.answers || all.statistics.states != alone.statistics.states {
                return Err(format!("{name}: {:?}, alone {:?}", all.answers, alone.answers));
            }
            let reduced = search(&usual.clone().all_errors(true).reduction(Reduction::Both));
            self.same(&format!("{name}, reduced"), &reduced, false)?;
            let hunt = search(&usual.clone().hunt(true).reduction(Reduction::Both));
            self.same_hunted(&format!("a hunt by {name}"), &hunt)?;
            for (name, outcome) in [("reduced", &reduced), ("hunt", &hunt)] {
                self.lead_along(&format!("{workers} threads, {name}"), &mut machine.clone(), outcome, false)?;
            }
        }
        Ok(())
    }

    /// A hunt ends at the first error: it is one, and there is one where the simple exploration has some.
    fn same_hunted(&self, name: &str, outcome: &Outcome) -> Result<(), String> {
        let expected = |question: &str| match question {
            "deadlock" => self.plain.deadlock,
            "assertions" => !self.plain.faults.is_empty(),
            _ => self.plain.invariant_fails,
        };
        let violated = |answer: &&Answer| matches!(answer.verdict, Verdict::Violated(_));
        let met: Vec<&Answer> = outcome.answers.iter().filter(violated).collect();
        let wrong = met.iter().find(|answer| !expected(&answer.question));
        let there_is = outcome.answers.iter().any(|answer| expected(&answer.question));
        match (wrong, &outcome.limit) {
            (Some(answer), _) => Err(format!("{name}: {} is not violated", answer.question)),
            (None, Some(limit)) => Err(format!("{name}: {limit}")),
            (None, None) if met.is_empty() == there_is => {
                Err(format!("{name}: found an error: {}", !there_is))
            }
            (None, None) => Ok(()),
        }
    }

    fn search(&self, name: &str, plain: bool, how: Check, memory: u64) -> Result<Outcome, String> {
        let (mut machine, predicate) = (self.watching)(plain);
        let how = how.all_errors(true).invariant(self.invariant, predicate).near(self.near());
        let outcome = check(&mut machine, &how, &meter(memory), &mut Quiet);
        if outcome.statistics.memory_bytes > memory {
            return Err(format!("{name}: {} bytes of {memory}", outcome.statistics.memory_bytes));
        }
        // A search that forgets may take very long; what it would have said is then not known.
        if memory < PLENTY && matches!(outcome.limit, Some(Limit::Memory { .. } | Limit::Time { .. })) {
            return Ok(outcome);
        }
        // A reduced search need not meet every error.
        self.same(name, &outcome, how.reduction == Reduction::None)?;
        self.lead_along(name, &mut machine, &outcome, plain)?;
        Ok(outcome)
    }

    /// Whether the answers are those of the simple exploration.
    fn same(&self, name: &str, outcome: &Outcome, every_fault: bool) -> Result<(), String> {
        if let Some(limit) = &outcome.limit {
            return Err(format!("{name}: {limit}"));
        }
        for answer in &outcome.answers {
            let violated = matches!(answer.verdict, Verdict::Violated(_));
            let expected = match answer.question.as_str() {
                "deadlock" => self.plain.deadlock,
                "assertions" => !self.plain.faults.is_empty(),
                _ => self.plain.invariant_fails,
            };
            if violated != expected {
                return Err(format!("{name}: {} violated: {violated}, simply {expected}", answer.question));
            }
            if let Verdict::Violated(all) = &answer.verdict
                && answer.question == "assertions"
            {
                let told = |place: Option<&volee_system::Place>, message: &str| {
                    format!("{} {message}", place.map(ToString::to_string).unwrap_or_default())
                };
                let met: BTreeSet<String> =
                    all.iter().map(|v| told(v.reason.place.as_ref(), &v.reason.message)).collect();
                let unknown = met.difference(&self.plain.faults).next();
                if let Some(fault) = unknown {
                    return Err(format!("{name}: `{fault}`, which the plain program does not have"));
                }
                let missing = self.plain.faults.difference(&met).next();
                if let Some(fault) = missing.filter(|_| every_fault && self.plain.faults.len() < 8) {
                    return Err(format!("{name}: without `{fault}`"));
                }
            }
        }
        Ok(())
    }

    /// Every run replays, and in the plain program too.
    fn lead_along(
        &self,
        name: &str,
        machine: &mut Machine,
        outcome: &Outcome,
        plain: bool,
    ) -> Result<(), String> {
        let mut judge = (!plain).then(|| (self.machine)(true));
        for answer in &outcome.answers {
            let Verdict::Violated(all) = &answer.verdict else { continue };
            for violation in all.iter().filter(|v| v.reason.kind != ReasonKind::Unreachable) {
                replay(machine, &violation.witness)
                    .map_err(|e| format!("{name}: {}: {e}", answer.question))?;
                if let Some(judge) = &mut judge {
                    let lifted = lift(machine, judge, &violation.witness).map_err(|e| {
                        format!("{name}: {}: not a run of the plain program: {e:?}", answer.question)
                    })?;
                    if answer.question == "assertions" {
                        same_error(judge, lifted, violation).map_err(|e| format!("{name}: {e}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Two workers have the figures and answers of one.
    fn by_two(&self, search: &ByTwo, alone: &Outcome) -> Result<(), String> {
        let (mut own, predicate) = (self.watching)(false);
        let how = Check::new().all_errors(true).order(Order::BreadthFirst);
        let together = search(&own, &how.invariant(self.invariant, predicate))?;
        let figures = |o: &Outcome| (o.statistics.states, o.statistics.transitions);
        if figures(&together) != figures(alone) {
            return Err(format!("two workers: {:?}, alone {:?}", figures(&together), figures(alone)));
        }
        self.same("two workers", &together, true)?;
        self.lead_along("two workers", &mut own, &together, false)
    }
}

/// The plain program's run ends in the error that was found.
fn same_error(judge: &mut Machine, lifted: Lifted, violation: &Violation) -> Result<(), String> {
    let mut witness = lifted.witness;
    witness.steps.truncate(lifted.until_fault.ok_or("the plain run meets no error")?);
    let run = replay(judge, &witness).map_err(|e| e.to_string())?;
    let fault = run.steps.last().and_then(|step| step.fault.clone());
    match fault.is_some_and(|f| f.message == violation.reason.message && f.place == violation.reason.place) {
        true => Ok(()),
        false => Err(format!("`{}`, and the plain run ends otherwise", violation.reason.message)),
    }
}

/// The questions about infinite runs: the program's own claims, progress, acceptance. What is found of its
/// own.
fn claims(
    lowered: &Lowered,
    machine: &dyn Fn(bool) -> Machine,
    hooks: Hooks<'_>,
    fair: bool,
) -> Result<Vec<(String, bool)>, String> {
    let model = Arc::clone(lowered.model());
    let mut found = Vec::new();
    for property in &model.ltl {
        let violated = decide(&format!("ltl {}", property.name), machine, fair, &mut |machine| {
            let formula = formula::parse(&property.text, "ltl").map_err(|d| d.to_string())?;
            let question =
                LtlQuestion::new(machine, formula, &property.text, "ltl").map_err(|d| d.to_string())?;
            Ok((question.claim().clone(), question.needs_every_step()))
        })?;
        found.push((property.name.to_string(), violated));
    }
    if let (Some(never), Some(_)) = (hooks.never, &lowered.program.never) {
        let violated = decide("never", machine, fair, &mut |machine| {
            let claim = never(&lowered.program, machine).ok_or("no claim")?;
            Ok((claim, false))
        })?;
        found.push(("never".into(), violated));
    }
    for (text, atom) in [("!([]<>mark)", BoundAtom::Progress), ("[]<>mark", BoundAtom::Accept)] {
        decide(text, machine, fair, &mut |_| {
            let formula = formula::parse(text, "marks").map_err(|d| d.to_string())?;
            let automaton = volee_logic::ltl::translate(&formula).map_err(|e| e.to_string())?;
            Ok((Claim::new(automaton, vec![atom.clone()]), false))
        })?;
    }
    Ok(found)
}

/// Makes a claim for a machine, and says whether it needs every single step.
type MakeClaim<'a> = &'a mut dyn FnMut(&mut Machine) -> Result<(Claim, bool), String>;

/// Whether a claim is violated, without fairness; all ways to find out say the same.
fn decide(
    name: &str,
    machine: &dyn Fn(bool) -> Machine,
    fair: bool,
    make: MakeClaim<'_>,
) -> Result<bool, String> {
    let mut first: [Option<bool>; 2] = [None, None];
    for plain in [true, false] {
        let stores = [
            Emptiness::Components,
            Emptiness::Nested(NestedStore::Exact),
            Emptiness::Nested(NestedStore::Bounded { bytes: LITTLE, seed: 1 }),
        ];
        let fairnesses = if fair { &[Fairness::None, Fairness::Weak][..] } else { &[Fairness::None] };
        let mut bound = machine(plain);
        let (claim, every_step) = make(&mut bound)?;
        if every_step && !plain {
            continue;
        }
        for emptiness in stores {
            for &fairness in fairnesses {
                if fairness == Fairness::Weak && emptiness != Emptiness::Components {
                    continue;
                }
                let mut own = bound.clone();
                let reduction = if plain { Reduction::None } else { Reduction::Persistent };
                let options = ClaimOptions { emptiness, fairness, reduction, ..ClaimOptions::default() };
                let forgets = matches!(emptiness, Emptiness::Nested(NestedStore::Bounded { .. }));
                let meter = if forgets { hurried() } else { meter(PLENTY) };
                let outcome = check_claim(&mut own, &claim, options, &meter, &mut Quiet);
                let violated = match &outcome.verdict {
                    Verdict::Holds => false,
                    Verdict::Violated(all) => {
                        for violation in all {
                            replay(&mut own, &violation.witness).map_err(|e| format!("{name}: {e}"))?;
                        }
                        true
                    }
                    Verdict::Unknown(Limit::Memory { .. }) => continue,
                    Verdict::Unknown(Limit::Time { .. }) if forgets => continue,
                    Verdict::Unknown(limit) => return Err(format!("{name}, {emptiness:?}: {limit}")),
                };
                if emptiness == Emptiness::Components {
                    by_threads(name, (&bound, &claim), options, &outcome)?;
                }
                let expected = first[usize::from(fairness == Fairness::Weak)].get_or_insert(violated);
                if *expected != violated {
                    let mode = if plain { "plain" } else { "default" };
                    return Err(format!(
                        "{name}, {mode}, {emptiness:?}, {fairness:?}: violated {violated}, first {expected}"
                    ));
                }
            }
        }
    }
    Ok(first[0].unwrap_or(false))
}

/// Threads that begin early say of a claim what one thread says, and show the same run.
fn by_threads(
    name: &str,
    (machine, claim): (&Machine, &Claim),
    options: ClaimOptions<'_>,
    alone: &ClaimOutcome,
) -> Result<(), String> {
    let states = alone.statistics.states;
    let another = || Some((Box::new(machine.clone()) as Box<dyn System>, claim.clone()));
    // Each program has several claims, each asked in several ways, so that all numbers come up.
    let workers = [1, 2, 3, 8][states as usize % 4];
    let crew = Crew::new(workers, &another).from(states % 50);
    let options = ClaimOptions { crew: Some(&crew), ..options };
    let outcome = check_claim(&mut machine.clone(), claim, options, &meter(PLENTY), &mut Quiet);
    match outcome.verdict == alone.verdict {
        true => Ok(()),
        false => Err(format!("{name}, {workers} threads: {:?}, alone {:?}", outcome.verdict, alone.verdict)),
    }
}
