//! The preprocessor: directives, included files, conditional parts, macros.
//!
//! It does what cpp does for SPIN, but on tokens: the result is one stream of tokens that know where they
//! stand in the original files. Directives inside the arguments of a macro call are the one thing not
//! supported.

mod condition;
mod expand;
#[cfg(test)]
mod peer;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::ast::Name;
use crate::index::Role;
use crate::intern::{Interner, Sym, kw};
use crate::limits::{MAX_CONDITIONS, MAX_FILE, MAX_INCLUDE_DEPTH, MAX_INCLUDES, MAX_PARAMETERS, MAX_TOKENS};
use crate::source::{Advice, At, Sources};
use crate::token::{LINE_START, Tok, Token, tokenize};
use crate::{OpenFiles, Options};
use expand::{Expander, Macro};

/// A branch of a conditional.
struct Branch {
    /// Where the `#if` stands.
    at: At,
    /// Whether the lines here are kept.
    active: bool,
    /// Whether some branch so far was kept, or none may be as the whole conditional is inside a dropped part.
    taken: bool,
    /// Whether `#else` has come.
    closed: bool,
}

/// The state of a preprocessing run.
pub(super) struct Preprocessor<'a> {
    sources: &'a mut Sources,
    interner: &'a mut Interner,
    macros: HashMap<Sym, Macro>,
    include_dirs: &'a [PathBuf],
    open: &'a OpenFiles,
    within: Option<&'a Path>,
    includes: usize,
    output: Vec<Token>,
    /// Tokens that macros made so far.
    expanded: usize,
    /// Set when a limit is hit: nothing more is read.
    stopped: bool,
}

/// What comes out: tokens that end with one `Eof`, and the macros that are defined at the end, as text.
pub(crate) struct Preprocessed {
    pub tokens: Vec<Token>,
    pub macros: Vec<Arc<str>>,
    /// The files that were included, in their order.
    pub included: Vec<Arc<str>>,
    /// The number of the model's own file.
    pub main: u32,
    /// False when a limit ended the reading, so that the rest is missing.
    pub complete: bool,
}

/// Preprocesses a model. `macros` are definitions that hold from the beginning, as `NAME body`.
pub(crate) fn preprocess(
    file: &str,
    text: &str,
    options: &Options,
    macros: &[Arc<str>],
    sources: &mut Sources,
    interner: &mut Interner,
) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        sources,
        interner,
        macros: HashMap::new(),
        include_dirs: &options.include_dirs,
        open: &options.open,
        within: options.within.as_deref(),
        includes: 0,
        output: Vec::with_capacity(text.len() / 4 + 16),
        expanded: 0,
        stopped: false,
    };
    for definition in macros {
        preprocessor.define_line(definition);
    }
    for (name, value) in &options.defines {
        preprocessor.define_line(&format!("{name} {}", value.as_deref().unwrap_or("1")));
    }
    let directory = Path::new(file).parent().map(Path::to_path_buf).unwrap_or_default();
    let main = preprocessor.sources.add_file(file, directory, text);
    preprocessor.file(main, 0);
    let end = At { offset: text.len() as u32, ..At::start_of(main) };
    let (macros, complete) = (preprocessor.definitions(), !preprocessor.stopped);
    // Definitions have files of their own, but those stand before the model's.
    let included = preprocessor.sources.files[main as usize + 1..].iter().map(|f| f.name.clone()).collect();
    let mut tokens = preprocessor.output;
    tokens.push(Token { tok: Tok::Eof, flags: LINE_START, sym: kw::EMPTY_SPELLING, at: end });
    Preprocessed { tokens, macros, included, main, complete }
}

impl Preprocessor<'_> {
    fn define_line(&mut self, line: &str) {
        let file = self.sources.add_file("command line", PathBuf::new(), line);
        let tokens = tokenize(file, line, self.interner);
        self.define(&tokens, At::start_of(file));
    }

    /// The macros as text, in the order of their definition.
    fn definitions(&self) -> Vec<Arc<str>> {
        let mut all: Vec<(&Sym, &Macro)> = self.macros.iter().collect();
        all.sort_by_key(|(_, definition)| (definition.at.file, definition.at.offset));
        all.into_iter().map(|(name, definition)| definition.text(*name, self.interner).into()).collect()
    }

    /// Appends the tokens of a file to the output.
    fn file(&mut self, file: u32, depth: usize) {
        let text = self.sources.files[file as usize].text.clone();
        if let Some(zero) = text.find('\0') {
            let at = At { offset: zero as u32, ..At::start_of(file) };
            return self.stop(
                at,
                "this is not a text file: it has a zero byte".into(),
                "is it the right file?",
            );
        }
        let tokens: Rc<[Token]> = tokenize(file, &text, self.interner).into();
        let mut branches: Vec<Branch> = Vec::new();
        let mut position = 0;
        while position < tokens.len() && !self.stopped {
            let first = tokens[position];
            if first.tok == Tok::Hash && first.starts_line() {
                let end = end_of_line(&tokens, position + 1);
                self.directive(&tokens[position..end], &mut branches, depth);
                position = end;
                continue;
            }
            let end = end_of_text(&tokens, position);
            if branches.iter().all(|branch| branch.active) {
                self.text(&tokens, position, end);
            }
            position = end;
        }
        let open = if self.stopped { Vec::new() } else { branches };
        for branch in open {
            self.sources.error(branch.at, 0, "this conditional is never closed").advise("add `#endif`");
        }
    }

    fn text(&mut self, tokens: &Rc<[Token]>, start: usize, end: usize) {
        let mut expander = Expander::new(self, tokens.clone(), start, end);
        while let Some(token) = expander.next() {
            expander.emit(token);
        }
    }

    fn stop(&mut self, at: At, message: String, help: &str) {
        if !self.stopped {
            self.sources.error(at, 0, message).advise(help);
        }
        self.stopped = true;
    }

    /// Notes that a macro made `count` tokens; false when that is too many.
    fn spend(&mut self, count: usize, at: At) -> bool {
        self.expanded += count;
        if self.expanded > MAX_TOKENS {
            let message = format!("macros expand to more than {MAX_TOKENS} tokens");
            self.stop(at, message, "look for macros that double their argument several times over");
        }
        !self.stopped
    }

    /// Handles the line `# …`, which begins with the hash.
    fn directive(&mut self, line: &[Token], branches: &mut Vec<Branch>, depth: usize) {
        let hash = line[0];
        let Some(&name) = line.get(1) else { return };
        let rest = &line[2..];
        let active = branches.iter().all(|branch| branch.active);
        if name.tok == Tok::Number {
            return; // a line marker, as left by another preprocessor
        }
        match name.sym {
            kw::IF | kw::IFDEF | kw::IFNDEF => {
                if branches.len() >= MAX_CONDITIONS {
                    let message = format!("conditionals nest more than {MAX_CONDITIONS} deep");
                    return self.stop(hash.at, message, "close some with `#endif`");
                }
                let holds = active && self.condition(name, rest);
                branches.push(Branch { at: hash.at, active: holds, taken: holds || !active, closed: false });
            }
            kw::ELIF => {
                let Some(branch) = branches.last() else { return self.unmatched(name) };
                if branch.closed {
                    self.sources.error(name.at, 4, "`#elif` after `#else`");
                }
                let holds = !branch.taken && self.condition(name, rest);
                if let Some(branch) = branches.last_mut() {
                    branch.active = holds;
                    branch.taken |= holds;
                }
            }
            kw::ELSE => {
                let Some(branch) = branches.last_mut() else { return self.unmatched(name) };
                if branch.closed {
                    self.sources.error(name.at, 4, "a second `#else`");
                    return;
                }
                branch.active = !branch.taken;
                branch.taken = true;
                branch.closed = true;
            }
            kw::ENDIF => {
                if branches.pop().is_none() {
                    self.unmatched(name);
                }
            }
            _ if !active => {}
            kw::DEFINE => self.define(rest, name.at),
            kw::UNDEF => match rest.first() {
                Some(token) if token.tok == Tok::Name => {
                    self.mention(*token);
                    self.macros.remove(&token.sym);
                }
                _ => {
                    self.sources.error(name.at, 5, "`#undef` needs the name of a macro");
                }
            },
            kw::INCLUDE => self.include(hash, name, rest, depth),
            kw::ERROR => {
                let text = self.rest_of_line(name);
                self.sources.error(name.at, 5, format!("#error {text}"));
            }
            kw::WARNING => {
                let text = self.rest_of_line(name);
                self.sources.warning(name.at, 7, format!("#warning {text}"));
            }
            kw::LINE | kw::PRAGMA | kw::IDENT => {}
            _ => {
                let text = self.interner.text(name.sym).to_owned();
                let message = format!("`#{text}` is not a directive");
                self.sources.error(name.at, text.len(), message).advise(
                    "there are define, undef, include, if, ifdef, ifndef, elif, else, endif and error",
                );
            }
        }
    }

    fn unmatched(&mut self, name: Token) {
        let text = self.interner.text(name.sym).to_owned();
        self.sources.error(name.at, text.len(), format!("`#{text}` without `#if`"));
    }

    /// The text behind a directive's name, as written.
    fn rest_of_line(&self, name: Token) -> String {
        let text = &self.sources.files[name.at.file as usize].text;
        let start = name.at.offset as usize + self.interner.text(name.sym).len();
        text[start..].lines().next().unwrap_or_default().trim().chars().take(200).collect()
    }

    /// `#define NAME body` or `#define NAME(a, b) body`, from the name on.
    fn define(&mut self, line: &[Token], at: At) {
        let Some(&name) = line.first().filter(|t| t.tok == Tok::Name) else {
            self.sources.error(at, 6, "`#define` needs a name");
            return;
        };
        let is_call = line.get(1).is_some_and(|t| t.tok == Tok::LParen && t.is_glued());
        let (parameters, variadic, body) = if is_call {
            match self.parameters(&line[2..], name) {
                Some((parameters, variadic, used)) => (Some(parameters), variadic, &line[2 + used..]),
                None => return,
            }
        } else {
            (None, false, &line[1..])
        };
        let definition = Macro::new(name, parameters, variadic, body);
        if let Some(known) = self.macros.get(&name.sym)
            && !known.same_as(&definition)
        {
            let before = self.sources.place(known.at);
            let text = self.interner.text(name.sym).to_owned();
            self.sources
                .warning(name.at, text.len(), format!("the macro `{text}` is defined anew"))
                .advise(format!("the definition at {before} no longer counts"));
        }
        if let Some(notes) = &mut self.sources.notes {
            notes
                .texts
                .insert(definition.entity(), format!("#define {}", definition.text(name.sym, self.interner)));
            notes.add(name.at, name.sym, definition.entity(), Role::Declare);
        }
        self.macros.insert(name.sym, definition);
    }

    /// Notes that a directive names a macro.
    fn mention(&mut self, name: Token) {
        if let Some(entity) = self.macros.get(&name.sym).map(Macro::entity) {
            self.sources.note(Name { sym: name.sym, at: name.at }, entity, Role::Read);
        }
    }

    /// The parameters of a macro, from behind the parenthesis on; also how many tokens they took.
    fn parameters(&mut self, line: &[Token], name: Token) -> Option<(Vec<Sym>, bool, usize)> {
        let mut parameters = Vec::new();
        let mut variadic = false;
        let mut position = 0;
        loop {
            let token = line.get(position).copied();
            position += 1;
            match token {
                Some(t) if t.tok == Tok::RParen => return Some((parameters, variadic, position)),
                Some(t) if parameters.len() > MAX_PARAMETERS => {
                    let message = format!("a macro can have at most {MAX_PARAMETERS} parameters");
                    self.sources.error(t.at, 1, message);
                    return None;
                }
                Some(t) if t.tok == Tok::Name && !variadic => parameters.push(t.sym),
                Some(t) if t.tok == Tok::DotDot && !variadic => {
                    position += 1; // the third dot
                    parameters.push(kw::VA_ARGS);
                    variadic = true;
                }
                Some(t) if t.tok == Tok::Comma && !parameters.is_empty() => {}
                other => {
                    let at = other.map_or(name.at, |t| t.at);
                    let text = self.interner.text(name.sym).to_owned();
                    self.sources
                        .error(at, 1, format!("the parameters of the macro `{text}` are not a list of names"))
                        .advise("write `#define NAME(a, b) …`");
                    return None;
                }
            }
        }
    }

    /// `#include "file"`, from behind the word on.
    fn include(&mut self, hash: Token, word: Token, line: &[Token], depth: usize) {
        let Some(name) = self.include_name(word, line) else {
            self.sources
                .error(word.at, 7, "`#include` needs a file name")
                .advise("write `#include \"file\"`");
            return;
        };
        self.includes += 1;
        if depth + 1 >= MAX_INCLUDE_DEPTH || self.includes > MAX_INCLUDES {
            let message = format!("`{name}` is included too deeply; does a file include itself?");
            self.stop(
                hash.at,
                message,
                "take the `#include` that makes the circle away, or guard it by `#ifndef`",
            );
            return;
        }
        let here = self.sources.files[hash.at.file as usize].directory.clone();
        let found = std::iter::once(&here)
            .chain(self.include_dirs)
            .map(|directory| directory.join(&name))
            .find(|path| self.open.contains_key(path) || (path.is_file() && self.may_read(path)));
        let Some(path) = found else {
            let where_to = if here.as_os_str().is_empty() { ".".into() } else { here.display().to_string() };
            self.sources
                .error(hash.at, 0, format!("cannot find the included file `{name}`"))
                .advise(format!("it is looked for beside the including file, in `{where_to}`"));
            return;
        };
        let text = match self.open.get(&path) {
            Some(text) => Ok(text.to_string()),
            None => read_source(&path),
        };
        match text {
            Ok(text) => {
                let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
                let file = self.sources.add_file(&path.display().to_string(), directory, &text);
                self.file(file, depth + 1);
            }
            Err(message) => {
                self.sources.error(hash.at, 0, message);
            }
        }
    }

    /// A model of somebody else's reads nothing but what came with it.
    fn may_read(&self, path: &Path) -> bool {
        let below = |root: &Path| Some(path.canonicalize().ok()?.starts_with(root.canonicalize().ok()?));
        self.within.is_none_or(|root| below(root).unwrap_or(false))
    }

    fn include_name(&mut self, word: Token, line: &[Token]) -> Option<String> {
        let first = line.first()?;
        if first.tok == Tok::Lt {
            let text = self.rest_of_line(word);
            return Some(text.strip_prefix('<')?.split_once('>')?.0.to_owned());
        }
        let first = if first.tok == Tok::Text { *first } else { *self.expand_line(line).first()? };
        let text = self.interner.text(first.sym);
        Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    }

    /// The tokens of a directive with macros expanded.
    fn expand_line(&mut self, line: &[Token]) -> Vec<Token> {
        let tokens: Rc<[Token]> = line.into();
        let end = tokens.len();
        let mut expander = Expander::new(self, tokens, 0, end);
        let mut expanded = Vec::new();
        while let Some(token) = expander.next() {
            expanded.push(token);
        }
        expanded
    }
}

/// Reads a file that might be anything: text of bounded size, or a sentence.
pub(crate) fn read_source(path: &Path) -> Result<String, String> {
    let name = path.display();
    let data = std::fs::metadata(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    if !data.is_file() {
        return Err(format!("{name} is not a file"));
    }
    if data.len() > MAX_FILE {
        return Err(format!("{name} is larger than {} MB, which no model is", MAX_FILE >> 20));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn end_of_line(tokens: &[Token], from: usize) -> usize {
    let rest = tokens[from..].iter().position(|t| t.starts_line());
    rest.map_or(tokens.len(), |n| from + n)
}

/// Where the next directive begins.
fn end_of_text(tokens: &[Token], from: usize) -> usize {
    let rest = tokens[from..].iter().position(|t| t.tok == Tok::Hash && t.starts_line());
    rest.map_or(tokens.len(), |n| from + n)
}
