//! Macro expansion, as C defines it: arguments are expanded first, the result is scanned again, and a macro
//! is not expanded inside its own expansion.
//!
//! The tokens to be scanned form a stack of frames, one per macro whose expansion is being read; a macro is
//! switched off while its frame is there, and a name met in that time is painted, never to be expanded again.

use std::rc::Rc;

use super::Preprocessor;
use crate::ast::Name;
use crate::index::Role;
use crate::index::notes::Entity;
use crate::intern::{Interner, Sym, kw};
use crate::limits::MAX_MACRO_NESTING;
use crate::source::{Advice, At, Origin};
use crate::token::{BREAK_BEFORE, LINE_START, PAINTED, SPACE_BEFORE, Tok, Token, tokenize};

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub at: At,
    parameters: Option<Rc<[Sym]>>,
    variadic: bool,
    body: Rc<[Token]>,
    /// Whether its expansion is being read.
    busy: bool,
}

impl Macro {
    pub(super) fn new(name: Token, parameters: Option<Vec<Sym>>, variadic: bool, body: &[Token]) -> Self {
        Macro {
            at: name.at,
            parameters: parameters.map(Into::into),
            variadic,
            body: body.into(),
            busy: false,
        }
    }

    /// What stands for it in an index.
    pub(super) fn entity(&self) -> Entity {
        Entity::Macro { file: self.at.file, offset: self.at.offset }
    }

    /// The definition as it would stand behind `#define`.
    pub(super) fn text(&self, name: Sym, interner: &Interner) -> String {
        let mut text = interner.text(name).to_owned();
        if let Some(parameters) = &self.parameters {
            let names = parameters.iter().map(|&p| if p == kw::VA_ARGS { "..." } else { interner.text(p) });
            text += &format!("({})", names.collect::<Vec<_>>().join(","));
        }
        for (i, token) in self.body.iter().enumerate() {
            if i == 0 || token.flags & SPACE_BEFORE != 0 {
                text.push(' ');
            }
            text += interner.text(token.sym);
        }
        text
    }

    pub(super) fn same_as(&self, other: &Macro) -> bool {
        self.parameters == other.parameters
            && self.body.len() == other.body.len()
            && self.body.iter().zip(other.body.iter()).all(|(a, b)| a.sym == b.sym)
    }
}

/// Tokens being read.
struct Frame {
    tokens: Rc<[Token]>,
    position: usize,
    end: usize,
    /// The macro to switch on again when the frame is done.
    of: Option<Sym>,
    /// Nothing below this frame may be read: the argument of a macro ends here.
    bottom: bool,
}

/// Reads tokens and expands macros in them.
pub(super) struct Expander<'p, 'a> {
    pre: &'p mut Preprocessor<'a>,
    frames: Vec<Frame>,
    nesting: usize,
    /// A macro stood at the beginning of a line: the next token out does too.
    line_start: bool,
    /// A macro call went over several lines: a line ends before the next token of the text.
    broken: bool,
}

impl<'p, 'a> Expander<'p, 'a> {
    pub(super) fn new(pre: &'p mut Preprocessor<'a>, tokens: Rc<[Token]>, start: usize, end: usize) -> Self {
        let frame = Frame { tokens, position: start, end, of: None, bottom: true };
        Expander { pre, frames: vec![frame], nesting: 0, line_start: false, broken: false }
    }

    /// Puts a token into the preprocessor's output.
    pub(super) fn emit(&mut self, mut token: Token) {
        token.flags &= !PAINTED;
        self.pre.output.push(token);
    }

    /// The next token that needs no more expansion.
    pub(super) fn next(&mut self) -> Option<Token> {
        loop {
            let mut token = self.raw()?;
            if token.tok != Tok::Name || token.flags & PAINTED != 0 {
                return Some(self.finish(token));
            }
            let (busy, is_call) = match self.pre.macros.get(&token.sym) {
                Some(found) => (found.busy, found.parameters.is_some()),
                None => return Some(self.predefined(token)),
            };
            if busy {
                token.flags |= PAINTED;
                return Some(self.finish(token));
            }
            if is_call && !self.opens_call() {
                return Some(self.finish(token));
            }
            if token.starts_line() {
                self.line_start = true;
            }
            if !self.enter(token, is_call) {
                return None;
            }
        }
    }

    fn finish(&mut self, mut token: Token) -> Token {
        if std::mem::take(&mut self.line_start) {
            token.flags |= LINE_START;
        }
        token
    }

    fn predefined(&mut self, token: Token) -> Token {
        let (tok, text) = match token.sym {
            kw::LINE_MACRO => (Tok::Number, self.pre.sources.line(token.at).to_string()),
            kw::FILE_MACRO => {
                (Tok::Text, format!("{:?}", self.pre.sources.files[token.at.file as usize].name))
            }
            _ => return self.finish(token),
        };
        let sym = self.pre.interner.intern(&text);
        self.finish(Token { tok, sym, ..token })
    }

    /// The next token as it stands, from the innermost frame that has one.
    fn raw(&mut self) -> Option<Token> {
        loop {
            let frame = self.frames.last_mut()?;
            if frame.position < frame.end {
                frame.position += 1;
                let mut token = frame.tokens[frame.position - 1];
                if self.frames.len() == 1 && std::mem::take(&mut self.broken) {
                    token.flags |= BREAK_BEFORE;
                }
                return Some(token);
            }
            if frame.bottom {
                return None;
            }
            self.leave();
        }
    }

    fn leave(&mut self) {
        if let Some(of) = self.frames.pop().and_then(|frame| frame.of)
            && let Some(found) = self.pre.macros.get_mut(&of)
        {
            found.busy = false;
        }
    }

    /// Whether the next token is a parenthesis that opens the arguments of a macro.
    fn opens_call(&mut self) -> bool {
        loop {
            let Some(frame) = self.frames.last() else { return false };
            if frame.position < frame.end {
                return frame.tokens[frame.position].tok == Tok::LParen;
            }
            if frame.bottom {
                return false;
            }
            self.leave();
        }
    }

    /// Begins to read the expansion of the macro that `name` calls.
    fn enter(&mut self, name: Token, is_call: bool) -> bool {
        let at = self.expansion_place(name);
        let arguments = if is_call {
            let Some(arguments) = self.arguments(name) else { return false };
            arguments
        } else {
            Vec::new()
        };
        let Some(found) = self.pre.macros.get(&name.sym) else { return true };
        let (body, parameters, variadic) = (found.body.clone(), found.parameters.clone(), found.variadic);
        let entity = found.entity();
        self.pre.sources.note(Name { sym: name.sym, at: name.at }, entity, Role::Read);
        let parameters = parameters.as_deref().unwrap_or_default();
        let Some(arguments) = self.match_arguments(name, parameters, variadic, arguments) else {
            return true;
        };
        let Some(mut tokens) = self.substitute(&body, parameters, &arguments, at) else { return false };
        if let Some(first) = tokens.first_mut() {
            first.flags = first.flags & !SPACE_BEFORE | name.flags & SPACE_BEFORE;
        }
        if !self.pre.spend(tokens.len(), at) {
            return false;
        }
        if let Some(found) = self.pre.macros.get_mut(&name.sym) {
            found.busy = true;
        }
        let end = tokens.len();
        self.frames.push(Frame {
            tokens: tokens.into(),
            position: 0,
            end,
            of: Some(name.sym),
            bottom: false,
        });
        true
    }

    /// Where the tokens of a body stand: at the outermost macro's name.
    fn expansion_place(&mut self, name: Token) -> At {
        if name.at.origin != 0 {
            return name.at;
        }
        let origin = Origin::Macro { name: self.pre.interner.shared(name.sym), written: None };
        At { origin: self.pre.sources.add_origin(origin), ..name.at }
    }

    /// The arguments of a call, from its parenthesis on, not expanded.
    fn arguments(&mut self, name: Token) -> Option<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        let mut broken = false;
        loop {
            let Some(mut token) = self.raw() else {
                let text = self.pre.interner.text(name.sym).to_owned();
                self.pre
                    .sources
                    .error(name.at, text.len(), format!("the call of the macro `{text}` is never closed"))
                    .advise("add the missing `)`");
                return None;
            };
            if token.follows_break() {
                token.flags = token.flags & !(LINE_START | BREAK_BEFORE) | SPACE_BEFORE;
                broken = true;
            }
            match token.tok {
                Tok::LParen => depth += 1,
                Tok::RParen => depth -= 1,
                Tok::Comma if depth == 1 => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            match (token.tok, depth) {
                (Tok::LParen, 1) => {}
                (Tok::RParen, 0) => {
                    self.broken |= broken;
                    return Some(arguments);
                }
                _ => arguments.last_mut().expect("there is always one").push(token),
            }
        }
    }

    /// Pairs arguments with parameters; none (after a message) when their numbers differ.
    fn match_arguments(
        &mut self,
        name: Token,
        parameters: &[Sym],
        variadic: bool,
        mut arguments: Vec<Vec<Token>>,
    ) -> Option<Vec<Vec<Token>>> {
        if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if variadic {
            self.join_rest(parameters.len(), &mut arguments);
        }
        if arguments.len() == parameters.len() {
            return Some(arguments);
        }
        let text = self.pre.interner.text(name.sym).to_owned();
        let message =
            format!("the macro `{text}` takes {} but gets {}", plural(parameters.len()), arguments.len());
        self.pre.sources.error(name.at, text.len(), message);
        None
    }

    fn join_rest(&mut self, count: usize, arguments: &mut Vec<Vec<Token>>) {
        if arguments.len() < count {
            arguments.push(Vec::new());
        }
        while arguments.len() > count {
            let last = arguments.pop().unwrap_or_default();
            let Some(rest) = arguments.last_mut() else { return };
            let at = last.first().or(rest.last()).map_or(At::start_of(0), |t| t.at);
            let sym = self.pre.interner.intern(",");
            rest.push(Token { tok: Tok::Comma, flags: 0, sym, at });
            rest.extend(last);
        }
    }

    /// An argument with its macros expanded.
    fn expand_argument(&mut self, argument: &[Token]) -> Option<Vec<Token>> {
        if argument.iter().all(|t| t.tok != Tok::Name || !self.pre.macros.contains_key(&t.sym)) {
            return Some(argument.to_vec());
        }
        if self.nesting >= MAX_MACRO_NESTING {
            let at = argument.first().map_or(At::start_of(0), |t| t.at);
            let message = format!("macro calls nest more than {MAX_MACRO_NESTING} deep in arguments");
            self.pre.stop(at, message, "write an intermediate macro");
            return None;
        }
        let end = argument.len();
        self.nesting += 1;
        let (line_start, broken) = (std::mem::take(&mut self.line_start), std::mem::take(&mut self.broken));
        self.frames.push(Frame { tokens: argument.into(), position: 0, end, of: None, bottom: true });
        let mut expanded = Vec::new();
        while let Some(token) = self.next() {
            expanded.push(token);
        }
        while !self.frames.last().is_none_or(|frame| frame.bottom) {
            self.leave();
        }
        self.frames.pop();
        (self.line_start, self.broken) = (line_start, broken);
        self.nesting -= 1;
        (!self.pre.stopped).then_some(expanded)
    }

    /// The body of a macro with the arguments put in.
    fn substitute(
        &mut self,
        body: &[Token],
        parameters: &[Sym],
        arguments: &[Vec<Token>],
        at: At,
    ) -> Option<Vec<Token>> {
        let parameter = |token: &Token| {
            (token.tok == Tok::Name).then(|| parameters.iter().position(|&p| p == token.sym)).flatten()
        };
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut result: Vec<Token> = Vec::with_capacity(body.len());
        let mut position = 0;
        // Where the operand before `##` begins: an empty argument there leaves nothing to paste to.
        let mut operand = 0;
        while position < body.len() {
            let token = body[position];
            let pasted_before = position > 0 && body[position - 1].tok == Tok::HashHash;
            let pasted_after = body.get(position + 1).is_some_and(|t| t.tok == Tok::HashHash);
            if token.tok == Tok::HashHash && position > 0 && position + 1 < body.len() {
                position += 1;
                continue;
            }
            let length = result.len();
            if !pasted_before {
                operand = length;
            }
            if token.tok == Tok::Hash
                && let Some(which) = body.get(position + 1).and_then(parameter)
            {
                result.push(self.stringify(&arguments[which], token.flags, at));
                position += 1;
            } else if let Some(which) = parameter(&token) {
                if pasted_before || pasted_after {
                    result.extend_from_slice(&arguments[which]);
                } else {
                    if expanded[which].is_none() {
                        expanded[which] = Some(self.expand_argument(&arguments[which])?);
                    }
                    result.extend(expanded[which].iter().flatten());
                }
                if let Some(first) = result.get_mut(length) {
                    first.flags = first.flags & !SPACE_BEFORE | token.flags & SPACE_BEFORE;
                }
            } else {
                let at = self.pre.sources.made(at, token.at);
                result.push(Token { at, flags: token.flags & !LINE_START, ..token });
            }
            if pasted_before && length > operand && length < result.len() {
                self.paste(&mut result, length);
            }
            if !self.pre.spend(result.len() - length.min(result.len()), at) {
                return None;
            }
            position += 1;
        }
        Some(result)
    }

    /// `#parameter`: the argument as a string.
    fn stringify(&mut self, argument: &[Token], flags: u8, at: At) -> Token {
        let mut text = String::from("\"");
        for (i, token) in argument.iter().enumerate() {
            if i > 0 && token.flags & SPACE_BEFORE != 0 {
                text.push(' ');
            }
            for c in self.pre.interner.text(token.sym).chars() {
                if matches!(token.tok, Tok::Text | Tok::Char) && matches!(c, '"' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        Token { tok: Tok::Text, flags: flags & !LINE_START, sym: self.pre.interner.intern(&text), at }
    }

    /// `a ## b`: makes one token of the two around `seam`, if they make one.
    fn paste(&mut self, result: &mut Vec<Token>, seam: usize) {
        let (left, right) = (result[seam - 1], result[seam]);
        let text = format!("{}{}", self.pre.interner.text(left.sym), self.pre.interner.text(right.sym));
        match tokenize(0, &text, self.pre.interner).as_slice() {
            [one] => {
                result[seam - 1] = Token { tok: one.tok, sym: one.sym, ..left };
                result.remove(seam);
            }
            _ => {
                self.pre
                    .sources
                    .error(left.at, 0, format!("`##` makes `{text}`, which is not one token"))
                    .advise("only names and numbers, or the parts of one operator, can be joined");
            }
        }
    }
}

fn plural(count: usize) -> String {
    match count {
        1 => "1 argument".into(),
        n => format!("{n} arguments"),
    }
}
