//! Equations as text.
//!
//! ```text
//! block mu is            -- blocks from the outermost in
//!   x = y or z
//!   y = true
//! end block
//! block nu is
//!   z = z and w
//!   w = w
//! end block
//! eval x                 -- optional: the first variable is the main one otherwise
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use volee_system::{Diagnostic, Place};

use super::scan::{Scanner, Token};
use crate::explicit::Explicit;
use crate::graph::{BooleanGraph, Operator, Sign};

/// A file of equations: the system, and the names of its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BesFile {
    /// The equations.
    pub system: Explicit,
    /// The name of each variable.
    pub names: Vec<String>,
}

const RESERVED: [&str; 10] = ["block", "is", "end", "eval", "mu", "nu", "and", "or", "true", "false"];

struct Reader<'t> {
    scanner: Scanner<'t>,
    numbers: HashMap<&'t str, u32>,
    names: Vec<&'t str>,
    /// Where each variable was first used, until it is defined.
    used: Vec<Place>,
    rows: Vec<Option<(Operator, u16, Vec<u32>)>>,
    blocks: Vec<Sign>,
}

/// Reads a system of equations.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn read_bes(file: &str, text: &str) -> Result<BesFile, Diagnostic> {
    let mut reader = Reader {
        scanner: Scanner::new(file, text),
        numbers: HashMap::new(),
        names: Vec::new(),
        used: Vec::new(),
        rows: Vec::new(),
        blocks: Vec::new(),
    };
    while reader.scanner.peek() == Token::Word("block") {
        reader.block()?;
    }
    let main = reader.main()?;
    let mut rows = Vec::with_capacity(reader.rows.len());
    for (row, (name, place)) in reader.rows.into_iter().zip(reader.names.iter().zip(&reader.used)) {
        let missing = || Diagnostic::error(format!("`{name}` has no equation"), place.clone());
        rows.push(row.ok_or_else(missing)?);
    }
    let names = reader.names.iter().map(|name| (*name).to_string()).collect();
    Ok(BesFile { system: Explicit::new(reader.blocks, main, rows), names })
}

impl<'t> Reader<'t> {
    fn block(&mut self) -> Result<(), Diagnostic> {
        self.scanner.next();
        let sign = match self.scanner.peek() {
            Token::Word("mu") => Sign::Mu,
            Token::Word("nu") => Sign::Nu,
            _ => return Err(self.scanner.unexpected("`mu` or `nu`")),
        };
        self.scanner.next();
        let place = self.scanner.place();
        if self.scanner.word("`is`")? != "is" {
            // A block may have a name, which means nothing.
            self.keyword("is")?;
        }
        let Ok(block) = u16::try_from(self.blocks.len()) else {
            return Err(Diagnostic::error("there are more than 65536 blocks", place));
        };
        self.blocks.push(sign);
        while self.scanner.peek() != Token::Word("end") {
            self.equation(block)?;
        }
        self.scanner.next();
        self.keyword("block")
    }

    fn keyword(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.scanner.peek() != Token::Word(word) {
            return Err(self.scanner.unexpected(&format!("`{word}`")));
        }
        self.scanner.next();
        Ok(())
    }

    fn variable(&mut self) -> Result<u32, Diagnostic> {
        let place = self.scanner.place();
        let name = match self.scanner.peek() {
            Token::Word(name) if !RESERVED.contains(&name) => name,
            _ => return Err(self.scanner.unexpected("a variable")),
        };
        self.scanner.next();
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        let number = u32::try_from(self.names.len()).ok().filter(|n| *n < u32::MAX - 1);
        let number =
            number.ok_or_else(|| Diagnostic::error("there are too many variables", place.clone()))?;
        self.numbers.insert(name, number);
        self.names.push(name);
        self.used.push(place);
        self.rows.push(None);
        Ok(number)
    }

    fn equation(&mut self, block: u16) -> Result<(), Diagnostic> {
        let place = self.scanner.place();
        let variable = self.variable()?;
        if self.rows[variable as usize].is_some() {
            let name = self.names[variable as usize];
            return Err(Diagnostic::error(format!("`{name}` has two equations"), place));
        }
        self.scanner.expect('=')?;
        let mut operator = None;
        let (mut successors, mut constants) = (Vec::new(), Vec::new());
        loop {
            match self.scanner.peek() {
                Token::Word(word @ ("true" | "false")) => {
                    self.scanner.next();
                    constants.push(word == "true");
                }
                _ => successors.push(self.variable()?),
            }
            let joined = match self.scanner.peek() {
                Token::Word("or") => Operator::Or,
                Token::Word("and") => Operator::And,
                _ => break,
            };
            if operator.is_some_and(|o| o != joined) {
                return Err(self
                    .scanner
                    .unexpected("only `or` or only `and` in one equation")
                    .with_help("give the inner part a variable of its own in the same block"));
            }
            operator = Some(joined);
            self.scanner.next();
        }
        let operator = operator.unwrap_or(if constants == [true] { Operator::And } else { Operator::Or });
        let row = match constants.contains(&operator.deciding())
            && !(constants == [true] && successors.is_empty())
        {
            // A constant decides: the empty right-hand side of the other operator has that value.
            true if operator == Operator::Or => (Operator::And, block, Vec::new()),
            true => (Operator::Or, block, Vec::new()),
            false => (operator, block, successors),
        };
        self.rows[variable as usize] = Some(row);
        Ok(())
    }

    fn main(&mut self) -> Result<u32, Diagnostic> {
        if self.scanner.peek() == Token::Word("eval") {
            self.scanner.next();
            let main = self.variable()?;
            if self.scanner.peek() != Token::End {
                return Err(self.scanner.unexpected("the end of the file"));
            }
            return Ok(main);
        }
        if self.scanner.peek() != Token::End || self.names.is_empty() {
            return Err(self.scanner.unexpected("`block`"));
        }
        Ok(0)
    }
}

/// Writes a system of equations; `name` names its variables.
pub fn write_bes(system: &Explicit, name: impl Fn(u32) -> String) -> String {
    written(system, &name)
}

fn written(system: &Explicit, name: &dyn Fn(u32) -> String) -> String {
    let mut text = String::new();
    for (block, sign) in BooleanGraph::blocks(&system).iter().enumerate() {
        let _ = writeln!(text, "block {} is", if *sign == Sign::Mu { "mu" } else { "nu" });
        for variable in (0..system.len() as u32).filter(|v| usize::from(system.row(*v).block) == block) {
            let row = system.row(variable);
            let word = if row.operator == Operator::Or { " or " } else { " and " };
            let right: Vec<String> = system.right_hand_side(variable).iter().map(|v| name(*v)).collect();
            let right = match (right.len(), row.operator) {
                (0, Operator::Or) => "false".into(),
                (0, Operator::And) => "true".into(),
                _ => right.join(word),
            };
            let _ = writeln!(text, "  {} = {right}", name(variable));
        }
        text.push_str("end block\n");
    }
    let _ = writeln!(text, "eval {}", name(system.main()));
    text
}
