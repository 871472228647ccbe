//! Files of equations and games: `.bes` text and PGSolver's `.gm`.
//!
//! Both readers take any bytes, allocate no more than the text is long, and say where it is wrong.

mod bes;
mod gm;
mod scan;

pub use self::bes::{BesFile, read_bes, write_bes};
pub use self::gm::{GameFile, game_to_equations, read_gm, write_gm};
