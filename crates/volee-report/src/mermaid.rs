//! A message-sequence chart as Mermaid text, for Markdown pages and issue trackers.
//!
//! Mermaid has no slanted arrows: a message that waits in a channel is drawn where it is received, and its
//! sending is a note at the sender.

use std::fmt::Write as _;

use volee_system::Run;

use crate::chart::{Chart, Mark, Row};
use crate::count;

/// The chart of a run as a Mermaid `sequenceDiagram`; of a run longer than `longest` steps the beginning and
/// the end.
pub fn run_mermaid(run: &Run, longest: usize) -> String {
    let chart = Chart::of(run, longest);
    let mut out = String::from("sequenceDiagram\n");
    for (number, name) in chart.lifelines.iter().enumerate() {
        let _ = writeln!(out, "    participant p{number} as {}", escaped(name));
    }
    for (index, row) in chart.rows.iter().enumerate() {
        if chart.cycle.is_some_and(|(first, _)| first == index) {
            out.push_str("    loop for ever\n");
        }
        if let Some(line) = line(index, row, &chart) {
            let _ = writeln!(out, "    {line}");
        }
        if chart.cycle.is_some_and(|(_, last)| last == index) {
            out.push_str("    end\n");
        }
    }
    out
}

/// The line of a row; a message that is received at once needs none for its sending.
fn line(index: usize, row: &Row, chart: &Chart) -> Option<String> {
    let here = row.lifeline;
    let line = match &row.mark {
        Mark::Send { received: Some(at), .. } if *at == index + 1 => return None,
        Mark::Internal(text) => format!("Note over p{here}: {}", escaped(text)),
        Mark::Send { text, received: Some(at) } => {
            format!("Note over p{here}: sends {} (received in step {})", escaped(text), chart.rows[*at].step)
        }
        Mark::Send { text, received: None } => format!("p{here}-xp{here}: {} (not received)", escaped(text)),
        Mark::Receive { text, sent: Some(at) } => {
            format!("p{}-)p{here}: {}", chart.rows[*at].lifeline, escaped(text))
        }
        Mark::Receive { text, sent: None } => format!("Note over p{here}: receives {}", escaped(text)),
        Mark::Rendezvous { text, to } => format!("p{here}->>p{to}: {}", escaped(text)),
        Mark::Fault(text) => format!("Note over p{here}: ERROR {}", escaped(text)),
        Mark::LeftOut(steps) => {
            let last = chart.lifelines.len() - 1;
            let across = if last == 0 { "p0".to_string() } else { format!("p0,p{last}") };
            format!("Note over {across}: … {} steps left out …", count(*steps as u64))
        }
    };
    Some(line)
}

/// Mermaid reads `#`, `;`, line ends and the word `end` as its own; entities keep them ours.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' => out.push_str("#35;"),
            ';' => out.push_str("#59;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '%' => out.push_str("#37;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    let is_word = |at: usize| {
        let boundary = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        boundary(out[..at].chars().next_back()) && boundary(out[at + 3..].chars().next())
    };
    let ends: Vec<usize> = out.match_indices("end").map(|(at, _)| at).filter(|&at| is_word(at)).collect();
    for at in ends.into_iter().rev() {
        out.replace_range(at..at + 3, "e#110;d");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_mermaid_are_escaped() {
        assert_eq!(escaped("a; b # end\nx"), "a#59; b #35; e#110;d x");
        assert_eq!(escaped("Sender(0)"), "Sender(0)");
    }
}
