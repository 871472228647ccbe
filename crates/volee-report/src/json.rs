//! How JSON is laid out: for people as long as people may read it.
//!
//! An answer with a run of thousands of steps is for programs. Indented, two thirds of it would be white
//! space.

use serde::Serialize;

/// What is longer than this, in bytes, is one line.
const READABLE: usize = 1 << 17;

/// A value as one JSON text, with a line feed at its end. Its keys are strings.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    let defect = |e| unreachable!("there are only string keys: {e}");
    let mut text = serde_json::to_string(value).unwrap_or_else(defect);
    if text.len() <= READABLE {
        text = serde_json::to_string_pretty(value).unwrap_or_else(defect);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_not_indented() {
        let few = vec![vec![1_u32]; 3];
        assert_eq!(json_text(&few).lines().count(), 11);
        let many = vec![vec![1_u32]; READABLE / 4 + 1];
        let text = json_text(&many);
        assert!(text.ends_with("]]\n") && text.lines().count() == 1);
        assert_eq!(serde_json::from_str::<Vec<Vec<u32>>>(&text).expect("JSON"), many);
    }
}
