//! What kinds of states a claim's automaton has, for those who look for accepted cycles together.
//!
//! A cycle of the product stays in one component of the automaton, so that a pair whose component has no
//! accepting cycle is on none: it is enough to reach it. Where every cycle of a component accepts, a claim
//! that holds leaves no cycle at all, and who walks there finds components of single pairs. Only a component
//! with cycles of both kinds can leave large components in the product; under weak fairness that may be any.

use volee_logic::automaton::{Automaton, components};
use volee_system::strong_components;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// On no accepted cycle.
    Passing,
    /// Every cycle is accepted.
    Weak,
    /// Some cycles are accepted.
    Mixed,
}

/// The kinds of all states.
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    components: Vec<u32>,
}

impl Kinds {
    /// The kinds of an automaton's states; runs may have to be fair beside.
    pub fn new(automaton: &Automaton, fair: bool) -> Self {
        let found = components(automaton);
        let all = automaton.all_marks();
        let mixed = mixed(automaton, &found.of);
        let kind = |state: usize| match found.of[state] {
            u32::MAX => Kind::Passing,
            component if !found.accepting(component, all) => Kind::Passing,
            component if fair || mixed.contains(&component) => Kind::Mixed,
            _ => Kind::Weak,
        };
        Kinds { kinds: (0..automaton.len()).map(kind).collect(), components: found.of }
    }

    #[inline]
    pub fn of(&self, state: u32) -> Kind {
        self.kinds[state as usize]
    }

    /// Whether cycles can go through both.
    #[inline]
    pub fn are_together(&self, one: u32, other: u32) -> bool {
        self.components[one as usize] == self.components[other as usize]
    }

    /// Bits of a state's number.
    pub fn bits(&self) -> u32 {
        usize::BITS - self.kinds.len().saturating_sub(1).leading_zeros()
    }

    /// Bits of a name at most, so that there is room above it.
    pub fn most_name_bits(&self) -> u32 {
        u64::BITS - 1 - self.bits()
    }
}

/// Components that have a cycle without some mark.
fn mixed(automaton: &Automaton, of: &[u32]) -> Vec<u32> {
    let (len, mut found) = (automaton.len(), Vec::new());
    for set in 0..u64::BITS {
        if automaton.all_marks() >> set & 1 == 0 {
            continue;
        }
        let without = |state: usize| {
            let stays = move |target: u32| of[target as usize] == of[state];
            let edges = automaton.states[state].iter();
            edges.filter(move |e| e.marks >> set & 1 == 0 && stays(e.target)).map(|e| e.target)
        };
        let scc = strong_components(len, 0..len as u32, |state, next| {
            *next += 1;
            without(state as usize).nth(*next - 1)
        });
        let on_cycle = |&state: &usize| without(state).any(|to| scc.of[to as usize] == scc.of[state]);
        found.extend((0..len).filter(on_cycle).map(|state| of[state]));
    }
    found
}

#[cfg(test)]
mod tests {
    use volee_logic::formula::parse;
    use volee_logic::ltl::translate;

    use super::*;

    /// The kinds that the automaton of a formula has.
    fn kinds(text: &str) -> Vec<Kind> {
        let automaton = translate(&parse(text, "f").expect("a formula")).expect("small");
        let kinds = Kinds::new(&automaton, false);
        let mut met: Vec<Kind> = (0..automaton.len() as u32).map(|state| kinds.of(state)).collect();
        met.dedup();
        met
    }

    #[test]
    fn kinds_are_told_by_the_cycles_of_components() {
        assert_eq!(kinds("<>(p && []!q)"), [Kind::Passing, Kind::Weak]);
        assert_eq!(kinds("[]<>p"), [Kind::Mixed]);
        assert!(kinds("<>(p && []<>q)").ends_with(&[Kind::Mixed]));
        assert_eq!(kinds("[]p"), [Kind::Weak]);
    }

    #[test]
    fn fairness_mixes_what_accepts() {
        let automaton = translate(&parse("<>[]p", "f").expect("a formula")).expect("small");
        let kinds = Kinds::new(&automaton, true);
        let all: Vec<Kind> = (0..automaton.len() as u32).map(|state| kinds.of(state)).collect();
        assert!(all.contains(&Kind::Passing) && all.contains(&Kind::Mixed) && !all.contains(&Kind::Weak));
    }
}
