//! Typed states as bytes: exact (equal bytes are equal values), canonical (equal values are equal bytes),
//! read, written and copied in place, so that a step allocates nothing that the step before has allocated.
//!
//! Numbers have the width of their type; what can have several lengths (vectors, sets, text) says how many
//! there are first. Values of an enumeration or an option are padded with zeros to the widest of them where
//! that is short, so that states built from such values all have the same length: a store then keeps each
//! field's values once (see [`volee::system::Components`]).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;

use volee::system::Variable;

/// Values of an enumeration are padded up to this width; wider ones have the length that they have.
const WIDEST_PADDED: usize = 16;
/// Bytes that a value of no known width is given at first.
const FIRST_ROOM: usize = 64;

/// A value that can be part of a state. Derive it.
pub trait Pack: Clone + Debug {
    /// The number of bytes, where it is the same for all values of the type.
    const WIDTH: Option<usize> = None;
    /// Whether it has parts with names of their own.
    const COMPOSITE: bool = false;

    /// Writes the value to the front of a place and gives what is left of it. `None` where there is no room;
    /// what the place then has is not said.
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]>;

    /// Appends the value.
    fn pack(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        let mut room = Self::WIDTH.unwrap_or(FIRST_ROOM);
        loop {
            bytes.resize(start + room, 0);
            if let Some(rest) = self.put(&mut bytes[start..]) {
                let left = rest.len();
                return bytes.truncate(start + room - left);
            }
            room = room * 2 + 1;
        }
    }

    /// Takes a value from the front, in place. `None` where the bytes are those of no value; what `self` is
    /// then is not said.
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        *self = Self::unpacked(bytes)?;
        Some(())
    }

    /// Becomes equal to another value, in the memory that it has.
    fn assign(&mut self, from: &Self) {
        self.clone_from(from);
    }

    /// Takes a value from the front.
    fn unpacked(bytes: &mut &[u8]) -> Option<Self>;

    /// The number of bytes, where it is the same for all values that this one may become in a run.
    fn width(&self) -> Option<usize> {
        Self::WIDTH
    }

    /// The widths of the parts, from left to right, that a store should keep apart.
    fn fields(&self, widths: &mut Vec<Option<usize>>) {
        widths.push(self.width());
    }

    /// For the search alone. Numbers the rows, from left to right, and begins to note what is looked at in
    /// them, or ends it.
    #[doc(hidden)]
    fn watch(&mut self, _rows: &mut u32, _on: bool) {}

    /// For the search alone. For each of the parts that `fields` tells of, whether somebody may have looked
    /// at it since [`Pack::watch`]. Only rows know; the others say yes. `None` where nobody can tell: a row is
    /// not where it was.
    #[doc(hidden)]
    fn seen(&self, _rows: &mut u32, seen: &mut Vec<bool>) -> Option<()> {
        let mut fields = Vec::new();
        self.fields(&mut fields);
        seen.extend(fields.iter().map(|_| true));
        Some(())
    }

    /// The value as variables, for people.
    fn variables(&self, name: &str, all: &mut Vec<Variable>) {
        shown(self, name, all);
    }
}

/// A value that is shown as it prints itself.
pub fn shown(value: &impl Debug, name: &str, all: &mut Vec<Variable>) {
    let name = if name.is_empty() { "state" } else { name };
    all.push(Variable { name: name.into(), value: format!("{value:?}") });
}

/// The name of a part.
pub fn below(name: &str, part: &str) -> String {
    if name.is_empty() { part.into() } else { format!("{name}.{part}") }
}

/// The width of what has these parts.
pub const fn sum_of_widths(parts: &[Option<usize>]) -> Option<usize> {
    let (mut sum, mut at) = (0, 0);
    while at < parts.len() {
        match parts[at] {
            Some(width) => sum += width,
            None => return None,
        }
        at += 1;
    }
    Some(sum)
}

/// The width of an enumeration whose variants have these, with its number.
pub const fn padded_width(variants: &[Option<usize>]) -> Option<usize> {
    let (mut most, mut at) = (0, 0);
    while at < variants.len() {
        match variants[at] {
            Some(width) if width <= WIDEST_PADDED => most = if width > most { width } else { most },
            _ => return None,
        }
        at += 1;
    }
    Some(1 + most)
}

/// Takes one byte.
#[inline(always)]
pub fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

/// Goes to the end of a value that began where `whole` does.
#[inline(always)]
pub fn skip_padding<'a>(bytes: &mut &'a [u8], whole: &'a [u8], width: Option<usize>) -> Option<()> {
    if let Some(width) = width {
        *bytes = whole.get(width..)?;
    }
    Some(())
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Pack for $number {
            const WIDTH: Option<usize> = Some(size_of::<$number>());

            #[inline(always)]
            fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
                let (first, rest) = place.split_first_chunk_mut()?;
                *first = self.to_le_bytes();
                Some(rest)
            }

            #[inline(always)]
            fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
                let (first, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(<$number>::from_le_bytes(*first))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

impl Pack for bool {
    const WIDTH: Option<usize> = Some(1);

    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        u8::from(*self).put(place)
    }

    #[inline(always)]
    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        byte(bytes).map(|value| value != 0)
    }
}

impl Pack for char {
    const WIDTH: Option<usize> = Some(4);

    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        u32::from(*self).put(place)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        char::from_u32(u32::unpacked(bytes)?)
    }
}

macro_rules! tuples {
    ($(($($part:ident $number:tt),*))*) => {$(
        impl<$($part: Pack),*> Pack for ($($part,)*) {
            const WIDTH: Option<usize> = sum_of_widths(&[$($part::WIDTH),*]);

            #[inline(always)]
            fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
                $(let place = self.$number.put(place)?;)*
                Some(place)
            }

            #[allow(unused_variables)]
            #[inline(always)]
            fn assign(&mut self, from: &Self) {
                $(self.$number.assign(&from.$number);)*
            }

            #[allow(unused_variables)]
            fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
                $(self.$number.unpack(bytes)?;)*
                Some(())
            }

            #[allow(unused_variables, clippy::unused_unit)]
            fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
                Some(($($part::unpacked(bytes)?,)*))
            }

            fn width(&self) -> Option<usize> {
                sum_of_widths(&[$(self.$number.width()),*])
            }
        }
    )*};
}

tuples! { () (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) (A 0, B 1, C 2, D 3, E 4, F 5) }

impl<T: Pack> Pack for Option<T> {
    const WIDTH: Option<usize> = padded_width(&[Some(0), T::WIDTH]);

    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        put_padded(place, Self::WIDTH, u8::from(self.is_some()), |place| match self {
            Some(value) => value.put(place),
            None => Some(place),
        })
    }

    #[inline(always)]
    fn assign(&mut self, from: &Self) {
        match (&mut *self, from) {
            (Some(value), Some(from)) => value.assign(from),
            _ => self.clone_from(from),
        }
    }

    #[inline(always)]
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let whole = *bytes;
        match (byte(bytes)?, &mut *self) {
            (0, _) => *self = None,
            (_, Some(value)) => value.unpack(bytes)?,
            (_, None) => *self = Some(T::unpacked(bytes)?),
        }
        skip_padding(bytes, whole, Self::WIDTH)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        let mut value = None;
        value.unpack(bytes)?;
        Some(value)
    }
}

impl<T: Pack> Pack for Box<T> {
    const WIDTH: Option<usize> = T::WIDTH;
    const COMPOSITE: bool = T::COMPOSITE;

    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        (**self).put(place)
    }

    fn assign(&mut self, from: &Self) {
        (**self).assign(from);
    }

    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (**self).unpack(bytes)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        T::unpacked(bytes).map(Box::new)
    }

    fn width(&self) -> Option<usize> {
        (**self).width()
    }

    fn fields(&self, widths: &mut Vec<Option<usize>>) {
        (**self).fields(widths);
    }

    fn watch(&mut self, rows: &mut u32, on: bool) {
        (**self).watch(rows, on);
    }

    fn seen(&self, rows: &mut u32, seen: &mut Vec<bool>) -> Option<()> {
        (**self).seen(rows, seen)
    }

    fn variables(&self, name: &str, all: &mut Vec<Variable>) {
        (**self).variables(name, all);
    }
}

/// A number for the kind of a value, and its parts, with zeros up to the width that all have.
#[inline(always)]
pub fn put_padded(
    place: &mut [u8],
    width: Option<usize>,
    tag: u8,
    parts: impl FnOnce(&mut [u8]) -> Option<&mut [u8]>,
) -> Option<&mut [u8]> {
    let Some(width) = width else { return parts(tag.put(place)?) };
    let (own, rest) = place.split_at_mut_checked(width)?;
    parts(tag.put(own)?)?.fill(0);
    Some(rest)
}

/// How many follow: small numbers in one byte, seven bits at a time.
#[inline(always)]
pub(crate) fn put_length(length: usize, place: &mut [u8]) -> Option<&mut [u8]> {
    let (mut rest, mut place) = (length, place);
    while rest >= 0x80 {
        place = (rest as u8 | 0x80).put(place)?;
        rest >>= 7;
    }
    (rest as u8).put(place)
}

/// One value after the other.
#[inline(always)]
pub(crate) fn put_all<'a, T: Pack>(values: &[T], place: &'a mut [u8]) -> Option<&'a mut [u8]> {
    match T::WIDTH {
        Some(width @ 1..) => {
            let (own, rest) = place.split_at_mut_checked(values.len().checked_mul(width)?)?;
            for (value, place) in values.iter().zip(own.chunks_exact_mut(width)) {
                value.put(place)?;
            }
            Some(rest)
        }
        _ => values.iter().try_fold(place, |place, value| value.put(place)),
    }
}

/// Makes values equal to others, in the memory that they have.
#[inline(always)]
pub(crate) fn assign_all<T: Pack>(values: &mut Vec<T>, from: &[T]) {
    if values.len() == from.len() {
        return values.iter_mut().zip(from).for_each(|(value, from)| value.assign(from));
    }
    values.truncate(from.len());
    let (over, new) = from.split_at(values.len());
    for (value, from) in values.iter_mut().zip(over) {
        value.assign(from);
    }
    values.extend_from_slice(new);
}

#[inline(always)]
pub(crate) fn unpack_length(bytes: &mut &[u8]) -> Option<usize> {
    let (mut length, mut shift) = (0usize, 0);
    loop {
        let next = byte(bytes)?;
        length |= usize::from(next & 0x7f).checked_shl(shift)?;
        if next & 0x80 == 0 {
            return Some(length);
        }
        shift += 7;
    }
}

/// Reads one value after the other, each over the one that is there.
#[inline(always)]
fn read_all<T: Pack>(values: &mut [T], bytes: &mut &[u8]) -> Option<()> {
    match T::WIDTH {
        Some(width @ 1..) => {
            let (own, rest) = bytes.split_at_checked(values.len().checked_mul(width)?)?;
            for (value, own) in values.iter_mut().zip(own.chunks_exact(width)) {
                value.unpack(&mut &*own)?;
            }
            *bytes = rest;
            Some(())
        }
        _ => values.iter_mut().try_for_each(|value| value.unpack(bytes)),
    }
}

/// Reads this many values over those that are there.
#[inline(always)]
pub(crate) fn unpack_into<T: Pack>(values: &mut Vec<T>, length: usize, bytes: &mut &[u8]) -> Option<()> {
    values.truncate(length);
    read_all(values, bytes)?;
    for _ in values.len()..length {
        values.push(T::unpacked(bytes)?);
    }
    Some(())
}

/// Values that are told one by one where they have parts of their own, together where not.
pub(crate) fn variables_of<T: Pack>(values: &[T], name: &str, all: &mut Vec<Variable>) {
    if !T::COMPOSITE {
        return shown(&values, name, all);
    }
    for (number, value) in values.iter().enumerate() {
        value.variables(&format!("{name}[{number}]"), all);
    }
}

impl<T: Pack> Pack for Vec<T> {
    const COMPOSITE: bool = T::COMPOSITE;

    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        put_all(self, put_length(self.len(), place)?)
    }

    #[inline(always)]
    fn assign(&mut self, from: &Self) {
        assign_all(self, from);
    }

    #[inline(always)]
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let length = unpack_length(bytes)?;
        unpack_into(self, length, bytes)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        let mut values = Vec::new();
        values.unpack(bytes)?;
        Some(values)
    }

    fn variables(&self, name: &str, all: &mut Vec<Variable>) {
        variables_of(self, name, all);
    }
}

impl<T: Pack> Pack for VecDeque<T> {
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.iter().try_fold(put_length(self.len(), place)?, |place, value| value.put(place))
    }

    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let length = unpack_length(bytes)?;
        self.truncate(length);
        for value in self.iter_mut() {
            value.unpack(bytes)?;
        }
        for _ in self.len()..length {
            self.push_back(T::unpacked(bytes)?);
        }
        Some(())
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        let mut values = VecDeque::new();
        values.unpack(bytes)?;
        Some(values)
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    const WIDTH: Option<usize> = match T::WIDTH {
        Some(width) => Some(width * N),
        None => None,
    };
    const COMPOSITE: bool = T::COMPOSITE;

    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        put_all(self, place)
    }

    #[inline(always)]
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        read_all(self, bytes)
    }

    #[inline(always)]
    fn assign(&mut self, from: &Self) {
        for (value, from) in self.iter_mut().zip(from) {
            value.assign(from);
        }
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        let mut values = Vec::with_capacity(N);
        unpack_into(&mut values, N, bytes)?;
        values.try_into().ok()
    }

    fn width(&self) -> Option<usize> {
        self.iter().map(Pack::width).sum()
    }

    fn fields(&self, widths: &mut Vec<Option<usize>>) {
        self.iter().for_each(|value| value.fields(widths));
    }

    fn variables(&self, name: &str, all: &mut Vec<Variable>) {
        variables_of(self, name, all);
    }
}

impl<T: Pack + Ord> Pack for BTreeSet<T> {
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.iter().try_fold(put_length(self.len(), place)?, |place, value| value.put(place))
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        (0..unpack_length(bytes)?).map(|_| T::unpacked(bytes)).collect()
    }
}

impl<K: Pack + Ord, V: Pack> Pack for BTreeMap<K, V> {
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        let place = put_length(self.len(), place)?;
        self.iter().try_fold(place, |place, (key, value)| value.put(key.put(place)?))
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        (0..unpack_length(bytes)?).map(|_| <(K, V)>::unpacked(bytes)).collect()
    }
}

impl Pack for String {
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        put_all(self.as_bytes(), put_length(self.len(), place)?)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        let length = unpack_length(bytes)?;
        let (text, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}
