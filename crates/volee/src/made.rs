//! A system of the caller's own as a [`Source`](crate::Source): everything that is asked of model files can
//! then be asked of it, by whoever takes a source (the door, reports, tests, comparisons, the explorer).

use std::fmt;
use std::sync::Arc;

use volee_system::Draft;

use crate::model::Model;
use crate::question::Question;

/// Makes a system, as often as somebody needs one of its own: each worker, each replay.
type Maker = dyn Fn() -> Box<dyn Draft> + Send + Sync;

/// How a system of the caller's own is made, and what it claims of itself.
#[derive(Clone)]
pub struct Made {
    make: Arc<Maker>,
    claims: Arc<[Question]>,
}

impl Made {
    /// A system, and the claims that it makes of itself.
    pub fn new(
        make: impl Fn() -> Box<dyn Draft> + Send + Sync + 'static,
        claims: impl IntoIterator<Item = Question>,
    ) -> Self {
        Made { make: Arc::new(make), claims: claims.into_iter().collect() }
    }

    /// The system as a model of this name.
    pub(crate) fn model(&self, name: String) -> Model {
        Model {
            name,
            language: "Rust",
            warnings: Vec::new(),
            draft: (self.make)(),
            promela: None,
            claims: self.claims.to_vec(),
            // Whoever makes it may not do so in several threads at once, as Python.
            again: None,
        }
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").field("claims", &self.claims).finish_non_exhaustive()
    }
}

impl PartialEq for Made {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

impl Eq for Made {}
