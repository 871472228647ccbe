//! The answer of a search while it is put together: a table of verdicts first, then what there is to say about each.
//!
//! Any engine whose violations are runs of a system can use it: hand over the system that replays them (the model's own,
//! or a product with it), one question after the other, then the figures.

use std::fmt::Write as _;

use volee::report::{Answer, QuestionAnswer, Trace, VerdictWord, bytes, count, counted, seconds};
use volee::search;
use volee::system::{
    Diagnostic, Limit, Reason, ReasonKind, Run, Unreached, Verdict, Violation, Witness, replay_end,
};
use volee::{Options, System};

use crate::args::ModelArgs;
use crate::context::Context;
use crate::excerpt;
use crate::outcome::{Failure, Outcome};
use crate::witness::{LONGEST_RUN, TraceArgs, replay_command};

/// Beyond so many steps it is worth asking for a shorter run.
const LONG: usize = 60;

/// The answer while it is being put together.
pub struct Report<'a> {
    context: &'a Context,
    model: &'a ModelArgs,
    trace: &'a TraceArgs,
    name: String,
    /// How the model was read for the runs that come next.
    options: Options,
    /// What `--format json` prints; an engine may add figures of its own.
    pub answer: Answer,
    table: String,
    details: String,
    runs: usize,
    /// What to tell the user under a long run.
    hint: Option<&'static str>,
    /// What questions speak of and nothing explored is.
    silent: Vec<String>,
}

impl<'a> Report<'a> {
    /// An answer of `volee check` by this engine.
    pub fn new(context: &'a Context, engine: &str, model: &'a ModelArgs, trace: &'a TraceArgs) -> Self {
        let name = model.model.display().to_string();
        let answer = Answer::new("check").about(&name, engine);
        Report {
            context,
            model,
            trace,
            name,
            options: model.options(),
            answer,
            table: String::new(),
            details: String::new(),
            runs: 0,
            hint: None,
            silent: Vec::new(),
        }
    }

    /// What the questions speak of and no explored step is: an answer about it says little.
    pub fn silent(&mut self, patterns: &[String]) {
        for pattern in patterns.iter().filter(|p| !self.silent.contains(*p)).cloned().collect::<Vec<_>>() {
            self.context.warn(&[never_happens(&pattern)]);
            self.silent.push(pattern);
        }
    }

    /// The runs of the questions that follow are those of the model read with other options than the user's.
    pub fn read_with(&mut self, options: Options) {
        self.options = options;
    }

    /// A line below the table of verdicts.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.table, "{}", self.context.palette.faint(line));
    }

    /// Says which claims of the model were not looked at.
    pub fn unasked(&mut self, unasked: &[String]) {
        if !unasked.is_empty() {
            self.answer.add("unasked", unasked.to_vec());
            self.note(&format!("not checked: {} (add --property all)", unasked.join(", ")));
        }
    }

    /// Says under every long run how to get a shorter one.
    pub fn hint(&mut self, hint: &'static str) {
        self.hint = Some(hint);
    }

    /// Adds a question; `system` is what its witnesses are runs of.
    pub fn question(&mut self, system: &mut dyn System, found: &search::Answer) -> Result<(), Failure> {
        let note = match &found.verdict {
            Verdict::Holds => {
                self.holds(system, found)?;
                String::new()
            }
            Verdict::Unknown(limit) => {
                self.answer.push(QuestionAnswer::unknown(&found.question, limit));
                limit.to_string()
            }
            Verdict::Violated(violations) => {
                for violation in violations {
                    self.violation(system, &found.question, violation)?;
                }
                if found.errors > 1 { format!("{} times", count(found.errors)) } else { String::new() }
            }
        };
        self.row(&found.question, VerdictWord::from(&found.verdict), &note);
        Ok(())
    }

    fn holds(&mut self, system: &mut dyn System, found: &search::Answer) -> Result<(), Failure> {
        let mut result = QuestionAnswer::holds(&found.question);
        if let Some(witness) = &found.witness {
            let run = replayed(system, witness)?;
            let heading = format!("\n{}:", self.context.palette.good(&found.question));
            let _ = writeln!(self.details, "{heading}");
            let command = self.run(&found.question, "reached by", witness, &run)?;
            result = result.with_run(&run).with_replay(command);
        }
        self.answer.push(result);
        Ok(())
    }

    fn violation(
        &mut self,
        system: &mut dyn System,
        question: &str,
        violation: &Violation,
    ) -> Result<(), Failure> {
        let palette = self.context.palette;
        let reason = &violation.reason;
        let _ = writeln!(self.details, "\n{}: {}", palette.bad(question), reason.message);
        if let Some(place) = &reason.place {
            match excerpt::around(place, palette) {
                Some(lines) => self.details.push_str(&lines),
                None => drop(writeln!(self.details, "  at {place}")),
            }
        }
        // What never happens has no run to show.
        let result = if reason.kind == ReasonKind::Unreachable {
            QuestionAnswer::violated(question, reason, None)
        } else {
            let run = replayed(system, &violation.witness)?;
            let command = self.run(question, "how it happens", &violation.witness, &run)?;
            QuestionAnswer::violated(question, reason, Some(&run)).with_replay(command)
        };
        self.answer.push(result);
        Ok(())
    }

    /// Adds a question that a limit has left open.
    pub fn unknown(&mut self, question: &str, limit: &Limit) {
        self.answer.push(QuestionAnswer::unknown(question, limit));
        self.row(question, VerdictWord::Unknown, &limit.to_string());
    }

    /// Adds the answer to a formula: the reasons in words, and the run that shows it under its title where there is one.
    pub fn formula(
        &mut self,
        system: &mut dyn System,
        question: &str,
        holds: bool,
        why: &[String],
        shown: Option<(&str, &Witness)>,
    ) -> Result<(), Failure> {
        self.row(question, if holds { VerdictWord::Holds } else { VerdictWord::Violated }, "");
        let palette = self.context.palette;
        let _ = writeln!(self.details, "\n{}", palette.strong("why:"));
        for sentence in why {
            let _ = writeln!(self.details, "  {sentence}");
        }
        let run = match shown {
            None => None,
            Some((title, witness)) => {
                let run = replayed(system, witness)?;
                let command = self.run(question, title, witness, &run)?;
                Some((run, command))
            }
        };
        let message = "the formula is false in the initial state".to_string();
        let reason = Reason { kind: ReasonKind::Formula, message, place: None };
        let result = match (holds, &run) {
            (true, Some((run, _))) => QuestionAnswer::holds(question).with_run(run),
            (true, None) => QuestionAnswer::holds(question),
            (false, run) => QuestionAnswer::violated(question, &reason, run.as_ref().map(|(run, _)| run)),
        };
        self.answer.push(match run {
            Some((_, command)) => result.with_replay(command),
            None => result,
        });
        Ok(())
    }

    /// Shows a run, stores the first one where asked to, and gives the command that replays it.
    fn run(&mut self, question: &str, title: &str, witness: &Witness, run: &Run) -> Result<String, Failure> {
        let palette = self.context.palette;
        let steps = run.skipped + run.steps.len();
        let length = match steps {
            0 => "in the initial state".to_string(),
            n => counted(n, "step"),
        };
        let _ = writeln!(self.details, "{} ({length}):", palette.strong(title));
        self.details.push_str(&self.trace.text(run, &self.name, palette));
        let options = &self.options;
        let trace = Trace::new(&self.name, &options.defines, options.plain, question, witness, run)
            .read_with(&options.copies, options.capacity);
        if self.runs == 0 {
            for path in self.trace.write(&trace, run)? {
                let _ = writeln!(self.details, "written to {}", path.display());
            }
        }
        self.runs += 1;
        let command = replay_command(&self.model.model, options, &trace)?;
        let _ = writeln!(self.details, "replay it with:\n  {}", palette.name(&command));
        if let Some(hint) = self.hint.filter(|_| steps > LONG) {
            let _ = writeln!(self.details, "{}", palette.faint(hint));
        }
        Ok(command)
    }

    fn row(&mut self, question: &str, word: VerdictWord, note: &str) {
        let palette = self.context.palette;
        let padded = format!("{:<9}", word.as_str());
        let coloured = match word {
            VerdictWord::Holds => palette.good(padded),
            VerdictWord::Unknown => palette.doubtful(padded),
            VerdictWord::Violated | VerdictWord::Error => palette.bad(padded),
        };
        let note = if note.is_empty() { String::new() } else { palette.faint(format!("  ({note})")) };
        let _ = writeln!(self.table, "{coloured} {question}{note}");
    }

    /// Adds the statements that no run executes.
    pub fn unreached(&mut self, unreached: &[Unreached]) {
        self.answer.add("unreached", serde_json::to_value(unreached).unwrap_or_default());
        if unreached.is_empty() {
            return;
        }
        let palette = self.context.palette;
        let _ = writeln!(self.details, "\n{}", palette.strong("never reached:"));
        let mut process = "";
        for statement in unreached {
            if statement.process != process {
                process = &statement.process;
                let _ = writeln!(self.details, "  {}", palette.name(process));
            }
            let place = statement.place.as_ref().map(|p| format!("line {}", p.line)).unwrap_or_default();
            let _ = writeln!(self.details, "    {place:<10} {}", statement.text);
        }
    }

    /// Adds the figures of the search; `complete` when every reachable state was seen.
    pub fn statistics(&mut self, s: &search::Statistics, complete: bool) {
        self.answer.set("states", s.states);
        self.answer.set("transitions", s.transitions);
        // Several workers do not know how deep they are together; with one state nobody is deep.
        if s.max_depth > 0 || s.states <= 1 {
            self.answer.set("depth", s.max_depth);
        }
        self.answer.set("seconds", s.seconds);
        self.answer.set("bytes_per_state", s.bytes_per_state);
        self.answer.set("peak_memory_bytes", s.memory_bytes);
        self.answer.set("complete", complete);
        self.answer.set("reduced_expansions", s.reduced);
        let kind = match (complete, s.reduced) {
            (true, 0) => "all",
            (true, _) => "enough",
            (false, _) => "some",
        };
        let depth = if s.max_depth > 0 { format!("depth {}, ", count(s.max_depth)) } else { String::new() };
        let line = format!(
            "{kind} states explored: {} states, {} transitions, {depth}{}, {} ({:.1} bytes per state)",
            count(s.states),
            count(s.transitions),
            seconds(s.seconds),
            bytes(s.memory_bytes),
            s.bytes_per_state,
        );
        let _ = writeln!(self.details, "\n{}", self.context.palette.faint(line));
    }

    /// A line below the figures.
    pub fn figure(&mut self, line: &str) {
        let _ = writeln!(self.details, "{}", self.context.palette.faint(line));
    }

    /// The whole answer.
    pub fn finish(mut self) -> Outcome {
        self.answer.add("silent", self.silent);
        Outcome::new(self.answer, format!("{}{}", self.table, self.details))
    }
}

/// An event of a formula that never happens is probably misspelt.
fn never_happens(event: &str) -> Diagnostic {
    Diagnostic::warning(format!("no explored step is the event `{event}`"), None).with_help(
        "an event is the text of a statement, as `volee simulate` prints it; in --mu a label in quotes must be the whole label; \
         /pattern/ matches by regular expression",
    )
}

/// No run is shown that does not replay.
fn replayed(system: &mut dyn System, witness: &Witness) -> Result<Run, Failure> {
    replay_end(system, witness, LONGEST_RUN).map_err(|e| {
        Failure::new(format!("a counterexample was found but does not replay: {e}"))
            .with_help("this is a defect of volee; please report it with the model and the command")
    })
}
