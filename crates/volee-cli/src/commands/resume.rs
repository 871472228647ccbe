//! `volee resume FILE`: goes on with a search that was kept, as if its call had been made here and now.
//!
//! The words of the call and its folder are in the file. What may be used is told by this call, not by that
//! one: a search that ended for want of time or memory is gone on with in more of it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use volee::kept::Kept;

use super::Command;
use crate::cli;
use crate::context::Context;
use crate::outcome::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee check big.pml --checkpoint big.ck --time 1h      an hour of it, and the rest some other time
  volee resume big.ck                                    goes on, without a limit of time
  volee resume big.ck --memory 8G --format json          in more memory")]
pub struct Resume {
    /// What `volee check --checkpoint` or `volee solve --checkpoint` has written
    file: PathBuf,
}

impl Resume {
    pub fn run(self, context: &Context) -> Ended {
        let kept = Kept::read(&self.file)?;
        let file = self.file.canonicalize().map_err(|error| Failure::new(error.to_string()))?;
        std::env::set_current_dir(&kept.folder).map_err(|error| {
            Failure::new(format!("cannot go to `{}`, where the search began: {error}", kept.folder.display()))
        })?;
        let words: Vec<OsString> =
            ["volee"].into_iter().chain(kept.call.iter().map(String::as_str)).map(Into::into).collect();
        match cli::parse(&words).map(|cli| cli.command) {
            Ok(Command::Check(mut check)) => {
                check.storage.keeping.resume(kept.call, file);
                check.run(context)
            }
            Ok(Command::Solve(mut solve)) => {
                solve.keeping.resume(kept.call, file);
                solve.run(context)
            }
            _ => Err(Failure::new("the file keeps no call of `volee check` or `volee solve`")),
        }
    }
}
