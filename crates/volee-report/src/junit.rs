//! JUnit XML, which every CI server reads: a suite of cases, each passed, failed or without a verdict.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseOutcome {
    /// As it should.
    Passed,
    /// Wrong: a word for the kind of failure, and a sentence.
    Failed(String, String),
    /// Without a verdict, which CI servers call an error: a word for the reason, and a sentence.
    Undecided(String, String),
}

/// One case of a suite.
#[derive(Debug, Clone)]
pub struct JunitCase {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
    /// How it ended.
    pub outcome: CaseOutcome,
    /// What it printed, or what happened in it.
    pub output: String,
}

/// A suite as JUnit XML.
pub fn junit(suite: &str, cases: &[JunitCase]) -> String {
    junit_suites([(suite, cases)])
}

/// Several suites as JUnit XML.
pub fn junit_suites<'a>(suites: impl IntoIterator<Item = (&'a str, &'a [JunitCase])>) -> String {
    let suites: Vec<(&str, &[JunitCase])> = suites.into_iter().collect();
    let mut out = Writer::new_with_indent(Vec::new(), b' ', 4);
    write_suites(&mut out, &suites).unwrap_or_else(|e| unreachable!("the report is written to memory: {e}"));
    let mut text = String::from_utf8(out.into_inner()).expect("it is made of strings");
    text.push('\n');
    text
}

fn write_suites(out: &mut Writer<Vec<u8>>, suites: &[(&str, &[JunitCase])]) -> io::Result<()> {
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = suites.iter().flat_map(|(_, cases)| *cases);
    let root = out.create_element("testsuites").with_attribute(("name", "volee"));
    root.with_attributes(counts(all).iter().map(pair)).write_inner_content(|out| {
        suites.iter().try_for_each(|(suite, cases)| write_suite(out, &told(suite), cases))
    })?;
    Ok(())
}

fn write_suite(out: &mut Writer<Vec<u8>>, suite: &str, cases: &[JunitCase]) -> io::Result<()> {
    let element = out.create_element("testsuite").with_attribute(("name", suite));
    let element = element.with_attributes(counts(cases.iter()).iter().map(pair));
    if cases.is_empty() {
        return element.write_empty().map(drop);
    }
    element.write_inner_content(|out| cases.iter().try_for_each(|case| write_case(out, suite, case)))?;
    Ok(())
}

fn write_case(out: &mut Writer<Vec<u8>>, suite: &str, case: &JunitCase) -> io::Result<()> {
    let failure = match &case.outcome {
        CaseOutcome::Passed => None,
        CaseOutcome::Failed(word, message) => Some(("failure", word, message)),
        CaseOutcome::Undecided(word, message) => Some(("error", word, message)),
    };
    let seconds = if case.seconds.is_finite() { case.seconds.max(0.0) } else { 0.0 };
    let element = out.create_element("testcase").with_attributes([
        ("name", told(&case.name).as_str()),
        ("classname", suite),
        ("time", &format!("{seconds:.3}")),
    ]);
    if failure.is_none() && case.output.is_empty() {
        return element.write_empty().map(drop);
    }
    element.write_inner_content(|out| {
        if let Some((kind, word, message)) = failure {
            let told = [("message", told(message)), ("type", told(word))];
            out.create_element(kind).with_attributes(told.iter().map(pair)).write_empty()?;
        }
        if !case.output.is_empty() {
            let output = told(&case.output);
            out.create_element("system-out").write_text_content(BytesText::new(&output))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn pair<'p>((name, value): &'p (&'p str, String)) -> (&'p str, &'p str) {
    (name, value)
}

/// What readers expect to be counted.
fn counts<'c>(cases: impl Iterator<Item = &'c JunitCase>) -> [(&'static str, String); 4] {
    let (mut tests, mut errors, mut failures) = (0, 0, 0);
    for case in cases {
        tests += 1;
        match case.outcome {
            CaseOutcome::Passed => {}
            CaseOutcome::Failed(..) => failures += 1,
            CaseOutcome::Undecided(..) => errors += 1,
        }
    }
    let counts = [("tests", tests), ("skipped", 0), ("failures", failures), ("errors", errors)];
    counts.map(|(name, count)| (name, count.to_string()))
}

/// A text without what XML cannot say, and without the colours that a program printed for a terminal.
fn told(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                if characters.next_if_eq(&'[').is_some() {
                    let is_inside = |c: &char| matches!(c, '\u{20}'..='\u{3f}');
                    while characters.next_if(is_inside).is_some() {}
                    characters.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
                }
            }
            '\t' | '\n' => told.push(character),
            _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {}
            _ => told.push(character),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_open_cases_are_told_apart() {
        let case = |name: &str, outcome| JunitCase {
            name: name.into(),
            seconds: 0.5,
            outcome,
            output: String::new(),
        };
        let text = junit(
            "conform",
            &[
                case("a", CaseOutcome::Passed),
                case("b", CaseOutcome::Failed("unexpected-output".into(), "<tea> came".into())),
                case("c", CaseOutcome::Undecided("bound".into(), "too long".into())),
            ],
        );
        assert!(text.contains("tests=\"3\""), "{text}");
        assert!(text.contains("failures=\"1\"") && text.contains("errors=\"1\""), "{text}");
        assert!(text.contains("&lt;tea&gt; came"), "{text}");
    }

    #[test]
    fn what_xml_cannot_say_is_left_out() {
        let odd = JunitCase {
            name: "a \"<&>'".into(),
            seconds: f64::NAN,
            outcome: CaseOutcome::Failed("x".into(), "a\nb\tc \u{1b}[31mred\u{1b}[0m\u{1}".into()),
            output: "é\u{1b}[1;3mq\u{0}\u{fffe} ]]> <x>\r\n&".into(),
        };
        let text = junit_suites([("s<", &[odd][..]), ("t", &[])]);
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="volee" tests="1" skipped="0" failures="1" errors="0">
    <testsuite name="s&lt;" tests="1" skipped="0" failures="1" errors="0">
        <testcase name="a &quot;&lt;&amp;&gt;&apos;" classname="s&lt;" time="0.000">
            <failure message="a&#10;b&#9;c red" type="x"/>
            <system-out>éq ]]&gt; &lt;x&gt;
&amp;</system-out>
        </testcase>
    </testsuite>
    <testsuite name="t" tests="0" skipped="0" failures="0" errors="0"/>
</testsuites>
"#;
        assert_eq!(text, expected);
        for cut in ["\u{1b}", "\u{1b}[", "\u{1b}[3", "\u{1b}[3\u{7f}"] {
            assert_eq!(told(cut), "");
        }
        assert_eq!(told("\u{1b}[3é"), "é");
    }
}
