//! The few colours that answers use, and the decision to use none.
//!
//! Colour only repeats what the words say, so that a pipe, a log file or a colour-blind reader misses
//! nothing.

use std::fmt::Display;

/// Paints text, or leaves it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// Text as it is: pipes, files, `NO_COLOR`.
    #[default]
    Plain,
    /// ANSI colours of the terminal's own theme.
    Colour,
}

impl Palette {
    /// Something holds.
    pub fn good(self, text: impl Display) -> String {
        self.paint("32;1", text)
    }

    /// Something is violated or wrong.
    pub fn bad(self, text: impl Display) -> String {
        self.paint("31;1", text)
    }

    /// Something is unknown.
    pub fn doubtful(self, text: impl Display) -> String {
        self.paint("33;1", text)
    }

    /// A heading.
    pub fn strong(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    /// A name: a process, a channel, a variable.
    pub fn name(self, text: impl Display) -> String {
        self.paint("36", text)
    }

    /// Something that may be skipped.
    pub fn faint(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: impl Display) -> String {
        match self {
            Palette::Plain => text.to_string(),
            Palette::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}
