//! Accepted cycles among the states of several workers, by taking away what is on none.
//!
//! A state stays as long as some transition leads to one that stays, and as long as from it something of
//! every acceptance set can be met without leaving what stays. What is left in the end is empty exactly if
//! there is no accepted cycle: from each state left every set can be met again and again (Emerson and Lei
//! 1986; "one way to catch them young", Fisler, Fraer, Kamhi, Vardi and Yang 2001, goes forward instead).
//! Everything goes along transitions backwards, which the owner of a target knows; so no state is expanded
//! again, and the bytes of states are no longer needed.
//!
//! A round takes each acceptance set in turn: those from which it can be met are marked, the others taken
//! away, and with them whoever can then no longer go on. After a round everybody tells how many were taken
//! away and how many are left. The sets are the accepting states of the automaton and, for weak fairness, one
//! per process: it moves, or it cannot.

use serde::{Deserialize, Serialize};
use volee_system::part::{Figures, Outbox, Packing, Part, PartError, Work};

use super::edges::Edges;
use super::garbled;

/// A packet of states that have one transition less: four bytes each.
const LESS: u8 = 3;
/// A packet of states from which what is looked for can be met.
const MEETS: u8 = 4;
/// A packet with what one worker knows at the end of a round.
const TOLD: u8 = 5;
/// Bytes of that: how many were taken away, how many are left, the number of processes.
const TELLING: usize = 18;

/// What a search for cycles knows of a state, as bits.
const STAYS: u8 = 1;
const MARKED: u8 = 2;
const QUEUED: u8 = 4;
const SCANNED: u8 = 8;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Whoever cannot go on is taken away.
    Trim,
    /// Those are marked from which this acceptance set can be met.
    Mark(u32),
    /// Everybody tells how it stands.
    Tell,
}

/// How far the workers are together, as far as that is no matter of single states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    stage: Stage,
    set: Option<u32>,
    sets: u32,
    taken: u64,
}

impl Round {
    /// What two workers know; `None` if they are not in the same stage, which they always are.
    pub fn joined(self, other: Round) -> Option<Round> {
        let Round { stage, set, sets, taken } = other;
        let (sets, taken) = (self.sets.max(sets), self.taken.saturating_add(taken));
        (self.stage == stage && self.set == set).then_some(Round { stage, set, sets, taken })
    }

    /// The same for all workers but the first, who has what all have taken away.
    pub fn for_others(self) -> Round {
        Round { taken: 0, ..self }
    }
}

/// One worker's part of the search for cycles.
pub struct Cycles {
    me: usize,
    packing: Packing,
    figures: Figures,
    /// By state: where its sources start, and the end of the last.
    starts: Vec<u32>,
    sources: Vec<u32>,
    movers: Vec<u8>,
    leaving: Vec<u32>,
    accepting: Vec<bool>,
    enabled: Vec<[u64; 4]>,
    stays: Vec<bool>,
    marked: Vec<bool>,
    /// Those whose sources have not heard of them.
    queue: Vec<u32>,
    /// The next state to be looked at for transitions by the process whose set is looked for.
    scanned: usize,
    stage: Stage,
    /// The set that was looked for last; none before the first round.
    set: Option<u32>,
    /// The sets: the automaton's, then one per process.
    sets: u32,
    taken: u64,
    has_told: bool,
    /// The sum of what was told.
    told_taken: u64,
    told_left: u64,
    told_sets: u32,
}

impl Cycles {
    pub(super) fn new(
        edges: Edges,
        states: usize,
        packing: Packing,
        me: usize,
        mut figures: Figures,
    ) -> Self {
        let fair = edges.is_fair();
        let Edges { all, movers: by, mut leaving, mut accepting, mut enabled, .. } = edges;
        let mut starts = vec![0u32; states + 1];
        all.iter().for_each(|(target, _)| starts[*target as usize + 1] += 1);
        for at in 0..states {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut sources = vec![0; all.len()];
        let mut movers = vec![0; by.len()];
        for (edge, (target, source)) in all.iter().enumerate() {
            let place = &mut next[*target as usize];
            sources[*place as usize] = *source;
            if fair {
                movers[*place as usize] = by[edge];
            }
            *place += 1;
        }
        leaving.resize(states, 0);
        accepting.resize(states, false);
        enabled.resize(if fair { states } else { 0 }, [0; 4]);
        let stays: Vec<bool> = leaving.iter().map(|&leaving| leaving > 0).collect();
        let queue = (0..states as u32).filter(|&at| !stays[at as usize]).collect();
        let highest =
            |words: &[u64; 4]| (0..256u32).rev().find(|p| words[*p as usize / 64] >> (p % 64) & 1 == 1);
        let processes = enabled.iter().filter_map(highest).max().map_or(0, |highest| highest + 1);
        figures.pending = 0;
        figures.memory += (starts.len() * 4 + sources.len() * 4 + movers.len() + states * 2) as u64;
        Cycles {
            me,
            packing,
            figures,
            starts,
            sources,
            movers,
            leaving,
            accepting,
            enabled,
            marked: vec![false; states],
            stays,
            queue,
            scanned: 0,
            stage: Stage::Trim,
            set: None,
            sets: 1 + processes,
            taken: 0,
            has_told: false,
            told_taken: 0,
            told_left: 0,
            told_sets: 1,
        }
    }

    /// How far this is.
    pub(super) fn round(&self) -> Round {
        Round { stage: self.stage, set: self.set, sets: self.sets, taken: self.taken }
    }

    /// Whether everybody tells how it stands: a moment too short to be kept.
    pub(super) fn tells(&self) -> bool {
        self.stage == Stage::Tell
    }

    /// What is known of each state, as bits.
    pub(super) fn flags(&self) -> Vec<u8> {
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let mut flags: Vec<u8> = (0..self.stays.len())
            .map(|at| {
                bit(self.stays[at], STAYS) | bit(self.marked[at], MARKED) | bit(at < self.scanned, SCANNED)
            })
            .collect();
        self.queue.iter().for_each(|at| flags[*at as usize] |= QUEUED);
        flags
    }

    /// How many of the transitions of a state lead to states that stay.
    pub(super) fn leaving(&self, at: usize) -> u32 {
        self.leaving[at]
    }

    /// Who can move in a state, where that matters.
    pub(super) fn enabled(&self, at: usize) -> [u64; 4] {
        self.enabled.get(at).copied().unwrap_or_default()
    }

    /// The transitions to a state: their sources, and who moves where that matters.
    pub(super) fn sources(&self, at: usize) -> impl Iterator<Item = (u32, u8)> {
        let edges = self.starts[at] as usize..self.starts[at + 1] as usize;
        edges.map(|edge| (self.sources[edge], self.movers.get(edge).copied().unwrap_or(0)))
    }

    /// Goes on from there. What was scanned is the beginning of all states; where the states are others than
    /// before it may be less than that, and to scan a state again changes nothing.
    pub(super) fn restore(&mut self, round: Round, flags: &[u8]) {
        (self.stage, self.set, self.sets, self.taken) = (round.stage, round.set, round.sets, round.taken);
        self.queue.clear();
        for (at, flag) in flags.iter().enumerate() {
            self.stays[at] = flag & STAYS != 0;
            self.marked[at] = flag & MARKED != 0;
            if flag & QUEUED != 0 {
                self.queue.push(at as u32);
            }
        }
        self.scanned = flags.iter().take_while(|flag| **flag & SCANNED != 0).count();
    }

    /// A state of ours from which an accepted cycle is reached, the first that was found; nothing if there is
    /// none.
    pub fn found(&self) -> Option<u32> {
        self.stays.iter().position(|&stays| stays).map(|at| at as u32)
    }

    fn is_less(&mut self, at: u32) {
        let leaving = &mut self.leaving[at as usize];
        *leaving = leaving.saturating_sub(1);
        if *leaving == 0 && self.stays[at as usize] {
            self.take_away(at);
        }
    }

    fn take_away(&mut self, at: u32) {
        self.stays[at as usize] = false;
        self.taken += 1;
        self.queue.push(at);
    }

    fn meets(&mut self, at: u32) {
        if self.stays[at as usize] && !self.marked[at as usize] {
            self.marked[at as usize] = true;
            self.queue.push(at);
        }
    }

    /// Tells the source of one of our transitions what it leads to.
    fn tell(&mut self, source: u32, kind: u8, out: &mut Outbox) {
        let (owner, at) = self.packing.unpack(source);
        match (owner == self.me, kind) {
            (false, _) => out.post(owner, kind).extend_from_slice(&at.to_le_bytes()),
            (true, LESS) => self.is_less(at),
            (true, _) => self.meets(at),
        }
    }

    /// Marks the sources of transitions by a process to states that stay.
    fn scan(&mut self, process: u8, quantum: usize, out: &mut Outbox) {
        let until = self.stays.len().min(self.scanned + quantum);
        while self.scanned < until {
            let at = self.scanned;
            self.scanned += 1;
            for edge in self.starts[at]..self.starts[at + 1] {
                if self.stays[at] && self.movers[edge as usize] == process {
                    self.tell(self.sources[edge as usize], MEETS, out);
                }
            }
        }
    }

    fn begin_marking(&mut self, set: u32) {
        self.stage = Stage::Mark(set);
        self.scanned = 0;
        for at in 0..self.stays.len() {
            let is_in = match set.checked_sub(1) {
                None => self.accepting[at],
                Some(process) => {
                    let (word, bit) = (process as usize / 64, process % 64);
                    self.enabled[at][word] >> bit & 1 == 0
                }
            };
            if is_in {
                self.meets(at as u32);
            }
        }
    }

    fn end_marking(&mut self) {
        self.stage = Stage::Trim;
        for at in 0..self.stays.len() {
            if self.stays[at] && !self.marked[at] {
                self.take_away(at as u32);
            }
        }
        self.marked.fill(false);
    }

    fn left(&self) -> u64 {
        self.stays.iter().filter(|&&stays| stays).count() as u64
    }

    fn tell_all(&mut self, out: &mut Outbox) {
        self.has_told = true;
        let (taken, left, sets) = (self.taken, self.left(), self.sets as u16);
        for peer in (0..out.peers()).filter(|&peer| peer != self.me) {
            let record = out.post(peer, TOLD);
            record.extend_from_slice(&taken.to_le_bytes());
            record.extend_from_slice(&left.to_le_bytes());
            record.extend_from_slice(&sets.to_le_bytes());
        }
        self.hear(taken, left, sets);
    }

    fn hear(&mut self, taken: u64, left: u64, sets: u16) {
        self.told_taken = self.told_taken.saturating_add(taken);
        self.told_left = self.told_left.saturating_add(left);
        self.told_sets = self.told_sets.max(u32::from(sets));
    }
}

impl Part for Cycles {
    fn receive(&mut self, _: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        if kind == TOLD {
            let (records, rest) = records.as_chunks::<TELLING>();
            if !rest.is_empty() {
                return Err(garbled());
            }
            for record in records {
                let (taken, rest) = record.split_first_chunk::<8>().ok_or_else(garbled)?;
                let (left, sets) = rest.split_first_chunk::<8>().ok_or_else(garbled)?;
                let sets = u16::from_le_bytes(sets.try_into().map_err(|_| garbled())?);
                self.hear(u64::from_le_bytes(*taken), u64::from_le_bytes(*left), sets);
            }
            return Ok(());
        }
        let (numbers, rest) = records.as_chunks::<4>();
        if !rest.is_empty() || !matches!(kind, LESS | MEETS) {
            return Err(garbled());
        }
        for number in numbers {
            let at = u32::from_le_bytes(*number);
            if at as usize >= self.stays.len() {
                return Err(garbled());
            }
            if kind == LESS { self.is_less(at) } else { self.meets(at) }
        }
        Ok(())
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        if let Stage::Mark(set) = self.stage
            && let Some(process) = set.checked_sub(1)
            && self.scanned < self.stays.len()
        {
            self.scan(process as u8, quantum, out);
            return Ok(Work::More);
        }
        if self.stage == Stage::Tell && !self.has_told {
            self.tell_all(out);
        }
        let kind = if self.stage == Stage::Trim { LESS } else { MEETS };
        for _ in 0..quantum {
            let Some(at) = self.queue.pop() else { return Ok(Work::Idle) };
            for edge in self.starts[at as usize]..self.starts[at as usize + 1] {
                self.tell(self.sources[edge as usize], kind, out);
            }
        }
        Ok(Work::More)
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        match self.stage {
            Stage::Mark(set) => {
                self.end_marking();
                self.set = Some(set);
            }
            Stage::Trim => match self.set {
                Some(set) if set + 1 < self.sets => self.begin_marking(set + 1),
                _ => self.stage = Stage::Tell,
            },
            Stage::Tell => {
                let over = self.told_left == 0 || self.told_taken == 0 && self.set.is_some();
                if over {
                    return Ok(false);
                }
                self.sets = self.told_sets;
                (self.taken, self.told_taken, self.told_left, self.has_told) = (0, 0, 0, false);
                self.begin_marking(0);
            }
        }
        Ok(true)
    }

    fn figures(&self) -> Figures {
        self.figures
    }
}
