//! Conformance testing as a whole, beside naive twins.

mod coffee;
mod crossing;
mod ended;
mod naive;
mod partition;
mod published;
mod purposes;
mod random;
