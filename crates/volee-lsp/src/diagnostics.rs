//! What is wrong with a text, as the editor shows it: errors, warnings, what is superfluous, and what a check
//! found.

use std::path::Path;
use std::sync::Arc;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString,
};
use volee::promela::lint::{LINTS, Weight};
use volee::system::{self, Place};

use crate::document::Document;
use crate::lines::Lines;
use crate::uri::{same_file, uri_of};

/// Everything to be shown in a document.
pub(crate) fn of(document: &Document) -> Vec<Diagnostic> {
    let lines = document.lines();
    let mut all: Vec<Diagnostic> = document
        .study
        .diagnostics
        .iter()
        .filter(|d| is_here(document, d.place.as_ref()))
        .map(|d| shown(d, &lines))
        .collect();
    for finding in &document.results.findings {
        let Some(place) = finding.place.as_ref().filter(|p| is_here(document, Some(p))) else { continue };
        let steps = finding.steps.iter().filter_map(|(place, text)| related(document, place, text)).collect();
        all.push(Diagnostic {
            range: lines.range_at(place, 0),
            severity: Some(DiagnosticSeverity::ERROR),
            source: Some("volee check".into()),
            message: format!("{}: {}", finding.question, finding.message),
            related_information: Some(steps),
            ..Diagnostic::default()
        });
    }
    for unreached in &document.results.unreached {
        let Some(place) = unreached.place.as_ref().filter(|p| is_here(document, Some(p))) else { continue };
        all.push(Diagnostic {
            range: Lines::new(&document.text).range_at(place, 0),
            severity: Some(DiagnosticSeverity::HINT),
            source: Some("volee check".into()),
            message: format!("no run executes `{}` of {}", unreached.text, unreached.process),
            tags: Some(vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        });
    }
    all
}

/// Whether a place is in the file that a document shows. A message without a place is about the whole file.
pub(crate) fn is_here(document: &Document, place: Option<&Place>) -> bool {
    let file = &document.index().files;
    match (place, file.get(document.file as usize)) {
        (Some(place), Some(file)) => {
            place.file == file.name || same_file(Path::new(&*place.file), &document.path)
        }
        (Some(place), None) => Path::new(&*place.file) == document.path,
        (None, _) => document.root.is_none(),
    }
}

fn shown(diagnostic: &system::Diagnostic, lines: &Lines) -> Diagnostic {
    let range = match &diagnostic.place {
        Some(place) => lines.range_at(place, diagnostic.length),
        None => lines.range(0, 0),
    };
    let untidy = LINTS
        .iter()
        .any(|lint| lint.weight == Weight::Untidy && Some(lint.code) == diagnostic.code.as_deref());
    let severity = match diagnostic.severity {
        system::Severity::Error => DiagnosticSeverity::ERROR,
        system::Severity::Warning if untidy => DiagnosticSeverity::INFORMATION,
        system::Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let unused = diagnostic.code.as_deref().is_some_and(|code| code.starts_with("unused"));
    let message = match &diagnostic.help {
        Some(help) => format!("{}\n{help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    Diagnostic {
        range,
        severity: Some(severity),
        code: diagnostic.code.as_ref().map(|code: &Arc<str>| NumberOrString::String(code.to_string())),
        source: Some("volee".into()),
        message,
        tags: unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

fn related(document: &Document, place: &Place, text: &str) -> Option<DiagnosticRelatedInformation> {
    let file = document.index().files.iter().find(|f| f.name == place.file)?;
    let here = document.index().files.get(document.file as usize).is_some_and(|f| f.name == place.file);
    let uri = if here { document.uri.clone() } else { uri_of(Path::new(&*place.file))? };
    let range = Lines::new(&file.text).range_at(place, 0);
    Some(DiagnosticRelatedInformation { location: Location { uri, range }, message: text.to_owned() })
}

/// The diagnostics of the front end that touch a range and have a fix.
pub(crate) fn fixable(
    document: &Document,
    range: lsp_types::Range,
) -> impl Iterator<Item = (&system::Diagnostic, Diagnostic)> {
    document
        .study
        .diagnostics
        .iter()
        .filter(|d| d.fix.is_some() && is_here(document, d.place.as_ref()))
        .filter_map(move |d| {
            let shown = shown(d, &document.lines());
            let apart = shown.range.end < range.start || range.end < shown.range.start;
            (!apart).then_some((d, shown))
        })
}
