//! The conversation of `volee simulate -i`: a list of possible steps, one letter for everything else.
//!
//! It reads lines, so that it works from a terminal and from a pipe alike; the end of the input is `q`. The menu goes
//! to stdout, or to stderr when the answer has to be JSON.

use std::io::{BufRead as _, Write};

use volee::System;
use volee::report::{Palette, TextLayout, actions_text, assignments, counted, run_text, steps_text};
use volee::system::{Run, RunState, RunStep, collect_steps, replay};
use volee::walk::{Ending, Walk};

use crate::cli::Format;
use crate::context::Context;
use crate::outcome::Failure;

const HELP: &str = "  NUMBER   take that step           r [N]  take N random steps (1)
  b [N]    go back N steps (1)      j N    jump to the state after step N
  v        all variables            t      the run so far
  h        this help                q      quit
";

/// What a line asks for.
enum Wish {
    Step(usize),
    Random(usize),
    Back(usize),
    Jump(usize),
    Variables,
    Trace,
    Help,
    Quit,
}

struct Conversation<'a> {
    walk: &'a mut Walk,
    system: &'a mut dyn System,
    model: &'a str,
    palette: Palette,
    out: Box<dyn Write>,
}

/// Talks with the user until they quit or the input ends.
pub fn converse(
    walk: &mut Walk,
    system: &mut dyn System,
    model: &str,
    context: &Context,
) -> Result<Ending, Failure> {
    let (out, palette): (Box<dyn Write>, _) = match context.format {
        Format::Text => (Box::new(std::io::stdout()), context.palette),
        Format::Json => (Box::new(std::io::stderr()), context.errors),
    };
    context.expect_user();
    let mut conversation = Conversation { walk, system, model, palette, out };
    // Writing fails only when nobody reads any more: then the conversation is over.
    Ok(conversation.run().unwrap_or(Ending::Stopped))
}

impl Conversation<'_> {
    fn run(&mut self) -> std::io::Result<Ending> {
        self.out.write_all(HELP.as_bytes())?;
        let mut lines = std::io::stdin().lock().lines();
        let mut possible = self.menu()?;
        loop {
            write!(self.out, "> ")?;
            self.out.flush()?;
            let Some(Ok(line)) = lines.next() else { break };
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
            None if possible == 0 => self.walk.end(self.system),
            None => Ending::Stopped,
        }
    }

    /// Shows the steps that are possible here and gives their number.
    fn menu(&mut self) -> std::io::Result<usize> {
        let state = self.walk.state().to_vec();
        let possible = collect_steps(self.system, &state).len();
        let heading = format!("after {}", counted(self.walk.len(), "step"));
        writeln!(self.out, "{}", self.palette.strong(heading))?;
        for ordinal in 0..possible {
            let actions = self.system.explain(&state, ordinal);
            let text = actions_text(&actions, self.model, self.palette);
            writeln!(self.out, "  {}  {text}", self.palette.strong(format!("{ordinal:>3}")))?;
        }
        if possible == 0 {
            let sentence = match self.walk.end(self.system) {
                Ending::ValidEnd => "no step is possible: a valid end",
                _ => "no step is possible, and this is not a valid end (b goes back)",
            };
            writeln!(self.out, "  {sentence}")?;
        }
        Ok(possible)
    }

    /// Does as asked; true when the state may have changed.
    fn obey(&mut self, wish: &Wish, possible: usize) -> std::io::Result<bool> {
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
            Wish::Random(steps) => {
                for _ in 0..steps {
                    let choices = collect_steps(self.system, self.walk.state()).len();
                    if choices == 0 || self.walk.fault().is_some() {
                        break;
                    }
                    let ordinal = self.walk.draw(choices);
                    self.step(ordinal)?;
                }
            }
            Wish::Back(steps) => self.walk.truncate(self.walk.len().saturating_sub(steps)),
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
                let variables = self.system.variables(self.walk.state());
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

    fn step(&mut self, ordinal: usize) -> std::io::Result<()> {
        let mut steps = collect_steps(self.system, self.walk.state());
        let initial = RunState { variables: self.system.variables(self.walk.state()) };
        self.walk.take(self.system, ordinal, steps.swap_remove(ordinal));
        let skipped = self.walk.len() - 1;
        let step = RunStep {
            ordinal: ordinal as u32,
            label: String::new(),
            actions: self.walk.explain(self.system, skipped),
            fault: self.walk.fault().cloned(),
            state: RunState { variables: self.system.variables(self.walk.state()) },
        };
        let run = Run { skipped, initial, steps: vec![step], loop_start: None };
        self.out.write_all(steps_text(&run, self.layout()).as_bytes())
    }

    fn layout(&self) -> TextLayout<'_> {
        TextLayout { palette: self.palette, model: self.model, longest: usize::MAX }
    }

    fn trace(&mut self) -> std::io::Result<()> {
        match replay(self.system, &self.walk.witness()) {
            Ok(run) => self.out.write_all(run_text(&run, self.layout()).as_bytes()),
            Err(error) => writeln!(self.out, "{error}"),
        }
    }
}

fn parse(line: &str) -> Result<Wish, String> {
    let mut words = line.split_whitespace();
    let Some(word) = words.next() else { return Ok(Wish::Help) };
    let number = words.next().map(str::parse::<usize>);
    let number = match number {
        Some(Ok(n)) => Some(n),
        Some(Err(_)) => return Err("a number should follow the letter".into()),
        None => None,
    };
    match word {
        "r" => Ok(Wish::Random(number.unwrap_or(1).min(100_000))),
        "b" => Ok(Wish::Back(number.unwrap_or(1))),
        "j" => number.map(Wish::Jump).ok_or_else(|| "jump where? j and the number of a step".into()),
        "v" => Ok(Wish::Variables),
        "t" => Ok(Wish::Trace),
        "h" | "?" | "help" => Ok(Wish::Help),
        "q" | "quit" | "exit" => Ok(Wish::Quit),
        _ => word
            .parse()
            .map(Wish::Step)
            .map_err(|_| format!("`{word}` means nothing here; h tells what does")),
    }
}
