//! Values of variables and expressions over them.
//!
//! A valuation has one cell per byte of the program's layout, of which only the first of each variable is
//! used. Reading or writing a global is noted, because a step that never does either is the same for all
//! values of the globals.

use volee_program::{BinaryOp, ChannelTest, Expr, Location, Pattern, Scope};

use super::identity::{Me, SELF, is_name};
use super::world::{ChannelAt, World};

/// Values of globals and of the locals of one process.
#[derive(Clone)]
pub struct Valuation<'w> {
    world: &'w World<'w>,
    /// Who evaluates.
    pub me: Me,
    pub globals: Vec<i32>,
    pub locals: Vec<i32>,
    /// A global was read or written that can change.
    pub touched: bool,
    /// The first run-time error met. As in the machine, evaluation goes on with 0 and a store into nowhere is
    /// lost.
    pub fault: Option<String>,
    /// What was done with a process number that depends on which it is.
    pub refused: Option<String>,
}

impl<'w> Valuation<'w> {
    pub fn new(world: &'w World<'w>, me: Me, globals: Vec<i32>, locals: Vec<i32>) -> Self {
        Valuation { world, me, globals, locals, touched: false, fault: None, refused: None }
    }

    fn refuse(&mut self, what: &str) -> i32 {
        self.refused.get_or_insert_with(|| format!("{what}: outside the class of families of any size"));
        0
    }

    /// A value that must not be a process number of one of the many.
    fn plain(&mut self, value: i32) -> i32 {
        if is_name(value) { self.refuse("a calculation with a process number") } else { value }
    }

    /// Whether two values are equal, where one of them may be a process number.
    fn same(&mut self, a: i32, b: i32) -> bool {
        let number = match (is_name(a), is_name(b)) {
            (true, false) => b,
            (false, true) => a,
            _ => return a == b,
        };
        // The many have the numbers after those of the single processes, at most 255 in all.
        if (self.world.once..255).contains(&number) {
            self.refuse("a process number compared with a number");
        }
        false
    }

    /// Whether a value is not 0.
    fn is_true(&mut self, value: i32) -> bool {
        if is_name(value) && self.world.once == 0 {
            self.refuse("a process number as a condition");
        }
        value != 0
    }

    pub fn fail(&mut self, message: impl Into<String>) -> i32 {
        self.fault.get_or_insert_with(|| message.into());
        0
    }

    fn offset(&mut self, location: &Location) -> Option<usize> {
        let mut offset = location.offset;
        for index in &location.indices {
            let index_value = self.value(&index.value);
            match u32::try_from(self.plain(index_value)) {
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
        let value = if is_name(value) { self.kept(location, value) } else { location.scalar.wrap(value) };
        match location.scope {
            Scope::Global => {
                self.touched = true;
                self.globals[offset] = value;
            }
            Scope::Local => self.locals[offset] = value,
            Scope::Nowhere => {}
        }
    }

    /// A process number as a cell keeps it: that of the process itself stays its own whatever its name is.
    fn kept(&mut self, location: &Location, value: i32) -> i32 {
        if location.scalar.bytes() == 1 && location.scalar.wrap(255) != 255 {
            return self.refuse("a process number in a variable that is too narrow");
        }
        match (location.scope, self.me) {
            (Scope::Local, Me::Many(_)) if Some(value) == self.me.pid() => SELF,
            (Scope::Local, Me::Many(_)) => self.refuse("the number of another process, kept by one of many"),
            _ => value,
        }
    }

    fn load(&mut self, location: &Location) -> i32 {
        let Some(offset) = self.offset(location) else { return 0 };
        match location.scope {
            Scope::Global => {
                self.touched |= !self.world.is_fixed(offset);
                self.globals[offset]
            }
            Scope::Local if self.locals[offset] == SELF => self.me.pid().unwrap_or(SELF),
            Scope::Local => self.locals[offset],
            Scope::Nowhere => 0,
        }
    }

    /// The value of an expression of the class that [`super::class`] lets through.
    pub fn value(&mut self, expr: &Expr) -> i32 {
        match expr {
            Expr::Const(k) => *k,
            Expr::Load(location) => self.load(location),
            Expr::Not(e) => {
                let value = self.value(e);
                i32::from(!self.is_true(value))
            }
            Expr::Neg(e) => {
                let value = self.value(e);
                self.plain(value).wrapping_neg()
            }
            Expr::Complement(e) => {
                let value = self.value(e);
                !self.plain(value)
            }
            Expr::Cond(c, a, b) => {
                let condition = self.value(c);
                let chosen = if self.is_true(condition) { a } else { b };
                self.value(chosen)
            }
            Expr::Binary(op, a, b, _) => self.binary(*op, a, b),
            Expr::Pid if matches!(self.me, Me::Many(_)) && self.world.numbers_return => {
                self.refuse("a process number (`_pid`) that a process started later may get again")
            }
            Expr::Pid => match self.me.pid() {
                Some(pid) => pid,
                None => self.refuse("a process number (`_pid`) that is not known"),
            },
            Expr::Channel(test, channel, _) => self.test(*test, channel),
            Expr::Poll { channel, patterns, anywhere, .. } => self.poll(channel, patterns, *anywhere),
            _ => self.fail("this expression depends on how many processes there are"),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> i32 {
        let a = self.value(a);
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            self.is_true(a);
        }
        if let Some(known) = op.decided_by(a) {
            return known;
        }
        let b = self.value(b);
        match op {
            BinaryOp::Eq => i32::from(self.same(a, b)),
            BinaryOp::Ne => i32::from(!self.same(a, b)),
            BinaryOp::And | BinaryOp::Or => i32::from(self.is_true(b)),
            _ => {
                let (a, b) = (self.plain(a), self.plain(b));
                op.apply(a, b).unwrap_or_else(|| self.fail("division by zero"))
            }
        }
    }

    /// The channel that an expression means.
    pub fn channel(&mut self, expr: &Expr) -> Option<ChannelAt> {
        let number = self.value(expr);
        let number = self.plain(number);
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
                    let value = self.value(e);
                    self.same(value, field)
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
            match is_name(*value) {
                true if scalar.wrap(255) != 255 => {
                    *value = self.refuse("a process number in a field that is too narrow")
                }
                true => {}
                false => *value = scalar.wrap(*value),
            }
        }
        message
    }

    /// Puts a message into a buffer that has room.
    pub fn insert(&mut self, channel: ChannelAt, message: &[i32], sorted: bool) {
        let length = self.length(channel);
        if sorted && message.iter().chain(&self.globals).any(|v| is_name(*v)) {
            self.refuse("a sorted send of process numbers");
        }
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

    /// Whether a receive with these patterns takes a message that is handed over.
    pub fn accepts(&mut self, patterns: &[Pattern], message: &[i32]) -> bool {
        patterns.iter().enumerate().all(|(f, pattern)| match pattern {
            Pattern::Match(e) => {
                let value = self.value(e);
                self.same(value, message.get(f).copied().unwrap_or(0))
            }
            _ => true,
        })
    }

    /// A condition that has a value.
    pub fn holds(&mut self, expr: &Expr) -> bool {
        let value = self.value(expr);
        self.is_true(value)
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
