//! The model under the page: the plain program, and the states that were visited, by number.
//!
//! A state has a number from when it is first seen; the page speaks of states by their numbers, so that a
//! question about one is a few bytes and equal states are equal numbers. What is kept is bounded: beyond that
//! the explorer says so, and the page may ask it to forget.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use volee::report::{FileNames, Trace, run_from_word, step_story, variables};
use volee::search::Claim;
use volee::system::{
    Diagnostic, PredicateId, RunState, RunStep, Step, Variable, Witness, collect_initial, collect_steps,
    inspect, lift, value,
};
use volee::{Model, Options, Source};

use crate::seam::{files, plain, properties};

/// Bytes of visited states that are kept.
const MOST_BYTES: usize = 256 << 20;
/// Steps of a run that are loaded or walked at once.
pub const LONGEST_RUN: usize = 100_000;
/// Steps of one state that are told; a state with more is cut, and says so.
const MOST_STEPS: usize = 500;
/// Different expressions that are kept compiled.
const MOST_EXPRESSIONS: usize = 500;
/// Characters of an expression.
const LONGEST_EXPRESSION: usize = 10_000;

/// A complaint to the page, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Complaint(pub String);

impl From<Diagnostic> for Complaint {
    fn from(wrong: Diagnostic) -> Self {
        let column = wrong.place.as_ref().map(|p| format!("column {}: ", p.column)).unwrap_or_default();
        let help = wrong.help.map(|h| format!(" ({h})")).unwrap_or_default();
        Complaint(format!("{column}{}{help}", wrong.message))
    }
}

/// What the explorer answers.
pub type Told = Result<Value, Complaint>;

/// What the ordinals of a run are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// The plain program, as everything on the page.
    Plain,
    /// The model as it is usually read, with merged steps.
    Usual,
}

/// The number of a visited state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateNumber(pub u32);

/// The model and where one has been in it.
pub struct Explorer {
    source: Source,
    pub(crate) model: Model,
    files: Vec<(String, String)>,
    pub(crate) names: FileNames,
    states: Vec<Arc<[u8]>>,
    numbers: HashMap<Arc<[u8]>, u32>,
    bytes: usize,
    predicates: HashMap<String, PredicateId>,
    /// Formulas that were asked about, bound to the model.
    pub(crate) claims: HashMap<String, Claim>,
}

impl Explorer {
    /// Opens the model.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(source: &Source) -> Result<Self, Vec<Diagnostic>> {
        let source = plain(source);
        let model = source.model()?;
        let files = files(&model);
        let names = FileNames::new(files.iter().map(|(name, _)| name.clone()));
        Ok(Explorer {
            source,
            model,
            files,
            names,
            states: Vec::new(),
            numbers: HashMap::new(),
            bytes: 0,
            predicates: HashMap::new(),
            claims: HashMap::new(),
        })
    }

    /// What the page is about: the model with its files, and where one begins.
    ///
    /// # Errors
    /// The model has no initial state.
    pub fn document(&mut self) -> Told {
        let initial = collect_initial(self.model.draft.system());
        let first = initial.first().ok_or_else(|| Complaint("the model has no initial state".into()))?;
        let start = self.number(first)?;
        let files: Vec<Value> = self.files.iter().map(|(n, t)| json!({ "name": n, "text": t })).collect();
        let claims = properties(&self.model).into_iter().map(|(n, t)| json!({ "name": n, "text": t }));
        let claims: Vec<Value> = claims.collect();
        let warnings: Vec<String> = self.model.warnings.iter().map(ToString::to_string).collect();
        let has_expressions = self.model.draft.predicate("true").is_ok();
        let look = self.look(start)?;
        Ok(json!({
            "model": {
                "name": self.model.name,
                "language": self.model.language,
                "files": files,
                "warnings": warnings,
                "properties": claims,
                "initials": initial.len(),
                "expressions": has_expressions,
            },
            "start": look,
        }))
    }

    /// Forgets all states; their numbers mean nothing from then on.
    pub fn forget(&mut self) -> Told {
        self.states.clear();
        self.numbers.clear();
        self.bytes = 0;
        self.document()
    }

    /// The number of a state.
    ///
    /// # Errors
    /// There is no room for more.
    pub fn number(&mut self, state: &[u8]) -> Result<StateNumber, Complaint> {
        if let Some(&number) = self.numbers.get(state) {
            return Ok(StateNumber(number));
        }
        let size = state.len() + 96;
        if self.bytes + size > MOST_BYTES {
            let kept = self.states.len();
            return Err(Complaint(format!(
                "{kept} states fill the memory of the explorer: start anew to go on"
            )));
        }
        self.bytes += size;
        let kept: Arc<[u8]> = state.into();
        let number = u32::try_from(self.states.len()).map_err(|_| Complaint("too many states".into()))?;
        self.states.push(Arc::clone(&kept));
        self.numbers.insert(kept, number);
        Ok(StateNumber(number))
    }

    /// The state with a number.
    ///
    /// # Errors
    /// There is none.
    pub fn state(&self, number: u32) -> Result<Arc<[u8]>, Complaint> {
        let known = self.states.get(number as usize);
        known.cloned().ok_or_else(|| {
            Complaint(format!("there is no state {number}: was the page left open since before?"))
        })
    }

    /// The number of the `index`-th initial state.
    ///
    /// # Errors
    /// There are fewer.
    pub fn initial(&mut self, index: u32) -> Result<StateNumber, Complaint> {
        let all = collect_initial(self.model.draft.system());
        let state =
            all.get(index as usize).ok_or_else(|| Complaint(format!("there is no initial state {index}")))?;
        self.number(state)
    }

    /// All that can be said of a state.
    ///
    /// # Errors
    /// There is no such state, or no room for its successors.
    pub fn look(&mut self, number: StateNumber) -> Told {
        let state = self.state(number.0)?;
        let mut possible = collect_steps(self.model.draft.system(), &state);
        let total = possible.len();
        possible.truncate(MOST_STEPS);
        let before = self.model.draft.system().variables(&state);
        let mut steps = Vec::with_capacity(possible.len());
        for (ordinal, (step, target)) in possible.iter().enumerate() {
            steps.push(self.told(&state, &before, ordinal, step, target)?);
        }
        let end = match total {
            0 if self.model.draft.system().is_valid_end(&state) => "valid",
            0 => "deadlock",
            _ => "",
        };
        let marks = self.model.draft.system().marks(&state);
        Ok(json!({
            "state": number.0,
            "variables": variables(&before),
            "inspection": inspect(self.model.draft.system(), &state),
            "steps": steps,
            "total": total,
            "end": end,
            "progress": marks.progress,
            "accept": marks.accept,
        }))
    }

    /// A step as the page reads it, with the number of the state it leads to.
    pub(crate) fn told(
        &mut self,
        state: &[u8],
        before: &[Variable],
        ordinal: usize,
        step: &Step,
        target: &[u8],
    ) -> Told {
        let system = self.model.draft.system();
        let told = RunStep {
            ordinal: ordinal as u32,
            label: system.label(step.label).into_owned(),
            actions: system.explain(state, ordinal),
            fault: step.fault.map(|f| system.fault(f)),
            state: RunState { variables: system.variables(target) },
        };
        let mut story = step_story(before, &told, &self.names);
        let number = self.number(target)?;
        if let Some(fields) = story.as_object_mut() {
            fields.insert("target".into(), number.0.into());
            if step.stays {
                fields.insert("stays".into(), true.into());
            }
        }
        Ok(story)
    }

    /// A run given by ordinals, as the page reads it.
    ///
    /// # Errors
    /// It is not a run of this model, or too long.
    pub fn replay(&mut self, witness: &Witness, title: &str) -> Told {
        if witness.steps.len() > LONGEST_RUN {
            return Err(Complaint(format!("the run has more than {LONGEST_RUN} steps")));
        }
        let start = self.initial(witness.initial)?;
        let mut state = self.state(start.0)?;
        let initial = self.model.draft.system().variables(&state);
        let mut before = initial.clone();
        let mut steps = Vec::with_capacity(witness.steps.len());
        for (at, &ordinal) in witness.steps.iter().enumerate() {
            let mut possible = collect_steps(self.model.draft.system(), &state);
            let ordinal = ordinal as usize;
            if ordinal >= possible.len() {
                let message = format!("step {} of the run is not possible in this model", at + 1);
                return Err(Complaint(format!("{message}: was the model changed since?")));
            }
            let (step, target) = possible.swap_remove(ordinal);
            steps.push(self.told(&state, &before, ordinal, &step, &target)?);
            before = self.model.draft.system().variables(&target);
            state = target.into();
        }
        Ok(json!({
            "title": title,
            "skipped": 0,
            "start": start.0,
            "initial": variables(&initial),
            "steps": steps,
            "loop": witness.loop_start,
        }))
    }

    /// A run as `check` prints or stores it. `words` says what a run in one word is one of; a stored run
    /// knows.
    ///
    /// # Errors
    /// The text is no run, or none of this model as it was opened.
    pub fn load(&mut self, text: &str, words: Words) -> Told {
        let text = text.trim();
        if text.starts_with("run:") {
            let witness = run_from_word(text).map_err(|e| Complaint(e.to_string()))?;
            let witness = self.lifted(witness, words)?;
            return self.replay(&witness, "a run");
        }
        let trace = Trace::from_json(text).map_err(|e| Complaint(e.to_string()))?;
        let options = &self.source.options;
        if (&trace.defines, &trace.copies, trace.capacity)
            != (&options.defines, &options.copies, options.capacity)
        {
            let message = "this run was stored with other definitions, numbers of processes or capacities";
            return Err(Complaint(message.into()));
        }
        let stored = if trace.plain { Words::Plain } else { Words::Usual };
        let witness = self.lifted(trace.witness, stored)?;
        self.replay(&witness, &trace.question)
    }

    /// The run of the plain program that a run of the model as it is usually read stands for.
    fn lifted(&mut self, witness: Witness, words: Words) -> Result<Witness, Complaint> {
        if words == Words::Plain || self.model.promela.is_none() || witness.steps.len() > LONGEST_RUN {
            return Ok(witness);
        }
        let options = Options { plain: false, ..self.source.options.clone() };
        let usual = Source::new(self.source.path.clone(), options).model();
        let mut usual = usual.map_err(|mut all| Complaint::from(all.swap_remove(0)))?;
        let lifted = lift(usual.draft.system(), self.model.draft.system(), &witness);
        lifted.map(|l| l.witness).map_err(|e| Complaint(format!("{e}: was the model changed since?")))
    }

    /// The predicate of an expression.
    ///
    /// # Errors
    /// It is none, or there are too many.
    pub fn predicate(&mut self, text: &str) -> Result<PredicateId, Complaint> {
        if text.len() > LONGEST_EXPRESSION {
            return Err(Complaint("this expression is too long".into()));
        }
        if let Some(&known) = self.predicates.get(text) {
            return Ok(known);
        }
        if self.predicates.len() >= MOST_EXPRESSIONS {
            // The plain program has the same states however often it is opened.
            self.model = self.source.model().map_err(|mut all| Complaint::from(all.swap_remove(0)))?;
            self.predicates.clear();
            self.claims.clear();
        }
        let made = self.model.draft.predicate(text)?;
        self.predicates.insert(text.to_string(), made);
        Ok(made)
    }

    /// The values of an expression in states; where it has none, the reason.
    ///
    /// # Errors
    /// It is no expression, or a state is none.
    pub fn evaluate(&mut self, text: &str, states: &[u32]) -> Told {
        let predicate = self.predicate(text)?;
        let mut values = Vec::with_capacity(states.len());
        for &number in states {
            let state = self.state(number)?;
            let value = value(self.model.draft.system(), predicate, &state);
            values.push(match value {
                Ok(value) => Value::from(value),
                Err(fault) => Value::from(self.model.draft.system().fault(fault).message),
            });
        }
        Ok(Value::Array(values))
    }
}
