//! Opening a model file: the extension chooses the front end, the front end gives a system.
//!
//! This is the one place that knows which front ends exist. A new one is a row in [`FRONT_ENDS`].

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use volee_program::{LabelStyle, MachineOptions, ProctypeId, Program};
use volee_promela::Lowered;
use volee_report::brief;
use volee_system::{Diagnostic, Draft, System};

use crate::bare::Bare;
use crate::files::{explain, read_bytes};
use crate::made::Made;
use crate::question::Question;

/// What a program can have at most: a number of a process, and the length of a channel, is one byte.
const MOST_PROCESSES: usize = 255;
const LARGEST_BUFFER: u32 = 255;

/// How a model is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Preprocessor definitions, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Every optimisation off: the states and steps that the language's semantics has, one by one.
    pub plain: bool,
    /// Processes are added by the engine (any number of them), so that none need be there at the start.
    pub dormant: bool,
    /// How many processes of a type are there at the start, whatever the model says of it.
    pub copies: Vec<(String, u32)>,
    /// How many messages fit into every buffered channel, whatever the model says of it.
    pub capacity: Option<u32>,
    /// Every step of a program is of interest, so that none are merged; what nobody reads may still be
    /// forgotten.
    pub single_steps: bool,
    /// What single steps of a program are called.
    pub naming: Naming,
    /// Nothing of a program but its states and steps: whatever makes a search faster is left out.
    pub bare: bool,
    /// Texts that stand for files of Promela, as an editor has them before they are saved.
    pub texts: Vec<(PathBuf, String)>,
    /// The folder below which everything must be that a model includes: for models that came from elsewhere.
    #[serde(skip)]
    pub within: Option<PathBuf>,
    /// There is no file: this makes the system.
    #[serde(skip)]
    pub made: Option<Made>,
}

/// What the single steps of a program are called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Naming {
    /// By what happens: `Client[1]:ask!REQ,1`.
    #[default]
    Events,
    /// By the text of the statement: `Client[1] ask!REQ,me`.
    Text,
}

impl Options {
    /// The same for a question about single steps.
    #[must_use]
    pub fn step_by_step(&self) -> Options {
        Options { single_steps: true, ..self.clone() }
    }

    /// The same with every variable and step of the program as it was written. Its steps are those of
    /// [`Options::step_by_step`], so that a run of one is a run of the other.
    #[must_use]
    pub fn plainly(&self) -> Options {
        Options { plain: true, single_steps: false, naming: Naming::default(), ..self.clone() }
    }

    /// The text that stands for a file.
    fn text_of(&self, path: &Path) -> Option<&str> {
        self.texts.iter().find(|(of, _)| of == path).map(|(_, text)| text.as_str())
    }
}

/// A model that was read and understood.
pub struct Model {
    /// The file as the user named it.
    pub name: String,
    /// What kind of file it is, e.g. `Promela`.
    pub language: &'static str,
    /// What the front end wants the author to know.
    pub warnings: Vec<Diagnostic>,
    /// What can be explored, once it is told what will be asked.
    pub draft: Box<dyn Draft>,
    /// The program behind a Promela model, for engines that read programs.
    pub promela: Option<Lowered>,
    /// What a model that is no file claims of itself.
    pub claims: Vec<Question>,
    /// The same for another thread, where it need not be read again for that and steps take time.
    pub(crate) again: Option<Again>,
}

/// Makes what can be explored once more.
pub(crate) type Again = Arc<dyn Fn() -> Box<dyn Draft> + Send + Sync>;

/// A kind of file that can be opened.
pub struct FrontEnd {
    /// What it is called.
    pub language: &'static str,
    /// The extensions that choose it, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether names can be defined.
    definitions: bool,
    /// Whether there are process types and buffers.
    processes: bool,
    open: Open,
}

/// Makes a system of a file.
type Open = fn(&Path, &Options) -> Result<Opened, Vec<Diagnostic>>;

/// What a front end gives.
struct Opened {
    draft: Box<dyn Draft>,
    warnings: Vec<Diagnostic>,
    promela: Option<Lowered>,
    again: Option<Again>,
}

impl Opened {
    /// What is made as often as somebody needs one.
    fn made(make: impl Fn() -> Box<dyn Draft> + Send + Sync + 'static) -> Self {
        Opened { draft: make(), warnings: Vec::new(), promela: None, again: Some(Arc::new(make)) }
    }
}

/// Every front end there is.
pub const FRONT_ENDS: &[FrontEnd] = &[
    FrontEnd {
        language: "Promela",
        extensions: &["pml", "promela", "prom", "spin"],
        definitions: true,
        processes: true,
        open: open_promela,
    },
    FrontEnd {
        language: "labelled transition system",
        extensions: &["aut", "aut.gz", "aut.zst", "vlts", "vlts.gz", "vlts.zst"],
        definitions: false,
        processes: false,
        open: open_lts,
    },
    FrontEnd {
        language: "Petri net",
        extensions: &["pnml"],
        definitions: true,
        processes: false,
        open: open_net,
    },
    FrontEnd {
        language: "counter net",
        extensions: &["spec"],
        definitions: true,
        processes: false,
        open: open_net,
    },
    FrontEnd {
        language: "counter program",
        extensions: &["fst"],
        definitions: true,
        processes: false,
        open: open_counters,
    },
    FrontEnd {
        language: "member of a family",
        extensions: &["family"],
        definitions: false,
        processes: false,
        open: open_family,
    },
    FrontEnd {
        language: "system of communicating machines",
        extensions: &["scm"],
        definitions: false,
        processes: false,
        open: open_machines,
    },
];

fn open_promela(path: &Path, options: &Options) -> Result<Opened, Vec<Diagnostic>> {
    let text = match options.text_of(path) {
        Some(text) => text.to_owned(),
        None => String::from_utf8_lossy(&read_bytes(path).map_err(|d| vec![d])?).into_owned(),
    };
    let defines = options.defines.iter().map(|d| match d.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (d.clone(), None),
    });
    let open = options.texts.iter().map(|(path, text)| (path.clone(), text.as_str().into())).collect();
    let within = options.within.clone();
    let front_end = volee_promela::Options { defines: defines.collect(), open, within, ..Default::default() };
    let name = path.display().to_string();
    let (model, diagnostics) = volee_promela::parse(&name, &text, &front_end);
    let Some(model) = model else { return Err(diagnostics) };
    let mut lowered = volee_promela::lower(Arc::new(model))?;
    rearrange(Arc::make_mut(&mut lowered.program), options)?;
    if lowered.program.active.is_empty() && !options.dormant {
        let place = lowered.program.proctypes.first().and_then(|p| p.place.clone());
        let help = "write `active proctype Name() { … }`, or `init { … }` that runs the others";
        let message = "no process is there at the start, so nothing can happen";
        return Err(vec![Diagnostic::error(message, place).with_help(help)]);
    }
    let (program, options) = (lowered.clone(), options.clone());
    let opened = Opened::made(move || draft_of(&program, &options));
    Ok(Opened { warnings: diagnostics, promela: Some(lowered), ..opened })
}

/// The system of a program, read as these options say.
pub(crate) fn draft_of(lowered: &Lowered, options: &Options) -> Box<dyn Draft> {
    let machine = lowered.machine(MachineOptions {
        plain: options.plain,
        single_steps: options.single_steps,
        labels: match (options.single_steps, options.naming) {
            (true, Naming::Events) => LabelStyle::Events,
            _ => LabelStyle::Statements,
        },
        ..MachineOptions::default()
    });
    if options.bare { Box::new(Bare(machine)) } else { Box::new(machine) }
}

/// Changes what a model says of its numbers: of processes at the start, of messages in a buffer.
fn rearrange(program: &mut Program, options: &Options) -> Result<(), Vec<Diagnostic>> {
    let wrong = |message: String, help: &str| Err(vec![Diagnostic::error(message, None).with_help(help)]);
    for (name, copies) in &options.copies {
        let Some(number) = program.proctypes.iter().position(|p| p.name == *name) else {
            let names: Vec<&str> = program.proctypes.iter().map(|p| p.name.as_str()).collect();
            return wrong(
                format!("there is no process type `{}` to copy", brief(name)),
                &format!("the model has {}", names.join(", ")),
            );
        };
        let proctype = &program.proctypes[number];
        if !proctype.parameters.is_empty() {
            let message = format!("`{name}` has parameters, so that copies of it cannot be started");
            return Err(vec![Diagnostic::error(message, proctype.place.clone())]);
        }
        let id = ProctypeId(number as u8);
        program.active.retain(|p| *p != id);
        if program.active.len() + *copies as usize > MOST_PROCESSES {
            return wrong(
                format!("{copies} copies of `{name}` are too many"),
                "at most 255 processes can exist at once",
            );
        }
        program.active.extend(std::iter::repeat_n(id, *copies as usize));
    }
    if let Some(capacity) = options.capacity {
        if !(1..=LARGEST_BUFFER).contains(&capacity) {
            return wrong(
                format!("a buffer cannot hold {capacity} messages"),
                "choose a capacity from 1 to 255",
            );
        }
        program.channel_types.iter_mut().filter(|c| c.capacity > 0).for_each(|c| c.capacity = capacity);
    }
    Ok(())
}

/// Communicating machines; their channels are unbounded.
fn open_machines(path: &Path, _: &Options) -> Result<Opened, Vec<Diagnostic>> {
    let bytes = read_bytes(path).map_err(|d| vec![d])?;
    let machines = volee_channels::read_scm(&path.display().to_string(), &String::from_utf8_lossy(&bytes))?;
    let machines = Arc::new(machines);
    Ok(Opened::made(move || Box::new(volee_channels::system(Arc::clone(&machines)))))
}

/// A system that needs to be told nothing.
fn draft(system: impl System + 'static) -> Box<dyn Draft> {
    let system: Box<dyn System> = Box::new(system);
    Box::new(system)
}

fn open_lts(path: &Path, _: &Options) -> Result<Opened, Vec<Diagnostic>> {
    let lts = volee_lts::read_file(path).map_err(|error| match error {
        volee_lts::LtsError::Input(diagnostic) => vec![diagnostic],
        volee_lts::LtsError::Io { path, source } => vec![explain(&path, &source)],
        other => vec![Diagnostic::error(other.to_string(), None)],
    })?;
    // Its steps are looked up, not made: threads would have nothing to share but the look-ups of variables.
    Ok(Opened { draft: draft(lts), warnings: Vec::new(), promela: None, again: None })
}

/// A system of a family, explored on the fly; one line says which: `abp messages=256 capacity=3`.
fn open_family(path: &Path, _: &Options) -> Result<Opened, Vec<Diagnostic>> {
    let bytes = read_bytes(path).map_err(|d| vec![d])?;
    let text = String::from_utf8_lossy(&bytes);
    let system: Box<dyn System> = volee_lts::generate::read_member(&text).map_err(|wrong| vec![wrong])?;
    let again: Again = {
        let text = text.into_owned();
        Arc::new(move || {
            let again = volee_lts::generate::read_member(&text).expect("it was read before");
            let system: Box<dyn System> = again;
            Box::new(system)
        })
    };
    Ok(Opened { draft: Box::new(system), warnings: Vec::new(), promela: None, again: Some(again) })
}

/// Nets; a definition `place=3` chooses how many tokens a place starts with.
fn open_net(path: &Path, options: &Options) -> Result<Opened, Vec<Diagnostic>> {
    let bytes = read_bytes(path).map_err(|d| vec![d])?;
    let (text, name) = (String::from_utf8_lossy(&bytes), path.display().to_string());
    let is_pnml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("pnml"));
    let mut net = if is_pnml {
        volee_nets::read_pnml(&name, &text).map_err(|d| vec![d])?
    } else {
        volee_nets::read_spec(&name, &text)?
    };
    for define in &options.defines {
        let Some((place, Ok(tokens))) = define.split_once('=').map(|(p, n)| (p, n.trim().parse())) else {
            let message =
                format!("the definition `{define}` does not say how many tokens a place starts with");
            return Err(vec![
                Diagnostic::error(message, None).with_help("a place is defined as PLACE=NUMBER"),
            ]);
        };
        net.start_with(place.trim(), tokens).map_err(|d| vec![d])?;
    }
    let warnings = open_places(&net);
    Ok(Opened { warnings, ..Opened::made(move || Box::new(volee_nets::Instance::least(net.clone()))) })
}

/// A counter program; a definition `x=3` chooses what a variable starts with.
fn open_counters(path: &Path, options: &Options) -> Result<Opened, Vec<Diagnostic>> {
    let bytes = read_bytes(path).map_err(|d| vec![d])?;
    let text = String::from_utf8_lossy(&bytes);
    let program = volee_counters::parse_fst(&path.display().to_string(), &text)?;
    let mut chosen = Vec::new();
    for define in &options.defines {
        let value =
            define.split_once('=').and_then(|(name, n)| Some((name.trim(), n.trim().parse::<i64>().ok()?)));
        let Some((name, value)) = value else {
            let message = format!("the definition `{define}` does not say what a variable starts with");
            return Err(vec![
                Diagnostic::error(message, None).with_help("a variable is defined as VARIABLE=NUMBER"),
            ]);
        };
        chosen.push((name.to_string(), value.into()));
    }
    let (system, open) = volee_counters::Instance::new(program, &chosen).map_err(|d| vec![d])?;
    let told = open.iter().take(4).map(|name| {
        let message = format!("`{name}` may start with several values; one of them is taken");
        Diagnostic::warning(message, None).with_help(format!("choose an instance: define {name}=NUMBER"))
    });
    Ok(Opened { warnings: told.collect(), draft: Box::new(system), promela: None, again: None })
}

/// Says of places that may start with any number of tokens that the least is taken; of many, so much of the
/// first few.
fn open_places(net: &volee_nets::Net) -> Vec<Diagnostic> {
    const TOLD: usize = 4;
    let Some(initial) = net.initial.first() else { return Vec::new() };
    let open: Vec<usize> = (0..net.places.len()).filter(|&p| initial.open[p]).collect();
    let told = open.iter().take(TOLD).map(|&p| {
        let (place, least) = (&net.places[p], initial.base[p]);
        let message = format!("`{place}` may start with any number from {least} on; it starts with {least}");
        Diagnostic::warning(message, None).with_help(format!("choose an instance: define {place}=NUMBER"))
    });
    let mut all: Vec<Diagnostic> = told.collect();
    if open.len() > TOLD {
        let message = format!("so may {} other places", open.len() - TOLD);
        all.push(Diagnostic::warning(message, None));
    }
    all
}

impl Model {
    /// A program that was read before.
    pub(crate) fn of_program(lowered: &Lowered, options: &Options) -> Self {
        Model {
            name: String::new(),
            language: "Promela",
            warnings: Vec::new(),
            draft: draft_of(lowered, options),
            promela: Some(lowered.clone()),
            claims: Vec::new(),
            again: None,
        }
    }

    /// Reads a model; the extension of the file chooses the language.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its place.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Model, Vec<Diagnostic>> {
        let path = path.as_ref();
        let name = path.display().to_string();
        if let Some(made) = &options.made {
            return Ok(made.model(name));
        }
        let front_end = match options.text_of(path) {
            Some(_) => front_end_of(path),
            None => recognise(path),
        };
        let front_end = front_end.map_err(|d| vec![d])?;
        front_end.refuse(options).map_err(|d| vec![d])?;
        let opened = (front_end.open)(path, options)?;
        let Opened { draft, warnings, promela, again } = opened;
        let (language, claims) = (front_end.language, Vec::new());
        Ok(Model { name, language, warnings, draft, promela, claims, again })
    }
}

impl FrontEnd {
    /// Refuses options that would change nothing.
    fn refuse(&self, options: &Options) -> Result<(), Diagnostic> {
        let language = self.language;
        if !options.copies.is_empty() && !self.processes {
            let message = format!("a {language} has no process types, so none can be copied");
            return Err(Diagnostic::error(message, None));
        }
        if options.capacity.is_some() && !self.processes {
            let message = format!("a {language} has no buffers whose capacity could be chosen");
            return Err(Diagnostic::error(message, None));
        }
        if !options.defines.is_empty() && !self.definitions {
            let message = format!("in a {language} there is nothing to define");
            return Err(Diagnostic::error(message, None));
        }
        Ok(())
    }
}

/// The front end for a file that is there.
///
/// # Errors
/// There is no such file, or its extension names no kind of model.
pub fn recognise(path: &Path) -> Result<&'static FrontEnd, Diagnostic> {
    let metadata = fs::metadata(path).map_err(|e| explain(path, &e))?;
    if metadata.is_dir() {
        return Err(explain(path, &ErrorKind::IsADirectory.into()));
    }
    front_end_of(path)
}

fn front_end_of(path: &Path) -> Result<&'static FrontEnd, Diagnostic> {
    let file_name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let fits = |front_end: &&FrontEnd| {
        front_end
            .extensions
            .iter()
            .any(|e| file_name.strip_suffix(e).is_some_and(|stem| stem.ends_with('.') && stem.len() > 1))
    };
    FRONT_ENDS.iter().find(fits).ok_or_else(|| {
        let known: Vec<String> =
            FRONT_ENDS.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        Diagnostic::error(format!("`{}`: the extension names no kind of model", path.display()), None)
            .with_help(format!("models end in {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &str) -> String {
        match Model::open(path, &Options::default()) {
            Ok(_) => "opened".into(),
            Err(all) => all[0].to_string(),
        }
    }

    #[test]
    fn an_unknown_extension_says_which_are_known() {
        let this_file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/model.rs");
        assert!(message(this_file).contains("names no kind of model"));
        assert!(message("").contains("no such file"));
    }
}
