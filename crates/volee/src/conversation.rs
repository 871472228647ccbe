//! A walk through a model as a conversation: a list of possible steps, one letter for everything else.
//!
//! It reads lines, so that it works from a terminal and from a pipe alike; the end of the input is `q`.
//! Whoever interrupts stops what is going on, and the run is kept.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use volee_report::{Palette, TextLayout, actions_text, assignments, counted, run_text, steps_text, stuck};
use volee_system::{Draft, PredicateId, Run, RunState, RunStep, collect_steps, inspect, replay, value};

use crate::walk::{Ending, Walk};

const HELP: &str = "  NUMBER   take that step           r [N]  take N random steps (1)
  b [N]    go back, undo (1)        y [N]  go forward again, redo (1)
  j N      jump to after step N     u EXPR random steps until EXPR is true
  v        all variables            e EXPR the value of an expression here
  t        the run so far           w      who waits, and for what
  h        this help                q      quit
";

/// What a line asks for.
enum Wish<'a> {
    Step(usize),
    Random(usize),
    Back(usize),
    Again(usize),
    Until(&'a str),
    Evaluate(&'a str),
    Waiting,
    Jump(usize),
    Variables,
    Trace,
    Help,
    Quit,
}

struct Conversation<'a> {
    walk: &'a mut Walk,
    draft: &'a mut dyn Draft,
    model: &'a str,
    palette: Palette,
    out: &'a mut dyn Write,
    cancelled: &'a AtomicBool,
}

/// Steps after which a condition that does not become true is given up.
const LONGEST_SEARCH: usize = 100_000;

/// What comes next in a conversation.
pub enum Next {
    /// A line, without its end.
    Line(String),
    /// The user has interrupted, for the first time, and may not mean it.
    Doubt,
    /// Nothing.
    End,
}

/// Where the lines of a conversation come from.
pub trait Lines {
    /// The next line; where nothing else invites the user to write it, `out` does.
    ///
    /// # Errors
    /// Nobody reads what is written any more.
    fn next(&mut self, out: &mut dyn Write, cancelled: &AtomicBool) -> std::io::Result<Next>;
}

/// Talks with the user until they quit or the input ends.
pub fn converse(
    walk: &mut Walk,
    draft: &mut dyn Draft,
    model: &str,
    (lines, out): (&mut dyn Lines, &mut dyn Write),
    palette: Palette,
    cancelled: &AtomicBool,
) -> Ending {
    let mut conversation = Conversation { walk, draft, model, palette, out, cancelled };
    // Writing fails only when nobody reads any more: then the conversation is over.
    conversation.run(lines).unwrap_or(Ending::Stopped)
}

impl Conversation<'_> {
    fn run(&mut self, lines: &mut dyn Lines) -> std::io::Result<Ending> {
        self.out.write_all(HELP.as_bytes())?;
        let mut possible = self.menu()?;
        loop {
            let line = match lines.next(self.out, self.cancelled)? {
                Next::Line(line) => line,
                Next::Doubt => {
                    writeln!(self.out, "(the run is kept: q, Ctrl-D or Ctrl-C again ends it)")?;
                    continue;
                }
                Next::End => break,
            };
            match parse(&line) {
                Ok(Wish::Quit) => break,
                Ok(wish) => {
                    if self.obey(&wish, possible)? {
                        possible = self.menu()?;
                    }
                }
                Err(message) => writeln!(self.out, "{message}")?,
            }
        }
        writeln!(self.out)?;
        Ok(self.ending(possible))
    }

    fn ending(&mut self, possible: usize) -> Ending {
        match self.walk.fault() {
            Some(fault) => Ending::Fault(fault.clone()),
            None if possible == 0 => self.walk.end(self.draft.system()),
            None => Ending::Stopped,
        }
    }

    /// Shows the steps that are possible here and gives their number.
    fn menu(&mut self) -> std::io::Result<usize> {
        let state = self.walk.state().to_vec();
        let possible = collect_steps(self.draft.system(), &state).len();
        let heading = format!("after {}", counted(self.walk.len(), "step"));
        writeln!(self.out, "{}", self.palette.strong(heading))?;
        for ordinal in 0..possible {
            let actions = self.draft.system().explain(&state, ordinal);
            let text = actions_text(&actions, self.model, self.palette);
            writeln!(self.out, "  {}  {text}", self.palette.strong(format!("{ordinal:>3}")))?;
        }
        if possible == 0 {
            let sentence = match self.walk.end(self.draft.system()) {
                Ending::ValidEnd => "no step is possible: a valid end",
                _ => "no step is possible, and this is not a valid end (b goes back)",
            };
            writeln!(self.out, "  {sentence}")?;
        }
        Ok(possible)
    }

    /// Does as asked; true when the state may have changed.
    fn obey(&mut self, wish: &Wish<'_>, possible: usize) -> std::io::Result<bool> {
        match *wish {
            Wish::Step(ordinal) if ordinal < possible => self.step(ordinal)?,
            Wish::Step(ordinal) => {
                let choice = if possible == 0 {
                    "none is possible".into()
                } else {
                    format!("choose 0 to {}", possible - 1)
                };
                writeln!(self.out, "there is no step {ordinal}: {choice}")?;
                return Ok(false);
            }
            Wish::Random(steps) => drop(self.wander(steps, None)?),
            Wish::Until(text) => return self.until(text),
            Wish::Evaluate(text) => {
                let told = self.evaluated(text);
                writeln!(self.out, "  {told}")?;
                return Ok(false);
            }
            Wish::Waiting => {
                let inspection = inspect(self.draft.system(), self.walk.state());
                let lines = stuck(&inspection);
                if lines.is_empty() {
                    writeln!(self.out, "  nobody waits")?;
                }
                for line in lines {
                    writeln!(self.out, "  {line}")?;
                }
                return Ok(false);
            }
            Wish::Back(steps) => self.walk.truncate(self.walk.len().saturating_sub(steps)),
            Wish::Again(steps) => {
                if self.walk.redo(steps) == 0 {
                    writeln!(self.out, "nothing was undone since the last step")?;
                    return Ok(false);
                }
            }
            Wish::Jump(to) if to <= self.walk.len() => self.walk.truncate(to),
            Wish::Jump(to) => {
                writeln!(
                    self.out,
                    "the run has {} steps, there is no state after step {to}",
                    self.walk.len()
                )?;
                return Ok(false);
            }
            Wish::Variables => {
                let variables = self.draft.system().variables(self.walk.state());
                let text = assignments(&RunState { variables }, self.palette);
                writeln!(self.out, "  {text}")?;
                return Ok(false);
            }
            Wish::Trace => {
                self.trace()?;
                return Ok(false);
            }
            Wish::Help | Wish::Quit => {
                self.out.write_all(HELP.as_bytes())?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Random steps, until a condition if there is one; true where it has become true.
    fn wander(&mut self, steps: usize, until: Option<PredicateId>) -> std::io::Result<bool> {
        for _ in 0..steps {
            let choices = collect_steps(self.draft.system(), self.walk.state()).len();
            if choices == 0 || self.walk.fault().is_some() {
                return Ok(false);
            }
            if self.cancelled.swap(false, Ordering::Relaxed) {
                writeln!(self.out, "stopped; the run is kept")?;
                return Ok(false);
            }
            let ordinal = self.walk.draw(choices);
            self.step(ordinal)?;
            if until.is_some_and(|goal| self.draft.system().holds(goal, self.walk.state()) == Ok(true)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn until(&mut self, text: &str) -> std::io::Result<bool> {
        let goal = match self.draft.predicate(text) {
            Ok(goal) => goal,
            Err(wrong) => {
                writeln!(self.out, "{}", wrong.message)?;
                return Ok(false);
            }
        };
        let before = self.walk.len();
        let reached = self.wander(LONGEST_SEARCH, Some(goal))?;
        let steps = counted(self.walk.len() - before, "step");
        match reached {
            true => writeln!(self.out, "`{text}` is true after {steps}")?,
            false => writeln!(self.out, "`{text}` did not become true in {steps}")?,
        }
        Ok(true)
    }

    fn evaluated(&mut self, text: &str) -> String {
        let predicate = match self.draft.predicate(text) {
            Ok(predicate) => predicate,
            Err(wrong) => return wrong.message,
        };
        match value(self.draft.system(), predicate, self.walk.state()) {
            Ok(value) => format!("{} = {value}", self.palette.name(text)),
            Err(fault) => self.draft.system().fault(fault).message,
        }
    }

    fn step(&mut self, ordinal: usize) -> std::io::Result<()> {
        let mut steps = collect_steps(self.draft.system(), self.walk.state());
        let initial = RunState { variables: self.draft.system().variables(self.walk.state()) };
        self.walk.take(self.draft.system(), ordinal, steps.swap_remove(ordinal));
        let skipped = self.walk.len() - 1;
        let step = RunStep {
            ordinal: ordinal as u32,
            label: String::new(),
            actions: self.walk.explain(self.draft.system(), skipped),
            fault: self.walk.fault().cloned(),
            state: RunState { variables: self.draft.system().variables(self.walk.state()) },
        };
        let run = Run { skipped, initial, steps: vec![step], loop_start: None };
        self.out.write_all(steps_text(&run, self.layout()).as_bytes())
    }

    fn layout(&self) -> TextLayout<'_> {
        TextLayout { palette: self.palette, model: self.model, longest: usize::MAX }
    }

    fn trace(&mut self) -> std::io::Result<()> {
        match replay(self.draft.system(), &self.walk.witness()) {
            Ok(run) => self.out.write_all(run_text(&run, self.layout()).as_bytes()),
            Err(error) => writeln!(self.out, "{error}"),
        }
    }
}

fn parse(line: &str) -> Result<Wish<'_>, String> {
    let mut words = line.split_whitespace();
    let Some(word) = words.next() else { return Ok(Wish::Help) };
    let rest = line.trim().strip_prefix(word).unwrap_or_default().trim();
    match word {
        "u" | "until" | "e" | "eval" if rest.is_empty() => {
            return Err(format!("an expression should follow `{word}`"));
        }
        "u" | "until" => return Ok(Wish::Until(rest)),
        "e" | "eval" => return Ok(Wish::Evaluate(rest)),
        _ => {}
    }
    let number = words.next().map(str::parse::<usize>);
    let number = match number {
        Some(Ok(n)) => Some(n),
        Some(Err(_)) => return Err("a number should follow the letter".into()),
        None => None,
    };
    match word {
        "r" | "random" => Ok(Wish::Random(number.unwrap_or(1).min(100_000))),
        "b" | "back" | "undo" => Ok(Wish::Back(number.unwrap_or(1))),
        "y" | "redo" => Ok(Wish::Again(number.unwrap_or(1))),
        "w" | "who" | "why" => Ok(Wish::Waiting),
        "j" | "jump" => number.map(Wish::Jump).ok_or_else(|| "jump where? j and the number of a step".into()),
        "v" | "vars" => Ok(Wish::Variables),
        "t" | "trace" => Ok(Wish::Trace),
        "h" | "?" | "help" => Ok(Wish::Help),
        "q" | "quit" | "exit" => Ok(Wish::Quit),
        _ => word
            .parse()
            .map(Wish::Step)
            .map_err(|_| format!("`{word}` means nothing here; h tells what does")),
    }
}
