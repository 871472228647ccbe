//! A formatter: the same program with even indentation and spacing. Comments stay, directives stay letter by
//! letter, and so does every line end, since a line end may stand for a semicolon; new ones come only where
//! they cannot: around the options of a choice and inside the braces of a block that spans several lines
//! anyway.
//!
//! What comes out is read again and compared token by token with what went in. If anything but space differs,
//! or what goes in cannot be told apart into tokens, the text is refused rather than damaged.

mod pieces;
mod spacing;

use volee_system::{Diagnostic, Place};

use crate::intern::{Interner, kw};
use crate::token::{Tok, Token, tokenize};
use pieces::{Kind, Piece, cut};
use spacing::Spacing;

/// How a text is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// How many columns one level of indentation is wide.
    pub width: usize,
    /// Whether indentation is made of tabs.
    pub tabs: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 4, tabs: false }
    }
}

/// The same program, evenly laid out.
///
/// # Errors
/// The text is not made of Promela's tokens, or the result would not be the same program.
pub fn format(file: &str, text: &str, style: Style) -> Result<String, Diagnostic> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let plain = text.replace("\r\n", "\n");
    let result = laid_out(file, &plain, style)?;
    same_program(file, &plain, &result)?;
    // Broken text can close blocks that nobody opened; a layout that would move again is none.
    if laid_out(file, &result, style)? != result {
        let help = "correct its errors first";
        return Err(Diagnostic::error("this text has no stable layout", None).with_help(help));
    }
    Ok(if line_end == "\n" { result } else { result.replace('\n', line_end) })
}

fn laid_out(file: &str, text: &str, style: Style) -> Result<String, Diagnostic> {
    let pieces = cut(file, text)?;
    let out = String::with_capacity(text.len());
    let mut layout = Layout { style, pieces: &pieces, out, frames: Vec::new(), saved: Vec::new() };
    layout.run();
    let mut result = layout.out;
    while result.ends_with("\n\n") {
        result.pop();
    }
    Ok(result)
}

/// What the text at a point is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// Braces around statements; `breaks` if they span several lines.
    Block {
        breaks: bool,
    },
    /// Braces around names, types or values.
    List,
    /// `if … fi` or `do … od`
    Choice {
        breaks: bool,
    },
    Paren,
}

struct Layout<'p> {
    style: Style,
    pieces: &'p [Piece<'p>],
    out: String,
    frames: Vec<Frame>,
    /// The frames at each open `#if`: every branch begins with the same.
    saved: Vec<Vec<Frame>>,
}

impl Layout<'_> {
    fn run(&mut self) {
        let mut spacing = Spacing::default();
        let quoting = quoting_macros(self.pieces);
        // How deep brackets were when the call of a macro began that makes a string of its argument.
        let mut quoted: Option<usize> = None;
        for i in 0..self.pieces.len() {
            let piece = &self.pieces[i];
            let before = i.checked_sub(1).map(|b| &self.pieces[b]);
            if piece.kind == Kind::Directive {
                self.directive(piece, before);
                spacing.restart();
                continue;
            }
            let breaks = before.is_none_or(|b| piece.lines_before > 0 || b.kind == Kind::Directive)
                || self.wants_break(i, &spacing);
            if breaks {
                self.new_line(piece, before.is_none());
                self.indent(i, &spacing);
            } else if piece.kind == Kind::LineComment || piece.kind == Kind::BlockComment {
                let gap = if piece.kind == Kind::LineComment || piece.ends_line { "  " } else { " " };
                self.out.push_str(gap);
            } else if quoted.is_some() {
                self.out.push_str(if piece.space_before { " " } else { "" });
            } else if spacing::stands_apart(piece) && before.is_some_and(|b| b.kind == Kind::BlockComment)
                || spacing.between(piece)
            {
                self.out.push(' ');
            }
            self.write(piece);
            if let Kind::Token(tok) = piece.kind {
                if tok == Tok::LParen && quoted.is_none() && before.is_some_and(|b| quoting.contains(&b.text))
                {
                    quoted = Some(self.frames.len());
                }
                self.enter(i, tok, &spacing);
                if tok == Tok::RParen && quoted.is_some_and(|depth| self.frames.len() <= depth) {
                    quoted = None;
                }
                spacing.take(piece, tok);
            }
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// At most one empty line stays.
    fn new_line(&mut self, piece: &Piece, is_first: bool) {
        if is_first {
            return;
        }
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if piece.lines_before > 1 && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn directive(&mut self, piece: &Piece, before: Option<&Piece>) {
        self.new_line(piece, before.is_none());
        let word = piece.text.trim_start_matches(['#', ' ', '\t']);
        if word.starts_with("if") {
            self.saved.push(self.frames.clone());
        } else if word.starts_with("el") {
            if let Some(frames) = self.saved.last() {
                self.frames.clone_from(frames);
            }
        } else if word.starts_with("endif") {
            self.saved.pop();
        }
        self.out.push_str(piece.text);
        self.out.push('\n');
    }

    fn write(&mut self, piece: &Piece) {
        if piece.kind != Kind::BlockComment || !piece.text.contains('\n') {
            self.out.push_str(piece.text.trim_end());
            return;
        }
        // The lines of a comment keep their place below its first.
        let line = self.out.rfind('\n').map_or(0, |i| i + 1);
        let column = pieces::columns(&self.out[line..], self.style.width) as isize;
        let shift = column - piece.column as isize;
        for (i, line) in piece.text.split('\n').enumerate() {
            if i == 0 {
                self.out.push_str(line.trim_end());
                continue;
            }
            self.out.push('\n');
            let inner = line.trim_start();
            if inner.trim_end().is_empty() {
                continue;
            }
            let old = pieces::columns(&line[..line.len() - inner.len()], pieces::TAB) as isize;
            let new = (old + shift).max(0) as usize;
            self.out.extend(std::iter::repeat_n(' ', new));
            self.out.push_str(inner.trim_end());
        }
    }

    /// Whether a line should end before a token where the text has none.
    fn wants_break(&self, i: usize, spacing: &Spacing) -> bool {
        let piece = &self.pieces[i];
        let Kind::Token(tok) = piece.kind else { return false };
        if self.frames.contains(&Frame::Paren) {
            return false;
        }
        let open = matches!(
            self.frames.last(),
            Some(Frame::Block { breaks: true } | Frame::Choice { breaks: true })
        );
        let closes = tok == Tok::RBrace || piece.is("fi") || piece.is("od") || tok == Tok::Sep;
        open && (closes || spacing.after_open())
    }

    fn indent(&mut self, i: usize, spacing: &Spacing) {
        let piece = &self.pieces[i];
        let mut level = self.frames.iter().filter(|frame| **frame != Frame::Paren).count();
        let mut continues = self.frames.contains(&Frame::Paren) || spacing.continues();
        if let Kind::Token(tok) = piece.kind {
            let closes = tok == Tok::RBrace || piece.is("fi") || piece.is("od") || tok == Tok::Sep;
            let is_label = self.is_label(i) && level > 0 && !continues;
            if closes || is_label {
                level = level.saturating_sub(1);
                continues = false;
            } else {
                continues |= spacing::is_infix(tok);
            }
        }
        let level = level + usize::from(continues);
        match self.style.tabs {
            true => self.out.extend(std::iter::repeat_n('\t', level)),
            false => self.out.extend(std::iter::repeat_n(' ', level * self.style.width)),
        }
    }

    fn is_label(&self, i: usize) -> bool {
        let is = |at: usize, tok: Tok| self.pieces.get(at).is_some_and(|p| p.kind == Kind::Token(tok));
        is(i, Tok::Name)
            && is(i + 1, Tok::Colon)
            && self.frames.last().is_some_and(|f| *f != Frame::List && *f != Frame::Paren)
    }

    fn enter(&mut self, i: usize, tok: Tok, spacing: &Spacing) {
        let piece = &self.pieces[i];
        match tok {
            Tok::LBrace if spacing.opens_list() => self.frames.push(Frame::List),
            Tok::LBrace => {
                self.frames.push(Frame::Block { breaks: self.spans_lines(i, Tok::LBrace, Tok::RBrace) })
            }
            Tok::LParen | Tok::LBracket => self.frames.push(Frame::Paren),
            Tok::RParen | Tok::RBracket => self.leave(|f| f == Frame::Paren),
            Tok::RBrace => self.leave(|f| matches!(f, Frame::Block { .. } | Frame::List)),
            Tok::Name if piece.is("if") || piece.is("do") => {
                self.frames.push(Frame::Choice { breaks: self.choice_spans_lines(i) });
            }
            Tok::Name if piece.is("fi") || piece.is("od") => {
                self.leave(|f| matches!(f, Frame::Choice { .. }))
            }
            _ => {}
        }
    }

    /// Leaves the innermost frame if it is of the kind: in a text with macros for brackets it may not be.
    fn leave(&mut self, kind: impl Fn(Frame) -> bool) {
        if self.frames.last().is_some_and(|frame| kind(*frame)) {
            self.frames.pop();
        }
    }

    fn spans_lines(&self, from: usize, open: Tok, close: Tok) -> bool {
        self.reaches(from, |p| p.kind == Kind::Token(open), |p| p.kind == Kind::Token(close))
    }

    fn choice_spans_lines(&self, from: usize) -> bool {
        self.reaches(from, |p| p.is("if") || p.is("do"), |p| p.is("fi") || p.is("od"))
    }

    /// Whether a line ends before the piece that closes what the piece `from` opens.
    fn reaches(&self, from: usize, opens: impl Fn(&Piece) -> bool, closes: impl Fn(&Piece) -> bool) -> bool {
        let mut depth = 0usize;
        for (n, piece) in self.pieces[from..].iter().enumerate() {
            if n > 0 && (piece.lines_before > 0 || piece.kind == Kind::Directive) {
                return true;
            }
            if opens(piece) {
                depth += 1;
            } else if closes(piece) {
                depth -= 1;
                if depth == 0 {
                    return false;
                }
            }
        }
        false
    }
}

/// The macros that make a string of an argument, in which every space counts.
fn quoting_macros<'t>(pieces: &[Piece<'t>]) -> Vec<&'t str> {
    let mut all = Vec::new();
    for piece in pieces.iter().filter(|p| p.kind == Kind::Directive) {
        let Some(rest) = piece.text.trim_start_matches(['#', ' ', '\t']).strip_prefix("define") else {
            continue;
        };
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if rest[end..].replace("##", "").contains('#') {
            all.push(&rest[..end]);
        }
    }
    all
}

/// Compares two texts token by token: nothing but space may differ, and line ends only where they mean
/// nothing.
fn same_program(file: &str, before: &str, after: &str) -> Result<(), Diagnostic> {
    let mut interner = Interner::new();
    let (old, new) = (tokenize(0, before, &mut interner), tokenize(0, after, &mut interner));
    let differs = |at: usize| {
        let offset = old.get(at).map_or(before.len(), |t| t.at.offset as usize);
        Diagnostic::error("this text cannot be formatted without changing it", place(file, before, offset))
            .with_help("it is left as it is")
    };
    if old.len() != new.len() {
        let first =
            old.iter().zip(&new).position(|(a, b)| a.sym != b.sym).unwrap_or(old.len().min(new.len()));
        return Err(differs(first));
    }
    for (i, (a, b)) in old.iter().zip(&new).enumerate() {
        let may_break = |token: &Token| {
            matches!(token.tok, Tok::RBrace | Tok::Sep) || token.is(kw::FI) || token.is(kw::OD)
        };
        let opened = i > 0 && {
            let last = old[i - 1];
            matches!(last.tok, Tok::LBrace) || last.is(kw::IF) || last.is(kw::DO)
        };
        let breaks = a.follows_break() == b.follows_break() || b.follows_break() && (may_break(a) || opened);
        // `<` and `->` make `<->` only when nothing stands between them.
        let glued = a.tok != Tok::Arrow || a.is_glued() == b.is_glued() || i > 0 && old[i - 1].tok != Tok::Lt;
        if a.tok != b.tok || a.sym != b.sym || !breaks || !glued {
            return Err(differs(i));
        }
    }
    let comments = |text: &str| -> Option<Vec<String>> {
        let pieces = cut(file, text).ok()?;
        let all = pieces.iter().filter(|p| matches!(p.kind, Kind::LineComment | Kind::BlockComment));
        Some(all.map(|p| p.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
    };
    if comments(before) != comments(after) {
        return Err(differs(0));
    }
    Ok(())
}

fn place(file: &str, text: &str, offset: usize) -> Place {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    Place::new(file, before.matches('\n').count() as u32 + 1, before[start..].chars().count() as u32 + 1)
}
