//! Lints: what is very probably a mistake, found before any search.
//!
//! A lint reads the resolved model and tells what it finds as warnings, each with a code that stays the same,
//! a sentence, and where there is one a change that repairs it. Two kinds: a *slip* is shown wherever a model
//! is opened, since the answer of a search would be about something else than was meant; what is merely
//! *untidy* is shown by editors and by `volee lint`. What the lints know is in `values` (what a variable can
//! be) and `channels` (who shares a channel).

mod blocking;
pub(crate) mod channels;
mod constant;
mod fits;
mod flow;
mod guard;
mod messages;
mod private;
mod set;
mod text;
mod unused;
pub(crate) mod values;
mod walk;

use std::sync::Arc;

use volee_system::Diagnostic;

use crate::model::Model;
use crate::source::{At, Sources};
use channels::Channels;
use text::Texts;
use values::Values;

/// How much a lint matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The model says something else than its author means: shown wherever a model is opened.
    Slip,
    /// Nothing is wrong, but something is superfluous.
    Untidy,
}

/// A kind of mistake that is looked for.
pub struct Lint {
    /// The word that names it in reports.
    pub code: &'static str,
    /// What it finds.
    pub sentence: &'static str,
    /// How much it matters.
    pub weight: Weight,
    run: fn(&Context, &mut Vec<Diagnostic>),
}

/// Every lint there is.
pub const LINTS: &[Lint] = &[
    Lint {
        code: "value-does-not-fit",
        sentence: "a variable, a message or a parameter gets a value that its type does not have",
        weight: Weight::Slip,
        run: fits::assignments,
    },
    Lint {
        code: "comparison-decided",
        sentence: "a comparison with a value that the variable can never have",
        weight: Weight::Slip,
        run: fits::comparisons,
    },
    Lint {
        code: "assignment-as-guard",
        sentence: "`=` where a guard is meant: the assignment is always executable",
        weight: Weight::Slip,
        run: guard::assignments,
    },
    Lint {
        code: "blocks-for-ever",
        sentence: "an `if` or `do` whose guards can all be false of values that nobody else can change",
        weight: Weight::Slip,
        run: blocking::choices,
    },
    Lint {
        code: "message-may-block",
        sentence: "an `if` or `do` without an option for a value that messages may bring",
        weight: Weight::Untidy,
        run: blocking::choices_by_messages,
    },
    Lint {
        code: "channel-never-read",
        sentence: "messages are sent to a channel that nobody receives from",
        weight: Weight::Slip,
        run: messages::never_read,
    },
    Lint {
        code: "channel-never-written",
        sentence: "messages are awaited from a channel that nobody sends to",
        weight: Weight::Slip,
        run: messages::never_written,
    },
    Lint {
        code: "message-never-matches",
        sentence: "a receive waits for a kind of message that nobody sends, or a kind is sent that nobody receives",
        weight: Weight::Slip,
        run: messages::kinds,
    },
    Lint {
        code: "property-never-changes",
        sentence: "a property that mentions nothing that changes",
        weight: Weight::Slip,
        run: constant::properties,
    },
    Lint {
        code: "unused-variable",
        sentence: "a variable that nothing mentions",
        weight: Weight::Untidy,
        run: unused::variables,
    },
    Lint {
        code: "unused-channel",
        sentence: "a channel that nothing mentions",
        weight: Weight::Untidy,
        run: unused::channels,
    },
];

/// What a lint sees.
struct Context<'a> {
    model: &'a Model,
    values: Values,
    channels: Channels,
    texts: Texts<'a>,
    /// The assignments that `->` follows.
    arrows: &'a [At],
    sources: &'a Sources,
}

/// Runs the lints of at least a weight over a model without errors.
pub(crate) fn run(model: &Model, sources: &Sources, least: Weight) -> Vec<Diagnostic> {
    let context = Context {
        model,
        values: Values::of(model),
        channels: Channels::of(model),
        texts: Texts::new(sources),
        arrows: &sources.arrows,
        sources,
    };
    let mut all: Vec<Diagnostic> = Vec::new();
    for lint in LINTS.iter().filter(|lint| lint.weight == Weight::Slip || least == Weight::Untidy) {
        let mut found = Vec::new();
        (lint.run)(&context, &mut found);
        for diagnostic in found {
            let diagnostic = Diagnostic { code: Some(Arc::from(lint.code)), ..diagnostic };
            // The body of an inline is there once for every call.
            if all.len() < crate::limits::MAX_DIAGNOSTICS && !all.contains(&diagnostic) {
                all.push(diagnostic);
            }
        }
    }
    all.sort_by(|a, b| a.place.cmp(&b.place));
    all
}
