//! `volee lint MODEL…`: everything the front end has to say about models, also what is merely untidy, without
//! any search.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use volee::files;
use volee::promela::lint::LINTS;
use volee::promela::{Options, study};
use volee::report::{Answer, QuestionAnswer, VerdictWord, counted, diagnostics_text};
use volee::system::{Diagnostic, Severity};

use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee lint mutex.pml          slips, and what is superfluous; exit code 1 if there is something
  volee lint models/*.pml       several models in one call
  volee lint --list             every lint and what it finds")]
pub struct Lint {
    /// The models
    #[arg(value_name = "MODEL", required_unless_present = "list")]
    models: Vec<PathBuf>,

    /// Preprocessor definitions, as for `volee check`
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    define: Vec<String>,

    /// Say which lints there are
    #[arg(long)]
    list: bool,
}

impl Lint {
    pub fn run(self, context: &Context) -> Ended {
        if self.list {
            let lines: Vec<String> =
                LINTS.iter().map(|l| format!("{:<24} {}\n", l.code, l.sentence)).collect();
            return Ok(Outcome::output("lint", lines.concat()));
        }
        let defines = self.define.iter().map(|d| match d.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (d.clone(), None),
        });
        let options = Options { defines: defines.collect(), ..Options::default() };
        let mut found: Vec<Diagnostic> = Vec::new();
        for path in &self.models {
            let study = study(&path.display().to_string(), &files::read_text(path)?, &options);
            if study.model.is_none() {
                let errors = study.diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
                return Err(Failure { diagnostics: errors.collect(), defect: None });
            }
            found.extend(study.diagnostics);
        }
        Ok(self.outcome(&found, context))
    }

    fn outcome(&self, found: &[Diagnostic], context: &Context) -> Outcome {
        let mut answer = Answer::new("lint");
        if let [model] = &self.models[..] {
            answer = answer.about(model.display().to_string(), "lint");
        }
        for diagnostic in found {
            let code = diagnostic.code.as_deref().unwrap_or("warning");
            let verdict = VerdictWord::Violated;
            answer.push(QuestionAnswer { verdict, ..QuestionAnswer::holds(format!("lint {code}")) });
        }
        answer.set("warnings", found.len());
        answer.warn(found);
        let mut text = diagnostics_text(found, context.palette);
        let _ = match found.len() {
            0 => writeln!(text, "nothing to say about {}", counted(self.models.len(), "model")),
            n => writeln!(text, "{} in {}", counted(n, "warning"), counted(self.models.len(), "model")),
        };
        Outcome::new(answer, text)
    }
}
