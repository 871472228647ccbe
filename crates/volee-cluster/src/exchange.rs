//! The one loop of the dataflow: packets go out, are exchanged by their target, and come back in at every
//! worker.
//!
//! The operator holds one capability while its worker has work. A message keeps time from passing as a
//! capability does, so when the frontier has left a stage behind, no worker has work in it and no message of
//! it is in flight: timely's progress tracking is the termination detection that the 2006 system had to
//! write. Times are a stage in the upper half and hops in the lower: the loop adds one, stages never mix. Of
//! several capabilities that a worker could keep it keeps the one it has and takes a new one only when it has
//! none, so times pass only when a worker has been idle, and progress tracking has almost nothing to say
//! while all are busy.
//!
//! Each worker also keeps a capability for the start of the next stage until it knows that there is none. A
//! message of a stage that this worker has not entered yet waits until it has: what a part does when it
//! enters a stage comes before whatever others do in it.
//!
//! The container between workers is bytes: a header of sixteen and the records as the part wrote them.
//! Between threads it moves; between processes it is written once, and read where it arrives.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::rc::Rc;

use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::logging::{TimelyProgressEvent, TimelyProgressEventBuilder};
use timely::scheduling::Activator;
use timely::worker::Worker;
use volee_system::part::Packet;

/// A packet that only acknowledges; it belongs to no stage.
pub const ACKNOWLEDGE: u8 = 0xfe;

/// The time at which a stage starts.
fn start_of(stage: u32) -> u64 {
    u64::from(stage) << 32
}

/// The bytes of a parcel, ours or borrowed from what the network received.
#[derive(Clone)]
enum Body {
    Own(Vec<u8>),
    Received(Bytes),
}

/// A packet on its way.
#[derive(Clone)]
pub struct Parcel {
    to: u16,
    /// Who sent it.
    pub from: u16,
    /// What its records are.
    pub kind: u8,
    /// How many packets of the receiver the sender acknowledges.
    pub acknowledged: u16,
    /// How many records it has.
    pub count: u32,
    body: Body,
    /// An empty container is one that timely made up; a parcel without records is still one record to timely.
    real: bool,
}

impl Default for Parcel {
    fn default() -> Self {
        Parcel {
            to: 0,
            from: 0,
            kind: 0,
            acknowledged: 0,
            count: 0,
            body: Body::Own(Vec::new()),
            real: false,
        }
    }
}

impl Parcel {
    /// A packet and what the sender acknowledges with it.
    pub fn new(from: usize, packet: Packet, acknowledged: u16) -> Self {
        let Packet { to, kind, records: count, bytes } = packet;
        Parcel { to, from: from as u16, kind, acknowledged, count, body: Body::Own(bytes), real: true }
    }

    /// Its records.
    pub fn records(&self) -> &[u8] {
        match &self.body {
            Body::Own(bytes) => bytes,
            Body::Received(bytes) => bytes,
        }
    }

    /// Its bytes, where they are ours to use again.
    pub fn into_bytes_of_its_own(self) -> Option<Vec<u8>> {
        match self.body {
            Body::Own(bytes) => Some(bytes),
            Body::Received(_) => None,
        }
    }
}

impl Accountable for Parcel {
    fn record_count(&self) -> i64 {
        i64::from(self.real)
    }
}

const HEADER: usize = 16;

impl ContainerBytes for Parcel {
    fn from_bytes(mut bytes: Bytes) -> Self {
        let head = bytes.extract_to(HEADER);
        let short = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let long = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let body = Body::Received(bytes.extract_to(long(8) as usize));
        Parcel {
            to: short(0),
            from: short(2),
            acknowledged: short(4),
            kind: head[6],
            count: long(12),
            body,
            real: head[7] == 1,
        }
    }

    fn length_in_bytes(&self) -> usize {
        HEADER + self.records().len().next_multiple_of(8)
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let mut head = [0; HEADER];
        head[0..2].copy_from_slice(&self.to.to_le_bytes());
        head[2..4].copy_from_slice(&self.from.to_le_bytes());
        head[4..6].copy_from_slice(&self.acknowledged.to_le_bytes());
        head[6] = self.kind;
        head[7] = u8::from(self.real);
        head[8..12].copy_from_slice(&(self.records().len() as u32).to_le_bytes());
        head[12..16].copy_from_slice(&self.count.to_le_bytes());
        let padding = self.records().len().next_multiple_of(8) - self.records().len();
        let written = writer
            .write_all(&head)
            .and_then(|()| writer.write_all(self.records()))
            .and_then(|()| writer.write_all(&[0; 8][..padding]));
        written.expect("timely has made room for as many bytes as announced");
    }
}

/// Sends each parcel to its target.
struct ByTarget;

impl Distributor<Parcel> for ByTarget {
    fn partition<T: Clone, P: Push<Message<T, Parcel>>>(
        &mut self,
        parcel: &mut Parcel,
        time: &T,
        pushers: &mut [P],
    ) {
        let to = usize::from(parcel.to);
        Message::push_at(parcel, time.clone(), &mut pushers[to]);
    }

    fn flush<T: Clone, P: Push<Message<T, Parcel>>>(&mut self, _: &T, _: &mut [P]) {}
}

/// What the operator and its worker share.
#[derive(Default)]
struct Shared {
    arrived: VecDeque<Parcel>,
    /// Parcels of the next stage.
    early: Vec<Parcel>,
    /// Something has arrived or was taken since the operator ran.
    touched: bool,
    leaving: Vec<Parcel>,
    /// The worker has work, so the operator must keep a capability.
    busy: bool,
    /// The worker wants to begin this stage.
    stage: u32,
    /// The frontier has left this stage (and all before) behind.
    quiet: Option<u32>,
    /// There is no next stage.
    over: bool,
}

/// A worker's end of the loop.
pub struct Exchange {
    shared: Rc<RefCell<Shared>>,
    activator: Activator,
    dataflow: usize,
}

/// The capabilities of the operator.
struct Held {
    now: Option<Capability<u64>>,
    next: Option<Capability<u64>>,
    stage: u32,
}

impl Held {
    fn follow(&mut self, shared: &mut Shared) {
        if shared.over {
            self.now = None;
            self.next = None;
            return;
        }
        if shared.stage > self.stage {
            self.stage = shared.stage;
            shared.arrived.extend(shared.early.drain(..));
            self.now = self.next.take();
            self.next = self.now.as_ref().map(|now| now.delayed(&start_of(self.stage + 1)));
        }
        if !shared.busy && shared.arrived.is_empty() {
            self.now = None;
        }
    }
}

impl Exchange {
    /// Adds the loop to a worker. All workers must do so in the same order.
    pub fn new(worker: &mut Worker) -> Self {
        let shared = Rc::new(RefCell::new(Shared { busy: true, ..Shared::default() }));
        let inner = Rc::clone(&shared);
        let dataflow = worker.next_dataflow_index();
        let activator = worker.dataflow::<u64, _, _>(|scope| {
            let (handle, arriving) = scope.feedback::<Parcel>(1);
            let mut builder = OperatorBuilder::new("Exchange".to_owned(), scope);
            let mut input = builder.new_input(arriving, DistributorPact(|_| ByTarget));
            let (mut output, leaving) = builder.new_output::<Parcel>();
            leaving.connect_loop(handle);
            let activator = scope.activator_for(builder.operator_info().address);
            builder.build(move |mut capabilities| {
                let now = capabilities.pop();
                let next = now.as_ref().map(|now| now.delayed(&start_of(1)));
                let mut held = Held { now, next, stage: 0 };
                move |frontiers| {
                    let shared = &mut *inner.borrow_mut();
                    shared.touched = false;
                    input.for_each(|capability, parcel| {
                        let parcel = std::mem::take(parcel);
                        if *capability.time() > start_of(held.stage + 1) && parcel.kind != ACKNOWLEDGE {
                            shared.early.push(parcel);
                            return;
                        }
                        if held.now.is_none() && !shared.over {
                            held.now = Some(capability.retain(0));
                        }
                        shared.arrived.push_back(parcel);
                    });
                    if let Some(capability) = held.now.as_ref().or(held.next.as_ref()) {
                        let mut session = output.activate();
                        for mut parcel in shared.leaving.drain(..) {
                            session.give(capability, &mut parcel);
                        }
                    }
                    held.follow(shared);
                    if !frontiers[0].less_equal(&start_of(held.stage + 1)) {
                        shared.quiet = Some(held.stage);
                    }
                }
            });
            activator
        });
        Exchange { shared, activator, dataflow }
    }

    /// Sends a parcel with the next step of the worker.
    pub fn send(&mut self, parcel: Parcel) {
        self.shared.borrow_mut().leaving.push(parcel);
    }

    /// The next parcel that has arrived.
    pub fn take(&mut self) -> Option<Parcel> {
        let mut shared = self.shared.borrow_mut();
        let parcel = shared.arrived.pop_front();
        shared.touched |= parcel.is_some();
        parcel
    }

    /// Says whether the worker has work, and lets the operator know.
    pub fn set_busy(&mut self, busy: bool) {
        let mut shared = self.shared.borrow_mut();
        if shared.busy != busy || !shared.leaving.is_empty() || shared.touched && !busy {
            shared.busy = busy;
            self.activator.activate();
        }
    }

    /// Whether the current stage is over everywhere.
    pub fn is_quiet(&self) -> bool {
        let shared = self.shared.borrow();
        shared.quiet == Some(shared.stage) && shared.arrived.is_empty()
    }

    /// Begins the next stage, busy.
    pub fn next_stage(&mut self) {
        let mut shared = self.shared.borrow_mut();
        shared.stage += 1;
        shared.busy = true;
        self.activator.activate();
    }

    /// There is no next stage. The dataflow ends when all workers have said so.
    pub fn finish(self, worker: &mut Worker) {
        self.shared.borrow_mut().over = true;
        self.activator.activate();
        worker.step();
    }

    /// Takes the loop down whatever the others do.
    pub fn abandon(self, worker: &mut Worker) {
        worker.drop_dataflow(self.dataflow);
    }
}

/// Counts the messages of progress tracking that a worker sends from now on.
pub fn count_progress(worker: &Worker) -> Rc<RefCell<u64>> {
    let count = Rc::new(RefCell::new(0));
    let counter = Rc::clone(&count);
    let peers = worker.peers() as u64;
    if let Some(mut registry) = worker.log_register() {
        let name = format!("timely/progress/{}", std::any::type_name::<u64>());
        registry.insert::<TimelyProgressEventBuilder<u64>, _>(&name, move |_, batch| {
            let sent = batch.iter().flat_map(|events| events.iter()).filter(|(_, e)| is_sent(e)).count();
            *counter.borrow_mut() += sent as u64 * (peers - 1);
        });
    }
    count
}

fn is_sent(event: &TimelyProgressEvent<u64>) -> bool {
    event.is_send
}
