//! A run as text: one line per action, with its process, its place, the statement, and only what it changed.
//!
//! People read a counterexample to find the step that should not have happened; so the first state is told
//! whole, every later one by its changes, and the cycle of a lasso is set off from what leads to it. A run of
//! thousands of steps is cut in its middle: its beginning and its end are what matters.

use std::fmt::Write as _;

use volee_system::{Action, Event, EventKind, Run, RunState, RunStep, Variable};

use crate::growth::{Return, returns};
use crate::{Palette, changes, count, is_location, is_silent};

/// How a run is laid out.
#[derive(Debug, Clone, Copy)]
pub struct TextLayout<'a> {
    /// Colours or none.
    pub palette: Palette,
    /// The model's own file: places in it are told by their line alone.
    pub model: &'a str,
    /// The most steps to show; the middle of a longer run is left out. `usize::MAX` shows everything:
    /// indivisible sequences are then told statement by statement.
    pub longest: usize,
}

const PAGE: usize = 100;
const INDENT: usize = 12;
const WIDEST_STATEMENT: usize = 36;
const WIDEST_PLACE: usize = 24;

/// One line of the table: an action of a step.
struct Row<'a> {
    number: String,
    process: String,
    place: String,
    statement: String,
    changed: Vec<&'a Variable>,
    output: Option<&'a str>,
    fault: Option<&'a str>,
    /// It sends or receives.
    is_message: bool,
}

impl Row<'_> {
    fn is_plain(&self) -> bool {
        !self.is_message && self.output.is_none() && self.fault.is_none()
    }
}

/// The run as a table.
pub fn run_text(run: &Run, layout: TextLayout<'_>) -> String {
    let mut out = String::new();
    initial_state(&mut out, run, layout.palette);
    out.push_str(&steps_text(run, layout));
    let first = run.skipped + run.loop_start.unwrap_or(0) + 1;
    let back = match returns(run) {
        None => String::new(),
        Some(Return::Ended) => "── the run ends here, and nothing happens any more ──".into(),
        Some(Return::Same) => format!("── back to the state before step {first} ──"),
        Some(Return::But(names)) => {
            let names = names.join(", ");
            format!("── back to the state before step {first}, but for {names}: nobody reads that ──")
        }
        Some(Return::Growing) => {
            format!("── and again from step {first}, with more in the channels each time ──")
        }
    };
    if !back.is_empty() {
        let _ = writeln!(out, "  {}", layout.palette.strong(back));
    }
    if matches!(returns(run), None | Some(Return::Ended)) {
        final_locations(&mut out, run, layout.palette);
    }
    out
}

/// Only the steps of a run, one line per action.
pub fn steps_text(run: &Run, layout: TextLayout<'_>) -> String {
    let mut out = String::new();
    let told: Vec<usize> = (0..run.steps.len()).filter(|&i| !is_silent(&run.steps[i])).collect();
    let kept = shown_steps(told.len(), layout.longest);
    let shown: Vec<usize> = kept.iter().map(|&i| told[i]).collect();
    let rows: Vec<Vec<Row<'_>>> = shown.iter().map(|&i| rows_of(run, i, layout)).collect();
    let width = |pick: fn(&Row<'_>) -> usize, most: usize| {
        rows.iter().flatten().map(pick).filter(|w| *w <= most).max().unwrap_or(0)
    };
    let widths = [
        width(|r| r.number.chars().count(), usize::MAX),
        width(|r| r.process.chars().count(), WIDEST_PLACE),
        width(|r| r.place.chars().count(), WIDEST_PLACE),
        width(|r| r.statement.chars().count(), WIDEST_STATEMENT),
    ];
    let mut before: Option<usize> = None;
    let mut cycle = run.loop_start;
    for ((&position, &index), rows) in kept.iter().zip(&shown).zip(&rows) {
        if let Some(earlier) = before.filter(|b| position != b + 1) {
            let left_out = count((position - earlier - 1) as u64);
            let _ = writeln!(out, "  {}", layout.palette.faint(format!("… {left_out} steps left out …")));
        }
        if cycle.take_if(|start| *start <= index).is_some() {
            let _ = writeln!(out, "  {}", layout.palette.strong("── from here it repeats for ever ──"));
        }
        for row in rows {
            write_row(&mut out, row, widths, layout.palette);
        }
        before = Some(position);
    }
    out
}

/// Where every process is at the end: what one asks first about a deadlock.
fn final_locations(out: &mut String, run: &Run, palette: Palette) {
    let last = run.steps.last().map_or(&run.initial, |step| &step.state);
    let places = last.variables.iter().filter(|v| is_location(v));
    let places = places.map(|v| (v.name.trim_end_matches('@'), " at ", v.value.as_str()));
    let places = wrapped(places, palette);
    if !places.is_empty() {
        let _ = writeln!(out, "  {} {places}", palette.faint("in the end"));
    }
}

fn initial_state(out: &mut String, run: &Run, palette: Palette) {
    let when = match run.skipped {
        0 => "initially".to_string(),
        n => format!("after {} steps", count(n as u64)),
    };
    let _ = writeln!(out, "  {} {}", palette.faint(when), assignments(&run.initial, palette));
}

/// All variables of a state, wrapped at the width of a page.
pub fn assignments(state: &RunState, palette: Palette) -> String {
    let variables = state.variables.iter().filter(|v| !is_location(v));
    wrapped(variables.map(|v| (v.name.as_str(), " = ", v.value.as_str())), palette)
}

/// A list of names and what is said about them, with further lines indented.
fn wrapped<'a>(items: impl Iterator<Item = (&'a str, &'a str, &'a str)>, palette: Palette) -> String {
    let mut out = String::new();
    let mut column = INDENT;
    for (name, verb, value) in items {
        let width = [name, verb, value].map(|t| t.chars().count()).iter().sum::<usize>() + 2;
        if !out.is_empty() {
            let wrap = column + width > PAGE;
            out.push(',');
            out.push_str(&if wrap { format!("\n{:INDENT$}", "") } else { " ".to_string() });
            column = if wrap { INDENT } else { column };
        }
        let _ = write!(out, "{}{verb}{value}", palette.name(name));
        column += width;
    }
    out
}

/// The actions of one step on one line: who, where, what.
pub fn actions_text(actions: &[Action], model: &str, palette: Palette) -> String {
    let Some(first) = actions.first() else { return String::new() };
    let row = row_of(first, model);
    let statements: Vec<String> = actions.iter().map(|a| row_of(a, model).statement).collect();
    let mut words = vec![palette.name(row.process), palette.faint(row.place), statements.join("; ")];
    words.retain(|w| !w.is_empty());
    words.join("  ")
}

fn assignment(name: &str, value: &str, palette: Palette) -> String {
    format!("{} = {value}", palette.name(name))
}

/// The indices of the steps to show: all, or the beginning and the end.
pub(crate) fn shown_steps(length: usize, longest: usize) -> Vec<usize> {
    if length <= longest {
        return (0..length).collect();
    }
    let head = longest / 4;
    let tail = longest - head;
    (0..head).chain(length - tail..length).collect()
}

fn rows_of<'a>(run: &'a Run, index: usize, layout: TextLayout<'_>) -> Vec<Row<'a>> {
    let step = &run.steps[index];
    let before = if index == 0 { &run.initial } else { &run.steps[index - 1].state };
    let mut rows: Vec<Row<'_>> = match step.actions.is_empty() {
        true => vec![bare_row(step)],
        false => step.actions.iter().map(|action| row_of(action, layout.model)).collect(),
    };
    if let Some(fault) = &step.fault {
        // Behind the statement it is about, where that is known.
        let at = step.actions.iter().position(|a| a.place.is_some() && a.place == fault.place);
        let at = at.unwrap_or(rows.len() - 1);
        rows[at].fault = Some(&fault.message);
        // What would have followed did not happen.
        rows.truncate(at + 1);
    }
    if layout.longest != usize::MAX {
        rows = folded(rows);
    }
    rows[0].number = (run.skipped + index + 1).to_string();
    if let Some(last) = rows.last_mut() {
        last.changed.extend(untold(before, step));
    }
    rows
}

/// Consecutive statements of an indivisible sequence on one line. Messages, output and errors keep lines of
/// their own.
fn folded(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let mut all: Vec<Row<'_>> = Vec::with_capacity(rows.len());
    let mut many: Vec<usize> = Vec::new();
    for row in rows {
        let fits = all.last().is_some_and(|last| {
            last.process == row.process && !row.process.is_empty() && last.is_plain() && row.is_plain()
        });
        let Some(last) = all.last_mut().filter(|_| fits) else {
            all.push(row);
            many.push(1);
            continue;
        };
        last.statement = format!("{}; {}", last.statement, row.statement);
        last.changed.retain(|old| row.changed.iter().all(|new| new.name != old.name));
        last.changed.extend(row.changed);
        if let Some(n) = many.last_mut() {
            *n += 1;
        }
    }
    for (row, n) in all.iter_mut().zip(many) {
        if n > 1 && row.statement.chars().count() > WIDEST_STATEMENT {
            let first = row.statement.split("; ").next().unwrap_or_default();
            let last = row.statement.rsplit("; ").next().unwrap_or_default();
            row.statement = match n {
                2 => format!("{first}; {last}"),
                _ => format!("{first}; … {last}  ({n} statements)"),
            };
        }
    }
    all
}

/// What a step changes beyond what its actions tell of themselves.
pub(crate) fn untold<'a>(before: &'a RunState, step: &'a RunStep) -> impl Iterator<Item = &'a Variable> {
    let told = |variable: &Variable| {
        let told = step.actions.iter().flat_map(|a| &a.changed).rfind(|v| v.name == variable.name);
        told.is_some_and(|v| v.value == variable.value)
    };
    changes(before, &step.state).filter(move |v| !is_location(v) && !told(v))
}

fn bare_row(step: &RunStep) -> Row<'_> {
    Row {
        number: String::new(),
        process: String::new(),
        place: String::new(),
        statement: step.label.clone(),
        changed: Vec::new(),
        output: None,
        fault: None,
        is_message: false,
    }
}

fn row_of<'a>(action: &'a Action, model: &str) -> Row<'a> {
    let place = match &action.place {
        Some(p) if *p.file == *model => format!("line {}", p.line),
        Some(p) => format!("{}:{}", p.file, p.line),
        None => String::new(),
    };
    let mut statement = spoken(&action.text).to_string();
    if let Some(values) = action.event.as_ref().and_then(|e| values_of(e, &action.text)) {
        let _ = write!(statement, "  [{values}]");
    }
    if let Some(event) = action.event.as_ref().filter(|e| e.kind == EventKind::Rendezvous)
        && let Some((name, pid)) = &event.partner
    {
        let _ = write!(statement, "  → {}", process_name(name, *pid));
    }
    Row {
        number: String::new(),
        process: process_name(&action.process, action.pid),
        place,
        statement,
        changed: action.changed.iter().filter(|v| !is_location(v)).collect(),
        output: action.output.as_deref(),
        fault: None,
        is_message: action.event.is_some() || action.text.contains('?'),
    }
}

/// The values that travel, unless the statement already tells them; what is sent into a buffer is seen there.
fn values_of(event: &Event, statement: &str) -> Option<String> {
    if event.kind == EventKind::Send {
        return None;
    }
    let values = event.values.join(",");
    let compact = |text: &str| text.replace([' ', ')'], "").replace('(', ",");
    (!values.is_empty() && !compact(statement).ends_with(&compact(&values))).then_some(values)
}

/// A statement as people write it: the condition that is always true is `skip`.
pub(crate) fn spoken(text: &str) -> &str {
    if text == "(1)" { "skip" } else { text }
}

/// A process as it is shown everywhere: its type and its number.
pub(crate) fn process_name(name: &str, pid: u32) -> String {
    if name.is_empty() { String::new() } else { format!("{name}({pid})") }
}

fn write_row(out: &mut String, row: &Row<'_>, widths: [usize; 4], palette: Palette) {
    let [number, process, place, statement] = widths;
    let mut line = format!("  {:>number$}", row.number);
    if process > 0 {
        let _ = write!(line, "  {}", palette.name(format!("{:<process$}", row.process)));
    }
    if place > 0 {
        let _ = write!(line, "  {}", palette.faint(format!("{:<place$}", row.place)));
    }
    let _ = write!(line, "  {:<statement$}", row.statement);
    let changed: Vec<String> = row.changed.iter().map(|v| assignment(&v.name, &v.value, palette)).collect();
    if !changed.is_empty() {
        let _ = write!(line, "  {}", changed.join(", "));
    }
    out.push_str(line.trim_end());
    out.push('\n');
    if let Some(text) = row.output {
        for printed in text.lines() {
            let _ = writeln!(out, "  {:>number$}  {} {printed}", "", palette.faint("prints:"));
        }
    }
    if let Some(fault) = row.fault {
        let _ = writeln!(out, "  {:>number$}  {}", "", palette.bad(format!("✗ {fault}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(x: u32) -> RunState {
        RunState {
            variables: vec![
                Variable { name: "x".into(), value: x.to_string() },
                Variable { name: "y".into(), value: "7".into() },
            ],
        }
    }

    fn run(length: u32, loop_start: Option<usize>) -> Run {
        let steps = (1..=length)
            .map(|i| RunStep {
                ordinal: 0,
                label: "tick".into(),
                actions: vec![Action { process: "Clock".into(), pid: 1, ..Action::plain("x++") }],
                fault: None,
                state: state(i),
            })
            .collect();
        Run { skipped: 0, initial: state(0), steps, loop_start }
    }

    fn text(run: &Run, longest: usize) -> String {
        run_text(run, TextLayout { palette: Palette::Plain, model: "m.pml", longest })
    }

    #[test]
    fn a_step_shows_only_what_it_changed() {
        assert_eq!(
            text(&run(2, None), 100),
            "  initially x = 0, y = 7\n  1  Clock(1)  x++  x = 1\n  2  Clock(1)  x++  x = 2\n"
        );
    }

    #[test]
    fn a_lasso_is_a_prefix_and_a_cycle() {
        let mut lasso = run(3, Some(1));
        let counts = text(&lasso, 100);
        lasso.steps[2].state = state(1);
        let text = text(&lasso, 100);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].contains("repeats for ever"), "{text}");
        assert!(lines[5].contains("back to the state before step 2"), "{text}");
        assert!(counts.contains("back to the state before step 2, but for x: nobody reads that"), "{counts}");
        let ended = run(3, Some(3));
        let told = super::run_text(&ended, TextLayout { palette: Palette::Plain, model: "m", longest: 9 });
        assert!(told.contains("the run ends here") && !told.contains("before step"), "{told}");
    }

    #[test]
    fn a_long_run_is_cut_in_its_middle() {
        let text = text(&run(1000, None), 8);
        assert!(text.contains("… 992 steps left out …"), "{text}");
        assert!(text.contains("1000  Clock(1)"), "{text}");
    }
}
