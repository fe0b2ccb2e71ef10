//! What the PEs of a job know, and nobody else.
//!
//! What memory is named by, and what a message begins with, follow from a number of 256 bits that all PEs are told by their launcher,
//! by a hash with that number as its key. Everything is a formula: no PE keeps a table of others' keys.

use core::fmt;
use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// The secret of a job. It travels through the bootstrap only: never through the fabric, and never where other users of a
/// host can read it.
#[derive(Clone)]
pub struct Secret([u8; Secret::BYTES]);

impl Secret {
    /// How many bytes it has.
    pub const BYTES: usize = 32;

    /// A new one, by the system's random numbers.
    ///
    /// # Errors
    ///
    /// If the system has none.
    pub fn throw() -> io::Result<Self> {
        let mut bytes = [0; Self::BYTES];
        let mut filled = 0;
        while filled < bytes.len() {
            filled += rustix::io::retry_on_intr(|| getrandom(&mut bytes[filled..], GetRandomFlags::empty()))?;
        }
        Ok(Self(bytes))
    }

    /// The one that another PE has told.
    pub fn of_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// As it is told to other PEs.
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// A number that follows from the secret, for one purpose and two numbers.
    pub(super) fn number(&self, purpose: &'static str, first: u32, second: u32) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // The numbers have a fixed length, so no two purposes give the same bytes.
        hasher.update(&first.to_le_bytes()).update(&second.to_le_bytes()).update(purpose.as_bytes());
        let hash = hasher.finalize();
        let [first, ..] = hash.as_bytes().as_chunks().0 else { unreachable!("a hash has 32 bytes") };
        u64::from_le_bytes(*first)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_all_that_they_are_for() {
        let secret = Secret::of_bytes([7; Secret::BYTES]);
        let number = secret.number("a purpose", 1, 2);
        assert_eq!(number, Secret::of_bytes(*secret.bytes()).number("a purpose", 1, 2));
        let others = [
            secret.number("another", 1, 2),
            secret.number("a purpose", 2, 1),
            secret.number("a purpose", 1, 3),
            Secret::of_bytes([8; Secret::BYTES]).number("a purpose", 1, 2),
        ];
        assert!(others.iter().all(|other| *other != number), "{number} in {others:?}");
    }
}
