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
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("models/a.pml"), "models/a.pml");
        assert_eq!(quoted("my model.pml"), "'my model.pml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
