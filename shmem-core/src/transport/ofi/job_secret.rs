//! The secret of a job.
//!
//! All PEs get a number of 256 bits from their launcher. Remote keys of memory and tokens of messages are keyed hashes (BLAKE3)
//! under that number. So a PE can compute other PEs' keys, and keeps no table of them.

use core::fmt;
use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// The secret of a job. Only the bootstrap sends it to other PEs, hidden from other users. It is never sent over the fabric.
#[derive(Clone)]
pub struct Secret([u8; Secret::BYTES]);

impl Secret {
    /// Bytes of a secret.
    pub const BYTES: usize = 32;

    /// A new secret from the system's random numbers.
    ///
    /// # Errors
    ///
    /// If the system returns none.
    pub fn throw() -> io::Result<Self> {
        let mut bytes = [0; Self::BYTES];
        let filled = rustix::io::retry_on_intr(|| getrandom(&mut bytes, GetRandomFlags::empty()))?;
        assert_eq!(filled, Self::BYTES, "the kernel returns up to 256 bytes at once");
        Ok(Self(bytes))
    }

    /// The secret with these bytes, which another PE has sent.
    pub fn of_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the secret, for other PEs.
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// A number of 64 bits, derived from the secret, a purpose and two numbers.
    pub(super) fn number(&self, purpose: &'static str, first: u32, second: u32) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // The two numbers have a fixed length, so different arguments hash different bytes.
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
