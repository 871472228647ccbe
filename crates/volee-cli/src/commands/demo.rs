//! `volee demo`: a protocol with a real bug, found, explained, replayed and drawn, and the repaired one
//! proved right.
//!
//! The tour runs the very commands that it shows, so it cannot tell anything that is not so.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use volee::files;
use volee::report::{Palette, VerdictWord, ends, wrapped};

use crate::cli;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

const MODEL: &str = include_str!("../../../../models/demo/courier.pml");
const MODEL_NAME: &str = "courier.pml";
/// The files of the tour.
const WRITTEN: [&str; 3] = [MODEL_NAME, "bug.json", "bug.svg"];
/// Where the tour remembers what it has written.
const RECORD: &str = ".volee-demo";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee demo                 writes its files into the folder volee-demo
  volee demo --into /tmp/x   somewhere else")]
pub struct Demo {
    /// The folder for the model, the trace and the chart
    #[arg(long, value_name = "FOLDER", default_value = "volee-demo")]
    into: PathBuf,
}

impl Demo {
    pub fn run(self, context: &Context) -> Ended {
        std::fs::create_dir_all(&self.into)
            .map_err(|e| Failure::new(format!("cannot create the folder `{}`: {e}", self.into.display())))?;
        let record = files::Record::new(&self.into, RECORD);
        if let Some(path) = record.stranger(&WRITTEN) {
            let message = format!("`{}` is there, and the tour has not written it", path.display());
            return Err(Failure::new(message).with_help("choose another folder with --into"));
        }
        let model = self.into.join(MODEL_NAME);
        files::write(&model, MODEL)?;
        let mut tour = Tour { text: String::new(), context };
        self.steps(&mut tour, &model)?;
        record.remember(&WRITTEN)?;
        Ok(Outcome::output("demo", tour.text))
    }

    fn steps(&self, tour: &mut Tour<'_>, model: &Path) -> Result<(), Failure> {
        let trace = self.into.join("bug.json");
        let chart = self.into.join("bug.svg");

        tour.tell(
            "1. A protocol",
            "A sender passes numbered parcels to a receiver over a line that may lose them. It repeats a parcel until \
             it is acknowledged, and an alternating bit tells repetitions from news. This is the sender:",
        );
        tour.quote(MODEL, "active proctype Sender", "active proctype Line");

        tour.tell(
            "2. A question",
            "The receiver asserts that no parcel is missing and none arrives twice. Is that so, whatever the line \
             loses and in whatever order the three processes move? volee looks at every state; --search bfs gives the \
             shortest counterexample.",
        );
        tour.call(
            &[
                "check".as_ref(),
                model.as_ref(),
                "--search".as_ref(),
                "bfs".as_ref(),
                "--trace".as_ref(),
                trace.as_ref(),
                "--trace".as_ref(),
                chart.as_ref(),
            ],
            VerdictWord::Violated,
        )?;

        tour.tell(
            "3. What happened",
            "The sender was impatient and sent parcel 0 twice. Both copies were acknowledged. The second \
             acknowledgement was taken for that of parcel 1, which the line had lost. So parcel 2 came next; it has the \
             bit of a repetition, was acknowledged and thrown away, and parcel 3 was taken for parcel 1. The run is \
             stored. It can be replayed at any time, and the chart shows who sent what to whom.",
        );
        tour.call_briefly(&["replay".as_ref(), model.as_ref(), trace.as_ref()], VerdictWord::Violated)?;

        tour.tell(
            "4. The repair",
            "Let the acknowledgement carry the bit too, and let the sender ignore the old ones. With -DFIXED the model \
             does so. Now there is no counterexample, and that is a proof: all states were seen.",
        );
        tour.call(&["check".as_ref(), model.as_ref(), "-DFIXED".as_ref()], VerdictWord::Holds)?;

        tour.tell("5. Your turn", &format!(
            "The files are in {0}: open {1} in a browser, or step through the model yourself:\n  volee simulate -i {2}\n\
             `volee --help` lists the verbs, the book in book/ explains them.",
            self.into.display(), chart.display(), model.display(),
        ));
        Ok(())
    }
}

/// The text of the tour so far.
struct Tour<'a> {
    text: String,
    context: &'a Context,
}

impl Tour<'_> {
    fn palette(&self) -> Palette {
        self.context.palette
    }

    fn tell(&mut self, heading: &str, paragraph: &str) {
        let start = if self.text.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.text, "{start}{}", self.palette().strong(heading));
        for line in paragraph.lines() {
            self.text.push_str(&wrapped(line, 88));
        }
    }

    /// A part of the model, from the line that contains one text to that which contains the other.
    fn quote(&mut self, source: &str, from: &str, to: &str) {
        let lines = source.lines().skip_while(|l| !l.contains(from)).take_while(|l| !l.contains(to));
        for line in lines.filter(|l| !l.is_empty()) {
            let _ = writeln!(self.text, "    {}", self.palette().faint(line));
        }
    }

    /// Shows a command and the beginning and end of what it answers.
    fn call_briefly(&mut self, words: &[&OsStr], expected: VerdictWord) -> Result<(), Failure> {
        let start = self.text.len();
        self.call(words, expected)?;
        let told = self.text.split_off(start);
        self.text.push_str(&ends(&told, 8));
        Ok(())
    }

    /// Shows a command and what it answers; the answer must be the one the tour speaks of.
    fn call(&mut self, words: &[&OsStr], expected: VerdictWord) -> Result<(), Failure> {
        let words: Vec<OsString> = words.iter().map(|&w| w.to_os_string()).collect();
        let shown: Vec<String> = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        let command = format!("$ volee {}", shown.join(" "));
        let _ = writeln!(self.text, "\n{}", self.palette().name(command));
        let outcome = cli::call(words, self.context)?;
        if outcome.answer.verdict() != expected {
            return Err(Failure::new(format!(
                "the tour is wrong: `volee {}` did not answer as it says",
                shown.join(" ")
            )));
        }
        self.text.push_str(&outcome.text);
        Ok(())
    }
}
