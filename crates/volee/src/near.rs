//! How near a search for a goal came that was never reached: which parts of it are true somewhere, how many
//! of them at once, and how far a comparison is from being true.
//!
//! The states are gone through once more, level by level, so that what is told is nearest to the start.
//! Bounded in states and by the meter: a figure that could not be had in time is not told.

use std::collections::{HashSet, VecDeque};

use volee_system::{Draft, Meter, PredicateId, System, collect_initial, collect_steps, value};

/// States that are looked at.
const MOST_STATES: usize = 200_000;
/// Parts of a goal that are told apart.
const MOST_PARTS: usize = 16;

/// One part of a goal.
struct Part {
    text: String,
    predicate: PredicateId,
    /// The two sides of a comparison.
    sides: Option<(PredicateId, PredicateId)>,
    /// Whether it was ever true.
    ever: bool,
    /// How far the sides were apart at least, the left one's value then, and after how many steps.
    nearest: Option<(i64, i64, usize)>,
}

/// What can be said of a goal that no reachable state satisfies, in sentences.
pub(crate) fn how_near(draft: &mut dyn Draft, goal: &str, meter: &Meter) -> Vec<String> {
    let mut parts: Vec<Part> = conjuncts(goal).iter().filter_map(|text| part(draft, text)).collect();
    if parts.is_empty() || parts.len() > MOST_PARTS {
        return Vec::new();
    }
    let Some((most, depth, missing)) = looked(draft.system(), &mut parts, meter) else { return Vec::new() };
    if parts.len() == 1 {
        return parts.iter().filter_map(Part::told).collect();
    }
    let mut told: Vec<String> = parts
        .iter()
        .filter(|part| !part.ever)
        .map(|part| match part.told() {
            Some(nearest) => format!("`{}` is never true: {nearest}", part.text),
            None => format!("`{}` is never true", part.text),
        })
        .collect();
    let steps = if depth == 1 { "1 step".to_string() } else { format!("{depth} steps") };
    let lacking: Vec<String> = missing.iter().map(|&i| format!("`{}`", parts[i].text)).collect();
    told.push(format!(
        "at best {most} of {} parts are true together, after {steps}: {} is then false",
        parts.len(),
        lacking.join(" and ")
    ));
    told
}

impl Part {
    fn told(&self) -> Option<String> {
        let (distance, value, depth) = self.nearest.filter(|(distance, ..)| *distance > 0)?;
        let left = self.text.split(['=', '<', '>', '!']).next().unwrap_or_default().trim();
        Some(format!("nearest is `{left}` = {value} after {depth} steps, {distance} away"))
    }
}

/// The most parts that are true at once, after how many steps, and which are missing then.
fn looked(system: &mut dyn System, parts: &mut [Part], meter: &Meter) -> Option<(usize, usize, Vec<usize>)> {
    let mut waiting: VecDeque<(Vec<u8>, usize)> =
        collect_initial(system).into_iter().map(|s| (s, 0)).collect();
    let mut seen: HashSet<Vec<u8>> = waiting.iter().map(|(state, _)| state.clone()).collect();
    let mut best: Option<(usize, usize, Vec<usize>)> = None;
    while let Some((state, depth)) = waiting.pop_front() {
        if seen.len() > MOST_STATES || meter.check().is_err() {
            return None;
        }
        let missing = look(system, parts, &state, depth);
        let here = parts.len() - missing.len();
        if best.as_ref().is_none_or(|(most, ..)| here > *most) {
            best = Some((here, depth, missing));
        }
        for (step, target) in collect_steps(system, &state) {
            if !step.stays && !seen.contains(&target) {
                seen.insert(target.clone());
                waiting.push_back((target, depth + 1));
            }
        }
    }
    best
}

/// Looks at one state; the parts that are false in it.
fn look(system: &mut dyn System, parts: &mut [Part], state: &[u8], depth: usize) -> Vec<usize> {
    let mut missing = Vec::new();
    for (number, part) in parts.iter_mut().enumerate() {
        match system.holds(part.predicate, state) {
            Ok(true) => part.ever = true,
            _ => missing.push(number),
        }
        let Some((left, right)) = part.sides else { continue };
        if let (Ok(left), Ok(right)) = (value(system, left, state), value(system, right, state)) {
            let distance = (left - right).abs();
            if part.nearest.is_none_or(|(least, ..)| distance < least) {
                part.nearest = Some((distance, left, depth));
            }
        }
    }
    missing
}

fn part(draft: &mut dyn Draft, text: &str) -> Option<Part> {
    let predicate = draft.predicate(text).ok()?;
    let sides = sides(text)
        .and_then(|(left, right)| Some((draft.predicate(left).ok()?, draft.predicate(right).ok()?)));
    Some(Part { text: text.to_string(), predicate, sides, ever: false, nearest: None })
}

/// The parts between `&&` that stand outside of all brackets.
fn conjuncts(text: &str) -> Vec<&str> {
    let inner = unwrapped(text.trim());
    split_outside(inner, "&&").into_iter().map(|part| unwrapped(part.trim())).collect()
}

/// The text without brackets around all of it.
fn unwrapped(text: &str) -> &str {
    let mut text = text;
    while text.starts_with('(') && text.ends_with(')') {
        let mut depth = 0_i32;
        let closes_early = text[..text.len() - 1].chars().any(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        if closes_early {
            break;
        }
        text = text[1..text.len() - 1].trim();
    }
    text
}

fn split_outside<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, c) in text.char_indices() {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        if depth == 0 && at >= start && text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The sides of a comparison, where the text is one and nothing else.
fn sides(text: &str) -> Option<(&str, &str)> {
    if text.contains("||") || text.contains("->") {
        return None;
    }
    let operators = ["==", ">=", "<=", ">", "<"];
    let found = operators.iter().find_map(|op| {
        let parts = split_outside(text, op);
        (parts.len() == 2).then(|| (parts[0].trim(), parts[1].trim()))
    });
    found.filter(|(left, right)| !left.is_empty() && !right.is_empty() && !left.ends_with('!'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_taken_apart_outside_of_brackets() {
        assert_eq!(conjuncts("a == 1 && (b || c && d) && e"), ["a == 1", "b || c && d", "e"]);
        assert_eq!(conjuncts("((x > 1 && y))"), ["x > 1", "y"]);
        assert_eq!(conjuncts("(a) && (b)"), ["a", "b"]);
        assert_eq!(conjuncts("q[i && j] == 1"), ["q[i && j] == 1"]);
    }

    #[test]
    fn the_sides_of_a_comparison_are_found() {
        assert_eq!(sides("x + 1 >= y"), Some(("x + 1", "y")));
        assert_eq!(sides("len(q) == 3"), Some(("len(q)", "3")));
        assert_eq!(sides("x != 3"), None);
        assert_eq!(sides("a || b == 1"), None);
        assert_eq!(sides("done"), None);
    }
}
