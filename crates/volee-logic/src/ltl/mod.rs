//! LTL over infinite runs: simplification and translation to generalised Büchi automata.

mod evaluate;
mod implication;
mod simplify;
mod translate;

pub use evaluate::holds_of_lasso;
pub use translate::{TranslateError, translate, translate_to_buchi};
