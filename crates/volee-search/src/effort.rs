//! Whether looking for reduced expansions pays.
//!
//! Finding a persistent set costs about as much as an expansion, and is lost where there is none, or where
//! its successors are all known and the state must be expanded in full after all. Where that is the rule, the
//! search does without for a while, and then tries again: state spaces have regions. Where sets are not
//! remembered but steps are, a question costs as much as ten expansions or more, and it is judged sooner.

/// Questions after which there is a judgement, and where they are costly.
const TRIAL: u32 = 1 << 13;
const COSTLY_TRIAL: u32 = 1 << 10;
/// Questions after which one can tell.
const TELLING: u32 = 1 << 11;
/// One in this many must have helped.
const LEAST: u32 = 4;
const FIRST_REST: u32 = TRIAL * 8;
const LONGEST_REST: u32 = 1 << 20;

/// A judge of the last expansions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effort {
    asked: u32,
    helped: u32,
    /// States to expand in full without asking.
    rest: u32,
    last_rest: u32,
}

impl Effort {
    /// Whether to ask for a reduced expansion of the next state.
    #[inline]
    pub(crate) fn asks(&mut self, is_costly: bool) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        self.asked += 1;
        if self.asked > if is_costly { COSTLY_TRIAL } else { TRIAL } {
            self.judge();
        }
        self.rest == 0
    }

    /// Whether it has paid when that was last judged, and as far as one can tell since then.
    pub(crate) fn pays(&self) -> bool {
        self.last_rest == 0 && (self.asked < TELLING || self.helped * LEAST >= self.asked)
    }

    /// A reduced expansion has led to new states.
    pub(crate) fn helped(&mut self) {
        self.helped += 1;
    }

    fn judge(&mut self) {
        let pays = self.helped * LEAST >= self.asked;
        self.last_rest = if pays { 0 } else { (self.last_rest * 2).clamp(FIRST_REST, LONGEST_REST) };
        self.rest = self.last_rest;
        (self.asked, self.helped) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_helps_is_soon_not_asked_for() {
        let mut effort = Effort::default();
        assert!(effort.pays());
        assert!((0..TELLING).all(|_| effort.asks(false)) && !effort.pays());
        let asked = (0..1_000_000).filter(|_| effort.asks(false)).count();
        assert!((10_000..100_000).contains(&asked), "{asked}");
        assert!(!effort.pays());
        let mut effort = Effort::default();
        let asked = (0..1_000_000).filter(|_| effort.asks(true)).count();
        assert!((1_000..10_000).contains(&asked), "{asked}");
    }

    #[test]
    fn what_helps_is_always_asked_for() {
        let mut effort = Effort::default();
        for n in 0..100_000 {
            assert!(effort.asks(n % 2 == 0));
            if n % 3 == 0 {
                effort.helped();
            }
        }
    }
}
