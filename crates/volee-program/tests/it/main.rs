//! The behaviour of programs: optimised and reduced ones against the plain program, explored whole by the
//! simplest search.

mod constants;
mod coverage;
mod events;
mod figures;
mod forgetting;
mod graph;
mod lifting;
mod merging;
mod models;
mod persistent;
mod sequences;
mod sleeping;
mod telling;
