//! The product of a specification and a purpose, suspended and determinised on demand: SPvis of Joubert and
//! Mateescu 2006.
//!
//! A meta-state is the set of product states in which the implementation may be after what was seen so far,
//! closed under internal steps. Three rules keep the verdicts sound:
//! * quiescence is that of the specification's state, added before determinisation; a member whose further
//!   steps the purpose cuts off must not look quiet;
//! * a meta-state accepts if some member does, and refuses only if all members do;
//! * refused members of a mixed set are followed, because what they may output is allowed.
//!
//! Pairs are stepped by the one product of a system and what watches it ([`volee_search::Pairing`]): the
//! system is the specification, whose states are numbers and whose steps are kept in rows, the purpose is the
//! observer. What comes after is of this room: pairs are never stored, only sets of them are; and quiescence
//! is asked of the specification, because in a product that is a system it would be lost.
//!
//! Sets are hash-consed, closures are computed by a search with a small table, once for what they are made
//! from ([`Closures`]), and whatever accepts or refuses is not stored at all.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use volee_lts::PackedStates;
use volee_search::{Pair, Pairing};
use volee_system::{Flow, Step};

use crate::closures::Closures;
use crate::followed::{Followed, Watching};
use crate::purpose::{ACCEPT, REFUSE};
use crate::rows::Which;
use crate::sets::{Member, decode, encode};
use crate::{ActionId, ConformError, DELTA, Purpose, Specification};

/// A meta-state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetaId(pub u32);

impl MetaId {
    /// What the purpose asks for was seen.
    pub const ACCEPTED: MetaId = MetaId(u32::MAX);
    /// The purpose is no longer interested.
    pub const REFUSED: MetaId = MetaId(u32::MAX - 1);

    /// Whether it is one of the two that have no steps.
    pub fn is_end(self) -> bool {
        self.0 >= MetaId::REFUSED.0
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The steps of a meta-state, by action.
pub type Moves = Vec<(ActionId, MetaId)>;

/// A suspended, determinised product.
pub struct Determinised<'s> {
    specification: Specification<'s>,
    purpose: Watching,
    pairing: Pairing,
    sets: PackedStates,
    closures: Closures,
    seen: HashSet<Member, FixedState>,
    members: Vec<Member>,
    steps: Vec<(u32, Member)>,
    gathered: Vec<(ActionId, Member)>,
    encoded: Vec<u8>,
    /// Members that were followed so far: what it has cost.
    effort: u64,
}

impl<'s> Determinised<'s> {
    /// Joins a specification and a purpose. Nothing is explored yet.
    pub fn new(specification: Specification<'s>, purpose: Purpose) -> Self {
        Determinised {
            specification,
            purpose: Watching::new(purpose),
            pairing: Pairing::default(),
            sets: PackedStates::new(),
            closures: Closures::default(),
            seen: HashSet::with_hasher(FixedState::default()),
            members: Vec::new(),
            steps: Vec::new(),
            gathered: Vec::new(),
            encoded: Vec::new(),
            effort: 0,
        }
    }

    /// The specification.
    pub fn specification(&self) -> &Specification<'s> {
        &self.specification
    }

    pub(crate) fn specification_mut(&mut self) -> &mut Specification<'s> {
        &mut self.specification
    }

    /// The purpose.
    pub fn purpose(&self) -> &Purpose {
        self.purpose.purpose()
    }

    /// How many meta-states were met.
    pub fn meta_count(&self) -> usize {
        self.sets.len()
    }

    /// Members that were followed so far, which is what the time goes into.
    pub(crate) fn effort(&self) -> u64 {
        self.effort
    }

    /// The product states of the start, not closed.
    pub(crate) fn seeds(&mut self) -> Result<Vec<Member>, ConformError> {
        let purpose = self.purpose().initial();
        Ok(self.specification.initial()?.into_iter().map(|s| Member::new(s, purpose)).collect())
    }

    /// Pushes the steps of a product state, each with the specification's label, until it is enough.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        member: Member,
        which: Which,
        mut push: impl FnMut(u32, Member) -> Flow,
    ) -> Result<(), ConformError> {
        let mut followed = Followed::new(&mut self.specification, which);
        let (at, own) = (member.purpose().to_le_bytes(), member.state().to_le_bytes());
        let push = |step: Step, _, pair: Pair<'_>| push(step.label.0, Member::of(pair));
        let _ = self.pairing.steps(&mut followed, &mut self.purpose, (&at, &own), push);
        followed.ended()?;
        self.purpose.ended()
    }

    /// Where everything starts.
    ///
    /// # Errors
    /// A limit, or the specification or the purpose makes no sense.
    pub fn initial(&mut self) -> Result<MetaId, ConformError> {
        let seeds = self.seeds()?;
        self.close(&seeds)
    }

    /// The members of a meta-state that is not an end.
    pub(crate) fn members(&self, meta: MetaId, out: &mut Vec<Member>) {
        decode(self.sets.get(meta.index()), out);
    }

    /// Puts the steps of a meta-state into `out`, by action; ends have none.
    ///
    /// # Errors
    /// A limit, or the specification or the purpose makes no sense.
    pub fn moves(&mut self, meta: MetaId, out: &mut Moves) -> Result<(), ConformError> {
        out.clear();
        if meta.is_end() {
            return Ok(());
        }
        let mut gathered = std::mem::take(&mut self.gathered);
        self.gather(meta, &mut gathered)?;
        let mut seeds = Vec::new();
        for same in gathered.chunk_by(|a, b| a.0 == b.0) {
            seeds.clear();
            seeds.extend(same.iter().map(|(_, member)| *member));
            out.push((same[0].0, self.close(&seeds)?));
        }
        self.gathered = gathered;
        self.specification.others = self.memory();
        Ok(())
    }

    /// Bytes in use beside the specification.
    pub(crate) fn memory(&self) -> u64 {
        self.sets.memory() + self.closures.memory() + self.purpose.memory()
    }

    /// Puts what visible steps of a meta-state lead to into `out`, sorted by action, not closed.
    pub(crate) fn gather(
        &mut self,
        meta: MetaId,
        out: &mut Vec<(ActionId, Member)>,
    ) -> Result<(), ConformError> {
        self.specification.tick()?;
        let mut members = std::mem::take(&mut self.members);
        self.members(meta, &mut members);
        self.effort += members.len() as u64;
        out.clear();
        for &member in &members {
            self.visible(member, out)?;
        }
        self.members = members;
        out.sort_unstable();
        out.dedup();
        Ok(())
    }

    /// The visible steps of a member, quiescence among them.
    fn visible(&mut self, member: Member, out: &mut Vec<(ActionId, Member)>) -> Result<(), ConformError> {
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        self.follow(member, Which::Visible, |label, next| {
            steps.push((label, next));
            Flow::Continue(())
        })?;
        let seen = |&(label, next): &(u32, Member)| Some((self.specification.action(label)?, next));
        out.extend(steps.iter().filter_map(seen));
        self.steps = steps;
        if self.specification.quiescent(member.state())? {
            out.push((DELTA, member));
        }
        Ok(())
    }

    /// The meta-state of some product states and all that internal steps lead to.
    pub(crate) fn close(&mut self, seeds: &[Member]) -> Result<MetaId, ConformError> {
        if seeds.iter().all(|m| m.purpose() == REFUSE) {
            return Ok(MetaId::REFUSED);
        }
        let in_order = seeds.is_sorted_by(|a, b| a < b);
        if in_order && let Some(known) = self.closures.find(seeds, &self.sets) {
            return Ok(MetaId(known));
        }
        if self.seen.capacity() > 64 * (self.seen.len() + 64) {
            self.seen.shrink_to(1024);
        }
        self.seen.clear();
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        for &seed in seeds {
            if self.seen.insert(seed) {
                members.push(seed);
            }
        }
        let closed = self.closure(&mut members);
        self.effort += members.len() as u64;
        let meta = match closed {
            Ok(true) => Ok(MetaId::ACCEPTED),
            Ok(false) => {
                members.sort_unstable();
                encode(&members, &mut self.encoded);
                let set = self.sets.insert(&self.encoded);
                if in_order {
                    self.closures.insert(seeds, set, &members);
                }
                Ok(MetaId(set))
            }
            Err(error) => Err(error),
        };
        self.members = members;
        meta
    }

    /// Adds what internal steps lead to; `true` as soon as some member accepts.
    fn closure(&mut self, members: &mut Vec<Member>) -> Result<bool, ConformError> {
        if members.iter().any(|m| m.purpose() == ACCEPT) {
            return Ok(true);
        }
        let mut at = 0;
        while at < members.len() {
            let member = members[at];
            at += 1;
            self.specification.tick()?;
            let mut accepts = false;
            let mut seen = std::mem::take(&mut self.seen);
            let followed = self.follow(member, Which::Internal, |_, next| {
                if next.purpose() == ACCEPT {
                    accepts = true;
                    return Flow::Break(());
                }
                if seen.insert(next) {
                    members.push(next);
                }
                Flow::Continue(())
            });
            self.seen = seen;
            followed?;
            if accepts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The meta-state after an action; `None` where it cannot happen.
    ///
    /// # Errors
    /// As [`Determinised::moves`].
    pub fn after(&mut self, meta: MetaId, action: ActionId) -> Result<Option<MetaId>, ConformError> {
        let mut moves = Moves::new();
        self.moves(meta, &mut moves)?;
        Ok(moves.iter().find(|(a, _)| *a == action).map(|(_, target)| *target))
    }
}
