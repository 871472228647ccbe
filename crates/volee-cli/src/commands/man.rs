//! `volee man [VERB]`: the manual page in roff.

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::cli::Cli;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee man | man -l -
  volee man check > volee-check.1")]
pub struct Man {
    /// The verb to describe; without it, volee as a whole
    verb: Option<String>,
}

impl Man {
    pub fn run(self, _: &Context) -> Ended {
        let mut whole = Cli::command();
        whole.build();
        let described = match &self.verb {
            None => whole,
            Some(verb) => whole.find_subcommand(verb).cloned().ok_or_else(|| {
                Failure::new(format!("there is no verb `{verb}`")).with_help("`volee --help` lists the verbs")
            })?,
        };
        let mut page = Vec::new();
        Page::new(described).render(&mut page).map_err(anyhow::Error::from)?;
        Ok(Outcome::output("man", String::from_utf8_lossy(&page)))
    }
}
