//! Visible actions: inputs and outputs of the specification, and quiescence, which counts as an output.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// What a label is to a tester.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Nobody outside sees it.
    Internal,
    /// The tester decides when it happens.
    Input,
    /// The implementation decides when it happens.
    Output,
}

/// A visible action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub u32);

impl ActionId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Quiescence: nothing comes. An output of the implementation.
pub const DELTA: ActionId = ActionId(0);

/// The text and the kind of a visible action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The label, as the specification has it.
    pub name: String,
    /// [`Kind::Input`] or [`Kind::Output`].
    pub kind: Kind,
}

/// All visible actions, each once; quiescence is the first.
#[derive(Debug, Clone)]
pub struct Actions {
    all: Vec<Action>,
    numbers: HashMap<String, ActionId, FixedState>,
}

impl Default for Actions {
    fn default() -> Self {
        let delta = Action { name: "δ".into(), kind: Kind::Output };
        Actions { all: vec![delta], numbers: HashMap::with_hasher(FixedState::default()) }
    }
}

impl Actions {
    /// The action with this text; a new one if there is none yet.
    pub fn intern(&mut self, name: &str, kind: Kind) -> ActionId {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let id = ActionId(self.all.len() as u32);
        self.all.push(Action { name: name.into(), kind });
        self.numbers.insert(name.into(), id);
        id
    }

    /// The action with this text. Quiescence is not found by its name: an output of that name is another
    /// action.
    pub fn find(&self, name: &str) -> Option<ActionId> {
        self.numbers.get(name).copied()
    }

    /// The text and the kind of an action.
    pub fn get(&self, id: ActionId) -> &Action {
        &self.all[id.index()]
    }

    /// The text of an action.
    pub fn name(&self, id: ActionId) -> &str {
        &self.all[id.index()].name
    }

    /// Whether the tester decides when it happens.
    pub fn is_input(&self, id: ActionId) -> bool {
        self.all[id.index()].kind == Kind::Input
    }

    /// How many there are, quiescence included.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Never: there is always quiescence.
    pub fn is_empty(&self) -> bool {
        false
    }
}
