//! The question "does this system satisfy this formula?", from end to end: solve, confirm, explain.

use serde::Serialize;
use volee_logic::mu::Equations;
use volee_store::checkpoint::Checkpoint;
use volee_system::{Diagnostic, Draft, Meter, Progress, System};

use crate::audit::audited;
use crate::certificate::{CheckError, check, check_kept, show};
use crate::explain::{Explanation, Keeper, Proof, explain, proof_of_game, stands_alone};
use crate::game::{Player, build, verify, zielonka};
use crate::graph::BooleanGraph as _;
use crate::model::ModelGraph;
use crate::solve::{How, Proof as Reliance, Solution, SolveError, Solved, Solver, Statistics, solve};

/// Of the memory that may be used, kept steps take no more than this part.
const STEPS: u64 = 4;

/// A confirmed answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Whether all initial states satisfy the formula.
    pub value: bool,
    /// How it was found.
    pub method: Method,
    /// What it cost.
    pub statistics: Statistics,
    /// Why.
    pub explanation: Explanation,
    /// How many threads have found and confirmed it.
    pub workers: usize,
    /// The labels and patterns of the formula that no step looked at is. A formula about what never happens
    /// is answered all the same, but whoever asked may have meant something else.
    pub silent: Vec<String>,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Block after block, by this strategy.
    Equations(Solver),
    /// As a parity game.
    ParityGame,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The formula does not fit the system.
    #[error(transparent)]
    Formula(#[from] Diagnostic),
    /// A limit, or a state in which the formula has no meaning.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Asks whether a system satisfies a formula. Explanations keep at most `most` variables.
///
/// # Errors
/// The formula does not fit the system, has no meaning in some state, or a limit was hit.
pub fn ask(
    draft: &mut dyn Draft,
    equations: Equations,
    how: How<'_>,
    most: usize,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Answer, AnswerError> {
    ask_told_by(draft, None, equations, how, most, meter, progress)
}

/// The same where `teller` has other names for the same steps, by which the answer is explained.
///
/// # Errors
/// The formula does not fit the system, has no meaning in some state, or a limit was hit.
pub fn ask_told_by(
    draft: &mut dyn Draft,
    teller: Option<&mut dyn Draft>,
    equations: Equations,
    how: How<'_>,
    most: usize,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Answer, AnswerError> {
    let mut teller = teller.map(|teller| ModelGraph::of(teller, equations.clone())).transpose()?;
    let mut graph = ModelGraph::of(draft, equations)?;
    let found = if graph.equations().alternation_free() {
        by_equations(&mut graph, how, most, meter, progress)?
    } else {
        by_game(&mut graph, how.kept, most, meter, progress)?
    };
    let told = teller.as_mut().unwrap_or(&mut graph);
    let explanation = explained(told, &found.proof, found.value, meter);
    let Found { value, method, statistics, workers, .. } = found;
    Ok(Answer { value, method, statistics, explanation, workers, silent: graph.silent() })
}

/// A confirmed value, and why.
struct Found {
    value: bool,
    method: Method,
    statistics: Statistics,
    workers: usize,
    proof: Proof,
}

fn by_equations<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    how: How<'_>,
    most: usize,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Found, SolveError> {
    if how.kept.is_none() {
        // What is kept in a file has states, not numbers.
        graph.number_states(meter.budget().memory.map(|bytes| bytes / STEPS));
    }
    let mut keeper = Keeper::new(most);
    let auditing = how.crew.filter(|crew| crew.helps(how, meter) && graph.outruns(crew.workers()));
    let (solved, confirmed) = match auditing {
        Some(crew) => audited(graph, crew, meter, |graph| {
            let solved = solve(graph, how, meter, progress)?;
            match check_kept(graph, &solved.solution, solved.value, meter, &mut keeper) {
                Err(CheckError::Limit(limit)) => Err(limit.into()),
                checked => Ok((solved, checked.ok())),
            }
        })?,
        None => (solve(graph, how, meter, progress)?, None),
    };
    let Solved { value, solution, mut statistics, mut workers, .. } = solved;
    match (solved.proof, confirmed) {
        (Reliance::Unchecked, Some(memory)) => {
            statistics.memory += memory as u64;
            workers = 2;
        }
        (Reliance::Unchecked, None) => {
            keeper = Keeper::new(most);
            check(graph, &solution, value, meter, &mut keeper)?;
        }
        // Whoever has found it has checked it.
        (Reliance::Confirmed | Reliance::ByChance, _) => show(graph, &solution, value, meter, &mut keeper)?,
    }
    let proof = proof_of(graph, keeper, &solution);
    Ok(Found { value, method: Method::Equations(solved.solver), statistics, workers, proof })
}

/// Checks that a solution proves a value, and explains why. Explanations keep at most `most` variables.
///
/// # Errors
/// It does not, or a limit was hit.
pub fn confirm(
    graph: &mut ModelGraph<'_, dyn System + '_>,
    solution: &Solution,
    value: bool,
    most: usize,
    meter: &Meter,
) -> Result<Explanation, SolveError> {
    let mut keeper = Keeper::new(most);
    check(graph, solution, value, meter, &mut keeper)?;
    let proof = proof_of(graph, keeper, solution);
    Ok(explained(graph, &proof, value, meter))
}

/// The proof that was walked, in terms of states.
fn proof_of<S: System + ?Sized>(graph: &mut ModelGraph<'_, S>, keeper: Keeper, solution: &Solution) -> Proof {
    let mut proof = keeper.proof(solution);
    proof.items.iter_mut().for_each(|item| item.place = graph.state(&item.place));
    graph.forget_numbers();
    proof
}

/// An explanation that says of itself whether it is complete.
fn explained<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    proof: &Proof,
    value: bool,
    meter: &Meter,
) -> Explanation {
    let mut explanation = explain(graph, proof);
    explanation.complete = explanation.complete && stands_alone(graph, &explanation, value, meter);
    explanation.linear &= explanation.complete;
    explanation
}

fn by_game<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    kept: Option<&Checkpoint>,
    most: usize,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Found, SolveError> {
    let built = build(graph, kept, meter, progress)?;
    let winning = zielonka(&built.game, meter).map_err(SolveError::from)?;
    verify(&built.game, &winning, 0).map_err(|defect| {
        let message =
            format!("the answer was not confirmed ({defect}); this is a defect of volee, please report it");
        SolveError::Limit(volee_system::Limit::Other { message })
    })?;
    let statistics = Statistics {
        places: built.places() as u64,
        variables: built.game.len() as u64,
        expanded: built.game.len() as u64,
        edges: built.game.edge_count() as u64,
        told: 0,
        memory: (built.game.len() * 9 + built.game.edge_count() * 4) as u64,
        depth: 0,
    };
    let proof = proof_of_game(&built, &winning, most);
    let value = winning.winner[0] == Player::Even;
    Ok(Found { value, method: Method::ParityGame, statistics, workers: 1, proof })
}
