//! Behaviour of the Promela front end.

mod corpus;
