//! Reading `.aut` text at the speed of memory.
//!
//! The text comes in large blocks of whole lines; a line in the usual layout is taken apart by a scanner that
//! reads numbers eight digits at a time, and anything else goes to a patient second reader which also words
//! the errors. Blocks instead of a memory map: mapped pages count as memory of the process, a block is
//! reused, and the same code serves pipes and compressed files.
//!
//! Nothing is allocated on the word of the header: rows grow with what is really there.

use std::io::Read;

use volee_system::{Diagnostic, Place};

use crate::{LabelId, Lts, LtsBuilder, LtsError, StateId};

/// Size of a block; also bounds the length of a line.
const BLOCK: usize = 1 << 21;
/// The longest label: far more than any tool writes, far less than a hostile file could.
const LONGEST_LABEL: usize = 1 << 20;
/// A header may announce this many states that no transition mentions.
const IDLE_STATES: u64 = 1 << 20;

/// Reads a system; `name` is how messages call the input, `size` its length in bytes where that is known.
///
/// # Errors
/// The text is not a transition system, or cannot be read.
pub fn read_aut(input: &mut dyn Read, name: &str, size: Option<u64>) -> Result<Lts, LtsError> {
    let mut reader = Reader {
        name,
        size,
        line: 1,
        header: None,
        builder: Lts::builder(),
        last_label: (Vec::new(), LabelId::TAU),
        ended: false,
    };
    let mut buffer = vec![0u8; BLOCK];
    let mut filled = 0;
    loop {
        let got = match input.read(&mut buffer[filled..]) {
            Ok(got) => got,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(LtsError::io(name, e)),
        };
        if got == 0 {
            if filled > 0 {
                buffer[filled] = b'\n';
                reader.block(&buffer[..=filled])?;
            }
            return reader.finish();
        }
        let scanned = filled;
        filled += got;
        let Some(end) = buffer[scanned..filled].iter().rposition(|&b| b == b'\n') else {
            if filled == BLOCK {
                return Err(reader.long_line());
            }
            continue;
        };
        let end = scanned + end + 1;
        reader.block(&buffer[..end])?;
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
}

#[derive(Clone, Copy)]
struct Header {
    initial: u32,
    transitions: u64,
    states: u64,
}

struct Reader<'a> {
    name: &'a str,
    size: Option<u64>,
    line: u32,
    header: Option<Header>,
    builder: LtsBuilder,
    last_label: (Vec<u8>, LabelId),
    /// A blank line was met: nothing but blank lines may follow.
    ended: bool,
}

/// What is wrong in a line, and at which byte of it.
struct Wrong {
    at: usize,
    message: String,
    help: Option<&'static str>,
}

impl Wrong {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Wrong { at, message: message.into(), help: None }
    }
}

const LAYOUT: &str = "a transition is written (source, \"label\", target), one per line";

impl Reader<'_> {
    /// Takes a block of whole lines, the last one with its line end.
    fn block(&mut self, block: &[u8]) -> Result<(), LtsError> {
        let mut at = 0;
        while at < block.len() {
            if let Some(header) = self.header
                && let Some((source, label, target, next)) = scan(block, at)
                && u64::from(source.max(target)) < header.states
                && !self.ended
                && let Some(label) = self.known_label(label)
            {
                self.builder.add(StateId(source), label, StateId(target));
                self.line = self.line.saturating_add(1);
                at = next;
                continue;
            }
            let end = at + block[at..].iter().position(|&b| b == b'\n').unwrap_or(block.len() - at);
            let line = block[at..end].strip_suffix(b"\r").unwrap_or(&block[at..end]);
            self.patient(line).map_err(|wrong| self.complain(line, wrong))?;
            self.line = self.line.saturating_add(1);
            at = end + 1;
        }
        match self.header {
            Some(header) if self.builder.transition_count() as u64 > header.transitions => Err(self
                .header_error(format!(
                    "the header announces {} transitions, but there are more",
                    header.transitions
                ))),
            _ => Ok(()),
        }
    }

    #[inline]
    fn known_label(&mut self, label: &[u8]) -> Option<LabelId> {
        if label == b"i" {
            return Some(LabelId::TAU);
        }
        if label == self.last_label.0 {
            return Some(self.last_label.1);
        }
        let found = self.builder.labels().find_bytes(label)?;
        self.last_label.0.clear();
        self.last_label.0.extend_from_slice(label);
        self.last_label.1 = found;
        Some(found)
    }

    /// A line that is not in the usual layout, or has a new label, or is the header, or is wrong.
    fn patient(&mut self, line: &[u8]) -> Result<(), Wrong> {
        let mut cursor = Cursor { line, at: 0 };
        cursor.blanks();
        if cursor.at == line.len() {
            self.ended = self.header.is_some();
            return Ok(());
        }
        if self.ended {
            return Err(Wrong::new(cursor.at, "text after the last transition and an empty line"));
        }
        let Some(header) = self.header else {
            let header = cursor.header()?;
            self.check_header(header, line)?;
            self.header = Some(header);
            return Ok(());
        };
        cursor.expect(b'(', "`(` and the number of the source state")?;
        let source = cursor.state(header.states)?;
        cursor.expect(b',', "`,` after the source state")?;
        cursor.blanks();
        let label_at = cursor.at;
        let label = cursor.label()?;
        cursor.expect(b',', "`,` after the label")?;
        let target = cursor.state(header.states)?;
        cursor.expect(b')', "`)` after the target state")?;
        cursor.blanks();
        if cursor.at < line.len() {
            return Err(Wrong::new(cursor.at, "text after the `)` of a transition"));
        }
        let label = std::str::from_utf8(label).map_err(|e| Wrong {
            at: label_at + usize::from(line[label_at] == b'"') + e.valid_up_to(),
            message: "the label is not UTF-8 text".into(),
            help: Some("convert the file, for example with `iconv -f latin1 -t utf-8`"),
        })?;
        let label = self.builder.label(label);
        self.builder.add(StateId(source), label, StateId(target));
        Ok(())
    }

    fn check_header(&mut self, header: Header, line: &[u8]) -> Result<(), Wrong> {
        let wrong = |message: String| Err(Wrong::new(0, message));
        if header.states == 0 {
            return wrong("the header announces no state at all, not even the initial one".into());
        }
        if u64::from(header.initial) >= header.states {
            return wrong(format!(
                "the initial state {} is not below the {} states that the header announces",
                header.initial, header.states
            ));
        }
        if header.states >= u64::from(u32::MAX) || header.transitions >= u64::from(u32::MAX) {
            return wrong("2³² states or transitions are more than volee stores".into());
        }
        // A transition mentions two states at most.
        if header.states > (2 * header.transitions + 1).max(IDLE_STATES) {
            return wrong(format!(
                "the header announces {} states, but {} transitions cannot connect that many",
                header.states, header.transitions
            ));
        }
        if let Some(size) = self.size {
            // The shortest transition is `(0,i,0)` and its line end, which the last line may lack.
            let room = (size - (line.len() as u64).min(size) + 1) / 8;
            if header.transitions > room {
                return wrong(format!(
                    "the header announces {} transitions, but the file is too short for more than {room}",
                    header.transitions
                ));
            }
            self.builder.reserve(header.transitions as usize, header.states as usize);
        }
        Ok(())
    }

    fn finish(self) -> Result<Lts, LtsError> {
        let Some(header) = self.header else {
            return Err(Diagnostic::error(
                "the file is empty: a header `des (initial, transitions, states)` is missing",
                Place::new(self.name, 1, 1),
            )
            .into());
        };
        let found = self.builder.transition_count() as u64;
        if found < header.transitions {
            let message = format!(
                "the text ends after {found} of the {} transitions that the header announces",
                header.transitions
            );
            return Err(Diagnostic::error(message, Place::new(self.name, self.line, 1))
                .with_help("the file is truncated, or its header is wrong")
                .into());
        }
        self.builder.finish(StateId(header.initial), header.states as u32)
    }

    fn complain(&self, line: &[u8], wrong: Wrong) -> LtsError {
        let column = String::from_utf8_lossy(&line[..wrong.at.min(line.len())]).chars().count() + 1;
        let place = Place::new(self.name, self.line, u32::try_from(column).unwrap_or(u32::MAX));
        let diagnostic = Diagnostic::error(wrong.message, place);
        match wrong.help {
            Some(help) => diagnostic.with_help(help).into(),
            None => diagnostic.into(),
        }
    }

    fn header_error(&self, message: String) -> LtsError {
        Diagnostic::error(message, Place::new(self.name, 1, 1)).into()
    }

    fn long_line(&self) -> LtsError {
        Diagnostic::error(format!("a line of more than {} bytes", BLOCK), Place::new(self.name, self.line, 1))
            .with_help(format!("labels may have up to {LONGEST_LABEL} bytes"))
            .into()
    }
}

/// The usual layout only: `(n, label, n)` with no or one blank after the commas, a bare label without commas
/// or a quoted one without quotes. Gives the parts and where the next line starts.
#[inline]
fn scan(block: &[u8], at: usize) -> Option<(u32, &[u8], u32, usize)> {
    if block[at] != b'(' {
        return None;
    }
    let (source, at) = number(block, at + 1)?;
    let at = comma(block, at)?;
    let (label, at) = if block[at] == b'"' {
        let length = block[at + 1..].iter().position(|&b| b == b'"' || b == b'\n')?;
        (&block[at + 1..at + 1 + length], at + 2 + length)
    } else {
        let length = block[at..].iter().position(|&b| matches!(b, b',' | b'\n' | b'"' | b' '))?;
        (&block[at..at + length], at + length)
    };
    if label.is_empty() || label.len() > LONGEST_LABEL {
        return None;
    }
    let at = comma(block, at)?;
    let (target, at) = number(block, at)?;
    match block.get(at..at + 2)? {
        b")\n" => Some((source, label, target, at + 2)),
        b")\r" if block.get(at + 2) == Some(&b'\n') => Some((source, label, target, at + 3)),
        _ => None,
    }
}

#[inline]
fn comma(block: &[u8], at: usize) -> Option<usize> {
    match block.get(at..at + 2)? {
        b", " => Some(at + 2),
        [b',', _] => Some(at + 1),
        _ => None,
    }
}

/// A number of up to eight digits, all looked at together; longer ones go the patient way.
#[inline]
fn number(block: &[u8], at: usize) -> Option<(u32, usize)> {
    let Some(eight) = block.get(at..at + 8) else { return short_number(block, at) };
    let word = u64::from_le_bytes(eight.try_into().ok()?);
    let digits = word ^ 0x3030_3030_3030_3030;
    let other = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    let count = other.trailing_zeros() / 8;
    if count == 0 || count == 8 {
        return if count == 0 { None } else { short_number(block, at) };
    }
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let value = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    Some((value as u32, at + count as usize))
}

fn short_number(block: &[u8], at: usize) -> Option<(u32, usize)> {
    let mut value = 0u32;
    let mut end = at;
    while let Some(digit) = block.get(end).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        value = value.checked_mul(10)?.checked_add(u32::from(digit))?;
        end += 1;
    }
    (end > at).then_some((value, end))
}

/// The patient reader's place in a line.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn blanks(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), Wrong> {
        self.blanks();
        if self.line.get(self.at) != Some(&byte) {
            return Err(Wrong { at: self.at, message: format!("expected {what}"), help: Some(LAYOUT) });
        }
        self.at += 1;
        Ok(())
    }

    fn header(&mut self) -> Result<Header, Wrong> {
        if !self.line[self.at..].starts_with(b"des") {
            return Err(Wrong {
                at: self.at,
                message: "expected the header `des (initial, transitions, states)`".into(),
                help: Some("this does not look like an .aut file"),
            });
        }
        self.at += 3;
        self.expect(b'(', "`(` after `des`")?;
        let initial_at = self.at;
        let initial = self.number("the initial state")?;
        let initial = u32::try_from(initial)
            .map_err(|_| Wrong::new(initial_at, format!("the initial state {initial} is too large")))?;
        self.expect(b',', "`,` after the initial state")?;
        let transitions = self.number("the number of transitions")?;
        self.expect(b',', "`,` after the number of transitions")?;
        let states = self.number("the number of states")?;
        self.expect(b')', "`)` after the number of states")?;
        self.blanks();
        if self.at < self.line.len() {
            return Err(Wrong::new(self.at, "text after the header"));
        }
        Ok(Header { initial, transitions, states })
    }

    fn number(&mut self, what: &str) -> Result<u64, Wrong> {
        self.blanks();
        let start = self.at;
        if self.line.get(start) == Some(&b'-') {
            return Err(Wrong::new(start, format!("{what} cannot be negative")));
        }
        let mut value = 0u64;
        while let Some(digit) = self.line.get(self.at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(u64::from(digit)))
                .ok_or_else(|| Wrong::new(start, format!("{what} is too large")))?;
            self.at += 1;
        }
        if self.at == start {
            return Err(Wrong { at: start, message: format!("expected {what}, a number"), help: None });
        }
        Ok(value)
    }

    fn state(&mut self, states: u64) -> Result<u32, Wrong> {
        self.blanks();
        let start = self.at;
        let state = self.number("a state")?;
        if state >= states {
            return Err(Wrong::new(
                start,
                format!("state {state} is not below the {states} states that the header announces"),
            ));
        }
        Ok(state as u32)
    }

    /// The label: everything up to the last comma of the line, without its quotes.
    fn label(&mut self) -> Result<&'a [u8], Wrong> {
        let rest = &self.line[self.at..];
        let quoted = rest.first() == Some(&b'"');
        let end = match (rest.iter().rposition(|&b| b == b','), quoted) {
            (Some(comma), false) => comma,
            (comma, true) => {
                let quote = rest.iter().rposition(|&b| b == b'"').unwrap_or(0);
                if quote == 0 || comma.is_none_or(|comma| comma < quote) {
                    return Err(Wrong {
                        at: self.at,
                        message: "the quote that opens this label is not closed before the target".into(),
                        help: Some(LAYOUT),
                    });
                }
                quote + 1
            }
            (None, false) => {
                return Err(Wrong {
                    at: self.at,
                    message: "expected a label, `,` and a target state".into(),
                    help: Some(LAYOUT),
                });
            }
        };
        let label = rest[..end].trim_ascii_end();
        if label.is_empty() {
            return Err(Wrong { at: self.at, message: "the label is empty".into(), help: Some(LAYOUT) });
        }
        if let Some(at) = unbalanced(label).filter(|_| !quoted) {
            return Err(Wrong {
                at: self.at + at,
                message: "expected a line end, or quotes around a label with such parentheses".into(),
                help: Some(LAYOUT),
            });
        }
        if label.len() > LONGEST_LABEL {
            return Err(Wrong::new(self.at, format!("a label of more than {LONGEST_LABEL} bytes")));
        }
        self.at += end;
        Ok(if quoted { &label[1..label.len() - 1] } else { label })
    }
}

/// The first parenthesis that closes what was not opened.
fn unbalanced(label: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, &b) in label.iter().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Lts, String> {
        read_aut(&mut text.as_bytes(), "x.aut", Some(text.len() as u64)).map_err(|e| e.to_string())
    }

    fn check_error(text: &str, expected: &str) {
        let message = read(text).expect_err(text);
        assert!(message.contains(expected), "{text:?} gives {message:?}");
        let piped = read_aut(&mut text.as_bytes(), "x.aut", None).expect_err(text).to_string();
        assert!(piped.starts_with("x.aut:"), "{piped}");
    }

    #[test]
    fn labels_bare_quoted_and_with_quotes_inside_are_read() {
        let lts = read(concat!(
            "des (1, 6, 3)\n(0, a, 1)\n(0,\"a\",2)\r\n( 1 , \"b !\"x\", 3) y\" , 0 )\n",
            "(2, tau, 0)\n(2, f(x,y), 1)\n(1, \"i\", 1)\n\n"
        ))
        .expect("sound");
        assert_eq!((lts.state_count(), lts.transition_count()), (3, 6));
        assert_eq!(lts.initial(), StateId(1));
        let names: Vec<_> = lts.transitions().map(|(s, e)| (s.0, lts.name(e.label), e.target.0)).collect();
        assert_eq!(
            names,
            [(0, "a", 1), (0, "a", 2), (1, "b !\"x\", 3) y", 0), (1, "i", 1), (2, "i", 0), (2, "f(x,y)", 1)]
        );
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        for n in [0u32, 7, 10, 999_999, 1_234_567, 12_345_678, 99_999_999, 123_456_789] {
            let text = format!("{n})\n        ");
            assert_eq!(number(text.as_bytes(), 0).map(|r| r.0), Some(n), "{n}");
            assert_eq!(number(format!("{n})").as_bytes(), 0).map(|r| r.0), Some(n), "{n}");
        }
        assert_eq!(number(b"x1234567", 0), None);
        assert_eq!(number(b"99999999999999", 0), None);
        assert_eq!(number(b"1/:12345", 0), Some((1, 1)));
    }

    #[test]
    fn every_error_has_its_line_and_column() {
        check_error("", "x.aut:1:1: the file is empty");
        check_error("hello", "x.aut:1:1: expected the header");
        check_error("des (0, 1, 2)\n(0, a, 1", "x.aut:2:9: expected `)`");
        check_error("des (0, 2, 2)\n(0, a, 1)    \n", "x.aut:3:1: the text ends after 1 of the 2");
        check_error(
            "des (0, 2, 2)\n(0, a, 1)\n",
            "x.aut:1:1: the header announces 2 transitions, but the file",
        );
        check_error("des (0, 1, 2)\n(0, a, 1)\n(1, a, 0)\n", "announces 1 transitions, but there are more");
        check_error("des (0, -1, 2)\n", "x.aut:1:9: the number of transitions cannot be negative");
        check_error("des (0, 1, 2)\n(0, a, -1)\n", "x.aut:2:8: a state cannot be negative");
        check_error("des (0, 1, 2)\n(0, a, 2)\n", "x.aut:2:8: state 2 is not below the 2 states");
        check_error("des (5, 1, 2)\n(0, a, 1)\n", "the initial state 5");
        check_error("des (0, 1, 1000000000)\n(0, a, 1)\n", "1 transitions cannot connect that many");
        check_error(
            "des (0, 1000000000, 1000000000)\n(999999999, a, 1)\n",
            "x.aut:1:1: the header announces",
        );
        check_error("des (0, 1, 2)\n(0, \"a, 1)\n", "x.aut:2:5: the quote that opens");
        check_error("des (0, 1, 2)\n(0, , 1)\n", "x.aut:2:5: the label is empty");
        check_error("des (0, 1, 99999999999999999999999)\n", "x.aut:1:12: the number of states is too large");
        check_error("des (0, 1, 2)\n(0, a, 1) (1, a, 0)\n", "x.aut:2:9: expected a line end");
        let long = format!("des (0, 1, 2)\n(0, \"{}\", 1)\n", "x".repeat(10 << 20));
        check_error(&long, "x.aut:2:1: a line of more than");
        let longish = format!("des (0, 1, 2)\n(0, \"{}\", 1)\n", "x".repeat(LONGEST_LABEL));
        check_error(&longish, "x.aut:2:5: a label of more than");
    }

    #[test]
    fn labels_that_are_not_text_are_refused() {
        let text = b"des (0, 1, 2)\n(0, \"\xe9t\xe9\", 1)\n";
        let message = read_aut(&mut &text[..], "x.aut", None).expect_err("latin1").to_string();
        assert!(message.contains("x.aut:2:6: the label is not UTF-8"), "{message}");
    }
}
