//! What questions to symbolic engines speak of and never happens. Explicit searches see what happens on their
//! way; who decides about sets of states is asked once more: whether the left side of an implication is false
//! everywhere, in the same words and with the same engine. Events that no statement of the program is are
//! told from the program alone.

use volee_logic::formula::{AtomKind, EventPattern, LabelPattern, parse};
use volee_search::left_sides;

use crate::answer::Answers;
use crate::engine::Engine;
use crate::model::Model;
use crate::question::Question;

/// Whether an engine does not see by itself what never happens.
fn is_blind(engine: &Engine) -> bool {
    matches!(engine, Engine::Families | Engine::Counters)
}

/// The left sides of implications in what holds, as they are told, and the question whether each is false
/// everywhere.
pub(crate) fn further_questions(engine: &Engine, answers: &Answers) -> Vec<(String, Question)> {
    let mut all: Vec<(String, Question)> = Vec::new();
    for answer in answers.iter().filter(|answer| is_blind(engine) && answer.holds()) {
        let text = match &answer.question {
            Question::Invariant(text) | Question::Ltl { text, .. } => text,
            _ => continue,
        };
        for (told, expression) in left_sides(text) {
            let question = Question::Invariant(format!("!({expression})"));
            if !all.iter().any(|(known, _)| *known == told) {
                all.push((told, question));
            }
        }
    }
    all
}

/// The events that questions to an engine name and that no statement of the model is.
pub(crate) fn unknown_events(engine: &Engine, model: &Model, questions: &[Question]) -> Vec<String> {
    // Who counts sees by itself what the steps of the explicit half are.
    let of_families = matches!(engine, Engine::Families);
    let Some(lowered) = model.promela.as_ref().filter(|_| of_families) else { return Vec::new() };
    let nodes = lowered.program.proctypes.iter().flat_map(|proctype| &proctype.nodes);
    let texts: Vec<&str> =
        nodes.flat_map(|node| &node.transitions).map(|t| t.statement.text.as_ref()).collect();
    let mut all = Vec::new();
    for question in questions {
        let (text, names_are_events) = match question {
            Question::Tl(text) => (text, true),
            Question::Ltl { text, .. } => (text, false),
            _ => continue,
        };
        let Ok(formula) = parse(text, "formula") else { continue };
        for id in formula.atoms() {
            let pattern = match &formula.pool.atoms()[id.0 as usize].kind {
                AtomKind::Event(pattern) => pattern.clone(),
                AtomKind::Name(name) if names_are_events => {
                    EventPattern::any_process(LabelPattern::Name(name.clone()))
                }
                _ => continue,
            };
            let Ok(matcher) = pattern.matcher() else { continue };
            let told = formula.atom_text(id);
            if !texts.iter().any(|text| matcher.matches_event(text)) && !all.contains(&told) {
                all.push(told);
            }
        }
    }
    all
}
