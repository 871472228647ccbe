//! `cargo xtask bench temporal`: what a question about infinite runs costs beside the safety search of the
//! same model.
//!
//! For every claim of the corpus, CPU time of the search for a violating run, and of the search for deadlocks
//! and failed assertions through all states of the same model, read with the same options. Small models are
//! searched again and again until the clock means something; the best of three such rounds counts. Stored in
//! `bench/temporal.csv`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use volee::claims::never_claim;
use volee::logic::formula;
use volee::program::MachineOptions;
use volee::search::{BoundAtom, Check, Claim, ClaimOptions, LtlQuestion, check, check_claim};
use volee::system::{Budget, Meter, Quiet, ReasonKind, Verdict};
use volee::{Model, Options};

use crate::temporal::CORPUS;
use xtask::clock::cpu_seconds;

/// A round lasts at least this long, in seconds.
const ROUND: f64 = 0.03;
const ROUNDS: usize = 3;
/// A search that takes longer is not measured.
const PATIENCE: Duration = Duration::from_secs(20);

/// A claim and what it costs.
struct Row {
    model: String,
    claim: String,
    verdict: &'static str,
    liveness: f64,
    safety: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.liveness / self.safety
    }
}

/// Runs the benchmark; an argument chooses the models whose path contains it.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let path = Path::new(CORPUS).join("spin_ltl_oracle.csv");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: no corpus file {}", path.display());
        return Ok(());
    };
    let wanted = arguments.first().map_or("", String::as_str);
    let mut asked: Vec<[&str; 3]> = Vec::new();
    for line in text.lines().skip(1).filter(|line| line.contains(wanted)) {
        let mut fields = line.split(',');
        if let (Some(model), Some(claim), Some(kind)) = (fields.next(), fields.next(), fields.next())
            && !asked.contains(&[model, claim, kind])
        {
            asked.push([model, claim, kind]);
        }
    }
    let mut rows = Vec::new();
    for [model, claim, kind] in asked {
        match measure(model, claim, kind) {
            Ok(row) => {
                println!(
                    "{:<44} {:<24} {:<9} liveness {:>10.6} s, safety {:>10.6} s, ratio {:5.2}",
                    row.model,
                    row.claim,
                    row.verdict,
                    row.liveness,
                    row.safety,
                    row.ratio()
                );
                rows.push(row);
            }
            Err(why) => println!("{model:<44} {claim:<24} not measured: {why}"),
        }
    }
    conclude(&rows, wanted.is_empty())
}

fn conclude(rows: &[Row], store: bool) -> Result<(), String> {
    let mut table = String::from("model,claim,verdict,liveness_seconds,safety_seconds,ratio\n");
    let mut by_model: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        by_model.entry(&row.model).or_default().push(row.ratio());
        let Row { model, claim, verdict, liveness, safety } = row;
        let ratio = row.ratio();
        let _ = writeln!(table, "{model},{claim},{verdict},{liveness:.6},{safety:.6},{ratio:.3}");
    }
    let held: Vec<f64> = rows.iter().filter(|r| r.verdict == "holds").map(Row::ratio).collect();
    let models: Vec<f64> = by_model.into_values().filter_map(median).collect();
    let (count, held_count) = (models.len(), held.len());
    let (by_model, held) = (median(models).unwrap_or(0.0), median(held).unwrap_or(0.0));
    println!("median of {count} models {by_model:.2}; of the {held_count} claims that hold {held:.2}");
    let _ = writeln!(table, "median of models,,,,,{by_model:.3}");
    let _ = writeln!(table, "median of claims that hold,,,,,{held:.3}");
    if store {
        fs::create_dir_all("bench").map_err(|e| e.to_string())?;
        fs::write("bench/temporal.csv", table).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

fn measure(model: &str, claim: &str, kind: &str) -> Result<Row, String> {
    let path = Path::new(CORPUS).join(model);
    let open =
        |plain| Model::open(&path, &Options { plain, ..Options::default() }).map_err(|e| e[0].to_string());
    let mut plain = false;
    let mut opened = open(plain)?;
    let mut claims = claims_of(&mut opened, claim, kind)?;
    if claims.every_step {
        plain = true;
        opened = open(plain)?;
        claims = claims_of(&mut opened, claim, kind)?;
    }
    let mut verdict = "holds";
    let liveness = clock(|meter| {
        let options = ClaimOptions { faults: true, ..ClaimOptions::default() };
        let outcome = check_claim(opened.draft.system(), &claims.claim, options, meter, &mut Quiet);
        verdict = match outcome.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Unknown(limit) => return Err(limit.to_string()),
        };
        Ok(())
    })?;
    let mut opened = open(plain)?;
    let everything = Check::new().all_errors(true);
    let safety = clock(|meter| match check(opened.draft.system(), &everything, meter, &mut Quiet).limit {
        Some(limit) => Err(limit.to_string()),
        None => Ok(()),
    })?;
    Ok(Row { model: model.into(), claim: claim.into(), verdict, liveness, safety })
}

struct Bound {
    claim: Claim,
    every_step: bool,
}

fn claims_of(model: &mut Model, claim: &str, kind: &str) -> Result<Bound, String> {
    let lowered = model.promela.as_ref().ok_or("not Promela")?;
    match kind {
        "ltl" => {
            let block = lowered.model().ltl.iter().find(|p| *p.name == *claim).ok_or("no such block")?;
            let text = block.text.to_string();
            let parsed = formula::parse(&text, claim).map_err(|e| e.to_string())?;
            let question =
                LtlQuestion::new(model.draft.as_mut(), parsed, &text, claim).map_err(|e| e.to_string())?;
            let every_step = question.needs_every_step();
            Ok(Bound { claim: question.claim().clone(), every_step })
        }
        "np" => marked("!([]<>progress)", BoundAtom::Progress, ReasonKind::NonProgressCycle),
        _ if lowered.program.never.is_some() => {
            let mut machine = lowered.machine(MachineOptions::default());
            let claim = never_claim(&lowered.program, &mut machine).ok_or("no never claim")?;
            model.draft = Box::new(machine);
            Ok(Bound { claim, every_step: false })
        }
        _ => marked("[]<>accept", BoundAtom::Accept, ReasonKind::AcceptanceCycle),
    }
}

fn marked(bad: &str, atom: BoundAtom, kind: ReasonKind) -> Result<Bound, String> {
    let formula = formula::parse(bad, "formula").map_err(|e| e.to_string())?;
    let automaton = volee::logic::ltl::translate(&formula).map_err(|e| e.to_string())?;
    let mut claim = Claim::new(automaton, vec![atom]);
    claim.kind = kind;
    Ok(Bound { claim, every_step: false })
}

/// CPU seconds of one call: the best of some rounds, each long enough to be measured.
fn clock(mut search: impl FnMut(&Meter) -> Result<(), String>) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (mut calls, start) = (0, cpu_seconds());
        loop {
            let budget = Budget { time: Some(PATIENCE), ..Budget::default() };
            search(&Meter::start(budget))?;
            calls += 1;
            let spent = cpu_seconds() - start;
            if spent >= ROUND {
                best = best.min(spent / f64::from(calls));
                break;
            }
        }
        if best > 3.0 {
            break;
        }
    }
    Ok(best)
}
