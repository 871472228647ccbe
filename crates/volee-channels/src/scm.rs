//! Reads `.scm`, the format of communicating machines in the benchmarks of McScM.
//!
//! ```text
//! scm name :
//! nb_channels = 2 ;
//! parameters :
//! real open ;
//! automaton A :
//! initial : 0
//! state 0 :
//! to 1 : when true , 0 ! open ;
//! ```
//!
//! Guards other than `true` and lossy channels are refused with their place: the condition for growing for
//! ever does not hold for them. The reader takes any text and reports what it can.

use std::collections::HashMap;

use volee_system::{Diagnostic, Scanner, is_word};

use crate::machines::{Automaton, Machines, Move, Operation};

const MAX_ERRORS: usize = 20;
/// More channels, messages, machines or states than this are a mistake.
const MAX_PARTS: usize = 10_000;

/// Reads machines; `file` is only for messages.
///
/// # Errors
/// Everything that is wrong with the text; never empty.
pub fn read_scm(file: &str, text: &str) -> Result<Machines, Vec<Diagnostic>> {
    let mut text = Scanner::new(file, text);
    let mut reader = Reader {
        tokens: tokens(&mut text),
        text,
        at: 0,
        errors: Vec::new(),
        machines: Machines::default(),
        messages: HashMap::new(),
        targets: Vec::new(),
    };
    if reader.machines().is_none() && reader.errors.is_empty() {
        reader.error("this is not a description of communicating machines");
    }
    if reader.errors.is_empty() { Ok(reader.machines) } else { Err(reader.errors) }
}

/// Words and single marks, each with its offset.
fn tokens<'t>(text: &mut Scanner<'t>) -> Vec<(&'t str, usize)> {
    let mut all = Vec::new();
    loop {
        // A comment ends with its line, so that none is open at the end.
        let _ = text.skip(&[("--", "\n")]);
        let at = text.at;
        let token = match text.peek() {
            None => return all,
            Some(c) if is_word(c) => text.take_while(is_word),
            Some(c) => text.take(c.len_utf8()),
        };
        all.push((token, at));
    }
}

struct Reader<'t> {
    text: Scanner<'t>,
    tokens: Vec<(&'t str, usize)>,
    at: usize,
    errors: Vec<Diagnostic>,
    machines: Machines,
    messages: HashMap<&'t str, u16>,
    /// Targets of moves, checked once all states are known: token, automaton, state.
    targets: Vec<(usize, usize, u16)>,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).map_or("", |t| t.0)
    }

    fn next(&mut self) -> &'t str {
        let text = self.peek();
        self.at += 1;
        text
    }

    fn error_at(&mut self, at: usize, message: impl Into<String>) {
        if self.errors.len() >= MAX_ERRORS {
            return;
        }
        let last = self.tokens.last().map_or(0, |t| t.1);
        let part = self.tokens.get(at).map_or(last..last, |t| t.1..t.1 + t.0.len());
        self.errors.push(self.text.error(part, message));
    }

    fn error(&mut self, message: impl Into<String>) {
        self.error_at(self.at, message);
    }

    fn expect(&mut self, wanted: &str) -> Option<()> {
        if self.peek() == wanted {
            self.at += 1;
            return Some(());
        }
        let found = if self.peek().is_empty() { "the end".into() } else { format!("`{}`", self.peek()) };
        self.error(format!("expected `{wanted}`, found {found}"));
        None
    }

    fn number(&mut self) -> Option<u16> {
        match self.peek().parse::<u16>() {
            Ok(n) if usize::from(n) < MAX_PARTS => {
                self.at += 1;
                Some(n)
            }
            _ => {
                let found = self.peek();
                self.error(format!("expected a number below {MAX_PARTS}, found `{found}`"));
                None
            }
        }
    }

    fn machines(&mut self) -> Option<()> {
        self.expect("scm")?;
        self.machines.name = self.next().to_string();
        self.expect(":")?;
        self.expect("nb_channels")?;
        self.expect("=")?;
        let channels = self.number()?;
        self.machines.channels = (0..channels).map(|c| c.to_string()).collect();
        self.expect(";")?;
        if self.peek() == "lossy" {
            self.error(
                "lossy channels: what was lost cannot pile up, so this question has another answer for them",
            );
            return None;
        }
        if self.peek() == "parameters" {
            self.at += 1;
            self.expect(":")?;
            while matches!(self.peek(), "real" | "int" | "bool") {
                self.parameter()?;
            }
        }
        while self.peek() == "automaton" {
            self.automaton()?;
        }
        if self.at < self.tokens.len() {
            let found = self.peek();
            self.error(format!("expected `automaton` or the end, found `{found}`"));
        }
        if self.machines.automata.is_empty() {
            self.error("there is no automaton");
        }
        for (at, automaton, state) in std::mem::take(&mut self.targets) {
            if usize::from(state) >= self.machines.automata[automaton].states.len() {
                self.error_at(at, format!("there is no state {state}"));
            }
        }
        Some(())
    }

    fn parameter(&mut self) -> Option<()> {
        self.at += 1;
        let at = self.at;
        let name = self.next();
        let number = self.machines.messages.len();
        if number >= MAX_PARTS {
            self.error_at(at, "too many messages");
            return None;
        }
        if self.messages.insert(name, number as u16).is_some() {
            self.error_at(at, format!("the message `{name}` is declared twice"));
        }
        self.machines.messages.push(name.to_string());
        self.expect(";")
    }

    fn automaton(&mut self) -> Option<()> {
        self.at += 1;
        let name = self.next().to_string();
        self.expect(":")?;
        self.expect("initial")?;
        self.expect(":")?;
        let at = self.at;
        let initial = self.number()?;
        let number = self.machines.automata.len();
        if number >= MAX_PARTS {
            self.error("too many automata");
            return None;
        }
        self.machines.automata.push(Automaton { name, initial, states: Vec::new() });
        self.targets.push((at, number, initial));
        while self.peek() == "state" {
            self.state(number)?;
        }
        Some(())
    }

    fn state(&mut self, automaton: usize) -> Option<()> {
        self.at += 1;
        let state = usize::from(self.number()?);
        self.expect(":")?;
        let states = &mut self.machines.automata[automaton].states;
        if states.len() <= state {
            states.resize(state + 1, Vec::new());
        }
        while self.peek() == "to" {
            self.at += 1;
            let at = self.at;
            let target = self.number()?;
            self.targets.push((at, automaton, target));
            self.expect(":")?;
            self.expect("when")?;
            if self.peek() != "true" {
                self.error("only the guard `true`: a guard may see what a channel holds, and then a loop need not repeat");
                return None;
            }
            self.at += 1;
            let operation = if self.peek() == "," { self.operation()? } else { Operation::Internal };
            self.expect(";")?;
            self.machines.automata[automaton].states[state].push(Move { operation, target });
        }
        Some(())
    }

    fn operation(&mut self) -> Option<Operation> {
        self.at += 1;
        let at = self.at;
        let channel = self.number()?;
        if usize::from(channel) >= self.machines.channels.len() {
            self.error_at(at, format!("there is no channel {channel}"));
        }
        let sign = self.next();
        let at = self.at;
        let name = self.next();
        let Some(&message) = self.messages.get(name) else {
            self.error_at(at, format!("the message `{name}` is not declared"));
            return None;
        };
        match sign {
            "!" => Some(Operation::Send { channel, message }),
            "?" => Some(Operation::Receive { channel, message }),
            _ => {
                self.error_at(at - 1, "expected `!` or `?`");
                None
            }
        }
    }
}
