//! Behaviour of the boolean equation solvers, against naive twins and the corpus.

mod audit;
mod certificates;
mod confirming;
mod corpus;
mod crew;
mod crew_kept;
mod equivalence;
mod explain;
mod formats;
mod kept;
mod keys;
mod made;
mod naive;
mod programs;
mod random;
mod sizes;
