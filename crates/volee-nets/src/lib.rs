//! Nets: places with tokens, transitions that move, transfer, reset and set them, families of initial
//! markings, targets.
//!
//! There is one [`Net`], one reader of `.spec` ([`read_spec`]) and one of PNML ([`read_pnml`]). The explicit
//! search explores an [`Instance`] of it, the coverability engines and the counters engine read the net
//! itself; so a file means the same to all of them. In particular a place that `init` does not name may hold
//! any number of tokens.

mod instance;
mod net;
mod pnml;
mod spec;

pub use instance::Instance;
pub use net::{
    Bound, Fired, Initial, MAX_TOKENS, Mover, Net, NetError, PlaceId, Row, Target, Transition, TransitionId,
};
pub use pnml::read_pnml;
pub use spec::read_spec;
