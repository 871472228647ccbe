//! What somebody writes to have a model: where it starts, what can happen, and what then is.

use std::fmt::Debug;
use std::hash::Hash;

use volee::system::Action;

use crate::check::{Check, Checked};
use crate::pack::Pack;
use crate::property::Property;

/// A model in Rust. It needs an initial state, actions ([`Model::actions`] or [`Model::actions_of`]) and what
/// they do; all else has a usual answer.
///
/// Actions are taken one at a time, in the order in which they are named; whatever the model itself holds
/// never changes.
pub trait Model {
    /// All that changes.
    type State: Pack;
    /// What can happen. How it prints itself is what people see, and what formulas and patterns mean by it.
    type Action: Clone + Eq + Hash + Debug;

    /// Where it may start.
    fn initial(&self) -> Vec<Self::State>;

    /// Adds everything that can happen in a state. A model that tells it part by part has
    /// [`Model::actions_of`] instead.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        (0..self.parts()).rev().for_each(|part| self.actions_of(part, state, actions));
    }

    /// How many parts there are, processes mostly, whose actions are told one part at a time.
    ///
    /// A search then remembers what a part did where everything that it looked at was the same: all fields of
    /// the state, but of each [`Row`](crate::Row) only the values that were reached by their index. Nobody
    /// says what that is: it is seen.
    fn parts(&self) -> u8 {
        0
    }

    /// Adds what one part can do in a state; all actions are those of all parts, the last part first.
    fn actions_of(&self, _part: u8, _state: &Self::State, _actions: &mut Vec<Self::Action>) {}

    /// Makes of a state the one after an action that can happen in it.
    fn apply(&self, state: &mut Self::State, action: &Self::Action);

    /// What should be true of it.
    fn properties(&self) -> Vec<Property<Self>> {
        Vec::new()
    }

    /// Whether nothing more need happen here: a state without actions is then no deadlock.
    fn may_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether a state is of interest. Actions that lead elsewhere are left out, so that what holds, holds
    /// within this boundary.
    fn within(&self, _state: &Self::State) -> bool {
        true
    }

    /// What is wrong with an action that was just taken, as a sentence; nothing, if nothing is. A failed
    /// assertion.
    fn fails(&self, _before: &Self::State, _action: &Self::Action, _after: &Self::State) -> Option<String> {
        None
    }

    /// Who acts, for models of processes: fairness means that everybody who always could act does. At most 255.
    fn process(&self, _action: &Self::Action) -> Option<u8> {
        None
    }

    /// The name of a process.
    fn process_name(&self, process: u8) -> String {
        format!("process {process}")
    }

    /// What is said of an action: its name in runs, formulas and patterns.
    fn describe(&self, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// What people see of a step; several lines where it is several things. Messages that are told as events
    /// are drawn in charts.
    fn explain(&self, _before: &Self::State, action: &Self::Action) -> Vec<Action> {
        let told = Action::plain(self.describe(action));
        vec![match self.process(action) {
            Some(pid) => Action { process: self.process_name(pid), pid: u32::from(pid), ..told },
            None => told,
        }]
    }

    /// What the model is called in reports.
    fn name(&self) -> String {
        let whole = std::any::type_name::<Self>();
        let plain = whole.split('<').next().unwrap_or(whole);
        plain.rsplit("::").next().unwrap_or(plain).to_string()
    }

    /// Everything that can be asked of the model: see [`Check`].
    fn check(self) -> Check<Self>
    where
        Self: Sized + Send + Sync + 'static,
    {
        Check::new(self)
    }

    /// Asks for deadlocks and all properties.
    fn checked(self) -> Checked
    where
        Self: Sized + Send + Sync + 'static,
    {
        self.check().run()
    }
}
