//! Words and paragraphs: texts that are read by people, or by a shell.

/// Breaks a paragraph into lines; indented lines stay as they are.
pub fn wrapped(text: &str, width: usize) -> String {
    if text.starts_with(' ') {
        return format!("{text}\n");
    }
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

/// The first and the last lines of a text, at most `most` of each.
pub fn ends(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let head = most.min(lines.len());
    let tail = lines.len().saturating_sub(most).max(head);
    let line = |line: &&str| format!("{line}\n");
    let between = if tail > head { "  …\n" } else { "" };
    lines[..head]
        .iter()
        .map(line)
        .chain([between.to_string()])
        .chain(lines[tail..].iter().map(line))
        .collect()
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "_-./=:,+@%~".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_broken_at_spaces() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree\n");
        assert_eq!(wrapped("  as it is, however long", 7), "  as it is, however long\n");
    }

    #[test]
    fn of_a_long_text_the_ends_are_left() {
        assert_eq!(ends("1\n2\n3\n4\n5\n", 2), "1\n2\n  …\n4\n5\n");
        assert_eq!(ends("1\n2\n3\n", 2), "1\n2\n3\n");
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("models/a.pml"), "models/a.pml");
        assert_eq!(quoted("my model.pml"), "'my model.pml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
