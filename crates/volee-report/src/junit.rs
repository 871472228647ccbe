//! JUnit XML, which every CI server reads: a suite of cases, each passed, failed or without a verdict.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

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
    let mut report = Report::new("volee");
    for (suite, cases) in suites {
        report.add_test_suite(test_suite(suite, cases));
    }
    report.to_string().unwrap_or_else(|e| unreachable!("the report is written to memory: {e}"))
}

fn test_suite(suite: &str, cases: &[JunitCase]) -> TestSuite {
    let mut all = TestSuite::new(suite);
    for case in cases {
        let non_success = |kind: NonSuccessKind, word: &str, message: &str| {
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(word).set_message(message);
            status
        };
        let status = match &case.outcome {
            CaseOutcome::Passed => TestCaseStatus::success(),
            CaseOutcome::Failed(word, message) => non_success(NonSuccessKind::Failure, word, message),
            CaseOutcome::Undecided(word, message) => non_success(NonSuccessKind::Error, word, message),
        };
        let mut entry = TestCase::new(case.name.as_str(), status);
        entry.set_classname(suite);
        entry.set_time(Duration::try_from_secs_f64(case.seconds).unwrap_or_default());
        if !case.output.is_empty() {
            entry.set_system_out(case.output.as_str());
        }
        all.add_test_case(entry);
    }
    all
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
}
