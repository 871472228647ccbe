//! A run that was replayed, and what it shows.

use volee_report::{Answer, Palette, QuestionAnswer, run_value};
use volee_system::Diagnostic;

use super::{Outcome, RunView};
use crate::judge::Ending;
use crate::replay::Replayed;

/// A run that was replayed; it is written to the files that the view names.
///
/// # Errors
/// A file cannot be written.
pub fn replayed(replayed: &Replayed, view: &RunView, palette: Palette) -> Result<Outcome, Diagnostic> {
    let Replayed { model, trace, confirmed, .. } = replayed;
    let run = &confirmed.run;
    let mut text = format!("{}\n", palette.strong(format!("{}:", trace.title())));
    text.push_str(&view.text(run, model, palette));
    let mut answer = Answer::new("replay").about(model, "explicit");
    answer.set("steps", run.skipped + run.steps.len());
    answer.add("question", trace.question.as_str());
    answer.add("witness", run_value(run));
    answer.add("ending", word(&confirmed.ending));
    let reason = match &trace.claim {
        Some(claim) => {
            answer.add("confirmed", claim.to_string());
            confirmed.reason(claim)
        }
        None => confirmed.ending.reason(),
    };
    let told = match (&reason, &trace.claim) {
        (Some(reason), Some(_)) => palette.bad(format!("confirmed: {}", reason.message)),
        (Some(reason), None) => palette.bad(&reason.message),
        (None, Some(claim)) => palette.good(format!("confirmed: {claim}")),
        (None, None) => palette.faint(sentence(&confirmed.ending)),
    };
    text.push_str(&format!("{told}\n"));
    match &reason {
        Some(reason) => answer.push(QuestionAnswer::violated(&trace.question, reason, Some(run))),
        None if trace.claim.is_some() => {
            answer.push(QuestionAnswer::holds(&trace.question).with_run(run));
        }
        None => {}
    }
    for path in view.write(trace, run, true)? {
        text.push_str(&format!("written to {}\n", path.display()));
    }
    Ok(Outcome::new(answer, text))
}

fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Fault(_) => "fault",
        Ending::Deadlock => "deadlock",
        Ending::ValidEnd => "end",
        Ending::Cycle => "cycle",
        Ending::GoesOn => "steps",
    }
}

fn sentence(ending: &Ending) -> &'static str {
    match ending {
        Ending::Fault(_) => "the last step meets an error",
        Ending::Deadlock => "no step is possible here, and this is not a valid end",
        Ending::ValidEnd => "no step is possible here: a valid end",
        Ending::Cycle => "the cycle can be repeated for ever",
        Ending::GoesOn => "the run could go on from here",
    }
}
