//! How models in Rust behave: the worked examples, what a failed test says, and everything else that can be
//! done with a source.

mod actors;
mod examples;
mod packing;
mod parts;
mod twins;
mod uses;

#[allow(dead_code, unreachable_pub)]
#[path = "../../examples/models/bounded_buffer.rs"]
mod bounded_buffer;
#[allow(dead_code, unreachable_pub)]
#[path = "../../examples/models/election.rs"]
mod election;
#[allow(dead_code, unreachable_pub)]
#[path = "../../examples/models/german.rs"]
mod german;
#[allow(dead_code, unreachable_pub)]
#[path = "../../examples/models/queue.rs"]
mod queue;
#[allow(dead_code, unreachable_pub)]
#[path = "../../examples/models/two_phase.rs"]
mod two_phase;
