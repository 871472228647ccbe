//! Writing `.aut` text: numbers by hand, labels quoted unless they are plain words.

use std::io::{self, Write};

use crate::Lts;

/// Writes a system as `.aut` text.
///
/// # Errors
/// What the writer says.
pub fn write_aut(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(1 << 16);
    writeln!(text, "des ({}, {}, {})", lts.initial().0, lts.transition_count(), lts.state_count())?;
    let quoted: Vec<String> = lts.labels().iter().map(|(_, name)| quote(name)).collect();
    for state in lts.states() {
        for edge in lts.edges(state) {
            text.push(b'(');
            push_number(&mut text, state.0);
            text.extend_from_slice(b", ");
            text.extend_from_slice(quoted[edge.label.index()].as_bytes());
            text.extend_from_slice(b", ");
            push_number(&mut text, edge.target.0);
            text.extend_from_slice(b")\n");
        }
        if text.len() > (1 << 16) - 256 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)?;
    out.flush()
}

/// A label as it stands in a file. Line ends would break the format, so they become `\n`.
fn quote(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    if plain {
        return name.into();
    }
    let name = name.replace('\n', "\\n").replace('\r', "\\r");
    format!("\"{name}\"")
}

fn push_number(text: &mut Vec<u8>, mut n: u32) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lts, StateId, read_aut};

    #[test]
    fn what_is_written_is_read_back() {
        let names = ["i", "PUT !1", "plain", "with \"quotes\"", "a,b", "\"", "1"];
        let mut builder = Lts::builder();
        for (n, name) in names.iter().enumerate() {
            let label = builder.label(name);
            builder.add(StateId(n as u32), label, StateId(10 * n as u32));
        }
        let lts = builder.finish(StateId(3), 0).expect("small");
        let mut text = Vec::new();
        write_aut(&lts, &mut text).expect("memory");
        let again = read_aut(&mut &text[..], "x", Some(text.len() as u64)).expect("sound");
        assert_eq!(again.offsets(), lts.offsets());
        assert_eq!(again.all_edges(), lts.all_edges());
        assert_eq!(again.initial(), lts.initial());
        assert_eq!(again.transitions().map(|(_, e)| again.name(e.label)).collect::<Vec<_>>(), names);
    }
}
