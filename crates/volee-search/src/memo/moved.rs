//! What is remembered of steps when names are laid out anew: it moves with the fields of the names.
//!
//! Keys and differences are fields side by side, so each goes where its field goes, and masks are whole fields.
//! Values keep their numbers. What no part looks at any more is dropped on the way.

use volee_store::{Layouts, Names, Renaming, Tuple, Tuples};

use super::table::Members;
use super::{ASK, INLINE, Memo, Word};

/// Names have changed: so does what is remembered of steps.
#[cold]
pub(crate) fn rename_steps(
    renaming: &Renaming,
    names: &mut Names,
    (memo, wide_memo): (&mut Memo<u64>, &mut Memo<Tuple>),
) {
    if let (Renaming::Layout(layouts, _), Some(tuples)) = (renaming, names.tuples()) {
        memo.rename(layouts, tuples);
        wide_memo.rename(layouts, tuples);
    }
}

impl<W: Word> Memo<W> {
    /// Names are laid out anew. What is remembered moves with the fields, if these are kept and nothing else
    /// has changed; otherwise it will be forgotten.
    #[cold]
    pub(crate) fn rename(&mut self, layouts: &Layouts, tuples: &Tuples) {
        let is_current =
            self.layout + 1 == tuples.changes() && self.records.len() == tuples.len() - tuples.fixed();
        if self.off || !is_current || !layouts.keep_fields() {
            return;
        }
        self.layout = tuples.changes();
        self.look_at_fields(tuples);
        let word = |word: &mut W| *word = W::of_tuple(layouts.word(word.tuple()));
        let mask = |mask: W| W::of_tuple(layouts.mask(mask.tuple()));
        let most = if self.labels.is_some() { 0 } else { INLINE as u32 };
        let inline = |count: u32, words: &mut [W; INLINE]| {
            words.iter_mut().filter(|_| count <= most).for_each(word);
            count <= most || count == ASK
        };
        let mut lasts = Members::new(self.memories);
        self.parts.iter().for_each(|part| lasts.add(part.memory));
        let old = std::mem::take(&mut self.differences);
        let old_labels = self.labels.as_mut().map(std::mem::take);
        let (all, labels) = (&mut self.differences, &mut self.labels);
        let change = |key: &mut W, count: u32, differences: &mut [W; INLINE]| {
            word(key);
            if inline(count, differences) {
                return;
            }
            let start = differences[0].place();
            differences[0] = W::from_place(all.len());
            all.extend_from_slice(&old[start..][..count as usize]);
            if let (Some(labels), Some(old)) = (labels.as_mut(), &old_labels) {
                labels.extend_from_slice(&old[start..][..count as usize]);
            }
        };
        self.steps.change(|memory| lasts.has(memory), change);
        self.differences.iter_mut().for_each(word);
        for part in &mut self.parts {
            // Bits that are in no field are kept.
            let replaced = W::ALL ^ part.kept;
            (part.mask, part.kept) = (mask(part.mask), W::ALL ^ mask(replaced));
            if let Some(steps) = &mut part.fixed {
                inline(steps.count, &mut steps.differences);
            }
        }
        self.groups.rename(mask);
        self.sets.rename(layouts);
    }
}
