//! `.vlts`, volee's own compact file of a transition system.
//!
//! Everything is little-endian; a *number* is in groups of seven bits, lowest first, the high bit set on all
//! but the last byte.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VOLEELTS` |
//! | 4 | version, 1 |
//! | 4 | initial state |
//! | 4 | number of states |
//! | 4 | number of transitions |
//! | 4 | number of labels, the internal step included |
//! | per label | its length in bytes (number), its UTF-8 text; the first is the internal step |
//! | per state | its degree (number), then per transition the label (number) and the distance from source to target (number: 2 d for d ≥ 0, else -2 d - 1) |
//! | 8 | checksum of everything before it |
//!
//! The checksum takes eight bytes at a time as a word w (the last one filled with zeroes) and does
//! h := rotate_left(h xor w, 27) · 0x9e3779b97f4a7c15, from h = 0; then once more with the length as w.

use std::io::{self, Read, Write};

use volee_system::Diagnostic;

use crate::labels::is_internal;
use crate::{Labels, Lts, LtsBuilder, LtsError, StateId};

const MAGIC: &[u8; 8] = b"VOLEELTS";
const VERSION: u32 = 1;
const LONGEST_LABEL: u64 = 1 << 20;

#[derive(Default)]
struct Checksum {
    hash: u64,
    length: u64,
    word: [u8; 8],
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let at = (self.length % 8) as usize;
            self.word[at] = byte;
            self.length += 1;
            if at == 7 {
                self.mix(u64::from_le_bytes(self.word));
            }
        }
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash ^ word).rotate_left(27).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(mut self) -> u64 {
        let rest = (self.length % 8) as usize;
        if rest > 0 {
            self.word[rest..].fill(0);
            self.mix(u64::from_le_bytes(self.word));
        }
        self.mix(self.length);
        self.hash
    }
}

/// Writes a system.
///
/// # Errors
/// What the writer says.
pub fn write_binary(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    let mut sum = Checksum::default();
    let mut buffer = Vec::with_capacity(1 << 16);
    buffer.extend_from_slice(MAGIC);
    for word in [
        VERSION,
        lts.initial().0,
        lts.state_count() as u32,
        lts.transition_count() as u32,
        lts.labels().len() as u32,
    ] {
        buffer.extend_from_slice(&word.to_le_bytes());
    }
    for (_, name) in lts.labels().iter() {
        push_number(&mut buffer, name.len() as u64);
        buffer.extend_from_slice(name.as_bytes());
    }
    for state in lts.states() {
        let edges = lts.edges(state);
        push_number(&mut buffer, edges.len() as u64);
        for edge in edges {
            push_number(&mut buffer, u64::from(edge.label.0));
            let distance = i64::from(edge.target.0) - i64::from(state.0);
            push_number(&mut buffer, ((distance << 1) ^ (distance >> 63)) as u64);
        }
        if buffer.len() > 1 << 15 {
            sum.add(&buffer);
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    sum.add(&buffer);
    out.write_all(&buffer)?;
    out.write_all(&sum.finish().to_le_bytes())?;
    out.flush()
}

fn push_number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Reads a system; `name` is how messages call the input.
///
/// # Errors
/// The bytes are not such a file, are damaged, or cannot be read.
pub fn read_binary(input: &mut dyn Read, name: &str) -> Result<Lts, LtsError> {
    let mut reader = Reader { input, name, block: vec![0; 1 << 16], at: 0, end: 0, sum: Checksum::default() };
    if reader.bytes::<8>()? != *MAGIC {
        return Err(reader.wrong("this is not a .vlts file"));
    }
    if reader.word()? != VERSION {
        return Err(reader.wrong("the file was written by another version of volee"));
    }
    let (initial, states) = (reader.word()?, reader.word()?);
    let (transitions, label_count) = (reader.word()?, reader.word()?);
    if initial >= states || label_count == 0 {
        return Err(reader.wrong("the initial state or the internal step is missing"));
    }
    let labels = reader.labels(label_count)?;
    let mut builder = LtsBuilder::new(labels);
    for source in 0..states {
        for _ in 0..reader.number()? {
            let label = reader.number()?;
            let coded = reader.number()?;
            let distance = (coded >> 1) as i64 ^ -((coded & 1) as i64);
            let target = i64::from(source).checked_add(distance).unwrap_or(-1);
            let target = u32::try_from(target).ok().filter(|&t| t < states);
            let (Some(target), true) = (target, label < u64::from(label_count)) else {
                return Err(reader.wrong("a transition leads nowhere or has no label"));
            };
            if builder.transition_count() as u64 >= u64::from(transitions) {
                return Err(reader.wrong("there are more transitions than announced"));
            }
            builder.add(StateId(source), crate::LabelId(label as u32), StateId(target));
        }
    }
    if builder.transition_count() as u64 != u64::from(transitions) {
        return Err(reader.wrong("there are fewer transitions than announced"));
    }
    let sum = std::mem::take(&mut reader.sum).finish();
    if u64::from_le_bytes(reader.bytes::<8>()?) != sum {
        return Err(reader.wrong("the checksum does not fit: the file is damaged"));
    }
    builder.finish(StateId(initial), states)
}

struct Reader<'a> {
    input: &'a mut dyn Read,
    name: &'a str,
    block: Vec<u8>,
    at: usize,
    end: usize,
    sum: Checksum,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> LtsError {
        Diagnostic::error(format!("{}, byte {}: {what}", self.name, self.sum.length), None).into()
    }

    fn byte(&mut self) -> Result<u8, LtsError> {
        if self.at == self.end {
            self.at = 0;
            self.end = loop {
                match self.input.read(&mut self.block) {
                    Ok(read) => break read,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(LtsError::io(self.name, e)),
                }
            };
            if self.end == 0 {
                return Err(self.wrong("the file ends too early"));
            }
        }
        let byte = self.block[self.at];
        self.at += 1;
        self.sum.add(&[byte]);
        Ok(byte)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], LtsError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    fn word(&mut self) -> Result<u32, LtsError> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn number(&mut self) -> Result<u64, LtsError> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.wrong("a number is too long"))
    }

    fn labels(&mut self, count: u32) -> Result<Labels, LtsError> {
        let mut labels = Labels::new();
        for n in 0..count {
            let length = self.number()?;
            if length > LONGEST_LABEL {
                return Err(self.wrong("a label is too long"));
            }
            let mut text = Vec::new();
            for _ in 0..length {
                text.push(self.byte()?);
            }
            let text = String::from_utf8(text).map_err(|_| self.wrong("a label is not UTF-8 text"))?;
            let expected = if n == 0 { is_internal(text.as_bytes()) } else { labels.intern(&text).0 == n };
            if !expected {
                return Err(self.wrong("a label occurs twice, or the internal step is not the first"));
            }
        }
        Ok(labels)
    }
}
