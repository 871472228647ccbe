//! SARIF 2.1.0, which code hosts and editors read: what is wrong, where, and the run that shows it as a code
//! flow.
//!
//! Paths are relative to the root of the sources, wherever the reader has them. Of a long run the end is
//! told.

use serde_json::{Value, json};
use volee_system::Place;

use crate::{ErrorEntry, Member, QuestionAnswer, VerdictWord};

/// Steps of a run beyond which its beginning is left out.
const LONGEST_FLOW: usize = 500;

/// All that is not as it should be, as one log.
pub fn sarif(members: &[Member]) -> String {
    let mut log = Log::default();
    for member in members {
        log.member(member);
    }
    let good = members.iter().all(|m| m.judged().verdict != VerdictWord::Error);
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "volee",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": log.rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": good }],
            "results": log.results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Default)]
struct Log {
    rules: Vec<Value>,
    results: Vec<Value>,
}

impl Log {
    fn member(&mut self, member: &Member) {
        let judged = member.judged();
        for warning in &member.answer.warnings {
            self.message(member, warning, "warning");
        }
        if judged.verdict == VerdictWord::Error {
            for error in &member.answer.errors {
                self.message(member, error, "error");
            }
            for sentence in &judged.missing {
                self.result(member, "expectation", "error", sentence, None);
            }
        }
        for (result, counts) in member.answer.results.iter().zip(&judged.results) {
            if *counts != VerdictWord::Holds {
                self.finding(member, result, *counts);
            }
        }
    }

    fn message(&mut self, member: &Member, entry: &ErrorEntry, level: &str) {
        let rule = entry.code.as_deref().unwrap_or("input").to_string();
        self.result(member, &rule, level, &entry.message, entry.place());
    }

    fn finding(&mut self, member: &Member, result: &QuestionAnswer, counts: VerdictWord) {
        let level = if counts == VerdictWord::Unknown { "warning" } else { "error" };
        let (rule, message, place) = match &result.reason {
            Some(reason) => (reason.kind.clone(), reason.message.clone(), reason.place()),
            None => {
                let message = format!("not as expected: it {}", result.verdict.as_str());
                ("not-as-expected".to_string(), message, None)
            }
        };
        let message = format!("{}: {message}", result.question);
        let entry = self.result(member, &rule, level, &message, place);
        entry["partialFingerprints"] =
            json!({ "question/v1": format!("{} {}", member.name, result.question) });
        if let Some(flow) = result.witness.as_ref().and_then(code_flow) {
            entry["codeFlows"] = json!([flow]);
        }
    }

    fn result(
        &mut self,
        member: &Member,
        rule: &str,
        level: &str,
        message: &str,
        place: Option<Place>,
    ) -> &mut Value {
        let known = self.rules.iter().position(|r| r["id"] == rule);
        let index = known.unwrap_or_else(|| {
            self.rules.push(json!({ "id": rule, "shortDescription": { "text": rule.replace('-', " ") } }));
            self.rules.len() - 1
        });
        let place = match place {
            Some(place) => location(&place, None),
            None => json!({ "physicalLocation": { "artifactLocation": artifact(&member.model) } }),
        };
        self.results.push(json!({
            "ruleId": rule,
            "ruleIndex": index,
            "level": level,
            "message": { "text": message },
            "locations": [place],
        }));
        self.results.last_mut().unwrap_or_else(|| unreachable!("it was just added"))
    }
}

fn location(place: &Place, message: Option<&str>) -> Value {
    let mut value = json!({ "physicalLocation": {
        "artifactLocation": artifact(&place.file),
        "region": { "startLine": place.line.max(1), "startColumn": place.column.max(1) },
    } });
    if let Some(message) = message {
        value["message"] = json!({ "text": message });
    }
    value
}

fn artifact(file: &str) -> Value {
    match file.starts_with('/') {
        true => json!({ "uri": format!("file://{}", uri(file)) }),
        false => json!({ "uri": uri(file.strip_prefix("./").unwrap_or(file)), "uriBaseId": "%SRCROOT%" }),
    }
}

/// A path as a reference: what may not stand in one is written in hexadecimal.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into())
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// The statements of a run that have a place, as one thread.
fn code_flow(witness: &Value) -> Option<Value> {
    let steps = witness["steps"].as_array()?;
    let actions = steps.iter().flat_map(|step| step["actions"].as_array().into_iter().flatten());
    let mut locations: Vec<Value> = actions.filter_map(thread_location).collect();
    locations.drain(..locations.len().saturating_sub(LONGEST_FLOW));
    (!locations.is_empty()).then(|| json!({ "threadFlows": [{ "locations": locations }] }))
}

fn thread_location(action: &Value) -> Option<Value> {
    let place = &action["place"];
    let number = |name: &str| place[name].as_u64().and_then(|n| u32::try_from(n).ok());
    let place = Place::new(place["file"].as_str()?, number("line")?, number("column")?);
    let text = format!(
        "{}[{}] {}",
        action["process"].as_str().unwrap_or_default(),
        action["pid"],
        action["text"].as_str().unwrap_or_default()
    );
    Some(json!({ "location": location(&place, Some(&text)) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;
    use crate::suite::tests::member;

    #[test]
    fn what_is_wrong_is_a_result_with_its_rule_place_and_run() {
        let results = [("deadlock", "unknown"), ("assertions", "violated"), ("ltl p", "holds")];
        let mut member = member(&results, Expected::default());
        let place = json!({ "file": "a b.pml", "line": 2, "column": 1 });
        let actions = json!([{ "process": "P", "pid": 0, "text": "x++", "place": place }]);
        member.answer.results[1].witness = Some(json!({ "steps": [{ "actions": actions }] }));
        let log: Value = serde_json::from_str(&sarif(&[member])).expect("it is JSON");
        let run = &log["runs"][0];
        let found = run["results"].as_array().expect("results");
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0]["level"], &found[1]["level"]), (&json!("warning"), &json!("error")));
        let rule = found[1]["ruleIndex"].as_u64().expect("an index");
        assert_eq!(run["tool"]["driver"]["rules"][rule as usize]["id"], "assertion");
        let at = &found[1]["locations"][0]["physicalLocation"];
        assert_eq!(at["artifactLocation"]["uri"], "a%20b.pml");
        assert_eq!(at["region"], json!({ "startLine": 3, "startColumn": 4 }));
        let flow = &found[1]["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"];
        assert_eq!(flow["message"]["text"], "P[0] x++");
    }

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("a/b c#ü.pml"), "a/b%20c%23%C3%BC.pml");
        assert_eq!(artifact("/tmp/x.pml")["uri"], "file:///tmp/x.pml");
        assert_eq!(artifact("./x.pml")["uri"], "x.pml");
    }
}
