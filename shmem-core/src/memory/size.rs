//! Sizes in messages.

use core::fmt;

use shmem_grammar::{round_size, show_size};

/// Bytes in messages: exact if the text is short, otherwise `about 1.4G`.
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

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_are_short_and_say_when_they_are_rounded() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (4096, "4K"),
            ((3 << 30) / 2, "1.5G"),
            ((1 << 30) + 1, "about 1G"),
            (23_683_808 << 10, "about 22.6G"),
            (2032 << 30, "2032G"),
            (u64::MAX, "about 16777216T"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
