//! One net for all: its files, what they mean, and its instances.

mod explored;
mod pnml;
mod spec;
