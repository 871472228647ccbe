//! The scalar types of a program: how many bytes a value takes in a packed state and how it wraps.

/// How a value is stored. Every value is computed as a 32-bit integer and wraps when it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// One bit.
    Bit,
    /// 0 to 255.
    Byte,
    /// 16 bits, signed.
    Short,
    /// 32 bits, signed.
    Int,
    /// Unsigned with this many bits (1 to 32).
    Unsigned(u8),
}

impl Scalar {
    /// Bytes in a packed state.
    pub fn bytes(self) -> u32 {
        match self {
            Scalar::Bit | Scalar::Byte => 1,
            Scalar::Short => 2,
            Scalar::Int => 4,
            Scalar::Unsigned(bits) => match bits {
                0..=8 => 1,
                9..=16 => 2,
                _ => 4,
            },
        }
    }

    /// The value that is read back after `value` was stored.
    #[inline]
    pub fn wrap(self, value: i32) -> i32 {
        match self {
            Scalar::Bit => value & 1,
            Scalar::Byte => value & 0xff,
            Scalar::Short => i32::from(value as i16),
            Scalar::Int => value,
            Scalar::Unsigned(bits) if bits >= 32 => value,
            Scalar::Unsigned(bits) => value & ((1 << bits) - 1),
        }
    }
}

/// What a value stands for, for display only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number.
    Number,
    /// A truth value.
    Bool,
    /// A symbolic name of this subset of names (0 is the unnamed one).
    Mtype(u16),
    /// A channel.
    Channel,
    /// A process number.
    Pid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_as_their_type_says() {
        assert_eq!(Scalar::Byte.wrap(257), 1);
        assert_eq!(Scalar::Byte.wrap(-1), 255);
        assert_eq!(Scalar::Short.wrap(40_000), 40_000 - 65_536);
        assert_eq!(Scalar::Bit.wrap(2), 0);
        assert_eq!(Scalar::Unsigned(5).wrap(33), 1);
        assert_eq!(Scalar::Unsigned(32).wrap(-7), -7);
        assert_eq!(Scalar::Unsigned(9).bytes(), 2);
    }
}
