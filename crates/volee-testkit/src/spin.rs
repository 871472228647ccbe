//! SPIN 6.5.2 as a peer: its verdict and its counts of states and transitions, with every optimisation of its
//! own off.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus;

/// SPIN and a C compiler, in a folder of their own.
pub struct Spin {
    folder: PathBuf,
    compiler: &'static str,
}

/// SPIN's answer about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Some state is an invalid end.
    pub deadlock: bool,
    /// How many failed assertions and other errors.
    pub failed: u64,
    /// The first of them.
    pub first: String,
    /// Stored states.
    pub states: u64,
    /// Stored and matched.
    pub transitions: u64,
}

impl Spin {
    /// Where SPIN and a C compiler are installed.
    ///
    /// # Errors
    /// They are not.
    pub fn new() -> Result<Self, String> {
        let compiler = ["tcc", "gcc", "cc"].into_iter().find(|c| corpus::is_there(c));
        let (Some(compiler), true) = (compiler, corpus::is_there("spin")) else {
            return Err("`spin` and a C compiler are not installed here".into());
        };
        let folder = std::env::temp_dir().join(format!("volee-programs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        Ok(Spin { folder, compiler })
    }

    /// SPIN's answer; none if it does not accept the program or gives up.
    ///
    /// # Errors
    /// A program cannot be called.
    pub fn ask(&self, text: &str) -> Result<Option<Answer>, String> {
        if !self.make_verifier(text, &["-DSAFETY", "-DNOCLAIM"])? {
            return Ok(None);
        }
        // All errors are counted, and then without invalid ends.
        let (all, failures) = (self.verify(&["-c0", "-n"])?, self.verify(&["-c0", "-E"])?);
        let (Some(all), Some(failures)) = (all, failures) else { return Ok(None) };
        Ok(Some(Answer { deadlock: all.failed > failures.failed, ..failures }))
    }

    /// Whether SPIN finds an error in a program with each of its claims, by name; invalid ends are not looked
    /// for, assertions are, because SPIN makes one of a formula that a finite run violates. None if it does
    /// not accept the program or gives up.
    ///
    /// # Errors
    /// A program cannot be called.
    pub fn ask_claims(&self, text: &str, claims: &[&str]) -> Result<Option<Vec<bool>>, String> {
        if !self.make_verifier(text, &[])? {
            return Ok(None);
        }
        let mut violated = Vec::new();
        for claim in claims {
            let call = ["-a", "-E", "-c1", "-N", claim];
            let named = if *claim == "never" { &call[..3] } else { &call[..] };
            let Some(answer) = self.verify(named)? else { return Ok(None) };
            violated.push(answer.failed > 0);
        }
        Ok(Some(violated))
    }

    /// Whether SPIN and the compiler make a verifier, with every optimisation off.
    fn make_verifier(&self, text: &str, switches: &[&str]) -> Result<bool, String> {
        let folder = &self.folder;
        std::fs::write(folder.join("model.pml"), text).map_err(|e| e.to_string())?;
        for old in ["pan.c", "pan"] {
            let _ = std::fs::remove_file(folder.join(old));
        }
        let made = call(folder, "spin", &["-a", "-o1", "-o2", "-o3", "model.pml"])?;
        if !made.0 || !folder.join("pan.c").exists() {
            return Ok(false);
        }
        let usual = ["-w", "-DNOREDUCE", "-DNOFAIR", "-DXUSAFE", "-DMEMLIM=500", "-o", "pan", "pan.c"];
        Ok(call(folder, self.compiler, &[switches, &usual].concat())?.0)
    }

    fn verify(&self, switches: &[&str]) -> Result<Option<Answer>, String> {
        let call_of = [&["10", "./pan", "-m100000", "-w16"], switches].concat();
        Ok(read_answer(&call(&self.folder, "timeout", &call_of)?.1))
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn call(folder: &Path, program: &str, arguments: &[&str]) -> Result<(bool, String), String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Errors after which SPIN's verifier ends, whatever it is told.
const FATAL: [&str; 6] = [
    "block in d_step",
    "rv-attempt",
    "max search depth too small",
    "Search not completed",
    "aborting",
    "out of range",
];

fn read_answer(text: &str) -> Option<Answer> {
    let number = |what: &str| -> Option<u64> {
        let line = text.lines().find(|l| l.contains(what))?;
        line.split_whitespace().next()?.parse().ok()
    };
    if FATAL.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let (states, transitions) = (number("states, stored")?, number("transitions (=")?);
    let failed = text.split("errors: ").nth(1)?.split_whitespace().next()?.parse().ok()?;
    let first = text.lines().find(|l| l.starts_with("pan:1:")).unwrap_or_default().to_owned();
    Some(Answer { deadlock: false, failed, first, states, transitions })
}
