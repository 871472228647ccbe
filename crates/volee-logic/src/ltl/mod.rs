//! LTL over infinite runs: simplification and translation to generalised Büchi automata.

mod implication;
mod simplify;
mod translate;

pub use translate::{TranslateError, translate, translate_to_buchi};
