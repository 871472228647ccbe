//! `volee completions SHELL`: the script that makes a shell complete volee's verbs and flags.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::context::Context;
use crate::outcome::{Ended, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee completions bash > ~/.local/share/bash-completion/completions/volee
  volee completions fish > ~/.config/fish/completions/volee.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(self, _: &Context) -> Ended {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "volee", &mut script);
        Ok(Outcome::output("completions", String::from_utf8_lossy(&script)))
    }
}
