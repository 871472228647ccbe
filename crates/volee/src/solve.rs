//! Systems of boolean equations and parity games that are given as such: read, made at random, written,
//! solved.
//!
//! Every value is confirmed by code that did not find it: the certificate of equations is checked, the
//! strategies of a game are.

use std::path::Path;

use sha2::{Digest as _, Sha256};
pub use volee_bes::How;
use volee_bes::explicit::Explicit;
use volee_bes::format::{game_to_equations, read_bes, read_gm, write_bes, write_gm};
use volee_bes::game::{Game, Player, verify, zielonka};
pub use volee_bes::random::Shape;
use volee_bes::random::equations;
use volee_bes::{BooleanGraph as _, SolveError, Solver, Trouble};
use volee_store::checkpoint::{self, Checkpoint};
use volee_system::{Diagnostic, Limit, Meter, Progress};

use crate::answer::AskError;
use crate::engine::Engine;
use crate::engines::workers;
use crate::kept::{self, Keep};

/// What a file of equations holds.
pub enum Equations {
    /// Equations, with the names of their variables.
    System(Explicit, Vec<String>),
    /// A parity game and the vertex that is asked about.
    Game(Game, u32),
}

/// What came out.
pub struct Resolution {
    /// The value of the main variable; of a game, whether the even player wins.
    pub value: bool,
    /// Who found it.
    pub method: &'static str,
    /// Variables that were looked at.
    pub variables: u64,
    /// Edges that were looked at.
    pub edges: u64,
    /// Bytes.
    pub memory: u64,
}

impl Equations {
    /// Reads a file; its extension says what it is.
    ///
    /// # Errors
    /// The text is no system of equations or game, or the extension is that of neither.
    pub fn read(path: &Path, text: &str) -> Result<Self, Diagnostic> {
        let name = path.display().to_string();
        match path.extension().and_then(|e| e.to_str()) {
            Some("bes") => read_bes(&name, text).map(|file| Equations::System(file.system, file.names)),
            Some("gm" | "pg") => read_gm(&name, text).map(|file| Equations::Game(file.game, file.start)),
            _ => Err(Diagnostic::error(format!("`{name}` is neither equations nor a game"), None)
                .with_help("equations have the extension .bes, parity games .gm")),
        }
    }

    /// A random system.
    pub fn random(shape: Shape, seed: u64) -> Self {
        Equations::System(equations(shape, seed), Vec::new())
    }

    /// What it means that the value is true, and that it is false.
    pub fn sentences(&self) -> (String, String) {
        match self {
            Equations::System(system, names) => {
                let main = system.main();
                let main = names.get(main as usize).cloned().unwrap_or_else(|| format!("x{main}"));
                (format!("{main} is true"), format!("{main} is false"))
            }
            Equations::Game(_, start) => {
                let wins = |who| format!("the {who} player wins from vertex {start}");
                (wins("even"), wins("odd"))
            }
        }
    }

    /// Where the resolution is kept, of equations that are in this file or nowhere, by one worker or by several.
    ///
    /// # Errors
    /// It is not kept, or the file keeps something else.
    pub fn kept(
        &self,
        keep: &Keep,
        solver: Solver,
        file: Option<&Path>,
        several: bool,
    ) -> Result<Checkpoint, AskError> {
        let Equations::System(system, _) = self else {
            let message = "a parity game is solved as a whole, and not kept in a file";
            return Err(AskError::new(message, "ask without keeping it"));
        };
        let mut asked = Sha256::new();
        // Several workers keep other things than one.
        asked.update(if several { "workers" } else { solver.name() });
        for variable in 0..system.len() as u32 {
            let (row, right) = (system.row(variable), system.right_hand_side(variable));
            asked.update([row.operator as u8]);
            asked.update(row.block.to_le_bytes());
            asked.update((right.len() as u64).to_le_bytes());
            right.iter().for_each(|successor| asked.update(successor.to_le_bytes()));
        }
        kept::prepare_equations(keep, file, &asked.finalize())
    }

    /// The value of the main variable; `workers` are several threads or processes, for equations in a file.
    ///
    /// # Errors
    /// A limit was reached, or it cannot be solved in this way.
    pub fn solve<'k>(
        &self,
        how: impl Into<How<'k>>,
        workers: Option<(&Path, &Engine)>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Resolution, SolveError> {
        let (how, system) = match self {
            Equations::Game(game, start) => return winner(game, *start, meter),
            Equations::System(system, _) => (how.into(), system),
        };
        let solved = match workers {
            Some((file, engine)) => shared(system, file, engine, how.kept, meter, progress),
            None => alone(system, how, meter, progress),
        };
        if let Some(kept) = how.kept.filter(|_| !matches!(solved, Err(SolveError::Limit(_)))) {
            checkpoint::remove(&kept.path);
        }
        solved
    }

    /// The system as a text for a file of this name; a game has only what the main variable reaches.
    ///
    /// # Errors
    /// The extension names no form, or the system does not fit into it.
    pub fn text_for(
        &self,
        path: &Path,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<String, AskError> {
        let wrong = |message: String| AskError::from(Diagnostic::error(message, None));
        Ok(match (path.extension().and_then(|e| e.to_str()), self) {
            (Some("bes"), Equations::System(system, names)) => {
                write_bes(system, |v| names.get(v as usize).cloned().unwrap_or_else(|| format!("x{v}")))
            }
            (Some("bes"), Equations::Game(game, start)) => {
                let system = game_to_equations(game, *start)
                    .ok_or_else(|| wrong("the game has more than 65536 different priorities".into()))?;
                write_bes(&system, |v| format!("x{v}"))
            }
            (Some("gm" | "pg"), Equations::Game(game, start)) => write_gm(game, *start),
            (Some("gm" | "pg"), Equations::System(system, _)) => {
                let built = system.game(None, meter, progress).map_err(|e| wrong(e.to_string()))?;
                write_gm(&built.game, 0)
            }
            _ => return Err(wrong(format!("`{}`: systems are written as .bes or .gm", path.display()))),
        })
    }
}

/// By one thread, from the beginning or from what is kept.
fn alone(
    system: &Explicit,
    how: How<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Resolution, SolveError> {
    if !(&system).alternation_free() {
        let built = system.game(how.kept, meter, progress)?;
        return winner(&built.game, 0, meter);
    }
    let solved = system.solve(how, meter, progress)?;
    system.check(&solved.solution, solved.value, meter)?;
    let (s, method) = (solved.statistics, solved.solver.name());
    Ok(Resolution { value: solved.value, method, variables: s.variables, edges: s.edges, memory: s.memory })
}

/// By several workers, each of which reads the file itself.
fn shared(
    system: &Explicit,
    file: &Path,
    engine: &Engine,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Resolution, SolveError> {
    let trouble = |message: String| SolveError::Trouble(Trouble(message));
    if !(&system).alternation_free() {
        return Err(trouble("several workers solve alternation-free systems only".into()));
    }
    let joint = match workers::solve(file, system, engine, kept, meter, progress) {
        Ok(Ok(joint)) => joint,
        Ok(Err(limit)) => return Err(SolveError::Limit(limit)),
        Err(error) => return Err(trouble(error.to_string())),
    };
    joint.check(Explicit::as_graph(&mut &*system), meter)?;
    let s = joint.statistics;
    let (value, method) = (joint.value, "workers");
    Ok(Resolution { value, method, variables: s.variables, edges: s.edges, memory: s.memory })
}

fn winner(game: &Game, start: u32, meter: &Meter) -> Result<Resolution, SolveError> {
    let winning = zielonka(game, meter)?;
    verify(game, &winning, start).map_err(|defect| {
        let message =
            format!("the answer was not confirmed ({defect}); this is a defect of volee, please report it");
        SolveError::Limit(Limit::Other { message })
    })?;
    let edges = game.edge_count() as u64;
    Ok(Resolution {
        value: winning.winner[start as usize] == Player::Even,
        method: "zielonka",
        variables: game.len() as u64,
        edges,
        memory: game.len() as u64 * 30 + edges * 8,
    })
}
