//! Behaviour of the search, compared with a naive twin and on systems whose answers are known.

mod approximate;
mod budgets;
mod checkpoints;
mod commit;
mod counts;
mod crews;
mod graph;
mod hunt;
mod limits;
mod liveness;
mod monitor;
mod parallel;
mod products;
mod reduction;
mod remembered;
mod replacement;
mod several;
mod single;
mod spill;
mod twin;
