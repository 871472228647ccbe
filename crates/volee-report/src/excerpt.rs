//! Messages with the lines of source they are about, drawn by miette.
//!
//! The excerpt is read from the file again when it is needed: front ends hand over places, not text. Lines
//! too long to be read by a person are left out, the place is then all there is.

use std::fs;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report, SourceSpan,
};
use volee_system::{Diagnostic, Place, Severity};

use crate::Palette;

const LONGEST_FILE: u64 = 4 << 20;
const LONGEST_LINE: usize = 300;
const MOST_MESSAGES: usize = 20;
const MOST_PLACES: usize = 12;

/// Renders messages one after the other; beyond the first twenty only their number is told. Of a warning that was given
/// before in the same words only the place is told, with the first one.
pub fn diagnostics_text(diagnostics: &[Diagnostic], palette: Palette) -> String {
    let mut out = String::new();
    let mut shown: Vec<(&Diagnostic, Vec<&Place>)> = Vec::new();
    let mut left_out = 0;
    for diagnostic in diagnostics {
        if let Some((_, also)) = shown.iter_mut().find(|(first, _)| is_the_same(first, diagnostic)) {
            also.extend(diagnostic.place.as_ref());
        } else if shown.len() < MOST_MESSAGES {
            shown.push((diagnostic, Vec::new()));
        } else {
            left_out += 1;
        }
    }
    for (diagnostic, also) in shown {
        out.push_str(&diagnostic_text(diagnostic, palette));
        out.push_str(&also_at(diagnostic, &also));
    }
    if left_out > 0 {
        out.push_str(&format!("… and {left_out} more\n"));
    }
    out
}

/// Whether a warning says what another has said of another place.
fn is_the_same(first: &Diagnostic, other: &Diagnostic) -> bool {
    let words = |d: &Diagnostic| d.severity == Severity::Warning && d.place.is_some();
    words(first) && words(other) && first.message == other.message && first.help == other.help
}

/// The other places of a warning, in the words of a line.
fn also_at(first: &Diagnostic, also: &[&Place]) -> String {
    if also.is_empty() {
        return String::new();
    }
    let file = first.place.as_ref().map(|place| &place.file);
    let told = |place: &Place| match Some(&place.file) == file {
        true => format!("{}:{}", place.line, place.column),
        false => harmless(&format!("{}:{}:{}", place.file, place.line, place.column)),
    };
    let places: Vec<String> = also.iter().take(MOST_PLACES).map(|place| told(place)).collect();
    let more = match also.len() - places.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("  also at {}{more}\n", places.join(", "))
}

/// Renders one message.
fn diagnostic_text(diagnostic: &Diagnostic, palette: Palette) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => miette::Severity::Error,
        Severity::Warning => miette::Severity::Warning,
    };
    let mut message = MietteDiagnostic::new(harmless(&diagnostic.message)).with_severity(severity);
    if let Some(help) = &diagnostic.help {
        message = message.with_help(harmless(help));
    }
    let source = diagnostic.place.as_ref().and_then(|p| Some((p, locate(p, diagnostic.length)?)));
    let report = match source {
        Some((place, (text, span))) => {
            let message = message.with_label(LabeledSpan::new_with_span(None, span));
            Report::new(message).with_source_code(NamedSource::new(place.file.as_ref(), text))
        }
        None => {
            message.message = harmless(&diagnostic.to_string());
            Report::new(message)
        }
    };
    draw(&report, palette)
}

/// The lines around a place, without a message: for reasons that are told elsewhere.
pub fn excerpt(place: &Place, palette: Palette) -> Option<String> {
    let (text, span) = locate(place, 0)?;
    let message = MietteDiagnostic::new("").with_label(LabeledSpan::new_with_span(None, span));
    let report = Report::new(message).with_source_code(NamedSource::new(place.file.as_ref(), text));
    let drawn = draw(&report, palette);
    let start = drawn.find('╭')?;
    let line_start = drawn[..start].rfind('\n').map_or(0, |at| at + 1);
    Some(drawn[line_start..].to_string())
}

fn draw(report: &Report, palette: Palette) -> String {
    let theme = match palette {
        Palette::Plain => GraphicalTheme::unicode_nocolor(),
        Palette::Colour => GraphicalTheme::unicode(),
    };
    // Lines break at spaces only: the rules of Unicode would break `.pml, .aut` inside of a name.
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .with_links(false)
        .with_word_separator(textwrap::WordSeparator::AsciiSpace);
    let mut out = String::new();
    match handler.render_report(&mut out, report.as_ref()) {
        Ok(()) => out,
        Err(_) => format!("{report}\n"),
    }
}

/// The text of a file; a formula that was given on the command line is named after its option.
fn read(file: &str) -> Option<String> {
    if file.starts_with("--") {
        return given(file, std::env::args_os().filter_map(|a| a.into_string().ok()));
    }
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > LONGEST_FILE {
        return None;
    }
    Some(String::from_utf8_lossy(&fs::read(file).ok()?).into_owned())
}

/// What an option was given as, if it was given once.
fn given(option: &str, arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut values = Vec::new();
    let mut follows = false;
    for argument in arguments.skip(1) {
        if follows {
            values.push(argument);
            follows = false;
        } else if argument == option {
            follows = true;
        } else if let Some(value) = argument.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            values.push(value.to_string());
        }
    }
    if values.len() == 1 { values.pop() } else { None }
}

/// The text of the file and the span of the place in it, unless either is beyond what a person reads.
fn locate(place: &Place, length: u32) -> Option<(String, SourceSpan)> {
    let text = read(place.file.as_ref())?;
    let wanted = place.line.checked_sub(1)? as usize;
    let mut offset = 0;
    let mut found = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number.abs_diff(wanted) <= 1 && line.len() > LONGEST_LINE {
            return None;
        }
        if number == wanted {
            found = Some((offset, line));
        }
        offset += line.len();
    }
    let (start, line) = found?;
    let line = line.trim_end_matches(['\n', '\r']);
    let column = place.column.saturating_sub(1) as usize;
    let from = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let rest = &line[from..];
    let marked = match length {
        0 => statement_length(rest).max(1).min(rest.len()),
        n => rest.char_indices().nth(n as usize).map_or(rest.len(), |(at, _)| at),
    };
    let span = SourceSpan::new((start + from).into(), marked);
    Some((harmless(&text), span))
}

/// The text without characters that command a terminal; no position changes.
fn harmless(text: &str) -> String {
    let replaced = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_ascii_control() => '?',
        c => c,
    };
    text.chars().map(replaced).collect()
}

/// How far the statement at the start of a text goes, in bytes: where nobody said how long it is.
fn statement_length(text: &str) -> usize {
    let ends = [";", "->", "/*", "//", "}"];
    let end = ends.iter().filter_map(|e| text.find(e)).min().unwrap_or(text.len());
    text[..end].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_warning_is_drawn_once_and_an_error_each_time() {
        let texts = |severity: Severity| {
            let said = |message: &str, line: u32| {
                let file = if line == 9 { "other" } else { "nowhere" };
                Diagnostic { severity, ..Diagnostic::error(message, Place::new(file, line, 3)) }
            };
            let one = |line: u32| said("too few", line);
            let all = (1..=4).map(one).chain([said("too many", 5)]).chain((5..=9).rev().map(one));
            let all: Vec<Diagnostic> = all.collect();
            diagnostics_text(&all, Palette::Plain)
        };
        let warnings = texts(Severity::Warning);
        assert_eq!(warnings.matches("too few").count(), 1, "{warnings}");
        assert_eq!(warnings.matches("too many").count(), 1, "{warnings}");
        assert!(warnings.contains("  also at 2:3, 3:3, 4:3, other:9:3, 8:3, 7:3, 6:3, 5:3\n"), "{warnings}");
        assert_eq!(texts(Severity::Error).matches("too few").count(), 9);
    }

    #[test]
    fn a_formula_of_the_command_line_is_found_if_it_was_given_once() {
        let given = |line: &str| given("--mu", line.split('|').map(String::from));
        assert_eq!(given("volee|check|a.aut|--mu|AG x"), Some("AG x".into()));
        assert_eq!(given("volee|check|a.aut|--mu=AG x|--time|1s"), Some("AG x".into()));
        assert_eq!(given("volee|check|a.aut|--mu|AG x|--mu|EF x"), None);
        assert_eq!(given("volee|check|a.aut|--mu"), None);
        assert_eq!(given("volee|check|a.aut|--mus|x"), None);
    }
}
