//! The question "does this system satisfy this formula?", from end to end: solve, confirm, explain.

use serde::Serialize;
use volee_logic::mu::{Action, Equations};
use volee_system::{Diagnostic, Meter, Progress, System};

use crate::certificate::check;
use crate::explain::{Explanation, Keeper, explain, proof_of_game};
use crate::game::{Player, build, verify, zielonka};
use crate::model::ModelGraph;
use crate::solve::{Solution, SolveError, Solver, Statistics, solve};

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
pub fn ask<S: System + ?Sized>(
    system: &mut S,
    equations: Equations,
    solver: Solver,
    most: usize,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Answer, AnswerError> {
    let mut graph = ModelGraph::new(system, equations)?;
    if !graph.equations().alternation_free() {
        return by_game(&mut graph, most, meter, progress);
    }
    let solved = solve(&mut graph, solver, meter, progress)?;
    let explanation = confirm(&mut graph, &solved.solution, solved.value, most, meter)?;
    let method = Method::Equations(solved.solver);
    Ok(Answer { value: solved.value, method, statistics: solved.statistics, explanation })
}

/// Checks that a solution proves a value, and explains why. Explanations keep at most `most` variables.
///
/// # Errors
/// It does not, or a limit was hit.
pub fn confirm<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    solution: &Solution,
    value: bool,
    most: usize,
    meter: &Meter,
) -> Result<Explanation, SolveError> {
    let mut keeper = Keeper::new(most);
    check(graph, solution, value, meter, &mut keeper)?;
    let proof = keeper.proof(solution);
    Ok(explain(graph, &proof))
}

fn by_game<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    most: usize,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Answer, AnswerError> {
    let built = build(graph, meter, progress)?;
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
    let explanation = explain(graph, &proof);
    let value = winning.winner[0] == Player::Even;
    Ok(Answer { value, method: Method::ParityGame, statistics, explanation })
}

/// The labels that a formula names but that are not among `labels`: probably misspelt.
pub fn labels_that_never_occur(actions: &[Action], labels: impl Iterator<Item = String>) -> Vec<&str> {
    let mut named = Vec::new();
    actions.iter().for_each(|action| action.named_labels(&mut named));
    named.sort_unstable();
    named.dedup();
    let known: std::collections::HashSet<String> = labels.collect();
    named.retain(|name| !known.contains(*name));
    named
}
