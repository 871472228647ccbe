//! Boundedness of channels: the shared systems, random machines, the protocol of the report, budgets.

mod corpus;
mod protocol;
mod random;
