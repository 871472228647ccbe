//! Many random programs, one after the other: searched in every way, compared with SPIN where it is asked
//! for, made smaller where they fail.

use std::panic::AssertUnwindSafe;

use crate::agreement::{Agreement, Hooks, Plain, compare};
use crate::promela::{Audience, program};
use crate::shrink;
use crate::spin::Spin;

/// What a run came to.
#[derive(Debug, Default)]
pub struct Tally {
    /// Searched in every way.
    pub compared: u64,
    /// The front end does not take it.
    pub refused: u64,
    /// It has too many states.
    pub too_large: u64,
    /// Compared with SPIN's counts.
    pub counted: u64,
    /// Claims compared with SPIN's verdicts.
    pub claims: u64,
    /// SPIN does not accept the program, or does not finish it.
    pub passed_over: u64,
    /// The seeds of those that differ.
    pub differing: Vec<u64>,
}

impl Tally {
    /// Adds the figures of more programs.
    pub fn add(&mut self, other: Tally) {
        let Tally { compared, refused, too_large, counted, claims, passed_over, differing } = other;
        self.compared += compared;
        self.refused += refused;
        self.too_large += too_large;
        self.counted += counted;
        self.claims += claims;
        self.passed_over += passed_over;
        self.differing.extend(differing);
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { compared, refused, too_large, counted, claims, passed_over, differing } = self;
        write!(f, "{compared} programs searched in every way, {refused} refused, {too_large} too large; ")?;
        if counted + passed_over > 0 {
            write!(
                f,
                "{counted} with SPIN's counts and verdicts, {claims} claims with its verdicts, \
                 {passed_over} not accepted or not finished by SPIN; "
            )?;
        }
        write!(f, "{} differ", differing.len())
    }
}

/// Compares the programs of these seeds; what differs is made smaller and printed.
pub fn run(seeds: std::ops::Range<u64>, spin: Option<&Spin>, hooks: Hooks<'_>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        one(seed, spin, hooks, &mut tally);
    }
    tally
}

fn one(seed: u64, spin: Option<&Spin>, hooks: Hooks<'_>, tally: &mut Tally) {
    let audience = if spin.is_some() { Audience::Peer } else { Audience::Ourselves };
    let tree = program(seed, audience);
    let found = attempt(&tree.to_string(), seed, spin, hooks);
    match &found {
        Ok(Compared { ours: Agreement::Refused(message), .. }) => {
            tally.refused += 1;
            if tally.refused <= 20 {
                println!("seed {seed}: refused: {message}");
            }
        }
        Ok(Compared { ours: Agreement::TooLarge, .. }) => tally.too_large += 1,
        Ok(Compared { ours: Agreement::Same(_), counted, claims }) => {
            tally.compared += 1;
            tally.claims += claims;
            tally.counted += u64::from(*counted);
            tally.passed_over += u64::from(spin.is_some() && !counted);
        }
        Err(message) => {
            tally.differing.push(seed);
            println!("seed {seed}: {message}");
            let kind = kind_of(message);
            let smaller = shrink(tree, |candidate| {
                attempt(&candidate.to_string(), seed, spin, hooks)
                    .is_err_and(|message| kind_of(&message) == kind)
            });
            let message = attempt(&smaller.to_string(), seed, spin, hooks).err().unwrap_or_default();
            println!("made smaller: {message}\n{smaller}");
        }
    }
}

/// What sort of difference it is, so that a smaller program is not one with another.
fn kind_of(message: &str) -> &str {
    message.split([':', '`', ',']).next().unwrap_or(message)
}

struct Compared {
    ours: Agreement,
    counted: bool,
    claims: u64,
}

fn attempt(text: &str, seed: u64, spin: Option<&Spin>, hooks: Hooks<'_>) -> Result<Compared, String> {
    let ours = std::panic::catch_unwind(AssertUnwindSafe(|| compare(text, seed, hooks)))
        .unwrap_or_else(|_| Err("panic: see above".into()))?;
    let (Some(spin), Agreement::Same(plain)) = (spin, &ours) else {
        return Ok(Compared { ours, counted: false, claims: 0 });
    };
    let counted = spin_agrees(spin, text, plain)?;
    let claims = if counted { claims_agree(spin, text, plain)? } else { 0 };
    Ok(Compared { ours, counted, claims })
}

/// How many claims SPIN decided; as we did. Its verdict tells nothing of a claim where other errors are
/// counted with it, or `accept` labels of processes, or where the claim counts as a process.
fn claims_agree(spin: &Spin, text: &str, plain: &Plain) -> Result<u64, String> {
    let mixed = !plain.faults.is_empty()
        || ["trace {", "D_proctype", "never { do :: assert", "_nr_pr"].iter().any(|sign| text.contains(sign))
        || text.split("never {").next().is_some_and(|processes| processes.contains("accept"));
    if plain.claims.is_empty() || mixed {
        return Ok(0);
    }
    let names: Vec<&str> = plain.claims.iter().map(|(name, _)| name.as_str()).collect();
    let Some(answers) = spin.ask_claims(text, &names)? else { return Ok(0) };
    for ((name, violated), answer) in plain.claims.iter().zip(&answers) {
        if violated != answer {
            return Err(format!("claim {name}: violated {violated}; SPIN {answer}"));
        }
    }
    Ok(answers.len() as u64)
}

/// Whether SPIN gave an answer; it is then ours.
fn spin_agrees(spin: &Spin, text: &str, plain: &Plain) -> Result<bool, String> {
    let Some(answer) = spin.ask(text)? else { return Ok(false) };
    let ours = (plain.states as u64, plain.transitions as u64);
    if ours != (answer.states, answer.transitions) {
        return Err(format!("counts: {ours:?}; SPIN ({}, {})", answer.states, answer.transitions));
    }
    if answer.deadlock != plain.deadlock {
        return Err(format!("deadlock: {}; SPIN {}", plain.deadlock, answer.deadlock));
    }
    if (answer.failed > 0) == plain.faults.is_empty() {
        return Err(format!("errors: {:?}; SPIN {answer:?}", plain.faults));
    }
    Ok(true)
}
