//! The text behind places: what stands there, and what to replace for a fix.

use volee_system::{Edit, Place};

use crate::intern::{Interner, kw};
use crate::source::Sources;
use crate::token::{Tok, Token, tokenize};

pub(super) struct Texts<'a> {
    sources: &'a Sources,
}

impl<'a> Texts<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Texts { sources }
    }

    fn text(&self, place: &Place) -> Option<&'a str> {
        self.sources.files.iter().find(|f| f.name == place.file).map(|f| &*f.text)
    }

    fn offset(&self, place: &Place) -> Option<usize> {
        let text = self.text(place)?;
        let line = text.split_inclusive('\n').nth(place.line as usize - 1)?;
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let column =
            line.char_indices().map(|(i, _)| i).chain([line.len()]).nth(place.column as usize - 1)?;
        Some(start + column)
    }

    /// The line that a place is on, and the byte of the place in it.
    pub(super) fn line(&self, place: &Place) -> Option<(&'a str, usize)> {
        let (text, offset) = (self.text(place)?, self.offset(place)?);
        let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
        Some((&text[start..end], offset - start))
    }

    /// The name at a place, if one stands there.
    pub(super) fn name_at(&self, place: &Place) -> Option<&'a str> {
        let (line, at) = self.line(place)?;
        let rest = &line[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        (end > 0).then_some(&rest[..end])
    }

    /// The place of a byte of the file that `place` is in.
    fn place_at(&self, place: &Place, offset: usize) -> Option<Place> {
        let before = &self.text(place)?[..offset];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.matches('\n').count() as u32 + 1;
        let column = before[start..].chars().count() as u32 + 1;
        Some(Place::new(place.file.clone(), line, column))
    }

    fn tokens_from(&self, place: &Place) -> Option<(usize, Vec<Token>, Interner)> {
        let (text, offset) = (self.text(place)?, self.offset(place)?);
        let mut interner = Interner::new();
        let tokens = tokenize(0, &text[offset..], &mut interner);
        Some((offset, tokens, interner))
    }

    /// Replaces the `=` of the assignment that begins at a place.
    pub(super) fn replace_assign(&self, place: &Place, text: &str) -> Option<Edit> {
        let (offset, tokens, _) = self.tokens_from(place)?;
        let mut depth = 0i32;
        for token in tokens {
            match token.tok {
                Tok::LBracket => depth += 1,
                Tok::RBracket => depth -= 1,
                Tok::Assign if depth == 0 => {
                    let place = self.place_at(place, offset + token.at.offset as usize)?;
                    return Some(Edit { place, length: 1, text: text.into() });
                }
                Tok::Semi | Tok::Arrow | Tok::LBrace | Tok::Eof => return None,
                _ => {}
            }
        }
        None
    }

    /// Inserts an option before the `fi` or `od` of the choice that begins at a place.
    pub(super) fn add_option(&self, place: &Place, option: &str) -> Option<Edit> {
        let (offset, tokens, _) = self.tokens_from(place)?;
        if !tokens.first().is_some_and(|t| t.is(kw::IF) || t.is(kw::DO)) {
            return None;
        }
        let mut depth = 0usize;
        for token in tokens {
            if token.is(kw::IF) || token.is(kw::DO) {
                depth += 1;
            } else if token.is(kw::FI) || token.is(kw::OD) {
                depth -= 1;
                if depth == 0 {
                    let place = self.place_at(place, offset + token.at.offset as usize)?;
                    let (line, at) = self.line(&place)?;
                    let alone = line[..at].trim().is_empty();
                    let text =
                        if alone { format!("{option}\n{}", &line[..at]) } else { format!("{option} ") };
                    return Some(Edit { place, length: 0, text });
                }
            }
        }
        None
    }

    /// Replaces the type before the name of a variable, if a plain one stands there and is of this variable
    /// alone.
    pub(super) fn replace_type(&self, place: &Place, ty: &str) -> Option<Edit> {
        let (line, at) = self.line(place)?;
        let before = line[..at].trim_end();
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
        if !["bit", "bool", "byte", "short", "pid"].contains(&word) {
            return None;
        }
        let place = self.place_at(place, self.offset(place)? - at + before.len() - word.len())?;
        Some(Edit { place, length: word.len() as u32, text: ty.into() })
    }

    /// Takes a declaration away that is alone on its line.
    pub(super) fn remove_declaration(&self, place: &Place) -> Option<Edit> {
        let (line, _) = self.line(place)?;
        let code = line.trim();
        let code = code.split("//").next()?.split("/*").next()?.trim();
        let declaration = code.strip_suffix(';')?;
        let words = [
            "bit", "bool", "byte", "short", "int", "pid", "mtype", "chan", "unsigned", "hidden", "show",
            "local",
        ];
        let is_one = !declaration.contains([';', '{', '}', '('])
            && words.contains(&declaration.split_whitespace().next()?);
        // A list of several variables, unless the commas are those of a channel's messages.
        if !is_one || declaration.split("of").next()?.contains(',') {
            return None;
        }
        let start = line.len() - line.trim_start().len();
        let place = Place::new(place.file.clone(), place.line, line[..start].chars().count() as u32 + 1);
        Some(Edit { place, length: code.chars().count() as u32, text: String::new() })
    }

    /// How often a name stands in the files of the model, also where the preprocessor left it out.
    pub(super) fn mentions(&self, name: &str) -> usize {
        self.sources.files.iter().map(|file| words(&file.text).filter(|word| *word == name).count()).sum()
    }
}

/// The words of a text, those in comments and strings included.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
