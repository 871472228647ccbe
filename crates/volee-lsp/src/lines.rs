//! Positions: the protocol counts lines from 0 and UTF-16 units, volee lines from 1 and characters, the index
//! bytes.

use lsp_types::{Position, Range};
use volee::system::Place;

/// A text with the beginnings of its lines.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Lines { text, starts }
    }

    /// A line without its end.
    fn line(&self, number: usize) -> &'t str {
        let Some(&start) = self.starts.get(number) else { return "" };
        let end = self.starts.get(number + 1).map_or(self.text.len(), |next| next - 1);
        self.text[start..end].trim_end_matches('\r')
    }

    /// The byte at a position; the nearest one if there is none.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let number = position.line as usize;
        let Some(&start) = self.starts.get(number) else { return self.text.len() };
        let mut units = 0;
        for (i, c) in self.line(number).char_indices() {
            if units >= position.character as usize {
                return start + i;
            }
            units += c.len_utf16();
        }
        start + self.line(number).len()
    }

    /// The position of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let units = self.text[self.starts[line]..offset].encode_utf16().count();
        Position::new(line as u32, units as u32)
    }

    pub(crate) fn range(&self, start: usize, end: usize) -> Range {
        Range::new(self.position(start), self.position(end))
    }

    /// The range of `length` characters from a place on, inside its line; of the word there if the length is
    /// not known.
    pub(crate) fn range_at(&self, place: &Place, length: u32) -> Range {
        let number = place.line.saturating_sub(1) as usize;
        let line = self.line(number);
        let start = nth_char(line, place.column.saturating_sub(1) as usize);
        let rest = &line[start..];
        let end = match length {
            0 => start + word_length(rest),
            n => start + nth_char(rest, n as usize),
        };
        let base = self.starts.get(number).copied().unwrap_or(self.text.len());
        self.range(base + start, base + end)
    }

    /// The exact range of an edit: `length` may be 0.
    pub(crate) fn range_of_edit(&self, place: &Place, length: u32) -> Range {
        let number = place.line.saturating_sub(1) as usize;
        let line = self.line(number);
        let start = nth_char(line, place.column.saturating_sub(1) as usize);
        let end = start + nth_char(&line[start..], length as usize);
        let base = self.starts.get(number).copied().unwrap_or(self.text.len());
        self.range(base + start, base + end)
    }

    /// The whole text.
    pub(crate) fn whole(&self) -> Range {
        self.range(0, self.text.len())
    }

    /// The end of the line that a place is on.
    pub(crate) fn line_end(&self, place: &Place) -> Position {
        let number = place.line.saturating_sub(1) as usize;
        let base = self.starts.get(number).copied().unwrap_or(self.text.len());
        self.position(base + self.line(number).len())
    }
}

/// The byte at which the nth character begins, or the end.
fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(i, _)| i)
}

fn word_length(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    match end {
        0 => text.chars().next().map_or(0, char::len_utf8),
        n => n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units_and_come_back() {
        let text = "/* 𝒳é */ x\r\ny";
        let lines = Lines::new(text);
        let x = text.find('x').expect("it is there");
        assert_eq!(lines.position(x), Position::new(0, 10));
        for (offset, _) in text.char_indices().filter(|(_, c)| *c != '\r' && *c != '\n') {
            assert_eq!(lines.offset(lines.position(offset)), offset);
        }
        assert_eq!(lines.position(text.len()), Position::new(1, 1));
        // Beyond the end of a line is its end.
        assert_eq!(lines.offset(Position::new(0, 99)), x + 1);
        assert_eq!(lines.offset(Position::new(9, 0)), text.len());
    }

    #[test]
    fn places_count_characters() {
        let lines = Lines::new("𝒳𝒳 abc = 1");
        let range = lines.range_at(&Place::new("m", 1, 4), 3);
        assert_eq!((range.start.character, range.end.character), (5, 8));
        assert_eq!(lines.range_at(&Place::new("m", 1, 4), 0), range);
        let none = lines.range_of_edit(&Place::new("m", 1, 4), 0);
        assert_eq!(none.start, none.end);
    }
}
