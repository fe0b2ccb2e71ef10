//! How messages write a number of bytes.

use core::fmt;

use shmem_grammar::{round_size, show_size};

/// Bytes, as messages write them: exactly if that is short, otherwise `about 1.4G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Size(pub(in crate::memory) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        const SHORT: usize = "16256G".len();
        let exact = show_size(bytes);
        if exact.len() > SHORT && bytes >> 10 > 0 {
            return write!(f, "about {}", round_size(bytes));
        }
        f.write_str(&exact)
    }
}
