//! Values of variables and expressions over them.
//!
//! A valuation has one cell per byte of the program's layout, of which only the first of each variable is used. Reading or
//! writing a global is noted, because a step that never does either is the same for all values of the globals.

use volee_program::{ChannelTest, Expr, Location, Pattern, Scope};

use super::world::{ChannelAt, World};

/// Values of globals and of the locals of one process.
#[derive(Clone)]
pub struct Valuation<'w> {
    world: &'w World<'w>,
    pub globals: Vec<i32>,
    pub locals: Vec<i32>,
    /// A global was read or written that can change.
    pub touched: bool,
    /// The first run-time error met. As in the machine, evaluation goes on with 0 and a store into nowhere is lost.
    pub fault: Option<String>,
}

impl<'w> Valuation<'w> {
    pub fn new(world: &'w World<'w>, globals: Vec<i32>, locals: Vec<i32>) -> Self {
        Valuation { world, globals, locals, touched: false, fault: None }
    }

    pub fn fail(&mut self, message: impl Into<String>) -> i32 {
        self.fault.get_or_insert_with(|| message.into());
        0
    }

    fn offset(&mut self, location: &Location) -> Option<usize> {
        let mut offset = location.offset;
        for index in &location.indices {
            match u32::try_from(self.value(&index.value)) {
                Ok(i) if i < index.count => offset += i * index.stride,
                _ => {
                    self.fail(format!("array index out of range (there are {} elements)", index.count));
                    return None;
                }
            }
        }
        Some(offset as usize)
    }

    /// Stores a value.
    pub fn store(&mut self, location: &Location, value: i32) {
        let Some(offset) = self.offset(location) else { return };
        let value = location.scalar.wrap(value);
        match location.scope {
            Scope::Global => {
                self.touched = true;
                self.globals[offset] = value;
            }
            Scope::Local => self.locals[offset] = value,
            Scope::Nowhere => {}
        }
    }

    fn load(&mut self, location: &Location) -> i32 {
        let Some(offset) = self.offset(location) else { return 0 };
        match location.scope {
            Scope::Global => {
                self.touched |= !self.world.is_fixed(offset);
                self.globals[offset]
            }
            Scope::Local => self.locals[offset],
            Scope::Nowhere => 0,
        }
    }

    /// The value of an expression of the class that [`super::class`] lets through.
    pub fn value(&mut self, expr: &Expr) -> i32 {
        match expr {
            Expr::Const(k) => *k,
            Expr::Load(location) => self.load(location),
            Expr::Not(e) => i32::from(self.value(e) == 0),
            Expr::Neg(e) => self.value(e).wrapping_neg(),
            Expr::Complement(e) => !self.value(e),
            Expr::Cond(c, a, b) => {
                let chosen = if self.value(c) != 0 { a } else { b };
                self.value(chosen)
            }
            Expr::Binary(op, a, b, _) => {
                let a = self.value(a);
                if let Some(known) = op.decided_by(a) {
                    return known;
                }
                let b = self.value(b);
                op.apply(a, b).unwrap_or_else(|| self.fail("division by zero"))
            }
            Expr::Channel(test, channel, _) => self.test(*test, channel),
            Expr::Poll { channel, patterns, anywhere, .. } => self.poll(channel, patterns, *anywhere),
            _ => self.fail("this expression depends on how many processes there are"),
        }
    }

    /// The channel that an expression means.
    pub fn channel(&mut self, expr: &Expr) -> Option<ChannelAt> {
        let number = self.value(expr);
        let channel = self.world.channel(number);
        if channel.is_none() {
            self.fail("this channel variable does not hold a channel (it is uninitialised)");
        }
        channel
    }

    /// How many messages a channel has.
    pub fn length(&mut self, channel: ChannelAt) -> usize {
        if channel.capacity == 0 {
            return 0;
        }
        self.touched = true;
        self.globals[channel.start] as usize
    }

    fn test(&mut self, test: ChannelTest, channel: &Expr) -> i32 {
        let Some(channel) = self.channel(channel) else { return 0 };
        let length = self.length(channel);
        match test {
            ChannelTest::Len => length as i32,
            ChannelTest::Empty => i32::from(length == 0),
            ChannelTest::NotEmpty => i32::from(length != 0),
            ChannelTest::Full => i32::from(length >= channel.capacity.max(1)),
            ChannelTest::NotFull => i32::from(length < channel.capacity.max(1)),
        }
    }

    fn poll(&mut self, channel: &Expr, patterns: &[Pattern], anywhere: bool) -> i32 {
        let Some(channel) = self.channel(channel) else { return 0 };
        if channel.capacity == 0 {
            return self.fail("a rendezvous channel cannot be polled: it is always empty");
        }
        i32::from(self.find(channel, patterns, anywhere).is_some())
    }

    /// The slot of the message that a receive would take.
    pub fn find(&mut self, channel: ChannelAt, patterns: &[Pattern], anywhere: bool) -> Option<usize> {
        let length = self.length(channel);
        let candidates = if anywhere { length } else { length.min(1) };
        (0..candidates).find(|&slot| {
            patterns.iter().enumerate().all(|(f, pattern)| match pattern {
                Pattern::Match(e) => {
                    let field = if f < channel.fields { self.globals[channel.slot(slot) + f] } else { 0 };
                    self.value(e) == field
                }
                _ => true,
            })
        })
    }

    /// The values of a message as the fields of the channel hold them.
    pub fn message(&mut self, channel: ChannelAt, values: &[Expr]) -> Vec<i32> {
        let mut message: Vec<i32> = values.iter().map(|v| self.value(v)).collect();
        if message.len() != channel.fields {
            self.fail("this message has not as many fields as the channel");
        }
        message.resize(channel.fields, 0);
        let kind = self.world.kind(channel);
        for (value, (scalar, _)) in message.iter_mut().zip(&kind.fields) {
            *value = scalar.wrap(*value);
        }
        message
    }

    /// Puts a message into a buffer that has room.
    pub fn insert(&mut self, channel: ChannelAt, message: &[i32], sorted: bool) {
        let length = self.length(channel);
        let stored = |slot: usize| &self.globals[channel.slot(slot)..channel.slot(slot + 1)];
        let place = if sorted { (0..length).find(|&slot| message < stored(slot)) } else { None };
        let at = channel.slot(place.unwrap_or(length));
        self.globals.copy_within(at..channel.slot(length), at + channel.fields);
        self.globals[at..at + channel.fields].copy_from_slice(message);
        self.globals[channel.start] += 1;
    }

    /// Takes the message out of a slot, or looks at it.
    pub fn take(&mut self, channel: ChannelAt, slot: usize, keep: bool) -> Vec<i32> {
        let message = self.globals[channel.slot(slot)..channel.slot(slot + 1)].to_vec();
        if !keep {
            let end = channel.slot(self.length(channel));
            self.globals.copy_within(channel.slot(slot + 1)..end, channel.slot(slot));
            self.globals[end - channel.fields..end].fill(0);
            self.globals[channel.start] -= 1;
        }
        message
    }

    /// Stores the fields of a message where a receive wants them.
    pub fn bind(&mut self, patterns: &[Pattern], message: &[i32]) {
        for (f, pattern) in patterns.iter().enumerate() {
            if let Pattern::Bind(location) = pattern {
                self.store(location, message.get(f).copied().unwrap_or(0));
            }
        }
    }
}
