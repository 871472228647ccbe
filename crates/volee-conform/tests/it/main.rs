//! Conformance testing as a whole, beside naive twins.

mod coffee;
mod naive;
mod purposes;
mod random;
