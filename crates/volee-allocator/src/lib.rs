//! The allocator of the `volee` binary, for whoever links this crate: what the process holds is counted, so that
//! a budget binds every verb and every phase.
//!
//! It is a crate of its own because every allocation goes through it: this code is optimised, while the code of
//! the binary, which reads arguments, is built as quickly as possible.

#[global_allocator]
static ALLOCATOR: volee_store::Counting = volee_store::Counting;
