//! "Did you mean …?": the known name that a misspelt one most resembles.

/// The name closest to `wrong`, if one is close enough to be a slip of the fingers.
pub(crate) fn closest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match wrong.chars().count() {
        0..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .filter(|name| name.len().abs_diff(wrong.len()) <= limit && !name.is_empty())
        .map(|name| (distance(&wrong.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(distance, name)| distance <= limit && distance < name.len())
        .min()
        .map(|(_, name)| name)
}

/// Edits (insert, delete, replace, swap neighbours) from one word to the other; long words count as far
/// apart.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut best =
                (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["count", "turn", "x", "channel"];
        assert_eq!(closest("cuont", known), Some("count"));
        assert_eq!(closest("Turn", known), Some("turn"));
        assert_eq!(closest("chanel", known), Some("channel"));
        assert_eq!(closest("zebra", known), None);
    }
}
