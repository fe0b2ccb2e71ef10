//! The words by which PEs pass on their clocks: a PE that waits for a word, or fetches it, learns the clocks of the PEs that have
//! changed it.
//!
//! The signal of a put announces the data of that put alone. A word to which signals are added announces all their puts, whatever
//! its value: which of them have arrived cannot be known.

use super::clock::{Announced, Clock, MOST_PES};

/// Words that are distinguished; all others count as one.
const MOST: usize = 512;

/// The last change of a word by a PE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Change {
    /// Epoch in which the PE changed the word; 0: it has not.
    pub(super) epoch: u32,
    /// Number of the PE's line that did.
    pub(super) site: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Word {
    pub(super) clock: Clock,
    /// By slot.
    pub(super) changes: [Change; MOST_PES],
    /// Puts to memory of the word's PE that signals in this word announce.
    pub(super) announced: Announced,
}

/// The words of one PE that have been changed. All zeroes: none.
#[repr(C)]
pub(super) struct Words {
    /// For each word its offset in the slot, plus 1.
    keys: [u64; MOST],
    words: [Word; MOST],
    others: Word,
}

impl Words {
    /// The entry of the word at an offset, and whether it is of that word alone.
    pub(super) fn entry(&mut self, offset: usize) -> (&mut Word, bool) {
        let key = offset as u64 + 1;
        match self.keys.iter().position(|found| [0, key].contains(found)) {
            Some(at) => {
                self.keys[at] = key;
                (&mut self.words[at], true)
            }
            None => (&mut self.others, false),
        }
    }

    /// The entries of changed words that begin in a range, and the entry of all other words.
    pub(super) fn changed(&self, offset: usize, bytes: usize) -> impl Iterator<Item = &Word> {
        let keys = offset as u64 + 1..(offset + bytes) as u64 + 1;
        let others = std::iter::once(&self.others);
        let named = self.keys.iter().zip(&self.words).filter(move |(key, _)| keys.contains(key));
        named.map(|(_, word)| word).chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again_and_too_many_are_one() {
        // Not by way of the stack, for which it is too large.
        let mut words = Box::<Words>::new_uninit();
        // SAFETY: room for one, which the box owns.
        unsafe { words.as_mut_ptr().write_bytes(0, 1) };
        // SAFETY: all zeroes is a table of no words.
        let mut words = unsafe { words.assume_init() };
        let change = |epoch| Change { epoch, site: 0 };
        for word in 1..=2 * MOST as u32 {
            words.entry(8 * word as usize).0.changes[0] = change(word);
        }
        let found = |words: &Words, offset: usize| {
            words.changed(offset, 8).map(|word| word.changes[0].epoch).collect::<Vec<_>>()
        };
        assert_eq!(found(&words, 8)[0], 1);
        let last = words.others.changes[0].epoch;
        assert_eq!(found(&words, 8 * last as usize), [last], "it is one of the others");
    }
}
