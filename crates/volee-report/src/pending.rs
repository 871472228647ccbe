//! Which message a receipt takes: of those that wait in its channel the first that fits.
//!
//! A channel is a queue, so that is the oldest; where the model takes messages out of order (`??`) or sorts
//! them in (`!!`), the oldest with the same values. A copy (`?<…>`) leaves its message where it is.

use std::collections::HashMap;

use volee_system::{Action, Event};

/// For each channel the messages that wait in it, oldest first, with their values.
pub(crate) struct Pending<T>(HashMap<u32, Vec<(T, Vec<String>)>>);

impl<T> Pending<T> {
    pub fn new() -> Self {
        Pending(HashMap::new())
    }

    /// A message enters its channel.
    pub fn send(&mut self, event: &Event, what: T) {
        self.0.entry(event.channel_id).or_default().push((what, event.values.clone()));
    }

    /// The message that this receipt takes out.
    pub fn take(&mut self, action: &Action, event: &Event) -> Option<T> {
        let queue = self.0.get_mut(&event.channel_id)?;
        if action.text.contains("?<") {
            return None;
        }
        let at = queue.iter().position(|(_, values)| *values == event.values).unwrap_or(0);
        (at < queue.len()).then(|| queue.remove(at).0)
    }

    /// Forgets all messages.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain().flat_map(|(_, queue)| queue).map(|(what, _)| what)
    }
}
