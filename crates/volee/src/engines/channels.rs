//! Unbounded channels: is any finite buffer ever big enough?

use serde_json::{Map, Value};
use volee_channels::{
    Automaton, Boundedness, Buffered, Fifo, MOST, Machines, Operation, Pump, Queued, queues as queues_of,
    read_scm, search,
};
use volee_report::{count, counted, seconds};
use volee_system::{Diagnostic, Reason, ReasonKind, Run, Verdict, Witness, replay_end};

use super::{Job, Part};
use crate::answer::{Answer, AskError, Certificate, LONGEST_RUN, Role, ShownRun, violated};
use crate::engine::Way;
use crate::files::read_bytes;
use crate::judge::Defect;
use crate::model::Options;
use crate::question::Question;

/// Where the queues are.
enum Queues {
    Machines(Machines),
    Program(Box<Buffered>),
}

/// Answers whether the channels are bounded.
pub(crate) fn answer(job: &mut Job<'_>, question: &Question) -> Result<Part, AskError> {
    let mut queues = open(job)?;
    let found = match &mut queues {
        Queues::Machines(machines) => search(queues_of(machines).as_mut(), job.meter, job.progress),
        Queues::Program(program) => search(program.as_mut(), job.meter, job.progress),
    };
    let mut part = Part::default();
    let answer = told(job, &mut queues, question, &found.answer, &mut part)?;
    part.answers.push(answer);
    let elapsed = job.meter.elapsed().as_secs_f64();
    let s = &found.statistics;
    part.figures.set("states", s.states);
    part.figures.set("depth", s.depth);
    part.figures.set("seconds", elapsed);
    part.figures.set("peak_memory_bytes", s.bytes);
    part.figures.set("content_bound", s.bound);
    part.remarks.push(format!(
        "{} looked at, depth {}, channels up to {} messages in all, {}",
        counted(usize::try_from(s.states).unwrap_or(usize::MAX), "state"),
        count(s.depth),
        count(s.bound),
        seconds(elapsed)
    ));
    Ok(part)
}

fn open(job: &mut Job<'_>) -> Result<Queues, AskError> {
    if let (Some(path), "scm") = (job.subject.file(), job.subject.extension().as_str()) {
        let bytes = read_bytes(path)?;
        let machines = read_scm(&path.display().to_string(), &String::from_utf8_lossy(&bytes))?;
        return Ok(Queues::Machines(machines));
    }
    let Some(lowered) = job.open()?.promela else {
        let message = "channels are read from Promela models and .scm machines";
        return Err(Diagnostic::error(message, None).into());
    };
    Ok(Queues::Program(Box::new(Buffered::new(&lowered.program)?)))
}

fn told(
    job: &Job<'_>,
    queues: &mut Queues,
    question: &Question,
    found: &Boundedness,
    part: &mut Part,
) -> Result<Answer, AskError> {
    let answer = |verdict| Answer::new(question.clone(), Way::Channels.engine(), verdict);
    let channels = queues.names();
    let table = |numbers: &[usize]| -> Value {
        channels.iter().cloned().zip(numbers.iter().map(|&n| n.into())).collect::<Map<_, _>>().into()
    };
    Ok(match found {
        Boundedness::Bounded(most) => {
            part.fields.insert("capacities".into(), table(most));
            let mut answer = answer(Verdict::Holds);
            answer.notes.push("the smallest capacities that never block a send:".into());
            answer
                .notes
                .extend(channels.iter().zip(most).map(|(channel, most)| format!("  {channel:<12} {most}")));
            let capacities = channels.iter().cloned().zip(most.iter().copied()).collect();
            answer.certificate = Some(Certificate::Capacities(capacities));
            answer
        }
        Boundedness::Unknown(limit) => answer(Verdict::Unknown(limit.clone())),
        Boundedness::Unbounded(pump) => {
            let reason = reason(pump, &queues.ends());
            let (mut run, witness) = replayed(queues, pump)?;
            // Nothing is the same as before but the control: the run repeats, its states do not.
            run.loop_start = pump.prefix.len().checked_sub(run.skipped);
            part.fields.insert("growth".into(), table(&pump.growth));
            part.fields.insert("repeats_from".into(), pump.prefix.len().into());
            let repeats = match pump.round.len() {
                1 => "the last one repeats".to_string(),
                n => format!("the last {n} repeat"),
            };
            let mut answer = answer(violated(reason, witness.clone()));
            answer.errors = 1;
            let length = format!(
                "{}; {repeats} for ever, taken a dozen times here",
                counted(witness.steps.len(), "step")
            );
            let options = queues.options(job);
            answer.runs.push(ShownRun {
                role: Role::Violation,
                run,
                witness: Some(witness),
                single: None,
                options: options.clone(),
                length: Some(length),
                more: None,
                claim: None,
                why: Vec::new(),
                grows: false,
            });
            if let Some(steps) = queues.rounds(pump, 12) {
                answer.longer = Some(Witness { initial: 0, steps, loop_start: None });
            }
            answer
        }
    })
}

impl Queues {
    fn names(&self) -> Vec<String> {
        match self {
            Queues::Machines(machines) => machines.channels.clone(),
            Queues::Program(program) => program.channel_names(),
        }
    }

    /// The channels by name, and between whom they are where that is plain to see.
    fn ends(&self) -> Vec<String> {
        let Queues::Machines(machines) = self else { return self.names() };
        let using = |wanted: fn(&Operation) -> Option<u16>, channel: usize| {
            let uses = |a: &&Automaton| {
                a.states.iter().flatten().any(|m| wanted(&m.operation).map(usize::from) == Some(channel))
            };
            machines.automata.iter().filter(uses).map(|a| a.name.as_str()).collect::<Vec<_>>()
        };
        let sends =
            |o: &Operation| if let Operation::Send { channel, .. } = o { Some(*channel) } else { None };
        let receives =
            |o: &Operation| if let Operation::Receive { channel, .. } = o { Some(*channel) } else { None };
        let name = |(channel, name): (usize, &String)| match (
            &using(sends, channel)[..],
            &using(receives, channel)[..],
        ) {
            ([from], [to]) => format!("{name} ({from} → {to})"),
            _ => name.clone(),
        };
        machines.channels.iter().enumerate().map(name).collect()
    }

    /// How the model is read for its runs: a buffer of a program is as large as a machine can have it.
    fn options(&self, job: &Job<'_>) -> Options {
        match self {
            Queues::Machines(_) => job.subject.options(),
            Queues::Program(_) => Options { plain: true, capacity: Some(MOST), ..job.subject.options() },
        }
    }

    /// The ordinals of the prefix and this many rounds.
    fn rounds(&mut self, pump: &Pump, rounds: usize) -> Option<Vec<u32>> {
        match self {
            Queues::Machines(machines) => pump.replay(queues_of(machines).as_mut(), rounds),
            Queues::Program(program) => pump.replay(program.as_mut(), rounds),
        }
    }
}

fn reason(pump: &Pump, channels: &[String]) -> Reason {
    let growing = channels.iter().zip(&pump.growth).filter(|(_, growth)| **growth > 0);
    let growing: Vec<String> = growing
        .map(|(channel, &growth)| {
            format!("channel {channel} grows by {} a round", counted(growth, "message"))
        })
        .collect();
    Reason { kind: ReasonKind::Unbounded, message: growing.join(", "), place: None }
}

/// The prefix and one round, replayed by the system itself.
fn replayed(queues: &mut Queues, pump: &Pump) -> Result<(Run, Witness), AskError> {
    let defect = || AskError::from(Defect::new("a loop was found but does not replay"));
    let steps = queues.rounds(pump, 1).ok_or_else(defect)?;
    let witness = Witness { initial: 0, steps, loop_start: None };
    let run = match queues {
        Queues::Machines(machines) => replay_end(&mut Fifo::new(&*machines), &witness, LONGEST_RUN),
        Queues::Program(program) => replay_end(program.machine(), &witness, LONGEST_RUN),
    };
    Ok((run.map_err(|_| defect())?, witness))
}
