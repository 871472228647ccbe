//! How much of a model was executed: shares by process type, and the source with numbers in its margin.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use volee_system::Covered;

/// For each process type, in the order of the model: how many of its statements were executed, of how many.
pub fn shares(coverage: &[Covered]) -> Vec<(String, usize, usize)> {
    let mut all: Vec<(String, usize, usize)> = Vec::new();
    for statement in coverage {
        let at = all.iter().position(|(process, ..)| *process == statement.process).unwrap_or_else(|| {
            all.push((statement.process.clone(), 0, 0));
            all.len() - 1
        });
        all[at].1 += usize::from(statement.times > 0);
        all[at].2 += 1;
    }
    all
}

/// The source of a model, each line with how often its statements ran: the largest number, and `!` where one
/// of them never did. Nothing where the file cannot be read any more.
pub fn annotated_source(file: &str, coverage: &[Covered]) -> String {
    let Ok(source) = std::fs::read_to_string(file) else { return String::new() };
    let mut lines: BTreeMap<usize, (u64, bool)> = BTreeMap::new();
    for statement in coverage {
        let Some(place) = statement.place.as_ref().filter(|p| *p.file == *file) else { continue };
        let line = lines.entry(place.line as usize).or_default();
        line.0 = line.0.max(statement.times);
        line.1 |= statement.times == 0;
    }
    let mut out = String::new();
    for (number, text) in source.lines().enumerate() {
        let margin = match lines.get(&(number + 1)) {
            None => String::new(),
            Some((times, false)) => times.to_string(),
            Some((times, true)) => format!("{times} !"),
        };
        let line = format!("  {margin:>10} │ {text}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::Place;

    fn statement(process: &str, line: u32, times: u64) -> Covered {
        Covered {
            process: process.into(),
            text: "skip".into(),
            place: Some(Place::new("no.pml", line, 1)),
            times,
        }
    }

    #[test]
    fn shares_count_statements_not_executions() {
        let coverage = [statement("A", 1, 7), statement("A", 2, 0), statement("B", 3, 1)];
        assert_eq!(shares(&coverage), [("A".to_string(), 1, 2), ("B".to_string(), 1, 1)]);
    }

    #[test]
    fn a_line_shows_its_largest_number_and_what_never_ran() {
        let file = std::env::temp_dir().join(format!("volee-coverage-{}.pml", std::process::id()));
        std::fs::write(&file, "one\ntwo\nthree\n").expect("a file can be written");
        let name = file.display().to_string();
        let at = |line, times| Covered {
            place: Some(Place::new(name.as_str(), line, 1)),
            ..statement("A", line, times)
        };
        let text = annotated_source(&name, &[at(1, 3), at(1, 0), at(3, 12)]);
        std::fs::remove_file(&file).expect("it was written");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines, ["3 ! │ one", "│ two", "12 │ three"]);
    }
}
