//! Channels in the explicit half: which messages are in a buffer is part of a location.
//!
//! A field of a message is a number or, where the value sent is a form of unbounded variables, a column of
//! its own; taking a message out moves the columns of the later ones up. Columns that no message uses are 0,
//! so that equal states are equal.

use volee_integers::{Int, Row};
use volee_program::{ChannelTest, ChannelType, Expr, Location, Pattern};
use volee_system::Place;

use super::evaluate::{Branch, Evaluator, Key, Result, column_value, unsupported};
use super::formula::{Formula, add, constant};

const NO_CHANNEL: &str = "this channel variable does not hold a channel (it is uninitialised)";

impl<'a> Evaluator<'a> {
    /// The channel that an expression means, by its position.
    pub(super) fn channel(
        &mut self,
        branch: &Branch,
        pid: Option<usize>,
        expr: &Expr,
        place: &Option<Place>,
    ) -> Result<Option<usize>> {
        let number = self.number(branch, pid, expr)?;
        let found = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let found = found.filter(|&c| c < branch.explicit.channels.len());
        if found.is_none() {
            self.fail(&Formula::truth(true), NO_CHANNEL.into(), place.clone())?;
        }
        Ok(found)
    }

    pub(super) fn kind(&self, branch: &Branch, channel: usize) -> &'a ChannelType {
        &self.program.channel_types[branch.explicit.channels[channel].kind as usize]
    }

    /// Whether this is a rendezvous channel.
    pub(super) fn meets(&self, branch: &Branch, channel: usize) -> bool {
        self.kind(branch, channel).capacity == 0
    }

    pub(super) fn has_room(&self, branch: &Branch, channel: usize) -> bool {
        branch.explicit.channels[channel].messages.len() < self.kind(branch, channel).capacity as usize
    }

    pub(super) fn channel_test(
        &mut self,
        branch: &Branch,
        pid: Option<usize>,
        test: ChannelTest,
        channel: &Expr,
        place: &Option<Place>,
    ) -> Result<i64> {
        let Some(channel) = self.channel(branch, pid, channel, place)? else { return Ok(0) };
        let length = branch.explicit.channels[channel].messages.len();
        let capacity = self.kind(branch, channel).capacity.max(1) as usize;
        Ok(match test {
            ChannelTest::Len => length as i64,
            ChannelTest::Empty => i64::from(length == 0),
            ChannelTest::NotEmpty => i64::from(length != 0),
            ChannelTest::Full => i64::from(length >= capacity),
            ChannelTest::NotFull => i64::from(length < capacity),
        })
    }

    pub(super) fn poll(
        &mut self,
        branch: &Branch,
        pid: Option<usize>,
        channel: &Expr,
        patterns: &[Pattern],
        anywhere: bool,
        place: &Option<Place>,
    ) -> Result<Formula> {
        let mut any = Formula::truth(false);
        let Some(channel) = self.channel(branch, pid, channel, place)? else { return Ok(any) };
        if self.meets(branch, channel) {
            let message = "a rendezvous channel cannot be polled: it is always empty".into();
            self.fail(&Formula::truth(true), message, place.clone())?;
            return Ok(any);
        }
        let length = branch.explicit.channels[channel].messages.len();
        for slot in 0..if anywhere { length } else { length.min(1) } {
            let message = self.stored(branch, channel, slot);
            any = any.or(&self.accepts(branch, pid, patterns, &message)?)?;
        }
        Ok(any)
    }

    fn field_column(&mut self, branch: &Branch, channel: usize, slot: usize, field: usize) -> usize {
        let scalar = self.kind(branch, channel).fields[field].0;
        let name = || format!("message {}.{} of channel {}", slot + 1, field + 1, channel + 1);
        self.columns.of(Key::Field { channel, slot, field }, scalar, name)
    }

    /// The values of a message in a buffer.
    fn stored(&mut self, branch: &Branch, channel: usize, slot: usize) -> Vec<Row> {
        let fields = branch.explicit.channels[channel].messages[slot].clone();
        let mut values = Vec::new();
        for (field, value) in fields.into_iter().enumerate() {
            values.push(match value {
                Some(number) => vec![Int::from(number)],
                None => column_value(branch, self.field_column(branch, channel, slot, field)),
            });
        }
        values
    }

    /// When a receive with these patterns takes this message.
    pub(super) fn accepts(
        &mut self,
        branch: &Branch,
        pid: Option<usize>,
        patterns: &[Pattern],
        message: &[Row],
    ) -> Result<Formula> {
        let mut all = Formula::truth(true);
        for (field, pattern) in patterns.iter().enumerate() {
            let Pattern::Match(expr) = pattern else { continue };
            let nothing = [Int::ZERO];
            let value = message.get(field).map_or(&nothing[..], Vec::as_slice);
            let mut equal = Formula::truth(false);
            for case in self.cases(branch, pid, expr)? {
                equal = equal.or(&case.when.and(&Formula::zero(add(&case.value, -1, value))?)?)?;
            }
            all = all.and(&equal)?;
        }
        Ok(all)
    }

    /// The slots that a receive may take its message from, and when each is the first that fits.
    pub(super) fn receivable(
        &mut self,
        branch: &Branch,
        pid: usize,
        channel: usize,
        patterns: &[Pattern],
        anywhere: bool,
    ) -> Result<Vec<(usize, Formula)>> {
        let length = branch.explicit.channels[channel].messages.len();
        let mut out = Vec::new();
        let mut before = Formula::truth(false);
        for slot in 0..if anywhere { length } else { length.min(1) } {
            let message = self.stored(branch, channel, slot);
            let fits = self.accepts(branch, Some(pid), patterns, &message)?;
            let first = fits.and(&before.not()?)?;
            before = before.or(&fits)?;
            if !first.is_false() {
                out.push((slot, first));
            }
        }
        Ok(out)
    }

    /// The values of a message as the fields of the channel hold them, in each way in which they can wrap.
    pub(super) fn message(
        &mut self,
        branch: &Branch,
        pid: usize,
        channel: usize,
        values: &[Expr],
    ) -> Result<Vec<(Formula, Vec<Row>)>> {
        let fields = &self.kind(branch, channel).fields;
        if values.len() != fields.len() {
            let message = "this message has not as many fields as the channel".into();
            self.fail(&Formula::truth(true), message, None)?;
        }
        let mut out = vec![(Formula::truth(true), Vec::new())];
        for (field, (scalar, _)) in fields.iter().enumerate() {
            let mut next = Vec::new();
            let cases = match values.get(field) {
                Some(expr) => self.cases(branch, Some(pid), expr)?,
                None => self.cases(branch, Some(pid), &Expr::Const(0))?,
            };
            for case in cases {
                for (wraps, value) in self.wrapped(*scalar, case.value, &None)? {
                    for (when, message) in &out {
                        let when = when.and(&case.when)?.and(&wraps)?;
                        if !when.is_false() {
                            let mut message: Vec<Row> = message.clone();
                            message.push(value.clone());
                            next.push((when, message));
                        }
                    }
                }
            }
            out = next;
        }
        Ok(out)
    }

    /// Puts a message into a buffer that has room.
    pub(super) fn insert(
        &mut self,
        branch: &mut Branch,
        channel: usize,
        message: &[Row],
        sorted: bool,
    ) -> Result<()> {
        let numbers: Vec<Option<i32>> =
            message.iter().map(|row| constant(row).and_then(Int::to_i64).map(|n| n as i32)).collect();
        let stored = &branch.explicit.channels[channel].messages;
        if sorted {
            let known = numbers.iter().chain(stored.iter().flatten()).all(Option::is_some);
            if !known {
                return unsupported("messages with unbounded values cannot be sorted", None);
            }
            let at = stored.iter().position(|other| numbers < *other).unwrap_or(stored.len());
            branch.explicit.channels[channel].messages.insert(at, numbers);
            return Ok(());
        }
        let slot = stored.len();
        for (field, (number, row)) in numbers.iter().zip(message).enumerate() {
            if number.is_none() {
                let column = self.field_column(branch, channel, slot, field);
                branch.updates.insert(column, row.clone());
            }
        }
        branch.explicit.channels[channel].messages.push(numbers);
        Ok(())
    }

    /// The message in a slot; it leaves the buffer unless it is kept.
    pub(super) fn remove(
        &mut self,
        branch: &mut Branch,
        channel: usize,
        slot: usize,
        keep: bool,
    ) -> Vec<Row> {
        let message = self.stored(branch, channel, slot);
        if !keep {
            let later = branch.explicit.channels[channel].messages.len();
            for to in slot..later {
                let values = if to + 1 < later { self.stored(branch, channel, to + 1) } else { Vec::new() };
                self.overwrite(branch, channel, to, &values);
            }
            branch.explicit.channels[channel].messages.remove(slot);
        }
        message
    }

    /// Gives the columns of a slot the values of another message; those that are not needed become 0.
    fn overwrite(&mut self, branch: &mut Branch, channel: usize, slot: usize, values: &[Row]) {
        let own = branch.explicit.channels[channel].messages[slot].clone();
        let next = branch.explicit.channels[channel].messages.get(slot + 1).cloned().unwrap_or_default();
        for field in 0..own.len() {
            let moved = next.get(field).is_some_and(Option::is_none);
            if moved || own[field].is_none() {
                let value = if moved { values[field].clone() } else { vec![Int::ZERO] };
                let column = self.field_column(branch, channel, slot, field);
                branch.updates.insert(column, value);
            }
        }
    }

    /// Forgets what is in a channel that goes.
    pub(super) fn clear(&mut self, branch: &mut Branch, channel: usize) {
        for slot in 0..branch.explicit.channels[channel].messages.len() {
            for field in 0..branch.explicit.channels[channel].messages[slot].len() {
                if branch.explicit.channels[channel].messages[slot][field].is_none() {
                    let column = self.field_column(branch, channel, slot, field);
                    branch.updates.insert(column, vec![Int::ZERO]);
                }
            }
        }
    }

    /// Stores the fields of a message where a receive wants them.
    pub(super) fn bind(
        &mut self,
        branch: Branch,
        pid: usize,
        patterns: &[Pattern],
        message: &[Row],
    ) -> Result<Vec<Branch>> {
        let mut all = vec![branch];
        for (field, pattern) in patterns.iter().enumerate() {
            let Pattern::Bind(location) = pattern else { continue };
            let value = message.get(field).cloned().unwrap_or_else(|| vec![Int::ZERO]);
            all = self.store_in_all(all, pid, location, &value)?;
        }
        Ok(all)
    }

    fn store_in_all(
        &mut self,
        branches: Vec<Branch>,
        pid: usize,
        location: &Location,
        value: &Row,
    ) -> Result<Vec<Branch>> {
        let mut out = Vec::new();
        for branch in branches {
            out.extend(self.store(branch, Some(pid), location, value.clone())?);
        }
        Ok(out)
    }
}
