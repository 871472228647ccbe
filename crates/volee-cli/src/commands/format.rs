//! `volee format FILE…`: Promela with even indentation and spacing, on stdout, in place, or only compared.

use std::path::PathBuf;

use clap::Args;
use volee::files;
use volee::promela::format::{Style, format};
use volee::report::{Answer, QuestionAnswer, VerdictWord};

use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee format mutex.pml              the same program, evenly laid out, on stdout
  volee format --write *.pml          in place
  volee format --check models/*.pml   exit code 1 if some file is not laid out so; for CI
Comments stay, and so does every line end, which may stand for a semicolon. What cannot be laid out without changing the
program is refused.")]
pub struct Format {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,

    /// Write the files instead of printing them
    #[arg(long, conflicts_with = "check")]
    write: bool,

    /// Write nothing; say which files would change
    #[arg(long)]
    check: bool,

    /// How many columns one level of indentation is wide
    #[arg(long, value_name = "COLUMNS", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    indent: u8,

    /// Indent with tabs
    #[arg(long)]
    tabs: bool,
}

impl Format {
    pub fn run(self, _: &Context) -> Ended {
        if self.paths.len() > 1 && !self.write && !self.check {
            return Err(Failure::new("several files cannot be printed one behind the other")
                .with_help("add --write or --check"));
        }
        let style = Style { width: self.indent.into(), tabs: self.tabs };
        let mut answer = Answer::new("format");
        let mut text = String::new();
        for path in &self.paths {
            let before = files::read_text(path)?;
            let after = format(&path.display().to_string(), &before, style)?;
            if self.check {
                let verdict = if before == after { VerdictWord::Holds } else { VerdictWord::Violated };
                answer.push(QuestionAnswer {
                    verdict,
                    ..QuestionAnswer::holds(format!("format {}", path.display()))
                });
                if before != after {
                    text.push_str(&format!("{} would change\n", path.display()));
                }
            } else if self.write {
                if before != after {
                    files::write(path, &after)?;
                    text.push_str(&format!("{} is laid out\n", path.display()));
                }
            } else {
                answer.add("output", after.as_str());
                text = after;
            }
        }
        Ok(Outcome::new(answer, text))
    }
}
