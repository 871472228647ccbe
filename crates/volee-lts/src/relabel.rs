//! Hiding and renaming labels by regular expressions.
//!
//! Patterns match whole labels, as users of such tools expect of `PUT.*`. Rules apply in the order given, each to
//! the result of those before it; a hidden label is the internal step and no later rule sees it.

use regex::Regex;

use crate::{LabelId, Labels, Lts, LtsError};

/// One rule.
#[derive(Debug, Clone)]
pub struct Relabelling {
    pattern: Regex,
    /// The new text, with `$1` and so on for groups; none hides.
    replacement: Option<String>,
}

impl Relabelling {
    /// Labels that match become internal.
    ///
    /// # Errors
    /// The pattern is not a regular expression.
    pub fn hide(pattern: &str) -> Result<Self, LtsError> {
        Ok(Relabelling { pattern: whole(pattern)?, replacement: None })
    }

    /// Labels that match get another text.
    ///
    /// # Errors
    /// The pattern is not a regular expression.
    pub fn rename(pattern: &str, replacement: &str) -> Result<Self, LtsError> {
        Ok(Relabelling { pattern: whole(pattern)?, replacement: Some(replacement.into()) })
    }

    /// Reads `PATTERN=TEXT`; the first `=` that is not preceded by `\` divides.
    ///
    /// # Errors
    /// There is no `=`, or the pattern is not a regular expression.
    pub fn parse_rename(rule: &str) -> Result<Self, LtsError> {
        let bytes = rule.as_bytes();
        let divider = (0..bytes.len()).find(|&at| bytes[at] == b'=' && (at == 0 || bytes[at - 1] != b'\\'));
        let Some(divider) = divider else {
            return Err(LtsError::input(format!("`{rule}` renames nothing: write PATTERN=TEXT")));
        };
        Relabelling::rename(&rule[..divider].replace("\\=", "="), &rule[divider + 1..])
    }

    /// What becomes of a label; `None` when it is hidden.
    pub fn apply(&self, name: &str) -> Option<String> {
        let Some(groups) = self.pattern.captures(name) else { return Some(name.into()) };
        let replacement = self.replacement.as_ref()?;
        let mut text = String::new();
        groups.expand(replacement, &mut text);
        Some(text)
    }
}

pub(crate) fn whole(pattern: &str) -> Result<Regex, LtsError> {
    Regex::new(&format!("^(?:{pattern})$")).map_err(|e| {
        let reason = e.to_string();
        let last = reason.lines().last().unwrap_or_default();
        LtsError::input(format!("`{pattern}` is not a regular expression: {last}"))
    })
}

/// What all rules make of a label: the text, or `None` for the internal step.
pub(crate) fn apply_all(rules: &[Relabelling], name: &str) -> Option<String> {
    let mut text = name.to_owned();
    for rule in rules {
        text = rule.apply(&text)?;
    }
    Some(text)
}

/// The same system with labels hidden and renamed.
#[must_use]
pub fn relabel(lts: Lts, rules: &[Relabelling]) -> Lts {
    if rules.is_empty() {
        return lts;
    }
    let mut labels = Labels::new();
    let map: Vec<LabelId> = lts
        .labels()
        .iter()
        .map(|(id, name)| match apply_all(rules, name) {
            Some(text) if id != LabelId::TAU => labels.intern(&text),
            _ => LabelId::TAU,
        })
        .collect();
    lts.relabelled(labels, &map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StateId, read_aut};

    fn names(text: &str, rules: &[Relabelling]) -> Vec<String> {
        let lts = relabel(read_aut(&mut text.as_bytes(), "x", None).expect("sound"), rules);
        lts.edges(StateId(0)).iter().map(|e| lts.name(e.label).to_owned()).collect()
    }

    #[test]
    fn rules_match_whole_labels_in_order() {
        let text = "des (0, 4, 1)\n(0, \"PUT !1\", 0)\n(0, \"GET !2\", 0)\n(0, OUTPUT, 0)\n(0, i, 0)\n";
        let hide = Relabelling::hide("PUT.*").expect("sound");
        let rename = Relabelling::parse_rename("GET !(.*)=take $1").expect("sound");
        assert_eq!(names(text, &[hide, rename]), ["i", "take 2", "OUTPUT", "i"]);
    }

    #[test]
    fn the_internal_step_cannot_be_renamed_into_sight() {
        let rename = Relabelling::parse_rename("i=visible").expect("sound");
        assert_eq!(names("des (0, 1, 1)\n(0, i, 0)\n", &[rename]), ["i"]);
    }

    #[test]
    fn a_rule_that_makes_no_sense_is_an_error() {
        assert!(Relabelling::hide("(").is_err());
        assert!(Relabelling::parse_rename("abc").is_err());
    }
}
