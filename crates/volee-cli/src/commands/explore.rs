//! `volee explore MODEL [RUN]`: serves the explorer on loopback until Ctrl-C.
//!
//! The one verb that prints before it ends: its first line is the address, which scripts and people wait for.

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use volee::Stored;
use volee::report::Answer;
use volee_page::{Server, ServerError, open_browser};

use crate::args::ModelArgs;
use crate::cli::Format;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
use crate::witness::{FilterArgs, OnlyArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee explore mutex.pml                step through the model in a browser
  volee explore mutex.pml bug.json       walk through a stored run
  volee explore mutex.pml run:0.2.1x5    or through one that `check` has printed
  volee explore door.aut --no-open --port 8080
  volee explore test.json                a test, or a log of `volee conform --log`")]
pub struct Explore {
    #[command(flatten)]
    model: ModelArgs,

    /// A run to begin with: a trace file, or the run itself as `check` prints it (run:…)
    #[arg(value_name = "RUN")]
    run: Option<String>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    only: OnlyArgs,

    /// Only print the address, do not open a browser
    #[arg(long)]
    no_open: bool,

    /// The port to listen on, on this machine only [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

impl Explore {
    pub fn run(self, context: &Context) -> Ended {
        let run = self.run.as_deref().map(volee::files::given_run).transpose()?;
        let filter = self.filter.filter(self.only.only.is_some())?;
        let mut source = self.model.source();
        let stored = source.path.extension().is_some_and(|e| e == "json");
        let server = match stored.then(|| volee::stored(&source.path)).transpose()? {
            Some(Stored::Log(data)) => Server::still(data, &filter, self.port),
            Some(Stored::Test(system)) => {
                source.path = system.path().to_path_buf();
                Server::new(source, run, &filter, self.port)
            }
            None => Server::new(source, run, &filter, self.port),
        };
        let server = server.map_err(failure)?;
        context.warn(server.warnings());
        let url = server.url();
        announce(&url, &self.model.model, context);
        if !self.no_open {
            open_browser(&url);
        }
        server.run(&context.cancelled);
        context.told();
        Ok(Outcome::new(Answer::new("explore"), ""))
    }
}

fn failure(error: ServerError) -> Failure {
    match error {
        ServerError::Model(wrong) => wrong.into(),
        ServerError::Port { .. } => Failure::new(error.to_string())
            .with_help("choose another with --port, or leave it out for any that is free"),
        ServerError::Run(_) => Failure::new(format!("the run does not fit the model: {error}")),
        ServerError::Token(_) => Failure::new(error.to_string()),
    }
}

/// One line with the address, at once.
fn announce(url: &str, model: &Path, context: &Context) {
    let line = match context.format {
        Format::Text => url.to_string(),
        Format::Json => {
            let mut answer = Answer::new("explore").about(model.display().to_string(), "explicit");
            answer.add("url", url);
            answer.warn(&context.take_warnings());
            serde_json::to_string(&answer).unwrap_or_default()
        }
    };
    let mut out = std::io::stdout().lock();
    // Whoever does not read the address does not want it.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    if context.format == Format::Text {
        eprintln!("(Ctrl-C ends it)");
    }
}
