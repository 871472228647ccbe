//! `volee lsp`: the language server, on stdin and stdout, for the editor that starts it.

use anyhow::anyhow;
use clap::Args;
use volee::report::Answer;

use crate::cli::Format;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};

#[derive(Debug, Args)]
#[command(after_help = "\
Editors start it by themselves; how to set up VS Code, Neovim and Helix is in the book.")]
pub struct Lsp {
    /// Editors say this; there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

impl Lsp {
    pub fn run(self, context: &Context) -> Ended {
        if context.format == Format::Json {
            return Err(Failure::new("the language server speaks a protocol of its own on stdout")
                .with_help("leave --format out"));
        }
        volee_lsp::serve_stdio().map_err(|error| anyhow!(error))?;
        Ok(Outcome::new(Answer::new("lsp"), ""))
    }
}
