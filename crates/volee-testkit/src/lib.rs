//! What the tests of all crates share.
//!
//! * [`Random`]: the one generator of numbers, and seeds that rotate;
//! * [`corpus`]: the shared corpus and peers, with skips that are seen;
//! * [`promela`]: random programs of the whole language, as [`tree`]s that can be printed and made smaller
//!   ([`shrink`]);
//! * `products` (of the same feature): temporal formulas and random programs, beside a naive evaluator;
//! * `agreement` (a feature, because it needs the whole house): all ways to search a program answer the same.
//!
//! Only tests and `xtask` use it; it is never published.

#[cfg(feature = "agreement")]
pub mod agreement;
pub mod corpus;
#[cfg(feature = "agreement")]
pub mod oracle;
#[cfg(feature = "agreement")]
pub mod products;
pub mod promela;
mod random;
mod shrink;
pub mod spin;
pub mod tree;

pub use random::seed_of_the_day;
pub use shrink::shrink;
pub use volee_system::Random;
