//! Operands of formulas: constants, names, events and expressions of the system.

use volee_system::Diagnostic;

use super::events::{EventPattern, LabelPattern};
use super::parse::{Operand, Parser};
use super::scan::{BINARY_WORDS, next_span, quoted, skip_space};
use super::{AtomKind, Pool, Span};

impl Parser<'_, '_> {
    /// Reads one operand that is not a group.
    pub(super) fn primary(&mut self) -> Result<Operand, Diagnostic> {
        let start = self.scanner.at;
        match self.scanner.peek() {
            Some('{') => {
                let inside = self.scanner.balanced()?.trim().to_string();
                if inside.is_empty() {
                    let span = Span { start, end: self.scanner.at };
                    return Err(self.scanner.error(span, "there is no expression between the braces"));
                }
                Ok(self.atom(AtomKind::Predicate(inside), start))
            }
            Some('"') => {
                let text = quoted(&mut self.scanner, '"', "quoted label")?;
                self.event(LabelPattern::Exact(text), None, start)
            }
            Some('/') => {
                let text = quoted(&mut self.scanner, '/', "regular expression")?;
                self.event(LabelPattern::Regex(text), None, start)
            }
            Some('⊤') => self.constant(true),
            Some('⊥') => self.constant(false),
            Some(c) if c.is_ascii_digit() => {
                self.scanner.at += self.scanner.digits().len();
                Ok(Operand::expression(start, self.scanner.at, false))
            }
            _ => self.name(start),
        }
    }

    fn constant(&mut self, value: bool) -> Result<Operand, Diagnostic> {
        self.scanner.at = next_span(&self.scanner).end;
        Ok(Operand::Formula(if value { Pool::TRUE } else { Pool::FALSE }))
    }

    fn atom(&mut self, kind: AtomKind, start: usize) -> Operand {
        let span = Span { start, end: self.scanner.at };
        Operand::Formula(self.shared.pool.atom(kind, span))
    }

    fn event(
        &mut self,
        label: LabelPattern,
        process: Option<(String, Option<u32>)>,
        start: usize,
    ) -> Result<Operand, Diagnostic> {
        let pattern = EventPattern { process, label };
        if let Err(error) = pattern.matcher() {
            let span = Span { start, end: self.scanner.at };
            return Err(self.scanner.error(span, error.to_string()));
        }
        Ok(self.atom(AtomKind::Event(pattern), start))
    }

    fn name(&mut self, start: usize) -> Result<Operand, Diagnostic> {
        let word = self.scanner.word();
        match word {
            "" => return Err(self.unexpected("a formula")),
            "true" => return self.constant(true),
            "false" => return self.constant(false),
            _ if BINARY_WORDS.iter().any(|(w, _)| *w == word) => return Err(self.unexpected("a formula")),
            _ => {}
        }
        let span = next_span(&self.scanner);
        self.scanner.at = span.end;
        if let Some((_, node)) = self.parameters.iter().find(|(p, _)| p == word) {
            return Ok(Operand::Formula(*node));
        }
        let macros = &self.shared.macros;
        if let Some(index) = macros.iter().position(|m| m.name == word && m.parameters.is_empty()) {
            return self.expand(index, Vec::new(), span).map(Operand::Formula);
        }
        self.suffixes(start)
    }

    /// Reads what may follow a name without being an operator: indices, fields, remote references, channel
    /// operations.
    fn suffixes(&mut self, start: usize) -> Result<Operand, Diagnostic> {
        let mut bare = true;
        let mut process: Option<usize> = None;
        loop {
            let end = self.scanner.at;
            let adjacent = self.scanner.peek();
            skip_space(&mut self.scanner);
            let rest = self.scanner.rest();
            match self.scanner.peek() {
                Some('[') if !rest.starts_with("[]") => {
                    self.scanner.balanced()?;
                }
                Some('(') if adjacent == Some('(') => {
                    self.scanner.balanced()?;
                }
                Some('.' | '@') => {
                    self.scanner.at += 1;
                    self.take_word("a name")?;
                }
                Some(':') => {
                    process = Some(end);
                    self.scanner.at += 1;
                    skip_space(&mut self.scanner);
                    if self.scanner.peek() == Some('"') {
                        let text = quoted(&mut self.scanner, '"', "quoted label")?;
                        let process = self.process(start, end)?;
                        return self.event(LabelPattern::Exact(text), Some(process), start);
                    }
                    self.take_word("a variable or a channel operation")?;
                }
                Some('?') if rest.starts_with("?[") || rest.starts_with("??[") => {
                    self.scanner.at += rest.find('[').unwrap_or(0);
                    self.scanner.balanced()?;
                }
                Some('?' | '!') if !rest.starts_with("!=") => return self.channel(start, process),
                _ => {
                    self.scanner.at = end;
                    return Ok(Operand::expression(start, end, bare));
                }
            }
            bare = false;
        }
    }

    fn take_word(&mut self, what: &str) -> Result<(), Diagnostic> {
        skip_space(&mut self.scanner);
        let length = self.scanner.word().len();
        if length == 0 {
            return Err(self.unexpected(what));
        }
        self.scanner.at += length;
        Ok(())
    }

    /// `!msg(…)` or `?msg(…)` after the channel.
    fn channel(&mut self, start: usize, process: Option<usize>) -> Result<Operand, Diagnostic> {
        while matches!(self.scanner.peek(), Some('!' | '?')) {
            self.scanner.at += 1;
        }
        skip_space(&mut self.scanner);
        self.scanner.eat("-");
        let length = self.scanner.word().len().max(self.scanner.digits().len());
        if length == 0 {
            return Err(self.unexpected("the message of the channel operation (`_` for any)"));
        }
        self.scanner.at += length;
        if self.scanner.peek() == Some('(') {
            self.scanner.balanced()?;
        }
        // In the arguments of a pattern a comma ends the argument; there `c!msg(1)` is the way to write more
        // values.
        while !self.in_arguments() && self.more_values() {}
        let from = process.map_or(start, |end| end + 1);
        let text = self.scanner.text[from..self.scanner.at].chars().filter(|c| !c.is_whitespace()).collect();
        let process = process.map(|end| self.process(start, end)).transpose()?;
        self.event(LabelPattern::Channel(text), process, start)
    }

    /// Takes `,3` or `,_` or `,NAME`, written without a space.
    fn more_values(&mut self) -> bool {
        let before = self.scanner.at;
        if self.scanner.eat(",") {
            self.scanner.eat("-");
            let length = self.scanner.word().len().max(self.scanner.digits().len());
            self.scanner.at += length;
            if length > 0 {
                return true;
            }
        }
        self.scanner.at = before;
        false
    }

    /// `Name`, `Name[2]` or `Name[*]` before the colon.
    fn process(&self, start: usize, end: usize) -> Result<(String, Option<u32>), Diagnostic> {
        let text = self.scanner.text[start..end].trim();
        let Some((name, index)) = text.split_once('[') else {
            return Ok((text.to_string(), None));
        };
        let index = index.trim_end_matches(']').trim();
        if index == "*" {
            return Ok((name.trim().to_string(), None));
        }
        match index.parse() {
            Ok(pid) => Ok((name.trim().to_string(), Some(pid))),
            Err(_) => {
                let message = format!("`{index}` is not the number of a process");
                Err(self.scanner.error(Span { start, end }, message))
            }
        }
    }
}
