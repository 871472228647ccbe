//! One test binary for the crate.
mod printing;
mod random;
