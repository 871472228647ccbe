//! Habits from other languages: `while`, `+=`, `struct`, `:=` and their like get an answer in Promela's
//! words, with a change of the text where one is plain.

use volee_system::{Diagnostic, Edit, Fix};

use super::{Failed, Parsed, Parser};
use crate::ast::{Name, Path};
use crate::source::{Advice, At};
use crate::token::{Tok, Token};

/// What Promela writes for a word that begins a statement elsewhere.
const STATEMENTS: &[(&str, &str)] = &[
    ("while", "write `do :: condition -> … :: else -> break od`"),
    ("until", "write `do :: condition -> break :: else -> … od`"),
    ("repeat", "write `do :: … od`, and `break` to leave it"),
    ("loop", "write `do :: … od`, and `break` to leave it"),
    ("switch", "write `if :: x == 1 -> … :: x == 2 -> … :: else -> … fi`"),
    ("case", "an option of `if` begins with `::` and its condition"),
    ("default", "the option that is left is `:: else -> …`"),
    (
        "continue",
        "begin the loop anew with `goto` and a label before the `do`, or leave the rest of the option out",
    ),
    ("print", "write `printf(\"…\", …)`"),
    ("println", "write `printf(\"…\\n\", …)`"),
    ("sleep", "Promela has no time: a step happens at any moment that it is possible"),
    ("wait", "a condition that stands alone waits until it is true"),
    ("await", "a condition that stands alone waits until it is true"),
    ("elif", "an option of `if` begins with `::` and its condition"),
    ("elseif", "an option of `if` begins with `::` and its condition"),
    ("endif", "an `if` ends with `fi`"),
    ("endwhile", "a `do` ends with `od`"),
    ("then", "a condition is followed by `->`"),
    ("spawn", "write `run P(…)`"),
    ("fork", "write `run P(…)`"),
    ("send", "write `channel!message`"),
    ("receive", "write `channel?variable`"),
];

/// What Promela writes for a word that begins a declaration elsewhere.
const DECLARATIONS: &[(&str, &str)] = &[
    ("struct", "write `typedef Name { byte a; int b }`"),
    ("union", "Promela has no unions; write `typedef Name { … }`"),
    ("class", "write `typedef Name { … }` for data, `proctype Name() { … }` for what acts"),
    ("enum", "write `mtype = { one, two }`"),
    ("const", "write `#define NAME value`"),
    ("static", "leave it out: a variable of a proctype lives as long as its process"),
    ("void", "write `inline name(a, b) { … }`, which is copied into place"),
    ("function", "write `inline name(a, b) { … }`, which is copied into place"),
    ("def", "write `inline name(a, b) { … }`, which is copied into place"),
    ("fn", "write `inline name(a, b) { … }`, which is copied into place"),
    ("process", "write `proctype Name() { … }`, or `active proctype` if it is there at the start"),
    ("thread", "write `proctype Name() { … }`, or `active proctype` if it is there at the start"),
    ("main", "write `init { … }`"),
    ("import", "write `#include \"file\"`"),
    ("using", "write `#include \"file\"`"),
    ("channel", "write `chan name = [capacity] of { types }`"),
    ("string", "Promela has no strings: `mtype = { one, two }` gives names to values"),
    ("var", "write the type and the name: `byte x`"),
    ("let", "write the type and the name: `byte x`"),
];

/// Types of other languages.
const TYPES: &[(&str, &str)] = &[
    ("char", "byte"),
    ("uint8_t", "byte"),
    ("u8", "byte"),
    ("boolean", "bool"),
    ("Boolean", "bool"),
    ("long", "int"),
    ("integer", "int"),
    ("Integer", "int"),
    ("int32_t", "int"),
    ("int16_t", "short"),
    ("float", "int"),
    ("double", "int"),
    ("size_t", "byte"),
    ("channel", "chan"),
];

/// Words that mean something elsewhere in the midst of a statement.
const WORDS: &[(&str, &str)] = &[
    ("and", "write `&&`"),
    ("or", "write `||`"),
    ("not", "write `!`"),
    ("mod", "write `%`"),
    ("then", "a condition is followed by `->`"),
    ("begin", "a block begins with `{`"),
    ("end", "a block ends with `}`"),
];

/// Temporal operators as other tools write them.
const OPERATORS: &[(&str, &str)] =
    &[("G", "write `[]` or `always` for \"globally\""), ("F", "write `<>` or `eventually` for \"finally\"")];

fn find(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == word).map(|(_, answer)| *answer)
}

/// The type that Promela has for one of another language.
pub(super) fn type_for(word: &str) -> Option<&'static str> {
    find(TYPES, word)
}

impl Parser<'_> {
    fn word_at(&self, ahead: usize) -> &str {
        let token = self.peek_at(ahead);
        if token.tok == Tok::Name { self.interner.text(token.sym) } else { "" }
    }

    /// Whether a statement begins here as in another language; says so, and what to write.
    pub(super) fn foreign_statement(&mut self) -> Parsed<()> {
        let Some(answer) = find(STATEMENTS, self.word_at(0)) else { return Ok(()) };
        // The word may be a name of the model: an inline, a variable, a label.
        let token = self.peek();
        let next = self.peek_at(1).tok;
        let is_used = self.inlines.contains_key(&token.sym)
            || matches!(next, Tok::Assign | Tok::Bang | Tok::Quest | Tok::Incr | Tok::Decr | Tok::Colon)
            || !matches!(next, Tok::LParen | Tok::LBrace | Tok::Name | Tok::Semi | Tok::Number)
                && (next != Tok::RBrace || self.word_at(0) != "continue");
        if is_used {
            return Ok(());
        }
        self.foreign(token, answer)
    }

    /// Whether a declaration begins here as in another language.
    pub(super) fn foreign_declaration(&mut self) -> Parsed<()> {
        let Some(answer) = find(DECLARATIONS, self.word_at(0)) else { return Ok(()) };
        let token = self.peek();
        let next = self.peek_at(1).tok;
        let is_ours = self.typedefs.contains(&token.sym) || self.inlines.contains_key(&token.sym);
        if is_ours || !matches!(next, Tok::Name | Tok::LBrace | Tok::LParen | Tok::Text) {
            return Ok(());
        }
        let fix = match self.word_at(0) {
            "struct" if next == Tok::Name && self.peek_at(2).tok == Tok::LBrace => {
                Some(("write `typedef`", "typedef"))
            }
            "enum" if next == Tok::LBrace => Some(("write `mtype =`", "mtype =")),
            _ => None,
        };
        let length = self.word_at(0).len();
        let failed = self.foreign::<()>(token, answer);
        if let (Some((title, text)), true) = (fix, failed.is_err()) {
            self.fix_last(title, token.at, length, text);
        }
        failed
    }

    /// `int f(int a) { … }`, behind which there is no telling what is meant.
    pub(super) fn foreign_function<T>(&mut self) -> Parsed<T> {
        let name = self.peek_at(1);
        let text = self.text(name.sym);
        let answer = match text.as_str() {
            "main" => "write `init { … }`",
            _ => "write `inline name(a, b) { … }`, which is copied into place",
        };
        self.sources.error(name.at, text.len(), "Promela has no functions").advise(answer);
        Err(Failed)
    }

    fn foreign<T>(&mut self, token: Token, answer: &str) -> Parsed<T> {
        let word = self.text(token.sym);
        self.sources.error(token.at, word.len(), format!("Promela has no `{word}`")).advise(answer);
        Err(Failed)
    }

    /// `x += 1`, `x := 1`: says what to write, behind the variable.
    pub(super) fn foreign_assignment(&mut self, path: &Path) -> Parsed<()> {
        let (first, second) = (self.peek(), self.peek_at(1));
        if second.tok != Tok::Assign || !second.is_glued() {
            return Ok(());
        }
        let operator = match first.tok {
            Tok::Colon => "",
            Tok::Plus
            | Tok::Minus
            | Tok::Star
            | Tok::Slash
            | Tok::Percent
            | Tok::Amp
            | Tok::Pipe
            | Tok::Caret => self.interner.text(first.sym),
            _ => return Ok(()),
        };
        let operator = operator.to_owned();
        let name = path.as_name().map(|n| self.text(n.sym));
        let (found, answer, text) = match (&operator[..], name) {
            ("", _) => {
                (":=".to_owned(), "write `=` to assign, `==` to compare".to_owned(), Some("=".to_owned()))
            }
            (op, Some(name)) => {
                (format!("{op}="), format!("write `{name} = {name} {op} …`"), Some(format!("= {name} {op}")))
            }
            (op, None) => (format!("{op}="), format!("write the variable again: `x = x {op} …`"), None),
        };
        self.sources.error(first.at, 2, format!("Promela has no `{found}`")).advise(answer);
        if let Some(text) = text {
            let title = format!("write `{text}`");
            self.fix_last(&title, first.at, 2, &text);
        }
        Err(Failed)
    }

    /// Adds to a message about an unexpected token what somebody with other habits may have meant by it.
    pub(super) fn advise_habit(&mut self, token: Token) {
        let before = self.position.checked_sub(1).map(|p| self.tokens[p]);
        let glued = |tok: Tok| before.is_some_and(|t| t.tok == tok) && token.is_glued();
        let next = self.peek_at(1);
        let answer = match token.tok {
            Tok::Assign if next.tok == Tok::Gt && next.is_glued() => Some((
                "a guard is followed by `->`; in formulas `->` is \"implies\"",
                Some(("write `->`", 2, "->")),
            )),
            Tok::Assign if glued(Tok::Colon) => Some(("Promela has no `:=`; write `=` to assign", None)),
            Tok::Assign if before.is_none_or(|t| t.tok != Tok::Assign) => Some((
                "`==` compares; an assignment is a statement of its own",
                Some(("write `==`", 1, "==")),
            )),
            Tok::Incr | Tok::Decr => Some(("`x++` and `x--` are statements of their own", None)),
            Tok::Gt if glued(Tok::Lt) => Some(("write `!=` for \"not equal\"", None)),
            Tok::Gt if glued(Tok::Assign) => Some(("write `>=` for \"at least\", `->` behind a guard", None)),
            Tok::Lt if glued(Tok::Assign) => Some(("write `<=` for \"at most\"", None)),
            Tok::LBracket if glued(Tok::RBracket) => Some((
                "an array has one dimension; write `typedef Row { byte at[3] }` and an array of those: `Row rows[3]`",
                None,
            )),
            Tok::Star => Some(("Promela has no pointers", None)),
            Tok::LParen => before.and_then(|t| find(OPERATORS, self.interner.text(t.sym))).map(|a| (a, None)),
            Tok::Quest => Some(("to choose between two values, write `(condition -> a : b)`", None)),
            Tok::Name => find(WORDS, self.interner.text(token.sym)).map(|answer| (answer, None)),
            _ => None,
        };
        let Some((answer, fix)) = answer else { return };
        if let Some(last) = self.sources.last() {
            last.advise(answer);
        }
        if let Some((title, length, text)) = fix {
            self.fix_last(title, token.at, length, text);
        }
    }

    /// Gives the last message a change of the text, where the token stands there as it is.
    pub(super) fn fix_last(&mut self, title: &str, at: At, length: usize, text: &str) {
        if at.origin != 0 {
            return;
        }
        let place = self.sources.place(at);
        let edits = vec![Edit { place, length: length as u32, text: text.into() }];
        if let Some(last) = self.sources.last() {
            let last: &mut Diagnostic = last;
            last.fix = Some(Box::new(Fix { title: title.into(), edits }));
        }
    }

    /// Says that a name is not a type, and which one is meant.
    pub(super) fn no_type(&mut self, name: Name, message: String, known: &[crate::intern::Sym]) {
        let text = self.text(name.sym);
        if find(WORDS, self.word_at(1)).is_some() {
            // `a and b`: the second word is what is wrong.
            let _: Parsed<()> = {
                self.next();
                self.unexpected("an operator")
            };
            self.position -= 1;
            return;
        }
        if let Some(answer) = find(WORDS, &text) {
            self.sources.error(name.at, text.len(), format!("Promela has no `{text}`")).advise(answer);
            return;
        }
        let Some(ours) = type_for(&text) else { return self.unknown(name, message, known) };
        self.sources.error(name.at, text.len(), message).advise(format!("Promela has `{ours}`"));
        self.fix_last(&format!("write `{ours}`"), name.at, text.len(), ours);
    }
}
