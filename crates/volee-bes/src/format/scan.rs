//! Words, numbers, quoted texts and single marks, with their places.

use volee_system::{Diagnostic, Place, is_word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    Quoted(&'t str),
    Mark(char),
    End,
}

pub(super) struct Scanner<'t> {
    text: volee_system::Scanner<'t>,
    /// The token that was looked at, and where it stands.
    ahead: Option<(Token<'t>, usize)>,
}

impl<'t> Scanner<'t> {
    pub fn new(file: &str, text: &'t str) -> Self {
        Scanner { text: volee_system::Scanner::new(file, text), ahead: None }
    }

    pub fn peek(&mut self) -> Token<'t> {
        self.look().0
    }

    pub fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.ahead = None;
        token
    }

    /// The place of the token that comes next.
    pub fn place(&mut self) -> Place {
        let (_, at) = self.look();
        self.text.place_of(at)
    }

    pub fn unexpected(&mut self, wanted: &str) -> Diagnostic {
        let place = self.place();
        let found = match self.peek() {
            Token::Word(word) => format!("`{}`", word.chars().take(40).collect::<String>()),
            Token::Quoted(_) => "a quoted text".into(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the file".into(),
        };
        Diagnostic::error(format!("expected {wanted}, found {found}"), place)
    }

    pub fn expect(&mut self, mark: char) -> Result<(), Diagnostic> {
        if self.peek() != Token::Mark(mark) {
            return Err(self.unexpected(&format!("`{mark}`")));
        }
        self.next();
        Ok(())
    }

    pub fn word(&mut self, what: &str) -> Result<&'t str, Diagnostic> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub fn number(&mut self, what: &str) -> Result<u32, Diagnostic> {
        let place = self.place();
        let word = self.word(what)?;
        word.parse().map_err(|_| {
            let shown: String = word.chars().take(40).collect();
            Diagnostic::error(format!("`{shown}` is not {what}: a number from 0 to {}", u32::MAX), place)
        })
    }

    fn look(&mut self) -> (Token<'t>, usize) {
        let ahead = self.ahead.unwrap_or_else(|| self.scan());
        self.ahead = Some(ahead);
        ahead
    }

    fn scan(&mut self) -> (Token<'t>, usize) {
        let text = &mut self.text;
        // A comment ends with its line, so that none is open at the end.
        let _ = text.skip(&[("--", "\n")]);
        let at = text.at;
        let token = match text.peek() {
            None => Token::End,
            Some(c) if is_word(c) => Token::Word(text.take_while(is_word)),
            Some('"') => {
                let rest = text.rest();
                let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
                Token::Quoted(text.take(end).trim_matches('"'))
            }
            Some(c) => {
                text.take(c.len_utf8());
                Token::Mark(c)
            }
        };
        (token, at)
    }
}
