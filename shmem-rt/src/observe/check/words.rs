//! What is passed on through words: whoever waits for a word, or fetches it, learns what those knew who
//! changed it.

use super::clock::{Clock, MOST_PES};

/// Words that are told apart; all others are taken for one.
const MOST: usize = 512;

/// Places at which a word may stand.
const PROBES: usize = 16;

/// The last change of a word by a PE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Change {
    /// The epoch in which it was; 0: there was none.
    pub(super) epoch: u32,
    /// Its line.
    pub(super) site: u32,
}

/// A word of a PE.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Word {
    pub(super) clock: Clock,
    pub(super) changes: [Change; MOST_PES],
}

/// The words of one PE that somebody has changed. All zeroes: none.
#[repr(C)]
pub(super) struct Words {
    /// Of each word, bytes from the start of the place, and 1.
    keys: [u64; MOST],
    words: [Word; MOST],
    others: Word,
}

impl Words {
    /// The word at an offset, to be changed.
    pub(super) fn entry(&mut self, offset: usize) -> &mut Word {
        let key = offset as u64 + 1;
        let found = (0..MOST).map(|step| (Self::hash(offset) + step) % MOST);
        let found = found.take(PROBES).find(|at| [0, key].contains(&self.keys[*at]));
        match found {
            Some(at) => {
                self.keys[at] = key;
                &mut self.words[at]
            }
            None => &mut self.others,
        }
    }

    /// The words that begin in a range and that somebody has changed.
    pub(super) fn changed(&self, offset: usize, bytes: usize) -> impl Iterator<Item = &Word> {
        let keys = offset as u64 + 1..(offset + bytes) as u64 + 1;
        let others = std::iter::once(&self.others);
        let named = self.keys.iter().zip(&self.words).filter(move |(key, _)| keys.contains(key));
        named.map(|(_, word)| word).chain(others)
    }

    fn hash(offset: usize) -> usize {
        ((offset as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again_and_too_many_are_one() {
        // SAFETY: all zeroes is a table of no words.
        let mut words: Box<Words> = unsafe { Box::new_zeroed().assume_init() };
        let change = |epoch| Change { epoch, site: 0 };
        for word in 1..=2 * MOST as u32 {
            words.entry(8 * word as usize).changes[0] = change(word);
        }
        let found = |words: &Words, offset: usize| {
            words.changed(offset, 8).map(|word| word.changes[0].epoch).collect::<Vec<_>>()
        };
        assert_eq!(found(&words, 8)[0], 1);
        let last = words.others.changes[0].epoch;
        assert_eq!(found(&words, 8 * last as usize), [last], "it is one of the others");
    }
}
