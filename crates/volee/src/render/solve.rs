//! The value of an equation system or the winner of a game, as it is told.

use std::fmt::Write as _;

use volee_bes::SolveError;
use volee_report::{Answer, Palette, QuestionAnswer, bytes, counted, seconds};
use volee_system::{Diagnostic, Meter, Reason, ReasonKind};

use super::Outcome;
use crate::solve::{Equations, Resolution};

/// What came out of solving `input`, which is called `name`; `seed` is that of a random one.
///
/// # Errors
/// It could not be solved at all.
pub fn resolution(
    input: &Equations,
    name: &str,
    solved: Result<Resolution, SolveError>,
    seed: u64,
    meter: &Meter,
    palette: Palette,
) -> Result<Outcome, Diagnostic> {
    let mut answer = Answer::new("solve").about(name, "equations");
    let (yes, no) = input.sentences();
    let mut text = String::new();
    match solved {
        Ok(solved) => {
            // A value is neither good nor bad news, so it is said in plain words; machines get the usual
            // verdict.
            let _ = writeln!(text, "{}", palette.strong(if solved.value { &yes } else { &no }));
            let reason = Reason { kind: ReasonKind::Formula, message: no, place: None };
            answer.push(match solved.value {
                true => QuestionAnswer::holds(&yes),
                false => QuestionAnswer::violated(&yes, &reason, None),
            });
            answer.set("value", solved.value);
            let _ = writeln!(text, "{}", palette.faint(costs(&solved, seed, meter, &mut answer)));
        }
        Err(SolveError::Limit(limit)) => {
            let unknown = palette.doubtful(format!("{:<9}", "unknown"));
            let _ = writeln!(text, "{unknown} whether {yes}  ({limit})");
            answer.push(QuestionAnswer::unknown(&yes, &limit));
        }
        Err(other) => return Err(Diagnostic::error(other.to_string(), None)),
    }
    Ok(Outcome::new(answer, text))
}

fn costs(solved: &Resolution, seed: u64, meter: &Meter, answer: &mut Answer) -> String {
    let elapsed = meter.elapsed().as_secs_f64();
    answer.set("variables", solved.variables);
    answer.set("transitions", solved.edges);
    answer.set("seconds", elapsed);
    answer.set("peak_memory_bytes", solved.memory);
    answer.set("solver", solved.method);
    answer.set("seed", seed);
    format!(
        "{}: {}, {} looked at, {}, {}; the certificate was checked",
        solved.method,
        counted(solved.variables as usize, "variable"),
        counted(solved.edges as usize, "edge"),
        seconds(elapsed),
        bytes(solved.memory),
    )
}
