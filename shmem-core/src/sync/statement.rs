//! What a PE says that it has come to a meeting for, word for word.
//!
//! The words of a barrier carry hashes, which find mistakes in an instruction, and which a program can make equal
//! where its arguments are not. Where soundness rests on what the PEs have come for, each writes a statement
//! before it arrives, and compares those of the others with its own when all have arrived. A statement begins with the
//! number of its meeting, which no other meeting of the same members has. Only meetings of this kind write
//! statements: who has come for anything else has left an old one, and is found by that number.

use crate::primitive::{AtomicU64, Ordering};

/// Words of a statement.
pub const STATEMENT_WORDS: usize = 16;

/// Words that one PE writes before a meeting, and others read behind it. All zeroes states nothing.
///
/// The meeting orders the two, so the words themselves need no order. They are atomic because a PE that has come for
/// something else, by mistake or on purpose, must be found and not be a race.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Statement([AtomicU64; STATEMENT_WORDS]);

impl Statement {
    /// Writes it, before the meeting.
    pub fn write(&self, words: &[u64; STATEMENT_WORDS]) {
        self.0.iter().zip(words).for_each(|(there, word)| there.store(*word, Ordering::Relaxed));
    }

    /// Whether exactly that was written, behind the meeting.
    pub fn says(&self, words: &[u64; STATEMENT_WORDS]) -> bool {
        self.0.iter().zip(words).all(|(there, word)| there.load(Ordering::Relaxed) == *word)
    }

    /// Makes it state nothing, before the first meeting of new members.
    pub fn clear(&self) {
        self.write(&[0; STATEMENT_WORDS]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let statement = Statement([(); STATEMENT_WORDS].map(|()| AtomicU64::new(0)));
        let words = core::array::from_fn(|k| 1 << k);
        assert!(!statement.says(&words));
        statement.write(&words);
        assert!(statement.says(&words));
        for bit in 0..STATEMENT_WORDS * 64 {
            let mut other = words;
            other[bit / 64] ^= 1 << (bit % 64);
            assert!(!statement.says(&other), "bit {bit}");
        }
        statement.clear();
        assert!(!statement.says(&words));
    }
}
