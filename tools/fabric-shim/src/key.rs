//! Keys that the provider makes up.
//!
//! A key follows from nothing that the user knows. It carries the port of the endpoint that its memory is bound
//! to and a sum over the rest, so that a key that nobody made, or one of another process, is found where it is
//! used, before the target answers it with an error.

use crate::random;

/// `FI_KEY_NOTAVAIL`: a key that there is not yet.
pub(crate) const NO_KEY: u64 = u64::MAX;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(u64);

impl Key {
    /// A new one, of 8 bytes, or of as many as are demanded.
    pub(crate) fn new(port: u16, bytes: Option<usize>) -> Self {
        if bytes == Some(4) {
            let body = random::next() & 0xff_ffff;
            return Self(body << 8 | sum(body) & 0xff);
        }
        let body = u64::from(port) << 32 | random::next() & 0xffff_ffff;
        Self(body << 16 | sum(body) & 0xffff)
    }

    /// The key that a number is, if it is one.
    pub(crate) fn parse(number: u64, bytes: Option<usize>) -> Option<Self> {
        let (bits, all) = if bytes == Some(4) { (8, 32) } else { (16, 64) };
        let fits = all == 64 || number >> all == 0;
        let (body, end) = (number >> bits, number & ((1 << bits) - 1));
        (fits && sum(body) & ((1 << bits) - 1) == end).then_some(Self(number))
    }

    /// The port of the endpoint that its memory is bound to, or 0; keys of 4 bytes have no room for it.
    pub(crate) fn port(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// As a number.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// Bits that follow from all of the body's.
fn sum(body: u64) -> u64 {
    let mixed = (body ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29 ^ mixed >> 47
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_is_known_and_its_neighbours_are_not() {
        for bytes in [None, Some(4)] {
            let key = Key::new(4711, bytes).number();
            assert_eq!(Key::parse(key, bytes).map(Key::number), Some(key));
            assert_eq!(Key::parse(key ^ 1, bytes), None);
        }
        assert_eq!(Key::new(4711, None).port(), 4711);
    }

    #[test]
    fn small_numbers_are_no_keys() {
        assert!((0..256).all(|number| Key::parse(number, None).is_none()));
    }

    #[test]
    fn a_short_key_has_four_bytes() {
        let key = Key::new(0, Some(4)).number();
        assert!(key <= u64::from(u32::MAX));
        assert_eq!(Key::parse(key | 1 << 40, Some(4)), None);
    }
}
