//! Whether an automaton cannot tell runs apart that only repeat letters more or less often.
//!
//! Let `cl(A)` accept every word that `A` accepts after some letters are repeated, and `sl(A)` every word
//! that some repetitions make of one that `A` accepts. `A` is stutter-invariant if both accept nothing that
//! `A` does not (as in Michaud and Duret-Lutz, "Practical stutter-invariance checks for ω-regular languages",
//! 2015). Instead of a complement, which an automaton that was written by hand does not have, fair simulation
//! is asked for: a game in which somebody runs through `cl(A)` or `sl(A)` and `A` follows letter by letter,
//! such that it accepts if the other does. Where `A` can, its language is included; where it cannot, nothing
//! is known, and the answer is no.
//!
//! The same for what only silent steps tell apart: of a run whose letters are conditions of the state before
//! a step and events of the step, a step without an event that changes no condition may be left out if the
//! letter before it goes ([`ignores_silent_steps`]).

use super::Automaton;

/// Larger games are not played.
const MOST_POSITIONS: usize = 1 << 18;
/// More atoms are not looked at.
const MOST_ATOMS: usize = 10;

/// Whether an automaton with one acceptance set is certainly stutter-invariant.
pub fn is_stutter_invariant(automaton: &Automaton) -> bool {
    if automaton.sets != 1 || automaton.atoms.len() > MOST_ATOMS {
        return false;
    }
    let own = Moves::of(automaton);
    if own.states * own.states * (own.letters + 1) > MOST_POSITIONS {
        return false;
    }
    let initial = automaton.initial as usize;
    simulates(&own, &own.shortened(), initial) && simulates(&own, &own.lengthened(), initial)
}

/// Whether an automaton with one acceptance set certainly does not tell runs apart that have more or fewer
/// letters without an event (the atoms in `events`, as bits) in front of letters with the same conditions.
pub fn ignores_silent_steps(automaton: &Automaton, events: u64) -> bool {
    let atoms = automaton.atoms.len();
    if automaton.sets != 1 || atoms > MOST_ATOMS {
        return false;
    }
    let (states, letters) = (automaton.len(), 1usize << atoms);
    if states * states * (letters + 1) > MOST_POSITIONS {
        return false;
    }
    let own = Moves::by_letter(automaton);
    let conditions = |letter: usize| letter & !(events as usize);
    let initial = automaton.initial as usize;
    simulates(&own, &own.without_silence(conditions), initial)
        && simulates(&own, &own.with_silence(conditions), initial)
}

/// A transition: where it leads, and whether it is accepting.
type Move = (usize, bool);

/// An automaton whose letters are numbers.
struct Moves {
    states: usize,
    letters: usize,
    /// By state and letter.
    moves: Vec<Vec<Move>>,
}

impl Moves {
    /// Letters that no guard tells apart are one.
    fn of(automaton: &Automaton) -> Moves {
        let states = automaton.len();
        let mut classes: Vec<Vec<bool>> = Vec::new();
        for letter in 0..1u32 << automaton.atoms.len() {
            let edges = automaton.states.iter().flatten();
            let taken: Vec<bool> =
                edges.map(|e| automaton.manager.eval(e.guard, |atom| letter >> atom & 1 == 1)).collect();
            if !classes.contains(&taken) {
                classes.push(taken);
            }
        }
        let letters = classes.len();
        let mut moves = vec![Vec::new(); states * letters];
        for (letter, taken) in classes.iter().enumerate() {
            let mut number = 0;
            for (state, edges) in automaton.states.iter().enumerate() {
                for edge in edges {
                    if taken[number] {
                        moves[state * letters + letter].push((edge.target as usize, edge.marks != 0));
                    }
                    number += 1;
                }
            }
        }
        Moves { states, letters, moves }
    }

    /// Every letter by itself: the truth of the atoms as bits.
    fn by_letter(automaton: &Automaton) -> Moves {
        let (states, letters) = (automaton.len(), 1usize << automaton.atoms.len());
        let mut moves = Vec::with_capacity(states * letters);
        for edges in &automaton.states {
            for letter in 0..letters {
                let taken =
                    edges.iter().filter(|e| automaton.manager.eval(e.guard, |atom| letter >> atom & 1 == 1));
                moves.push(taken.map(|e| (e.target as usize, e.marks != 0)).collect());
            }
        }
        Moves { states, letters, moves }
    }

    /// Any number of silent transitions in front of one are left out.
    fn without_silence(&self, conditions: impl Fn(usize) -> usize) -> Moves {
        let mut moves = Vec::with_capacity(self.moves.len());
        for state in 0..self.states {
            for letter in 0..self.letters {
                let mut silently: Vec<Move> = vec![(state, false)];
                let mut next = 0;
                let mut reached: Vec<Move> = Vec::new();
                while next < silently.len() {
                    let (at, accepts) = silently[next];
                    next += 1;
                    for &(target, more) in self.at(at, conditions(letter)) {
                        if !silently.contains(&(target, accepts || more)) {
                            silently.push((target, accepts || more));
                        }
                    }
                    for &(target, more) in self.at(at, letter) {
                        if !reached.contains(&(target, accepts || more)) {
                            reached.push((target, accepts || more));
                        }
                    }
                }
                moves.push(reached);
            }
        }
        Moves { moves, ..*self }
    }

    /// In front of each transition one may wait, silently and under its conditions. Who waits in state `q`
    /// under conditions `a` is in state `(a + 1) * states + q`.
    fn with_silence(&self, conditions: impl Fn(usize) -> usize) -> Moves {
        let states = self.states * (self.letters + 1);
        let mut moves = vec![Vec::new(); states * self.letters];
        for state in 0..self.states {
            for letter in 0..self.letters {
                let silent = conditions(letter);
                let waits = (silent + 1) * self.states + state;
                let own = self.at(state, letter);
                moves[state * self.letters + letter].extend_from_slice(own);
                moves[waits * self.letters + letter].extend_from_slice(own);
                // Who can never go on waits for nothing.
                let goes_on =
                    (0..self.letters).any(|l| conditions(l) == silent && !self.at(state, l).is_empty());
                if letter == silent && goes_on {
                    moves[state * self.letters + letter].push((waits, false));
                    moves[waits * self.letters + letter].push((waits, false));
                }
            }
        }
        Moves { states, letters: self.letters, moves }
    }

    fn at(&self, state: usize, letter: usize) -> &[Move] {
        &self.moves[state * self.letters + letter]
    }

    /// Several transitions with one letter are one.
    fn shortened(&self) -> Moves {
        let mut moves = Vec::with_capacity(self.moves.len());
        for state in 0..self.states {
            for letter in 0..self.letters {
                let mut reached: Vec<Move> = self.at(state, letter).to_vec();
                let mut next = 0;
                while next < reached.len() {
                    let (at, accepts) = reached[next];
                    next += 1;
                    for &(target, more) in self.at(at, letter) {
                        if !reached.contains(&(target, accepts || more)) {
                            reached.push((target, accepts || more));
                        }
                    }
                }
                moves.push(reached);
            }
        }
        Moves { moves, ..*self }
    }

    /// Behind each transition one may wait as long as its letter is repeated. Who waits before state `q` with
    /// letter `a` is in state `(a + 1) * states + q`.
    fn lengthened(&self) -> Moves {
        let states = self.states * (self.letters + 1);
        let waiting = |target: usize, letter: usize| (letter + 1) * self.states + target;
        let mut moves = vec![Vec::new(); states * self.letters];
        for state in 0..self.states {
            for letter in 0..self.letters {
                let own = &mut moves[state * self.letters + letter];
                for &(target, accepts) in self.at(state, letter) {
                    own.extend([(target, accepts), (waiting(target, letter), accepts)]);
                }
                let waits = waiting(state, letter);
                moves[waits * self.letters + letter] = vec![(waits, false), (state, false)];
            }
        }
        Moves { states, letters: self.letters, moves }
    }
}

/// Whether `own` can follow `other` from the same state on. A parity game: a transition in which `own`
/// accepts is worth 2, one in which only `other` does 1, others 0; `own` wins if the highest that comes again
/// and again is even.
fn simulates(own: &Moves, other: &Moves, initial: usize) -> bool {
    let positions = own.states * other.states;
    let follows = |position: usize, worth: [&[bool]; 3]| {
        let (at, it) = (position % own.states, position / own.states);
        (0..own.letters).all(|letter| {
            other.at(it, letter).iter().all(|&(target, accepts)| {
                own.at(at, letter).iter().any(|&(reply, replies)| {
                    let value = if replies { 2 } else { usize::from(accepts) };
                    worth[value][target * own.states + reply]
                })
            })
        })
    };
    let mut twos = vec![true; positions];
    loop {
        let mut ones = vec![false; positions];
        loop {
            let mut zeroes = vec![true; positions];
            loop {
                let next: Vec<bool> =
                    (0..positions).map(|p| zeroes[p] && follows(p, [&zeroes, &ones, &twos])).collect();
                if next == zeroes {
                    break;
                }
                zeroes = next;
            }
            if zeroes == ones {
                break;
            }
            ones = zeroes;
        }
        if ones == twos {
            return twos[initial * own.states + initial];
        }
        twos = ones;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Shape, parse, random_formula};
    use crate::ltl::{holds_of_lasso, translate_to_buchi};
    use volee_system::Random;

    fn says(text: &str) -> bool {
        is_stutter_invariant(&translate_to_buchi(&parse(text, "f").expect("a formula")).expect("small"))
    }

    #[test]
    fn formulas_without_next_are_recognised() {
        for text in [
            "[]<>p",
            "<>[]p",
            "p U q",
            "[](p -> <>q)",
            "!([](p -> <>q))",
            "[]<>p && []<>q",
            "<>(p && <>q)",
            "[]p",
        ] {
            assert!(says(text), "{text}");
        }
    }

    #[test]
    fn formulas_that_count_are_not() {
        for text in ["X p", "[](p -> X q)", "<>(p && X p)", "p && X !p", "[](p -> X !p) && []<>p"] {
            assert!(!says(text), "{text}");
        }
        assert!(says("X p || !X p"), "what is written with next need not count");
    }

    /// Whoever is said to be invariant must not tell a word from the same with some letters repeated.
    #[test]
    fn random_words_with_repetitions_are_not_told_apart() {
        let mut random = Random::new(2015);
        let (mut yes, mut no) = (0, 0);
        for round in 0..400 {
            let formula = random_formula(&mut random, Shape { atoms: 2, operators: 1 + round % 6 });
            let Ok(automaton) = translate_to_buchi(&formula) else { continue };
            if !is_stutter_invariant(&automaton) {
                no += 1;
                continue;
            }
            yes += 1;
            for _ in 0..40 {
                let length = 1 + random.below(5);
                let start = random.below(length);
                let word: Vec<Vec<bool>> =
                    (0..length).map(|_| vec![random.below(2) == 1, random.below(2) == 1]).collect();
                let mut longer = Vec::new();
                let mut later = 0;
                for (at, letter) in word.iter().enumerate() {
                    if at == start {
                        later = longer.len();
                    }
                    for _ in 0..1 + random.below(3) {
                        longer.push(letter.clone());
                    }
                }
                let (a, b) =
                    (holds_of_lasso(&formula, &word, start), holds_of_lasso(&formula, &longer, later));
                assert_eq!(a, b, "{formula} of {word:?} from {start} on");
            }
        }
        assert!(yes > 50 && no > 50, "{yes} {no}");
    }

    #[test]
    fn formulas_that_need_silent_steps_are_told_from_others() {
        let ignores = |text: &str| {
            let automaton = translate_to_buchi(&parse(text, "f").expect("a formula")).expect("small");
            let events = (0..).zip(&automaton.atoms).filter(|(_, atom)| atom.starts_with('e'));
            ignores_silent_steps(&automaton, events.fold(0, |mask, (at, _)| mask | 1 << at))
        };
        for text in [
            "[]!e",
            "<>e",
            "[](e -> <>e2)",
            "!e U e2",
            "[](e -> p)",
            "<>(e && <>e2)",
            "[]<>e",
            "[]p",
            "[](e -> X p)",
        ] {
            assert!(ignores(text), "{text}");
        }
        for text in ["e", "[]e", "e U e2", "X e", "[](e -> X e2)", "<>(!e && X e)"] {
            assert!(!ignores(text), "{text}");
        }
    }

    /// Atom 0 is an event, atom 1 a condition. Whoever is said to ignore silent steps must not tell a word
    /// from the same with some of them put in.
    #[test]
    fn random_words_with_silent_steps_are_not_told_apart() {
        let mut random = Random::new(2026);
        let (mut yes, mut no) = (0, 0);
        for round in 0..600 {
            let formula = random_formula(&mut random, Shape { atoms: 2, operators: 1 + round % 6 });
            let Ok(automaton) = translate_to_buchi(&formula) else { continue };
            // Atoms that do not occur are not numbered.
            let event = automaton.atoms.iter().position(|atom| atom == "p0");
            if !ignores_silent_steps(&automaton, event.map_or(0, |at| 1 << at)) {
                no += 1;
                continue;
            }
            yes += 1;
            for _ in 0..40 {
                let length = 1 + random.below(5);
                let start = random.below(length);
                let word: Vec<Vec<bool>> =
                    (0..length).map(|_| vec![random.below(2) == 1, random.below(2) == 1]).collect();
                let (mut longer, mut later) = (Vec::new(), 0);
                for (at, letter) in word.iter().enumerate() {
                    if at == start {
                        later = longer.len();
                    }
                    (0..random.below(3)).for_each(|_| longer.push(vec![false, letter[1]]));
                    longer.push(letter.clone());
                }
                let (a, b) =
                    (holds_of_lasso(&formula, &word, start), holds_of_lasso(&formula, &longer, later));
                assert_eq!(a, b, "{formula} of {word:?} from {start} on");
            }
        }
        assert!(yes > 50 && no > 50, "{yes} {no}");
    }
}
