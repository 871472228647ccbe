//! Runs one worker's part: takes what has arrived, lets the part work, sends what it has posted, until all
//! are done.
//!
//! * **Early answers.** A part that knows the answer tells everybody to stop; each drops its work, and the
//!   stage becomes quiet. (Who has not entered that stage yet hears of it only then: the answer may rest on
//!   what parts do when they enter it.) The quantum of work between two looks at what arrived is small at
//!   first and grows, because what is expanded before an early answer is known is wasted.
//! * **Flow control.** A worker counts the packets that each peer has not acknowledged yet and stops working,
//!   not receiving, while too many are out. Receiving posts nothing, so every packet is acknowledged in the
//!   end and nobody waits in a circle. Acknowledgements travel with packets; they travel alone only when a
//!   quarter of the least window is owed and nothing else goes that way.
//! * **Pauses.** When what is known is to be kept, whoever has work tells everybody to pause, as it would tell
//!   them to stop: each works no more, what is in flight arrives, and the stage becomes quiet. All have heard
//!   of the pause by then, because what says so is a message of that stage. So each hands out what it has at
//!   a moment when nothing is in flight, and begins a stage in which the same work goes on. A worker asks for
//!   a pause only after it has done some work in the stage, so that whoever is interrupted again and again
//!   comes to an end. Of a part that is not kept it is told that there is nothing, so that nobody waits for it
//!   at a limit.
//! * **Ends.** Somebody watches from outside ([`Overseer`]): when it says stop, the loop ends at once,
//!   whatever the other workers do.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use timely::worker::Worker;
use volee_system::Flow;
use volee_system::part::{Figures, Keepable, Outbox, PACKET, Packet, Part, PartError, Work};

use crate::exchange::{ACKNOWLEDGE, Exchange, Parcel, count_progress};

/// Packets that a peer may leave unacknowledged, however many peers there are.
const WINDOW: u32 = 64;
/// Packets that all peers together may, as long as these are a small part of what a worker holds: two that work in
/// turns would wait for each other with fewer.
const WINDOWS: u64 = 256;
const SMALL_PART: u64 = 16;
/// Packets after which they are acknowledged even when nothing else goes that way.
const OWED: u16 = (WINDOW / 4) as u16;
const FIRST_QUANTUM: usize = 16;
const LARGEST_QUANTUM: usize = 1024;
/// How long a worker without work waits before it looks around.
const NAP: Duration = Duration::from_millis(20);
/// Time between two looks of the overseer.
const LOOK: Duration = Duration::from_millis(10);

/// A packet that says: the answer is known, stop.
const STOP: u8 = 0xff;
/// A packet that says: pause, and hand out what you have. It has the number of the pause.
const PAUSE: u8 = 0xfd;

/// What a worker has done, for the view of all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// What its part has done.
    pub figures: Figures,
    /// The most bytes it used at once.
    pub peak: u64,
    /// Records it has sent to others.
    pub messages: u64,
    /// Records that it has received from others.
    pub received: u64,
    /// Packets they travelled in.
    pub packets: u64,
    /// Bytes they had.
    pub bytes: u64,
    /// An answer was known early, so it stopped.
    pub stopped: bool,
    /// Messages of progress tracking: the cost of finding out that all is done.
    pub progress: u64,
    /// Seconds without anything to do.
    pub idle: f64,
    /// Seconds in all.
    pub elapsed: f64,
}

/// Whether the workers really were done when they ended: every record that one has sent was received by
/// another, and nothing was left undone unless an early answer was known. It is so if progress tracking is
/// right about the end; this looks at the end by other means, and no answer is given where it is not so.
///
/// # Errors
/// It is not so: a defect.
pub fn conserved(accounts: &[Account]) -> Result<(), PartError> {
    let sum = |figure: fn(&Account) -> u64| accounts.iter().map(figure).sum::<u64>();
    let (sent, received) = (sum(|a| a.messages), sum(|a| a.received));
    let pending = sum(|a| if a.stopped { 0 } else { a.figures.pending });
    if sent != received || pending > 0 {
        let message = format!(
            "the workers ended with {sent} messages sent, {received} received, and {pending} states to look at"
        );
        return Err(PartError::Defect(message));
    }
    Ok(())
}

/// Why a worker ends without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Its own part cannot go on.
    Part(PartError),
    /// Somebody else has a reason; it is told elsewhere.
    Elsewhere,
}

impl From<PartError> for Stop {
    fn from(error: PartError) -> Self {
        Stop::Part(error)
    }
}

/// What a worker hands out when it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handed {
    /// A piece of what it has.
    Piece(Vec<u8>),
    /// That was all, for the pause of this number.
    Whole(u32),
    /// What it does now is not kept, so there is nothing for the pause of this number.
    Nothing(u32),
}

/// Watches a worker from outside.
pub trait Overseer {
    /// Looks at what the worker has done so far, every few milliseconds.
    ///
    /// # Errors
    /// The worker must end now.
    fn look(&mut self, account: &Account) -> Result<(), Stop>;

    /// The number of the last pause that is wanted; they count from 1.
    fn wanted_pause(&self) -> u32;

    /// Takes what the worker has.
    ///
    /// # Errors
    /// The worker must end now.
    fn hand_out(&mut self, handed: Handed) -> Result<(), Stop>;

    /// Whether the job goes on from what was kept.
    fn resumes(&self) -> bool;

    /// The next piece that this worker is to go on from, when there is one; `None` after the last.
    ///
    /// # Errors
    /// The worker must end now.
    fn next_piece(&mut self, account: &Account) -> Result<Option<Vec<u8>>, Stop>;
}

/// A worker's dataflow, its account and who watches it: all that a part needs to be run.
pub struct Driver<'a> {
    worker: &'a mut Worker,
    overseer: &'a mut dyn Overseer,
    account: Account,
    progress: Rc<RefCell<u64>>,
    start: Instant,
    looked: Instant,
    /// The number of the last pause.
    paused: u32,
}

/// What is between this worker and one other.
#[derive(Debug, Clone, Copy, Default)]
struct Peer {
    /// Packets it has not acknowledged.
    out: u32,
    /// Packets of it that we have not acknowledged.
    owed: u16,
}

impl<'a> Driver<'a> {
    /// For a worker.
    pub fn new(worker: &'a mut Worker, overseer: &'a mut dyn Overseer) -> Self {
        let progress = count_progress(worker);
        let now = Instant::now();
        let account = Account::default();
        Driver { worker, overseer, account, progress, start: now, looked: now, paused: 0 }
    }

    /// Whether the job goes on from what was kept.
    pub fn resumes(&self) -> bool {
        self.overseer.resumes()
    }

    /// Has all pieces taken that this worker goes on from.
    ///
    /// # Errors
    /// They make no sense, a limit was reached, or somebody else has a reason to stop.
    pub fn restore(&mut self, mut take: impl FnMut(&[u8]) -> Result<Figures, PartError>) -> Result<(), Stop> {
        let mut account = self.account();
        while let Some(piece) = self.overseer.next_piece(&account)? {
            self.note(take(&piece)?);
            account = self.account();
            self.overseer.look(&account)?;
        }
        Ok(())
    }

    /// Which worker this is.
    pub fn me(&self) -> usize {
        self.worker.index()
    }

    /// How many workers there are.
    pub fn peers(&self) -> usize {
        self.worker.peers()
    }

    /// What the worker has done.
    pub fn account(&mut self) -> Account {
        self.account.progress = *self.progress.borrow();
        self.account.elapsed = self.start.elapsed().as_secs_f64();
        self.account
    }

    /// Runs a part through all its stages. All workers must run their parts in the same order.
    ///
    /// # Errors
    /// The part cannot go on, or somebody else cannot.
    pub fn run(&mut self, part: &mut dyn Part) -> Result<(), Stop> {
        let mut exchange = Exchange::new(self.worker);
        let ran = Run::new(self, &mut exchange).stages(part);
        self.note(part.figures());
        match ran {
            Ok(()) => exchange.finish(self.worker),
            Err(_) => exchange.abandon(self.worker),
        }
        ran
    }

    /// Waits until all workers have ended all their dataflows.
    ///
    /// # Errors
    /// Somebody cannot.
    pub fn finish(&mut self) -> Result<(), Stop> {
        while self.worker.has_dataflows() {
            self.worker.step_or_park(Some(NAP));
            let account = self.account();
            self.overseer.look(&account)?;
        }
        Ok(())
    }

    fn note(&mut self, figures: Figures) {
        self.account.figures = figures;
        self.account.peak = self.account.peak.max(figures.memory);
    }

    fn look(&mut self, figures: impl FnOnce() -> Figures) -> Result<(), Stop> {
        let now = Instant::now();
        if now.duration_since(self.looked) < LOOK {
            return Ok(());
        }
        self.looked = now;
        self.note(figures());
        let account = self.account();
        self.overseer.look(&account)
    }
}

/// A part's run at work.
struct Run<'d, 'a, 'e> {
    driver: &'d mut Driver<'a>,
    exchange: &'e mut Exchange,
    out: Outbox,
    peers: Vec<Peer>,
    quantum: usize,
    /// The answer is known.
    stopped: bool,
    /// All are to pause: the number of the pause.
    pause: Option<u32>,
    /// Some work was done in this stage.
    worked: bool,
}

impl<'d, 'a, 'e> Run<'d, 'a, 'e> {
    fn new(driver: &'d mut Driver<'a>, exchange: &'e mut Exchange) -> Self {
        let (me, peers) = (driver.me(), driver.peers());
        Run {
            driver,
            exchange,
            out: Outbox::new(me, peers),
            peers: vec![Peer::default(); peers],
            quantum: FIRST_QUANTUM,
            stopped: false,
            pause: None,
            worked: false,
        }
    }

    fn stages(mut self, part: &mut dyn Part) -> Result<(), Stop> {
        let mut work = Work::More;
        loop {
            self.step(work);
            if self.receive(part)? {
                work = Work::More;
            }
            if self.exchange.is_quiet() {
                if self.stopped {
                    return Ok(());
                }
                match self.pause.take() {
                    Some(number) => self.hand_out(part, number)?,
                    None if part.next_stage()? => {}
                    None => return Ok(()),
                }
                self.exchange.next_stage();
                (work, self.worked) = (Work::More, false);
            }
            match part.can_be_kept() {
                Keepable::Now if self.is_at_work(work) && self.worked => self.pause_all_if_wanted(),
                Keepable::Never => self.decline_if_wanted()?,
                Keepable::Now | Keepable::Later => {}
            }
            if self.pause.is_some() && !self.stopped {
                part.settle(&mut self.out)?;
            }
            if self.is_at_work(work) && !self.is_held_back() {
                work = part.work(self.quantum, &mut self.out)?;
                self.worked = true;
                self.quantum = (self.quantum * 2).min(LARGEST_QUANTUM);
                if work == Work::Decided {
                    self.stop_all();
                }
            }
            self.flush();
            self.exchange.set_busy(self.is_at_work(work));
            let out = &self.out;
            self.driver.look(|| {
                let figures = part.figures();
                Figures { memory: figures.memory + out.memory(), ..figures }
            })?;
        }
    }

    /// Lets timely run; waits a little when there is nothing to do here.
    fn step(&mut self, work: Work) {
        if self.is_at_work(work) && !self.is_held_back() {
            self.driver.worker.step();
            return;
        }
        let before = Instant::now();
        self.driver.worker.step_or_park(Some(NAP));
        self.driver.account.idle += before.elapsed().as_secs_f64();
    }

    /// Whether there is something that may be done.
    fn is_at_work(&self, work: Work) -> bool {
        work == Work::More && !self.stopped && self.pause.is_none()
    }

    fn is_held_back(&self) -> bool {
        let room = self.driver.account.figures.memory / (SMALL_PART * PACKET as u64);
        let others = self.peers.len().saturating_sub(1).max(1) as u64;
        let window = WINDOW.max((WINDOWS.min(room) / others) as u32);
        self.peers.iter().any(|peer| peer.out >= window)
    }

    /// Takes all that has arrived; tells whether anything did that a part cares about.
    fn receive(&mut self, part: &mut dyn Part) -> Result<bool, Stop> {
        let mut any = false;
        while let Some(parcel) = self.exchange.take() {
            let from = usize::from(parcel.from);
            let peer = &mut self.peers[from];
            peer.out = peer.out.saturating_sub(u32::from(parcel.acknowledged));
            match parcel.kind {
                ACKNOWLEDGE => continue,
                STOP => self.set_stopped(),
                PAUSE => {
                    let number = parcel.records().first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                    self.pause = self.pause.max(Some(number));
                }
                kind => {
                    peer.owed += 1;
                    self.driver.account.received += u64::from(parcel.count);
                    if !self.stopped {
                        part.receive(from, kind, parcel.records())?;
                        any = true;
                    }
                }
            }
            if let Some(bytes) = parcel.into_bytes_of_its_own() {
                self.out.recycle(bytes);
            }
        }
        Ok(any)
    }

    fn set_stopped(&mut self) {
        self.stopped = true;
        self.driver.account.stopped = true;
    }

    fn stop_all(&mut self) {
        self.set_stopped();
        drop(self.out.take());
        self.tell_all(STOP, &[]);
    }

    fn tell_all(&mut self, kind: u8, bytes: &[u8]) {
        for to in (0..self.peers.len()).filter(|to| *to != self.out.me()) {
            let packet = Packet { to: to as u16, kind, records: 0, bytes: bytes.to_vec() };
            self.exchange.send(Parcel::new(self.out.me(), packet, 0));
        }
    }

    /// Tells everybody to pause, if somebody wants that.
    fn pause_all_if_wanted(&mut self) {
        let wanted = self.driver.overseer.wanted_pause();
        if wanted > self.driver.paused {
            self.pause = Some(wanted);
            self.tell_all(PAUSE, &wanted.to_le_bytes());
        }
    }

    /// Tells whoever wants a pause that there is nothing to be had in it.
    fn decline_if_wanted(&mut self) -> Result<(), Stop> {
        let wanted = self.driver.overseer.wanted_pause();
        if wanted > self.driver.paused {
            self.driver.paused = wanted;
            self.driver.overseer.hand_out(Handed::Nothing(wanted))?;
        }
        Ok(())
    }

    /// Hands out what the part has, now that nothing is in flight.
    fn hand_out(&mut self, part: &mut dyn Part, number: u32) -> Result<(), Stop> {
        let overseer = &mut *self.driver.overseer;
        let mut handed = Ok(());
        let _ = part.hand_out(&mut |piece| {
            handed = overseer.hand_out(Handed::Piece(piece));
            if handed.is_ok() { Flow::Continue(()) } else { Flow::Break(()) }
        });
        handed?;
        self.driver.paused = number;
        overseer.hand_out(Handed::Whole(number))
    }

    /// Sends what was posted and acknowledges what is owed.
    fn flush(&mut self) {
        let me = self.out.me();
        let account = &mut self.driver.account;
        for packet in self.out.take() {
            let peer = &mut self.peers[usize::from(packet.to)];
            peer.out += 1;
            account.messages += u64::from(packet.records);
            account.packets += 1;
            account.bytes += packet.bytes.len() as u64;
            self.exchange.send(Parcel::new(me, packet, std::mem::take(&mut peer.owed)));
        }
        for (to, peer) in self.peers.iter_mut().enumerate() {
            if peer.owed >= OWED {
                let packet = Packet { to: to as u16, kind: ACKNOWLEDGE, ..Packet::default() };
                self.exchange.send(Parcel::new(me, packet, std::mem::take(&mut peer.owed)));
            }
        }
    }
}
