//! Workflow commands of GitHub: a line that its log shows beside the line of source that it is about.

use volee_system::{Place, Severity};

use crate::{Member, VerdictWord};

/// An annotation per result that is not as it should be, per error and per warning.
pub fn annotations(members: &[Member]) -> String {
    let mut out = String::new();
    for member in members {
        let judged = member.judged();
        let here = || Place::new(member.model.as_str(), 1, 1);
        for warning in &member.answer.warnings {
            out.push_str(&line(Severity::Warning, warning.place(), "warning", &warning.message));
        }
        if judged.verdict == VerdictWord::Error {
            for error in &member.answer.errors {
                out.push_str(&line(
                    Severity::Error,
                    error.place().or_else(|| Some(here())),
                    "error",
                    &error.message,
                ));
            }
            for sentence in &judged.missing {
                out.push_str(&line(Severity::Error, Some(here()), "expectation", sentence));
            }
        }
        for (result, counts) in member.answer.results.iter().zip(&judged.results) {
            let severity = match counts {
                VerdictWord::Holds => continue,
                VerdictWord::Unknown => Severity::Warning,
                VerdictWord::Violated | VerdictWord::Error => Severity::Error,
            };
            let title = format!("{}: {}", member.name, result.question);
            let place = result.reason.as_ref().and_then(|r| r.place()).unwrap_or_else(here);
            let message = match &result.reason {
                Some(reason) => reason.message.clone(),
                None => format!("not as expected: it {}", result.verdict.as_str()),
            };
            out.push_str(&line(severity, Some(place), &title, &message));
        }
    }
    out
}

fn line(severity: Severity, place: Option<Place>, title: &str, message: &str) -> String {
    let word = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = place.map(|p| format!("file={},line={},col={},", property(&p.file), p.line, p.column));
    format!("::{word} {}title={}::{}\n", place.unwrap_or_default(), property(title), data(message))
}

/// Text behind the second colon.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text within the properties, which colons and commas end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;
    use crate::suite::tests::member;

    #[test]
    fn an_annotation_names_its_place_and_escapes_what_ends_it() {
        let results = [("invariant x<2, y:1", "violated"), ("deadlock", "unknown"), ("assertions", "holds")];
        let text = annotations(&[member(&results, Expected::default())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "::error file=a b.pml,line=3,col=4,title=a b.pml%3A invariant x<2%2C y%3A1::100 %25 wrong",
                "::warning file=a b.pml,line=3,col=4,title=a b.pml%3A deadlock::100 %25 wrong",
            ]
        );
    }
}
