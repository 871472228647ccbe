//! Whole graphs, for the questions that need them: read as they are, or any other model explored first;
//! labels hidden and renamed, several files composed. Then they are compared, reduced or described.
//!
//! ```
//! use volee::{Graphs, lts::Relation, system::{Budget, Meter, Quiet}};
//!
//! let graphs = Graphs { hide: vec!["back".into()], ..Graphs::default() };
//! let meter = Meter::start(Budget::default());
//! let (a, b) = ("../../models/demo/courier.pml", "../../models/demo/courier.pml");
//! let compared = graphs.compare(a.as_ref(), b.as_ref(), Relation::Branching, &meter, &mut Quiet).expect("both are sound");
//! assert!(compared.difference.is_none());
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use volee_logic::formula::{EventPattern, split_process};
pub use volee_lts::generate::{FAMILIES, Family, family};
use volee_lts::{
    Composition, Difference, Divergence, Info, Meant, Relabelling, apply_all, compare, compare_on_the_fly,
    events, explore_as, info, read_file, reduce, relabel,
};
pub use volee_lts::{Format, Lts, LtsError, Method, Reduction, Relation, explore, write_as, write_file};
use volee_report::Filter;
use volee_system::{Diagnostic, Limit, Meter, Progress, System};

use crate::answer::AskError;
use crate::judge::Defect;
use crate::model::{Model, Naming, Options};
use crate::picture::Picture;
use crate::source::Source;

/// How systems are read and what is done to their labels first.
#[derive(Debug, Clone, Default)]
pub struct Graphs {
    /// Events that become internal: patterns, or regular expressions for whole labels.
    pub hide: Vec<String>,
    /// Events that get another text: `PATTERN=TEXT`.
    pub rename: Vec<String>,
    /// What the steps of a program are called.
    pub labels: Labels,
    /// Systems that run in parallel with the (first) one.
    pub with: Vec<PathBuf>,
    /// Labels that happen in all parallel systems that know them at once: a regular expression.
    pub sync: Option<String>,
    /// Names of the preprocessor.
    pub defines: Vec<String>,
    /// All states and steps of the language's semantics.
    pub plain: bool,
    /// Systems of the caller's own, meant by their names where a file is named.
    pub made: Vec<Source>,
}

/// What the steps of a program are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Labels {
    /// By what happens.
    #[default]
    Events,
    /// By what happens and who does it.
    Who,
    /// By the text of statements.
    Text,
}

/// A system that was read, and what its author should know.
pub struct Read<T> {
    /// The system.
    pub system: T,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

/// Two systems that were compared.
pub struct Comparison {
    /// In which sense.
    pub relation: Relation,
    /// What tells them apart, confirmed on both; none if they are equal.
    pub difference: Option<Difference>,
    /// The two systems, unless neither was built.
    pub systems: Option<[Lts; 2]>,
    /// Pairs of states, traversals, and pairs that were forgotten, where neither was built.
    pub lazily: Option<(u64, u32, u64)>,
    /// What the authors of the models should know.
    pub warnings: Vec<Diagnostic>,
}

/// A system that was made smaller.
pub struct Reduced {
    /// As it was.
    pub before: Lts,
    /// As it is now; its certificate was checked.
    pub reduction: Reduction,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

/// What there is to say about a system.
pub struct Described {
    /// The system.
    pub system: Lts,
    /// Its figures.
    pub figures: Info,
    /// The same modulo branching bisimulation.
    pub small: Lts,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

/// What happens in a system.
pub struct Events {
    /// Each event with the number of steps that are it.
    pub events: BTreeMap<String, u64>,
    /// Why the list is cut short, if it is.
    pub limit: Option<Limit>,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

impl Graphs {
    /// The first system: composed with others if asked, labels changed.
    ///
    /// # Errors
    /// It cannot be read, a pattern makes no sense, or a limit is reached.
    pub fn load(
        &self,
        path: &Path,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Read<Lts>, AskError> {
        let mut read = self.open(path, meter, progress)?;
        if self.with.is_empty() {
            return Ok(read);
        }
        let mut parts = vec![read.system];
        for other in &self.with {
            let other = self.open(other, meter, progress)?;
            parts.push(other.system);
            read.warnings.extend(other.warnings);
        }
        let mut network = Composition::new(parts, self.sync.as_deref())?;
        let rules = self.rules()?;
        let system = relabel(explore(&mut network, meter, progress)?, &rules);
        read.warnings.extend(self.silent(&rules));
        Ok(Read { system, warnings: read.warnings })
    }

    /// A further system: labels changed as those of the first.
    ///
    /// # Errors
    /// It cannot be read, a pattern makes no sense, or a limit is reached.
    pub fn load_alone(
        &self,
        path: &Path,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Read<Lts>, AskError> {
        let read = self.open(path, meter, progress)?;
        // Those of the first were changed after it was composed.
        let rules = if self.with.is_empty() { Vec::new() } else { self.rules()? };
        let system = relabel(read.system, &rules);
        Ok(Read { system, warnings: [read.warnings, self.silent(&rules)].concat() })
    }

    /// Whether two systems are equal in a sense, and what tells them apart.
    ///
    /// # Errors
    /// One of them cannot be read, a pattern makes no sense, or a limit is reached.
    pub fn compare(
        &self,
        first: &Path,
        second: &Path,
        relation: Relation,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Comparison, AskError> {
        let first = self.load(first, meter, progress)?;
        let second = self.load_alone(second, meter, progress)?;
        let difference = compare(&first.system, &second.system, relation, meter)?;
        let warnings = self.of_both(first.warnings, second.warnings);
        let systems = Some([first.system, second.system]);
        Ok(Comparison { relation, difference, systems, lazily: None, warnings })
    }

    /// Whether two systems are bisimilar, without building either; `seed` chooses what is forgotten where
    /// memory is short.
    ///
    /// # Errors
    /// What was asked for needs the whole graph, one of them cannot be read, or a limit is reached.
    pub fn compare_lazily(
        &self,
        [first, second]: [&Path; 2],
        relation: Relation,
        seed: u64,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Comparison, AskError> {
        let rules = self.rules()?;
        let [mut one, mut other] =
            [first, second].map(|path| |names: &[String]| self.lazy_name(path, names, &rules));
        let mut first = self.open_lazily(first)?;
        let mut second = self.open_lazily(second)?;
        let systems: [&mut dyn System; 2] = [first.system.as_mut(), second.system.as_mut()];
        let compared = compare_on_the_fly(systems, [&mut one, &mut other], relation, meter, progress, seed)?;
        // Where they differ, not everything was looked at.
        let silent = if compared.difference.is_none() { self.silent(&rules) } else { Vec::new() };
        Ok(Comparison {
            relation,
            difference: compared.difference,
            systems: None,
            lazily: Some((compared.pairs, compared.traversals, compared.replaced)),
            warnings: [first.warnings, second.warnings, silent].concat(),
        })
    }

    /// The smallest system that is equal to one in a sense; its certificate is checked.
    ///
    /// # Errors
    /// It cannot be read, a pattern makes no sense, a limit is reached; or the certificate is wrong, which is
    /// a defect.
    pub fn reduce(
        &self,
        path: &Path,
        method: Method,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Reduced, AskError> {
        let Read { system: before, warnings } = self.load(path, meter, progress)?;
        let reduction = reduce(&before, method, meter)?;
        reduction
            .certificate
            .check(&before, &reduction.lts)
            .map_err(|e| Defect::new(format!("a reduction was found but {e}")))?;
        Ok(Reduced { before, reduction, warnings })
    }

    /// The figures of a system.
    ///
    /// # Errors
    /// It cannot be read, a pattern makes no sense, or a limit is reached.
    pub fn describe(
        &self,
        path: &Path,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Described, AskError> {
        let Read { system, warnings } = self.load(path, meter, progress)?;
        let figures = info(&system);
        let small = reduce(&system, Method::Branching(Divergence::Preserved), meter)?.lts;
        Ok(Described { system, figures, small, warnings })
    }

    /// What happens in a system, told with who does it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn events(
        &self,
        path: &Path,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Events, AskError> {
        let mut read = match is_explicit(path) {
            true => Read { system: Box::new(read_file(path)?) as Box<dyn System>, warnings: Vec::new() },
            false => self.open_model(path)?,
        };
        let (events, limit) = events(read.system.as_mut(), meter, progress)?;
        Ok(Events { events, limit, warnings: read.warnings })
    }

    /// Whether something is asked for that needs the whole graph.
    pub fn needs_graph(&self) -> bool {
        !self.hide.is_empty() || !self.rename.is_empty() || !self.with.is_empty()
    }

    /// The states of a small system as a picture, with all variables of the program as it was written.
    ///
    /// # Errors
    /// It cannot be read, is too large to look at, or a limit is reached.
    pub fn picture(&self, path: &Path, filter: &Filter, meter: &Meter) -> Result<Read<Picture>, AskError> {
        if self.needs_graph() {
            let message = "hidden or renamed labels and parallel systems have no variables to show";
            return Err(Diagnostic::error(message, None)
                .with_help("write a .dot without choosing variables")
                .into());
        }
        let plain = Graphs { plain: true, ..self.clone() };
        let mut read: Read<Box<dyn System>> = match is_explicit(path) {
            true => Read { system: Box::new(read_file(path)?), warnings: Vec::new() },
            false => plain.open_model(path)?,
        };
        let picture = Picture::of(read.system.as_mut(), filter, meter)?;
        Ok(Read { system: picture, warnings: read.warnings })
    }

    /// A system to be explored step by step; what needs the whole graph is refused.
    fn open_lazily(&self, path: &Path) -> Result<Read<Box<dyn System>>, AskError> {
        if !self.with.is_empty() {
            return Err(AskError::new(
                "parallel systems need the whole graph",
                "compare them as graphs, not on the fly",
            ));
        }
        if is_explicit(path) {
            return Ok(Read { system: Box::new(read_file(path)?), warnings: Vec::new() });
        }
        self.open_model(path)
    }

    /// What a step is called in a system that is not built: labels of a file are what they are.
    fn lazy_name(&self, path: &Path, names: &[String], rules: &[Relabelling]) -> Option<String> {
        match is_explicit(path) {
            true if names.iter().any(|name| name == "i") => None,
            true => apply_all(rules, names).map(|(text, _)| text),
            false => self.name(names, rules),
        }
    }

    fn rules(&self) -> Result<Vec<Relabelling>, AskError> {
        let mut rules = Vec::new();
        for pattern in &self.hide {
            rules.push(Relabelling::hide(pattern)?.or_where(meant_by(pattern)?));
        }
        for rule in &self.rename {
            let pattern = Relabelling::pattern_of(rule)?;
            rules.push(Relabelling::parse_rename(rule)?.or_where(meant_by(&pattern)?));
        }
        Ok(rules)
    }

    /// What the author of rules should know: they mean nothing that happens.
    fn silent(&self, rules: &[Relabelling]) -> Vec<Diagnostic> {
        let texts = self.hide.iter().chain(&self.rename).zip(rules);
        texts.filter(|(_, rule)| !rule.is_met()).map(|(text, _)| means_nothing(text)).collect()
    }

    /// The warnings of two systems; a rule is for both, and means something if it does in one.
    fn of_both(&self, mut first: Vec<Diagnostic>, mut second: Vec<Diagnostic>) -> Vec<Diagnostic> {
        for silent in self.hide.iter().chain(&self.rename).map(|text| means_nothing(text)) {
            if !second.contains(&silent) {
                first.retain(|warning| *warning != silent);
            }
            second.retain(|warning| *warning != silent);
        }
        first.extend(second);
        first
    }

    /// A system with its labels changed, unless that has to wait until it is composed with others.
    fn open(&self, path: &Path, meter: &Meter, progress: &mut dyn Progress) -> Result<Read<Lts>, AskError> {
        let rules = if self.with.is_empty() { self.rules()? } else { Vec::new() };
        if is_explicit(path) {
            let system = relabel(read_file(path)?, &rules);
            return Ok(Read { system, warnings: self.silent(&rules) });
        }
        let Read { mut system, warnings } = self.open_model(path)?;
        let mut name = |names: &[String]| self.name(names, &rules);
        let system = explore_as(system.as_mut(), &mut name, meter, progress)?;
        Ok(Read { system, warnings: [warnings, self.silent(&rules)].concat() })
    }

    /// What a step with these names is called after all rules: rules see who acts, also where the label does
    /// not tell.
    fn name(&self, names: &[String], rules: &[Relabelling]) -> Option<String> {
        let anonymous = names.iter().map(|name| without_who(name));
        let all: Vec<String> = names.iter().cloned().chain(anonymous).collect();
        let (text, changed) = apply_all(rules, &all)?;
        Some(if changed || self.labels != Labels::Events { text } else { without_who(&text) })
    }

    /// Every step has a label that somebody may look at, and no relation here is blind to all of them: strong
    /// equivalence counts steps, the others tell apart what was not hidden, and what is hidden is chosen
    /// after the system is read. So nothing is merged, whether a plain model is asked for or not.
    fn open_model(&self, path: &Path) -> Result<Read<Box<dyn System>>, AskError> {
        let own = self.made.iter().find(|source| source.path == path);
        let made = own.and_then(|source| source.options.made.clone());
        let options =
            Options { defines: self.defines.clone(), plain: self.plain, made, ..Options::default() };
        let naming = match self.labels {
            Labels::Text => Naming::Text,
            Labels::Events | Labels::Who => Naming::Events,
        };
        let options = Options { naming, ..options.step_by_step() };
        let Model { draft, warnings, .. } = Model::open(path, &options)?;
        Ok(Read { system: draft.build(), warnings })
    }
}

fn means_nothing(rule: &str) -> Diagnostic {
    Diagnostic::warning(format!("nothing that happens is meant by `{}`", volee_report::brief(rule)), None)
}

/// The steps that a pattern of the one grammar means.
fn meant_by(pattern: &str) -> Result<Meant, AskError> {
    // A text that is no pattern of an event may still be a regular expression.
    let matcher =
        EventPattern::parse(pattern).matcher().map_err(|e| Diagnostic::error(e.to_string(), None))?;
    Ok(Arc::new(move |name| matcher.matches(name)))
}

/// `in?5; out!5` of `P[0]:in?5; P[0]:out!5`.
fn without_who(text: &str) -> String {
    let event = |part: &'_ str| split_process(part).map_or(part, |(_, _, event)| event).to_owned();
    text.split("; ").map(event).collect::<Vec<_>>().join("; ")
}

/// Whether a file has the whole graph in it, so that it need not be explored.
fn is_explicit(path: &Path) -> bool {
    let names_a_format = path.extension().is_some() || path == Path::new("-");
    names_a_format && Format::of(path).is_ok()
}
