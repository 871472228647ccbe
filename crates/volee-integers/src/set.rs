//! Sets: finite unions of conjuncts of one dimension.

use crate::subtract::{covered, subtract};
use crate::{Affine, Conjunct, Effort, Exhausted, Int, Optimum, Row};

/// A finite union of conjuncts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set {
    dimension: usize,
    conjuncts: Vec<Conjunct>,
}

impl From<Conjunct> for Set {
    fn from(conjunct: Conjunct) -> Self {
        let mut out = Set::empty(conjunct.dimension());
        out.push(conjunct);
        out
    }
}

impl Set {
    /// No vector.
    pub fn empty(dimension: usize) -> Self {
        Set { dimension, conjuncts: Vec::new() }
    }

    /// All vectors.
    pub fn universe(dimension: usize) -> Self {
        Set::from(Conjunct::universe(dimension))
    }

    /// The union of conjuncts.
    pub fn of(dimension: usize, conjuncts: impl IntoIterator<Item = Conjunct>) -> Self {
        let mut out = Set::empty(dimension);
        conjuncts.into_iter().for_each(|c| out.push(c));
        out
    }

    /// The number of components of a vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The members of the union.
    pub fn conjuncts(&self) -> &[Conjunct] {
        &self.conjuncts
    }

    /// Adds the vectors of a conjunct.
    pub fn push(&mut self, conjunct: Conjunct) {
        debug_assert_eq!(conjunct.dimension(), self.dimension);
        if !conjunct.is_plainly_empty() {
            self.conjuncts.push(conjunct);
        }
    }

    fn map(&self, f: impl FnMut(&Conjunct) -> Conjunct) -> Set {
        Set::of(self.dimension, self.conjuncts.iter().map(f))
    }

    /// The vectors in either.
    #[must_use]
    pub fn union(&self, other: &Set) -> Set {
        Set::of(self.dimension, self.conjuncts.iter().chain(&other.conjuncts).cloned())
    }

    /// The vectors in both.
    #[must_use]
    pub fn intersect(&self, other: &Set) -> Set {
        let pairs = self.conjuncts.iter().flat_map(|a| other.conjuncts.iter().map(move |b| a.intersect(b)));
        Set::of(self.dimension, pairs)
    }

    /// The vectors here and not in `other`.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn subtract(&self, other: &Set, effort: &Effort) -> Result<Set, Exhausted> {
        let mut out = Set::empty(self.dimension);
        for c in &self.conjuncts {
            for piece in subtract(c, &other.conjuncts, effort)? {
                out.push(piece.reduced(effort)?);
            }
        }
        Ok(out)
    }

    /// Whether every vector is also in `other`.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_subset(&self, other: &Set, effort: &Effort) -> Result<bool, Exhausted> {
        let members: Vec<&Conjunct> = other.conjuncts.iter().collect();
        for c in &self.conjuncts {
            if !covered(c, &members, effort)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether both have the same vectors.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_equal(&self, other: &Set, effort: &Effort) -> Result<bool, Exhausted> {
        Ok(self.is_subset(other, effort)? && other.is_subset(self, effort)?)
    }

    /// Whether there is no vector.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_empty(&self, effort: &Effort) -> Result<bool, Exhausted> {
        Ok(self.sample(effort)?.is_none())
    }

    /// Some vector, if there is one.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn sample(&self, effort: &Effort) -> Result<Option<Vec<Int>>, Exhausted> {
        for c in &self.conjuncts {
            if let Some(point) = c.sample(effort)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// Whether the vector is in the set.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn contains(&self, point: &[Int], effort: &Effort) -> Result<bool, Exhausted> {
        for c in &self.conjuncts {
            if c.contains(point, effort)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The vectors that satisfy the constraints as well.
    #[must_use]
    pub fn with(&self, equations: &[Row], inequalities: &[Row]) -> Set {
        self.map(|c| c.with(equations, inequalities))
    }

    /// The image under an affine map.
    #[must_use]
    pub fn image(&self, map: &Affine) -> Set {
        self.map(|c| map.image(c))
    }

    /// The vectors whose image is here.
    #[must_use]
    pub fn preimage(&self, map: &Affine) -> Set {
        self.map(|c| map.preimage(c))
    }

    /// One or more guarded translations, see [`Conjunct::translated`].
    #[must_use]
    pub fn translated(&self, vector: &[Int], guard: &[Row]) -> Set {
        self.map(|c| c.translated(vector, guard))
    }

    /// The projection on the components for which `keep` is true.
    #[must_use]
    pub fn project(&self, keep: &[bool]) -> Set {
        let dimension = keep.iter().filter(|k| **k).count();
        Set::of(dimension, self.conjuncts.iter().map(|c| c.project(keep)))
    }

    /// The least value of a linear form (the constant first) and a vector where it is taken.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn minimum(&self, form: &[Int], effort: &Effort) -> Result<Optimum, Exhausted> {
        let mut best = Optimum::Empty;
        for c in &self.conjuncts {
            let mut wide = form.to_vec();
            wide.resize(c.width(), Int::ZERO);
            match crate::solve::minimise(c, &wide, effort)? {
                Optimum::Empty => {}
                Optimum::Unbounded => return Ok(Optimum::Unbounded),
                Optimum::At(value, mut point) => {
                    if !matches!(&best, Optimum::At(old, _) if *old <= value) {
                        point.truncate(self.dimension);
                        best = Optimum::At(value, point);
                    }
                }
            }
        }
        Ok(best)
    }

    /// The same set with fewer, simpler conjuncts where that is found: empty and covered members dropped,
    /// redundant constraints removed, pairs merged.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn coalesced(&self, effort: &Effort) -> Result<Set, Exhausted> {
        let mut out: Vec<Conjunct> = Vec::new();
        for c in &self.conjuncts {
            let mut fresh = c.reduced(effort)?;
            if fresh.is_empty(effort)? || covered(&fresh, &out.iter().collect::<Vec<_>>(), effort)? {
                continue;
            }
            let mut at = 0;
            while at < out.len() {
                if let Some(merged) = out[at].coalesce(&fresh, effort)? {
                    fresh = merged.reduced(effort)?;
                    out.swap_remove(at);
                    at = 0;
                } else {
                    at += 1;
                }
            }
            out.push(fresh);
        }
        Ok(Set { dimension: self.dimension, conjuncts: out })
    }
}
