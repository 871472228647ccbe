//! Hiding and renaming labels by regular expressions, or by whatever else the caller means labels with.
//!
//! Patterns match whole labels, as users of such tools expect of `PUT.*`. A step may have several names; a
//! rule applies where it means any of them. Rules apply in the order given, each to the result of those
//! before it; a hidden label is the internal step and no later rule sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regex_lite::Regex;

use crate::{LabelId, Labels, Lts, LtsError};

/// One rule.
#[derive(Clone)]
pub struct Relabelling {
    pattern: Regex,
    /// The new text, with `$1` and so on for groups; none hides.
    replacement: Option<String>,
    /// Other labels that are meant.
    also: Option<Meant>,
    /// Whether some label was meant.
    met: Arc<AtomicBool>,
}

/// Which labels are meant.
pub type Meant = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl Relabelling {
    /// Labels that match become internal.
    ///
    /// # Errors
    /// The pattern is not a regular expression.
    pub fn hide(pattern: &str) -> Result<Self, LtsError> {
        Ok(Relabelling { pattern: whole(pattern)?, replacement: None, also: None, met: Arc::default() })
    }

    /// Labels that match get another text.
    ///
    /// # Errors
    /// The pattern is not a regular expression.
    pub fn rename(pattern: &str, replacement: &str) -> Result<Self, LtsError> {
        let replacement = Some(replacement.into());
        Ok(Relabelling { pattern: whole(pattern)?, replacement, also: None, met: Arc::default() })
    }

    /// The rule applies to these labels too.
    #[must_use]
    pub fn or_where(mut self, also: Meant) -> Self {
        self.also = Some(also);
        self
    }

    /// Reads `PATTERN=TEXT`; the last `=` that is not preceded by `\` divides, for events have more of them
    /// than names, or the one behind a pattern in quotes or slashes.
    ///
    /// # Errors
    /// There is no `=`, or the pattern is not a regular expression.
    pub fn parse_rename(rule: &str) -> Result<Self, LtsError> {
        let (pattern, text) = divided(rule)?;
        Relabelling::rename(&pattern, &text)
    }

    /// The pattern of `PATTERN=TEXT`.
    ///
    /// # Errors
    /// There is no `=`.
    pub fn pattern_of(rule: &str) -> Result<String, LtsError> {
        divided(rule).map(|(pattern, _)| pattern)
    }

    /// Whether it was applied to some label.
    pub fn is_met(&self) -> bool {
        self.met.load(Ordering::Relaxed)
    }

    /// What becomes of a step with these names; nothing if the rule does not mean it, and no text when it is
    /// hidden.
    fn applied<T: AsRef<str>>(&self, names: &[T]) -> Option<Option<String>> {
        let groups = names.iter().find_map(|name| self.pattern.captures(name.as_ref()));
        let also = || names.iter().any(|name| self.also.as_ref().is_some_and(|also| also(name.as_ref())));
        if groups.is_none() && !also() {
            return None;
        }
        self.met.store(true, Ordering::Relaxed);
        Some(self.replacement.as_ref().map(|replacement| match groups {
            Some(groups) => {
                let mut text = String::new();
                groups.expand(replacement, &mut text);
                text
            }
            None => replacement.clone(),
        }))
    }
}

fn divided(rule: &str) -> Result<(String, String), LtsError> {
    let bytes = rule.as_bytes();
    let is_free = |at: usize| at == 0 || bytes[at - 1] != b'\\';
    let quoted = bytes.first().copied().filter(|mark| matches!(mark, b'"' | b'/'));
    let behind = quoted.and_then(|mark| {
        let close = (1..bytes.len()).find(|&at| bytes[at] == mark && is_free(at))?;
        (bytes.get(close + 1) == Some(&b'=')).then_some(close + 1)
    });
    let last = || (0..bytes.len()).rev().find(|&at| bytes[at] == b'=' && is_free(at));
    let Some(divider) = behind.or_else(last) else {
        return Err(LtsError::input(format!("`{rule}` renames nothing: write PATTERN=TEXT")));
    };
    let plain = |text: &str| text.replace("\\=", "=");
    Ok((plain(&rule[..divider]), plain(&rule[divider + 1..])))
}

pub(crate) fn whole(pattern: &str) -> Result<Regex, LtsError> {
    Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|e| LtsError::input(format!("`{pattern}` is not a regular expression: {e}")))
}

/// What all rules make of a step with these names: its text, and whether a rule has given it; `None` for the
/// internal step.
pub fn apply_all<T: AsRef<str>>(rules: &[Relabelling], names: &[T]) -> Option<(String, bool)> {
    let mut renamed: Option<String> = None;
    for rule in rules {
        let applied = match &renamed {
            Some(text) => rule.applied(&[text]),
            None => rule.applied(names),
        };
        match applied {
            None => {}
            Some(text) => renamed = Some(text?),
        }
    }
    let own = || names.first().map(|name| name.as_ref().to_owned()).unwrap_or_default();
    Some(renamed.map_or_else(|| (own(), false), |text| (text, true)))
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
        .map(|(id, name)| match apply_all(rules, &[name]) {
            Some((text, _)) if id != LabelId::TAU => labels.intern(&text),
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
        let never = Relabelling::hide("TAKE").expect("sound");
        let rules = [hide, rename, never];
        assert_eq!(names(text, &rules), ["i", "take 2", "OUTPUT", "i"]);
        assert_eq!(rules.map(|rule| rule.is_met()), [true, true, false]);
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
