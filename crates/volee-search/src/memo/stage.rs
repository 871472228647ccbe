//! Who takes the targets of steps, and how what is remembered of steps becomes targets.

use volee_store::{StateRef, Tuples};
use volee_system::Label;

use super::{ASK, INLINE, Word};

/// Takes the targets of steps, in order.
pub(crate) trait Stage {
    /// Whether it looks at labels. What is remembered must then be [`Memo::with_labels`](super::Memo::with_labels).
    const LABELS: bool = false;

    /// The label of the step whose target was given last.
    #[inline(always)]
    fn label(&mut self, _: Label) {}

    fn one(&mut self, target: StateRef);

    /// How many it has taken.
    fn count(&self) -> usize;

    /// Takes the first `count` of these; nobody can foresee whether there is one, so that is better not a
    /// branch.
    fn up_to_two(&mut self, targets: [StateRef; INLINE], count: usize);
}

/// Gives the targets of remembered steps: so many, with these differences or, where they are more, with differences that
/// begin at this place of all. `word` is what the steps leave as it is, beside the name of their source. `None` when
/// the system is to be asked.
#[inline(always)]
pub(super) fn apply<W: Word, T: Stage>(
    all: &[W],
    labels: &Option<Vec<Label>>,
    tuples: &mut Tuples,
    (count, &[one, other]): (u32, &[W; INLINE]),
    (word, beside): (W, (StateRef, W)),
    stage: &mut T,
) -> Option<()> {
    if T::LABELS {
        if count == ASK {
            return None;
        }
        let range = one.place()..one.place() + count as usize;
        let labels = &labels.as_ref()?[range.clone()];
        for (&difference, &label) in all[range].iter().zip(labels) {
            stage.one((word ^ difference).name(tuples, beside)?);
            stage.label(label);
        }
    } else if count <= INLINE as u32 {
        W::stage([word ^ one, word ^ other], count as usize, (tuples, beside), stage)?;
    } else if count == ASK {
        return None;
    } else {
        for &difference in &all[one.place()..][..count as usize] {
            stage.one((word ^ difference).name(tuples, beside)?);
        }
    }
    Some(())
}
