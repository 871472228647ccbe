//! `volee check MODEL --engine channels`: is any finite buffer ever big enough?

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use volee::channels::{
    Automaton, Boundedness, Buffered, Fifo, MOST, Machines, Operation, Outcome as Found, Pump, Queued,
    read_scm, search,
};
use volee::report::{Answer, QuestionAnswer, Trace, VerdictWord, count, counted, seconds};
use volee::system::{Reason, ReasonKind, Run, Witness, replay_end};
use volee::{Model, Options};

use super::Check;
use crate::context::Context;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;
use crate::witness::{LONGEST_RUN, replay_command};

const QUESTION: &str = "channels are bounded";

/// Where the queues are.
enum Subject {
    Machines(Machines),
    Program(Box<Buffered>),
}

/// Runs the check.
pub fn run(check: &Check, context: &Context) -> Ended {
    let flags = [(!check.invariant.is_empty(), "--invariant"), (!check.reachable.is_empty(), "--reachable")];
    if let Some((_, flag)) = flags.iter().find(|f| f.0) {
        return Err(Failure::new(format!(
            "--engine channels asks one question only; {flag} is for the explicit search"
        )));
    }
    let mut subject = open(check, context)?;
    let meter = check.budget.meter(context);
    let mut progress = ProgressLine::new(meter.budget().memory);
    let found = match &mut subject {
        Subject::Machines(machines) => search(&mut Fifo::new(&*machines), &meter, &mut progress),
        Subject::Program(program) => search(program.as_mut(), &meter, &mut progress),
    };
    drop(progress);
    report(check, context, &mut subject, &found, meter.elapsed().as_secs_f64())
}

fn open(check: &Check, context: &Context) -> Result<Subject, Failure> {
    let path = &check.model.model;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("scm")) {
        let bytes = volee::model::read_bytes(path)?;
        let machines = read_scm(&path.display().to_string(), &String::from_utf8_lossy(&bytes))?;
        return Ok(Subject::Machines(machines));
    }
    let Model { promela: Some(lowered), .. } = check.model.open(context)? else {
        return Err(Failure::new("channels are read from Promela models and .scm machines"));
    };
    Ok(Subject::Program(Box::new(Buffered::new(&lowered.program)?)))
}

fn names(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Machines(machines) => machines.channels.clone(),
        Subject::Program(program) => program.channel_names(),
    }
}

/// The channels by name, and between whom they are where that is plain to see.
fn ends(subject: &Subject) -> Vec<String> {
    let Subject::Machines(machines) = subject else { return names(subject) };
    let using = |wanted: fn(&Operation) -> Option<u16>, channel: usize| {
        let uses = |a: &&Automaton| {
            a.states.iter().flatten().any(|m| wanted(&m.operation).map(usize::from) == Some(channel))
        };
        machines.automata.iter().filter(uses).map(|a| a.name.as_str()).collect::<Vec<_>>()
    };
    let sends = |o: &Operation| if let Operation::Send { channel, .. } = o { Some(*channel) } else { None };
    let receives =
        |o: &Operation| if let Operation::Receive { channel, .. } = o { Some(*channel) } else { None };
    let name =
        |(channel, name): (usize, &String)| match (&using(sends, channel)[..], &using(receives, channel)[..])
        {
            ([from], [to]) => format!("{name} ({from} → {to})"),
            _ => name.clone(),
        };
    machines.channels.iter().enumerate().map(name).collect()
}

fn report(check: &Check, context: &Context, subject: &mut Subject, found: &Found, elapsed: f64) -> Ended {
    let name = check.model.model.display().to_string();
    let mut answer = Answer::new("check").about(&name, "channels");
    let mut text = String::new();
    let palette = context.palette;
    let channels = names(subject);
    let table = |numbers: &[usize]| -> Value {
        channels.iter().cloned().zip(numbers.iter().map(|&n| json!(n))).collect::<Map<_, _>>().into()
    };
    match &found.answer {
        Boundedness::Bounded(most) => {
            let _ = writeln!(text, "{} {QUESTION}", palette.good(VerdictWord::Holds.as_str()));
            let _ = writeln!(text, "the smallest capacities that never block a send:");
            for (channel, most) in channels.iter().zip(most) {
                let _ = writeln!(text, "  {channel:<12} {most}");
            }
            answer.push(QuestionAnswer::holds(QUESTION));
            answer.add("capacities", table(most));
        }
        Boundedness::Unknown(limit) => {
            let _ =
                writeln!(text, "{} {QUESTION}  ({limit})", palette.doubtful(VerdictWord::Unknown.as_str()));
            answer.push(QuestionAnswer::unknown(QUESTION, limit));
        }
        Boundedness::Unbounded(pump) => {
            let reason = reason(pump, &ends(subject));
            let (mut run, witness) = replayed(subject, pump)?;
            // Nothing is the same as before but the control: the run repeats, its states do not.
            run.loop_start = pump.prefix.len().checked_sub(run.skipped);
            let _ = writeln!(text, "{} {QUESTION}", palette.bad(VerdictWord::Violated.as_str()));
            let _ = writeln!(text, "\n{}", palette.bad(&reason.message));
            let _ = writeln!(
                text,
                "{} ({}; {} for ever, taken a dozen times here):",
                palette.strong("how it happens"),
                counted(witness.steps.len(), "step"),
                match pump.round.len() {
                    1 => "the last one repeats".to_string(),
                    n => format!("the last {n} repeat"),
                },
            );
            text.push_str(&check.trace.text(&run, &name, palette));
            let options = options(check, subject);
            let trace = Trace::new(&name, &options.defines, options.plain, QUESTION, &witness, &run)
                .read_with(&options.copies, options.capacity);
            for path in check.trace.write(&trace, &run)? {
                let _ = writeln!(text, "written to {}", path.display());
            }
            let command = replay_command(&check.model.model, &options, &trace)?;
            let _ = writeln!(text, "replay it with:\n  {}", palette.name(&command));
            answer.push(QuestionAnswer::violated(QUESTION, &reason, Some(&run)).with_replay(command));
            answer.add("growth", table(&pump.growth));
            answer.add("repeats_from", pump.prefix.len());
            if let Some(steps) = rounds(subject, pump, 12) {
                let witness = Witness { initial: 0, steps, loop_start: None };
                let mut dozen = trace.clone();
                (dozen.witness, dozen.labels) = (witness, Vec::new());
                answer.add("replay_dozen", replay_command(&check.model.model, &options, &dozen)?);
            }
        }
    }
    let s = &found.statistics;
    answer.set("states", s.states);
    answer.set("depth", s.depth);
    answer.set("seconds", elapsed);
    answer.set("peak_memory_bytes", s.bytes);
    answer.set("content_bound", s.bound);
    let line = format!(
        "{} looked at, depth {}, channels up to {} messages in all, {}",
        counted(usize::try_from(s.states).unwrap_or(usize::MAX), "state"),
        count(s.depth),
        count(s.bound),
        seconds(elapsed)
    );
    let _ = writeln!(text, "\n{}", palette.faint(line));
    Ok(Outcome::new(answer, text))
}

/// How the model is read for its runs: a buffer of a program is as large as a machine can have it.
fn options(check: &Check, subject: &Subject) -> Options {
    match subject {
        Subject::Machines(_) => check.model.options(),
        Subject::Program(_) => Options { plain: true, capacity: Some(MOST), ..check.model.options() },
    }
}

fn reason(pump: &Pump, channels: &[String]) -> Reason {
    let growing: Vec<String> = channels
        .iter()
        .zip(&pump.growth)
        .filter(|(_, growth)| **growth > 0)
        .map(|(channel, &growth)| {
            format!("channel {channel} grows by {} a round", counted(growth, "message"))
        })
        .collect();
    Reason { kind: ReasonKind::Unbounded, message: growing.join(", "), place: None }
}

/// The ordinals of the prefix and so many rounds.
fn rounds(subject: &mut Subject, pump: &Pump, rounds: usize) -> Option<Vec<u32>> {
    match subject {
        Subject::Machines(machines) => pump.replay(&mut Fifo::new(&*machines), rounds),
        Subject::Program(program) => pump.replay(program.as_mut(), rounds),
    }
}

/// The prefix and one round, replayed by the system itself.
fn replayed(subject: &mut Subject, pump: &Pump) -> Result<(Run, Witness), Failure> {
    let defect = || {
        Failure::new("a loop was found but does not replay")
            .with_help("this is a defect of volee; please report it with the model and the command")
    };
    let witness =
        Witness { initial: 0, steps: rounds(subject, pump, 1).ok_or_else(defect)?, loop_start: None };
    let run = match subject {
        Subject::Machines(machines) => replay_end(&mut Fifo::new(&*machines), &witness, LONGEST_RUN),
        Subject::Program(program) => replay_end(program.machine(), &witness, LONGEST_RUN),
    };
    Ok((run.map_err(|_| defect())?, witness))
}
