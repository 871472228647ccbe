//! Formulas about runs of counter programs, as automata that watch them (`watchers.rs`).
//!
//! A finite-trace formula is its monitor; a formula of LTL is the automaton of its negation, where being in a
//! state of it is enough to be wrong or else passing some of its states again and again; and a formula of the
//! mu-calculus is the automaton whose states are its diamonds: one that asks whether some run does something,
//! or that no run does. Each becomes a search for a bad location of the product
//! (`volee-counters/src/watch.rs`).

use volee_counters::{
    Condition, EventAtom, Program, Reading, Region, Transition, Translation, Watched, Watcher, beside,
    elsewhere, ends_of, parse_condition, translate_watching,
};
use volee_logic::formula;
use volee_promela::Lowered;
use volee_search::{Names, Runs};
use volee_system::{Diagnostic, Reason, ReasonKind};

use super::counters::{Counted, Search, expression, process_options};
use super::equations;
use super::watchers::{Modal, Recurrences, Seen, Traces, Violations, atoms_of};
use crate::answer::AskError;
use crate::question::Question;
use crate::settings::Settings;

/// A question about runs, as an automaton that watches them.
struct Plan {
    watcher: Box<dyn Watcher>,
    atoms: Vec<Seen>,
    reading: Reading,
    reason: Reason,
    goal: bool,
}

/// Why a claim about runs is not decided, and what to do; nothing where it is.
pub(crate) fn refuses(question: &Question, settings: &Settings) -> Option<String> {
    let Err(AskError::Input(wrong)) = plan(question, settings) else { return None };
    let first = wrong.into_iter().next()?;
    Some(first.help.map_or_else(|| first.message.clone(), |help| format!("{}; {help}", first.message)))
}

fn plan(question: &Question, settings: &Settings) -> Result<Plan, AskError> {
    let because = |kind, message: &str| Reason { kind, message: message.into(), place: None };
    match question {
        Question::Tl(text) => {
            let parsed = formula::parse(text, &question.origin())?;
            let message = match settings.runs {
                Runs::Prefixes => "the formula is false of this run",
                Runs::Maximal => "the run ends here, and the formula is false of it",
            };
            Ok(Plan {
                watcher: Box::new(Traces::new(&parsed)?),
                atoms: atoms_of(&parsed, Names::Events)?,
                reading: Reading::Steps,
                reason: because(ReasonKind::Formula, message),
                goal: false,
            })
        }
        Question::Ltl { text, .. } => {
            let parsed = formula::parse(text, &question.origin())?;
            let atoms = atoms_of(&parsed, Names::States)?;
            let terminal = Violations::new(parsed.clone())?;
            let reason = match terminal {
                Some(_) => {
                    because(ReasonKind::Trap, "this run can no longer satisfy the property, whatever follows")
                }
                None => because(ReasonKind::AcceptanceCycle, "an infinite run violates the property"),
            };
            let watcher: Box<dyn Watcher> = match terminal {
                Some(watcher) => Box::new(watcher),
                None => Box::new(Recurrences::new(&parsed)?),
            };
            Ok(Plan { watcher, atoms, reading: Reading::Sources, reason, goal: false })
        }
        _ => {
            let equations = equations::formula(question, &settings.macros)?;
            let Some((modal, goal)) = Modal::new(equations.formula)? else {
                return Err(AskError::new(
                    format!(
                        "`{question}` neither asks whether some run does something nor whether none does"
                    ),
                    "with unbounded integers ask <R> p or [R] p, where p is about one state and R is regular",
                ));
            };
            let atoms = modal.atoms().to_vec();
            let message = "the formula is false in the initial state";
            let reason = because(ReasonKind::Formula, message);
            Ok(Plan { watcher: Box::new(modal), atoms, reading: Reading::States, reason, goal })
        }
    }
}

/// The search that decides a question about runs.
pub(super) fn search(
    counted: &Counted,
    settings: &Settings,
    question: &Question,
) -> Result<Search, AskError> {
    let mut plan = plan(question, settings)?;
    let maximal = settings.runs == Runs::Maximal && matches!(question, Question::Tl(_));
    let (product, heard) = match counted {
        Counted::Program(program) => of_program(program, &mut plan, question, maximal)?,
        Counted::Processes(both) => {
            let (translation, lowered) = both.as_ref();
            let events: Vec<EventAtom> = plan.atoms.iter().filter_map(Seen::event).collect();
            if events.is_empty() {
                of_processes(translation, lowered, &mut plan, question, maximal)?
            } else {
                let options = process_options(lowered, settings)?;
                let translation = translate_watching(&lowered.program, &options, &events)?;
                of_processes(&translation, lowered, &mut plan, question, maximal)?
            }
        }
    };
    let recurs = plan.watcher.is_recurrent();
    let Plan { reason, goal, atoms, .. } = plan;
    let named = |(bit, atom): (usize, &Seen)| match atom {
        Seen::Event(pattern, _) if heard >> bit & 1 == 0 => Some(pattern.to_string()),
        _ => None,
    };
    let silent = atoms.iter().enumerate().filter_map(named).collect();
    let (question, product) = (question.clone(), Some(product));
    Ok(Search { question, bad: Vec::new(), reason, goal, product, recurs, silent })
}

fn of_processes(
    translation: &Translation,
    lowered: &Lowered,
    plan: &mut Plan,
    question: &Question,
    only_at_ends: bool,
) -> Result<(Program, u64), AskError> {
    let regions = |text: &str| {
        let complain = |wrong: Diagnostic| AskError::expression(&question.origin(), text, wrong);
        let expr = expression(lowered, &question.origin(), text)?;
        let holds = translation.regions(&expr, true).map_err(complain)?;
        let fails = translation.regions(&expr, false).map_err(complain)?;
        Ok(Condition { holds, fails })
    };
    let is_event = |(_, atom): &(usize, &Seen)| matches!(atom, Seen::Event(..));
    let bits: Vec<usize> = plan.atoms.iter().enumerate().filter(is_event).map(|(bit, _)| bit).collect();
    let moved = |seen: &u64| bits.iter().enumerate().fold(0, |all, (i, bit)| all | (seen >> i & 1) << bit);
    let ends = ends(translation.ends.clone(), plan, only_at_ends)?;
    let watched = Watched {
        program: &translation.program,
        events: &translation.events.iter().map(moved).collect::<Vec<u64>>(),
        visible: &translation.visible,
        failed: &translation.failed(),
        conditions: conditions(&translation.program, &plan.atoms, &ends, regions)?,
        ends: &ends,
        reading: plan.reading,
        only_at_ends,
    };
    product(&watched, plan)
}

fn of_program(
    program: &Program,
    plan: &mut Plan,
    question: &Question,
    only_at_ends: bool,
) -> Result<(Program, u64), AskError> {
    let regions = |text: &str| {
        parse_condition(program, text).map_err(|wrong| AskError::expression(&question.origin(), text, wrong))
    };
    let events = |transition: &Transition| {
        let meant =
            |atom: &Seen| matches!(atom, Seen::Event(_, matcher) if matcher.matches(&transition.name));
        plan.atoms.iter().enumerate().fold(0, |all, (bit, atom)| all | u64::from(meant(atom)) << bit)
    };
    let events: Vec<u64> = program.transitions.iter().map(events).collect();
    let ends = ends(ends_of(program), plan, only_at_ends)?;
    let watched = Watched {
        program,
        events: &events,
        visible: &vec![true; program.locations.len()],
        failed: &vec![false; program.locations.len()],
        conditions: conditions(program, &plan.atoms, &ends, regions)?,
        ends: &ends,
        reading: plan.reading,
        only_at_ends,
    };
    product(&watched, plan)
}

/// Where runs end, if that matters.
fn ends(known: Option<Vec<Region>>, plan: &Plan, only_at_ends: bool) -> Result<Vec<Region>, AskError> {
    match known {
        Some(ends) => Ok(ends),
        None if plan.reading == Reading::Steps && !only_at_ends => Ok(Vec::new()),
        None => Err(complicated()),
    }
}

fn complicated() -> AskError {
    AskError::new(
        "where runs of this model end is too complicated, and the formula depends on it",
        "ask for an invariant, or whether something is reachable",
    )
}

/// The atoms that are about states: where they hold, and where they do not.
fn conditions(
    program: &Program,
    atoms: &[Seen],
    ends: &[Region],
    regions: impl Fn(&str) -> Result<Condition, AskError>,
) -> Result<Vec<(u32, Condition)>, AskError> {
    let mut all = Vec::new();
    for (bit, atom) in (0..).zip(atoms) {
        match atom {
            Seen::Condition(text) => all.push((bit, regions(text)?)),
            Seen::Ended => {
                let fails = elsewhere(program, ends).ok_or_else(complicated)?;
                all.push((bit, Condition { holds: ends.to_vec(), fails }));
            }
            Seen::Event(..) => {}
        }
    }
    Ok(all)
}

/// The product, and the events that some transition is.
fn product(watched: &Watched<'_>, plan: &mut Plan) -> Result<(Program, u64), AskError> {
    let heard = watched.events.iter().fold(0, |all, bits| all | bits);
    let help = "ask for less at once, or make what is explicit in the model smaller";
    let made = beside(watched, plan.watcher.as_mut());
    made.map(|product| (product, heard)).map_err(|error| AskError::new(error.to_string(), help))
}
