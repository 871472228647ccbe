//! Michael and Scott's lock-free queue ("Simple, fast, and practical non-blocking and blocking concurrent
//! queue algorithms", 1996, figure 1): a linked list with a dummy node, nodes that are used again, and
//! pointers with counters.
//!
//! Without the counters a thread that was interrupted takes a node that was freed and used again for the one
//! that it has seen (the ABA problem), and a value is dequeued that is no longer the oldest. Beside the list
//! there is the queue as it should be, and every successful dequeue is compared with it. No state counts are
//! published for this model.

use volee_models::{Model, Pack, Property, Row, Set};

/// Threads that use a queue.
pub struct LockFreeQueue {
    pub scripts: Vec<Vec<Operation>>,
    pub nodes: u8,
    /// Whether pointers have counters.
    pub counters: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Enqueue(u8),
    Dequeue,
}

/// A node, and how often the pointer was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
pub struct Pointer {
    pub node: Option<u8>,
    pub count: u8,
}

#[derive(Clone, Debug, Pack)]
pub struct Node {
    pub value: u8,
    pub next: Pointer,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pack)]
pub enum Line {
    Begin,
    EnqueueReadTail,
    EnqueueReadNext,
    EnqueueLink,
    EnqueueSwingTail,
    DequeueReadTail,
    DequeueReadNext,
    DequeueCheck,
    DequeueSwingHead,
    DequeueFree,
}

#[derive(Clone, Debug, Pack)]
pub struct Thread {
    pub line: Line,
    /// Operations that are done.
    pub done: u8,
    pub own: Option<u8>,
    pub head: Pointer,
    pub tail: Pointer,
    pub next: Pointer,
    pub value: u8,
}

#[derive(Clone, Debug, Pack)]
pub struct State {
    pub head: Pointer,
    pub tail: Pointer,
    pub nodes: Row<Node>,
    pub threads: Row<Thread>,
    pub free: Set<u8>,
    /// The queue as it should be.
    pub queue: Vec<u8>,
    /// The last thing that was dequeued, and what it should have been.
    pub last: Option<(u8, Option<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub thread: u8,
    pub line: Line,
}

const NULL: Pointer = Pointer { node: None, count: 0 };

impl LockFreeQueue {
    /// One value is in the queue; one thread takes it, while another takes and puts so often that nodes come
    /// back.
    pub fn reuse(counters: bool) -> Self {
        use Operation::{Dequeue, Enqueue};
        let scripts = vec![vec![Enqueue(1), Dequeue], vec![Dequeue, Enqueue(2), Dequeue, Enqueue(3)]];
        LockFreeQueue { scripts, nodes: 3, counters }
    }

    fn operation(&self, number: usize, thread: &Thread) -> Option<Operation> {
        self.scripts[number].get(usize::from(thread.done)).copied()
    }

    /// A pointer to a node after one that was there.
    fn after(&self, old: Pointer, node: Option<u8>) -> Pointer {
        Pointer { node, count: if self.counters { old.count.wrapping_add(1) } else { 0 } }
    }

    fn enqueue(&self, state: &mut State, number: usize) {
        let thread = &mut state.threads[number];
        match thread.line {
            Line::EnqueueReadTail => (thread.tail, thread.line) = (state.tail, Line::EnqueueReadNext),
            Line::EnqueueReadNext => {
                thread.next = thread.tail.node.map_or(NULL, |n| state.nodes[usize::from(n)].next);
                let same = thread.tail == state.tail;
                thread.line = if same { Line::EnqueueLink } else { Line::EnqueueReadTail };
            }
            Line::EnqueueLink => {
                let Some(last) = thread.tail.node else { return };
                let last = &mut state.nodes[usize::from(last)];
                match thread.next.node {
                    None if last.next == thread.next => {
                        last.next = self.after(thread.next, thread.own);
                        state.queue.push(thread.value);
                        thread.line = Line::EnqueueSwingTail;
                    }
                    None => thread.line = Line::EnqueueReadTail,
                    // Somebody else has not yet moved the tail: help.
                    Some(next) => {
                        if state.tail == thread.tail {
                            state.tail = self.after(thread.tail, Some(next));
                        }
                        thread.line = Line::EnqueueReadTail;
                    }
                }
            }
            _ => {
                if state.tail == thread.tail {
                    state.tail = self.after(thread.tail, thread.own);
                }
                finish(thread);
            }
        }
    }

    fn dequeue(&self, state: &mut State, number: usize) {
        let thread = &mut state.threads[number];
        match thread.line {
            Line::DequeueReadTail => (thread.tail, thread.line) = (state.tail, Line::DequeueReadNext),
            Line::DequeueReadNext => {
                thread.next = thread.head.node.map_or(NULL, |n| state.nodes[usize::from(n)].next);
                thread.line = Line::DequeueCheck;
            }
            Line::DequeueCheck if thread.head != state.head => thread.line = Line::Begin,
            Line::DequeueCheck if thread.head.node == thread.tail.node => match thread.next.node {
                None => finish(thread),
                Some(next) => {
                    if state.tail == thread.tail {
                        state.tail = self.after(thread.tail, Some(next));
                    }
                    thread.line = Line::Begin;
                }
            },
            Line::DequeueCheck => {
                thread.value = thread.next.node.map_or(0, |n| state.nodes[usize::from(n)].value);
                thread.line = Line::DequeueSwingHead;
            }
            Line::DequeueSwingHead if state.head != thread.head => thread.line = Line::Begin,
            Line::DequeueSwingHead => {
                state.head = self.after(thread.head, thread.next.node);
                let oldest = (!state.queue.is_empty()).then(|| state.queue.remove(0));
                state.last = Some((thread.value, oldest));
                thread.line = Line::DequeueFree;
            }
            _ => {
                if let Some(node) = thread.head.node {
                    state.free.insert(node);
                }
                finish(thread);
            }
        }
    }
}

/// The operation is done, and what a thread knew of it is forgotten.
fn finish(thread: &mut Thread) {
    *thread = Thread { done: thread.done + 1, ..IDLE };
}

const IDLE: Thread =
    Thread { line: Line::Begin, done: 0, own: None, head: NULL, tail: NULL, next: NULL, value: 0 };

impl Model for LockFreeQueue {
    type State = State;
    type Action = Step;

    fn initial(&self) -> Vec<State> {
        let dummy = Pointer { node: Some(0), count: 0 };
        let nodes = Row::of(usize::from(self.nodes), Node { value: 0, next: NULL });
        let threads = Row::of(self.scripts.len(), IDLE);
        let free = (1..self.nodes).collect();
        vec![State { head: dummy, tail: dummy, nodes, threads, free, queue: Vec::new(), last: None }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        for (number, thread) in state.threads.iter().enumerate() {
            let can = match self.operation(number, thread) {
                Some(Operation::Enqueue(_)) => thread.line != Line::Begin || !state.free.is_empty(),
                Some(Operation::Dequeue) => true,
                None => false,
            };
            if can {
                actions.push(Step { thread: number as u8, line: thread.line });
            }
        }
    }

    fn apply(&self, state: &mut State, step: &Step) {
        let number = usize::from(step.thread);
        let Some(operation) = self.operation(number, &state.threads[number]) else { return };
        state.last = None;
        match (step.line, operation) {
            (Line::Begin, Operation::Enqueue(value)) => {
                let Some(&node) = state.free.first() else { return };
                state.free.remove(&node);
                // The counter of a node stays when the node is used again.
                let count = state.nodes[usize::from(node)].next.count;
                state.nodes[usize::from(node)] = Node { value, next: Pointer { node: None, count } };
                let thread = &mut state.threads[number];
                (thread.own, thread.value, thread.line) = (Some(node), value, Line::EnqueueReadTail);
            }
            (Line::Begin, Operation::Dequeue) => {
                let thread = &mut state.threads[number];
                *thread = Thread { done: thread.done, head: state.head, line: Line::DequeueReadTail, ..IDLE };
            }
            (_, Operation::Enqueue(_)) => self.enqueue(state, number),
            (_, Operation::Dequeue) => self.dequeue(state, number),
        }
    }

    fn fails(&self, _: &State, _: &Step, after: &State) -> Option<String> {
        let (value, oldest) = after.last?;
        (oldest != Some(value)).then(|| match oldest {
            Some(oldest) => format!("{value} is dequeued, and {oldest} is the oldest"),
            None => format!("{value} is dequeued, and the queue is empty"),
        })
    }

    fn may_end(&self, state: &State) -> bool {
        state
            .threads
            .iter()
            .zip(&self.scripts)
            .all(|(thread, script)| usize::from(thread.done) == script.len())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::sometimes("two values wait", |_, state: &State| state.queue.len() == 2)]
    }

    fn process(&self, step: &Step) -> Option<u8> {
        Some(step.thread)
    }

    fn process_name(&self, _: u8) -> String {
        "thread".into()
    }

    fn describe(&self, step: &Step) -> String {
        format!("{:?}", step.line)
    }
}
