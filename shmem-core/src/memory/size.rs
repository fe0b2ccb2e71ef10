//! Numbers as the kernel's files say them, and sizes as messages do.

use core::fmt;
use std::fs;
use std::path::Path;

use shmem_grammar::{round_size, show_size};

/// Bytes, as messages write them: exactly if that is short, otherwise `about 1.4G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(pub(super) u64);

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

/// The number in a file of one number.
pub(super) fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The number behind `key` in a file of lines `key number ..`.
pub(super) fn field(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(key)).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_say_when_they_are_rounded() {
        let text = |n: u64| Size(n).to_string();
        assert_eq!(text(0), "0 bytes");
        assert_eq!(text(1023), "1023 bytes");
        assert_eq!(text(4096), "4K");
        assert_eq!(text(2 << 20), "2M");
        assert_eq!(text((3 << 30) / 2), "1.5G");
        assert_eq!(text((1 << 30) + 1), "about 1G");
        assert_eq!(text(23_683_808 << 10), "about 22.6G");
        assert_eq!(text(2032 << 30), "2032G");
        assert_eq!(text(u64::MAX), "about 16777216T");
    }
}
