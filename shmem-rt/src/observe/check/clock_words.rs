//! The words that pass on clocks. A PE that waits for a word, or fetches it, joins the clocks of the PEs that have changed it.
//!
//! The signal of a put announces the data of that put alone. Signals that are added to a word cannot be told apart. So a wait for
//! fewer signals than were sent proves the arrival of a put only if all other puts are known to have arrived.

use super::clock::{Class, Clock, MOST_PES};

/// Upper limit on the words with an entry of their own. All further words share one entry.
const MOST: usize = 512;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Change {
    /// Epoch in which the PE changed the word; 0 if it has not changed the word.
    pub(super) epoch: u32,
    /// Index of the change's source line in `Body::sites`.
    pub(super) site: u32,
}

/// A put with a signal: the signal announces that the put's data have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Announced {
    pub(super) by: u32,
    pub(super) epoch: u32,
    pub(super) class: Class,
}

/// Upper limit on the recorded puts whose signals change one word.
const MOST_ANNOUNCED: usize = 32;

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Word {
    pub(super) clock: Clock,
    pub(super) changes: [Change; MOST_PES],
    announced: [Announced; MOST_ANNOUNCED],
    len: u32,
}

impl Word {
    /// The recorded puts whose signals change this word. Their data go to the PE that owns the word.
    pub(super) fn announced(&self) -> &[Announced] {
        &self.announced[..self.len as usize]
    }

    /// Adds a put. Its signal is added to the word if `adds`; otherwise it sets the word, and all earlier puts are dropped. Also
    /// drops puts for which `is_known` is true.
    pub(super) fn announce(
        &mut self,
        one: Announced,
        to: usize,
        adds: bool,
        is_known: impl Fn(&Announced) -> bool,
    ) {
        let mut kept = 0;
        for at in 0..self.announced().len() {
            let before = self.announced[at];
            if adds && !is_known(&before) {
                self.announced[kept] = before;
                kept += 1;
            }
        }
        if kept == MOST_ANNOUNCED {
            // The oldest put counts as arrived, because a missed race is better than a wrong report.
            let Announced { by, epoch, class } = self.announced[0];
            self.clock.learn(class, by as usize, to, epoch);
            self.announced.copy_within(1.., 0);
            kept -= 1;
        }
        self.announced[kept] = one;
        self.len = kept as u32 + 1;
    }

    /// Adds to the clock `own` the puts that a wait for the word proves to have arrived. `is_short` means that the wait needed
    /// fewer signals than were sent. In this case, returns a PE of whose signals some may not have arrived.
    pub(super) fn heard(&self, own: &mut Clock, to: usize, is_short: bool) -> Option<usize> {
        let mut open = None;
        for by in 0..MOST_PES {
            let of = |one: &&Announced| one.by as usize == by;
            let is_new = |one: &&Announced| of(one) && !own.knows(one.class, by, to, one.epoch);
            if is_short && self.announced().iter().filter(is_new).count() > 1 {
                open = Some(by);
                continue;
            }
            for one in self.announced().iter().filter(of) {
                own.learn(one.class, by, to, one.epoch);
            }
        }
        open
    }
}

/// The changed words of one PE. All zero bytes: no word.
#[repr(C)]
pub(super) struct Words {
    /// For each entry, the word's offset in the slot, plus 1; 0 if the entry is free.
    keys: [u64; MOST],
    words: [Word; MOST],
    others: Word,
}

impl Words {
    /// Returns the entry of the word at an offset, and whether the entry belongs to this word alone.
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

    /// Returns the entries of changed words that begin in a range, and the entry that further words share.
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

    /// Words without a change; made on the heap, since they are too large for the stack.
    fn no_words() -> Box<Words> {
        let mut words = Box::<Words>::new_uninit();
        // SAFETY: room for one, which the box owns.
        unsafe { words.as_mut_ptr().write_bytes(0, 1) };
        // SAFETY: all zeroes is a table of no words.
        unsafe { words.assume_init() }
    }

    #[test]
    fn words_are_found_again_and_too_many_are_one() {
        let mut words = no_words();
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

    /// A word to which PE 0 has sent `puts` puts with signals, and a function that says which of them a clock knows.
    fn sent(puts: u32, adds: bool) -> (Box<Words>, impl Fn(&Clock) -> Vec<bool>) {
        let mut words = no_words();
        for put in 1..=puts {
            let one = Announced { by: 0, epoch: put, class: Class::put(0, true) };
            words.entry(64).0.announce(one, 1, adds, |_| false);
        }
        (words, move |clock: &Clock| {
            (1..=puts).map(|put| clock.knows(Class::put(0, true), 0, 1, put)).collect()
        })
    }

    #[test]
    fn a_sum_says_how_many_signals_have_come_and_not_which() {
        let (mut words, known) = sent(3, true);
        let mut clock = Clock::ZERO;
        assert_eq!(words.entry(64).0.heard(&mut clock, 1, true), Some(0));
        assert_eq!(known(&clock), [false; 3]);
        // If two of three are known, the signal is that of the third.
        let mut two = Clock::ZERO;
        [1, 3].into_iter().for_each(|epoch| two.learn(Class::put(0, true), 0, 1, epoch));
        assert_eq!(words.entry(64).0.heard(&mut two, 1, true), None);
        assert_eq!(known(&two), [true; 3]);
        words.entry(64).0.heard(&mut clock, 1, false);
        assert_eq!(known(&clock), [true; 3], "all have come");
    }

    #[test]
    fn a_signal_that_is_set_says_its_own_data() {
        let (mut words, known) = sent(3, false);
        for is_short in [false, true] {
            let mut clock = Clock::ZERO;
            words.entry(64).0.heard(&mut clock, 1, is_short);
            assert_eq!(known(&clock), [false, false, true]);
        }
    }

    #[test]
    fn of_many_the_oldest_count_as_known() {
        let (mut words, known) = sent(MOST_ANNOUNCED as u32 + 2, true);
        assert_eq!(words.entry(64).0.announced().len(), MOST_ANNOUNCED);
        let clock = words.entry(64).0.clock;
        assert_eq!(known(&clock)[..4], [true, true, false, false]);
    }
}
