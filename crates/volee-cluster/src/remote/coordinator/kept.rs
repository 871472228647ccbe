//! A job that is kept, and one that goes on: what the coordinator does beside watching it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use volee_store::checkpoint::Refused;
use volee_store::handed::Supply;

use super::super::channel::Channel;
use super::super::{Command, PULSE, send};
use super::{Job, JobError, Member, Standing, Turn, of_all, without_loss};
use crate::kept::{Event, Keeping};

/// Pieces that are sent between two looks at what was said.
const AT_ONCE: usize = 32;

/// A file on its way to the workers.
pub(super) struct Shipping {
    supply: Box<dyn Supply>,
    /// What waits for a worker that can take no more.
    next: Option<(usize, Vec<u8>)>,
}

impl Shipping {
    pub fn new(supply: Box<dyn Supply>) -> Self {
        Shipping { supply, next: None }
    }

    /// Sends as much as the workers can take, but not for long; whether that was all.
    fn ship(&mut self, members: &mut [Member]) -> Result<bool, Refused> {
        for _ in 0..AT_ONCE {
            let next = match self.next.take() {
                Some(next) => Some(next),
                None => self.supply.next_piece()?,
            };
            let Some((to, piece)) = next else { return Ok(true) };
            let member = &mut members[to];
            if member.takes == 0 {
                self.next = Some((to, piece));
                return Ok(false);
            }
            member.takes -= 1;
            // A connection that is broken is noticed by who listens to it.
            let _ = send(&mut member.stream, &Command::Piece(piece));
        }
        Ok(false)
    }
}

impl Job<'_> {
    /// Sends the workers what they go on from, has what they know written if it is time, and ends the job at
    /// a limit.
    pub(super) fn keep(&mut self, keeping: &mut Keeping<'_>) -> Result<(), JobError> {
        let mut has_all = false;
        if let Some(shipping) = &mut self.shipping {
            has_all =
                shipping.ship(&mut self.members).map_err(|refused| without_loss(keeping.refused(refused)))?;
        }
        if has_all {
            self.shipping = None;
            keeping.restored(self.meter);
        }
        let limit = keeping.limit(&self.accounts(), self.meter);
        let wanted = keeping.wanted(limit.is_some() || self.full.is_some(), self.meter);
        // Who hears of the pause before the last of what it goes on from does not run away.
        if let Some(number) = wanted {
            self.tell_all(&Command::Pause(number));
        }
        if has_all {
            self.tell_all(&Command::Whole);
        }
        let mut failure = self.full.take().or(limit.map(of_all));
        if let Some(number) = wanted {
            if !self.write(keeping, number)? {
                return Ok(());
            }
            // What has come meanwhile needs no other file.
            failure = failure.or_else(|| self.meter.check().err().map(of_all));
        }
        failure.map_or(Ok(()), |failure| Err(without_loss(failure)))
    }

    /// Writes what the workers hand out; `false` if they have ended instead. Meanwhile somebody else tells
    /// them that this process is there: a disk may keep it waiting.
    fn write(&mut self, keeping: &mut Keeping<'_>, number: u32) -> Result<bool, JobError> {
        let asked = self.members.iter().filter(|m| !matches!(m.standing, Standing::Unasked));
        let mut lines: Vec<Channel> = asked.filter_map(|m| m.stream.handle().ok()).collect();
        let (accounts, meter) = (self.accounts(), self.meter);
        let mut told = vec![false; self.members.len()];
        let mut problem = None;
        let is_written = AtomicBool::new(false);
        let goes_on = std::thread::scope(|scope| {
            let pulse = scope.spawn(|| {
                while !is_written.load(Ordering::Acquire) {
                    lines.iter_mut().for_each(|line| drop(send(line, &Command::Pulse)));
                    std::thread::park_timeout(PULSE);
                }
            });
            let goes_on = keeping.write(number, &accounts, meter, || {
                // Who had not got its order when the others were told hears of it now.
                for (member, told) in self.members.iter_mut().zip(&mut told) {
                    if !*told && !matches!(member.standing, Standing::Unasked) {
                        let _ = send(&mut member.stream, &Command::Pause(number));
                        *told = true;
                    }
                }
                let turn = match self.early.take() {
                    Some((worker, handed)) => Turn::Handed(worker, handed),
                    None => self.turn(),
                };
                match turn {
                    Turn::Problem(found) => {
                        problem = Some(found);
                        Event::Ended
                    }
                    Turn::Handed(worker, handed) => {
                        self.members.iter_mut().for_each(|member| member.moved = Instant::now());
                        Event::Handed(worker, handed)
                    }
                    Turn::Nothing if self.members.iter().any(|m| matches!(m.standing, Standing::Done(_))) => {
                        Event::Ended
                    }
                    Turn::Nothing => Event::Nothing,
                }
            });
            is_written.store(true, Ordering::Release);
            pulse.thread().unpark();
            goes_on
        });
        match problem {
            Some(problem) => Err(self.blame(problem)),
            None => Ok(goes_on),
        }
    }
}
