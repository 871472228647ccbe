//! A second opinion: the same questions of the plain program, by a search that takes all steps, in what is
//! left of the budget.
//!
//! A violation is confirmed by its run; that something holds has no such witness. So whoever wants to know
//! whether merging, forgetting, reducing or sharing the work has lost something asks once more without any of
//! them. Two answers that contradict each other are a defect, and no verdict.

use serde_json::{Value, json};
use volee_report::VerdictWord;
use volee_search::Reduction;
use volee_system::{Meter, Progress, Verdict};

use crate::answer::{Answer, Answers, AskError};
use crate::ask::Ask;
use crate::engine::Engine;
use crate::judge::Defect;
use crate::model::Options;
use crate::question::Question;
use crate::settings::Settings;
use crate::source::{Source, Subject};

/// Asks once more, and tells whether the answers agree.
pub(crate) fn audit(
    first: &Ask<'_>,
    questions: &[Question],
    answers: &mut Answers,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(), AskError> {
    let plain;
    let subject = match &first.subject {
        Subject::Source(source) => {
            let options = Options { bare: true, ..source.options.plainly() };
            plain = Source { options, ..(*source).clone() };
            Subject::Source(&plain)
        }
        Subject::System(make) => Subject::System(make.clone()),
    };
    let settings = Settings {
        audit: false,
        reduction: Some(Reduction::None),
        approximation: None,
        emptiness: None,
        // Every question gets an answer of its own, whichever error comes first.
        all_errors: questions.iter().any(Question::is_about_states),
        ..first.settings.clone()
    };
    let again = Ask::new(subject).questions(questions.iter().cloned()).engine(Engine::Auto);
    let second = again.settings(settings).budget(meter.left()).run(progress)?;
    let mut results = Vec::new();
    let (mut worst, mut agrees) = (VerdictWord::Holds, Some(true));
    for answer in &answers.answers {
        let Some(other) = second.answers.iter().find(|a| a.question == answer.question) else { continue };
        let opinion = agree(answer, other);
        if opinion == Some(false) {
            let options = format!("{:?}", first.settings);
            let (name, question) = (first.subject.name(), answer.question.to_string());
            return Err(Defect::disagreement(&name, &options, &question, word(answer), word(other)).into());
        }
        agrees = agrees.and(opinion);
        worst = worst.max(VerdictWord::from(&other.verdict));
        results.push(
            json!({ "question": answer.question.to_string(), "verdict": word(other), "agrees": opinion }),
        );
    }
    answers.remarks.push(match agrees {
        Some(_) => format!("audited: a search of all {} states of the plain program agrees", second.figures.states()),
        None => "audited in part: a search of the plain program does not contradict, and does not decide everything".into(),
    });
    let field: Value = json!({ "verdict": worst.as_str(), "agrees": agrees, "results": results,
        "states": second.figures.states() });
    answers.fields.insert("audit".into(), field);
    Ok(())
}

fn word(answer: &Answer) -> &'static str {
    VerdictWord::from(&answer.verdict).as_str()
}

/// Whether two answers say the same; `None` if one of them says nothing.
fn agree(a: &Answer, b: &Answer) -> Option<bool> {
    let undecided = |answer: &Answer| matches!(answer.verdict, Verdict::Unknown(_));
    (!undecided(a) && !undecided(b)).then(|| word(a) == word(b))
}
