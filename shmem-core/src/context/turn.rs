//! Searches in turn: which word is looked at first by who wants any of several.
//!
//! A program may ask again and again for any word that is set, and leave set what it has seen. It must come to all of them, so a
//! search begins behind the word that the one before has found (round robin). A thread that searches several sets by turns begins
//! anywhere: from fixed places each of them could find the same words for ever.

use core::cell::Cell;

/// The searches of a thread.
#[derive(Clone, Copy)]
struct Turn {
    /// The words that were searched last.
    words: usize,
    /// Which is looked at first, the next time.
    next: usize,
    /// A linear congruential generator: where to begin with other words.
    anywhere: u64,
}

std::thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn { words: 0, next: 0, anywhere: 0 }) };
}

/// Finds one of `count` words for which `holds`; all come in turn. `words` tells sets of words apart.
pub fn find_in_turn(words: usize, count: usize, mut holds: impl FnMut(usize) -> bool) -> Option<usize> {
    let mut turn = TURN.get();
    if turn.words != words {
        let next = (turn.anywhere >> 32) as usize % count.max(1);
        // The multiplier of Knuth's MMIX, as any that is 5 modulo 8.
        let anywhere = turn.anywhere.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        turn = Turn { words, next, anywhere };
    }
    let begin = turn.next.min(count);
    let found = (begin..count).chain(0..begin).find(|word| holds(*word));
    turn.next = found.map_or(turn.next, |word| word + 1);
    TURN.set(turn);
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_that_stay_set_are_all_found() {
        let found: Vec<_> = (0..8).filter_map(|_| find_in_turn(0x10, 4, |word| word != 2)).collect();
        assert_eq!(found[..4], [found[0], found[1], found[2], found[0]]);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(find_in_turn(0x10, 4, |_| false), None);
        assert_eq!(find_in_turn(0x10, 0, |_| true), None);
    }

    #[test]
    fn sets_that_are_searched_by_turns_do_not_share_their_words() {
        let mut found = [const { BTreeSet::new() }; 3];
        for _ in 0..1000 {
            for (set, found) in found.iter_mut().enumerate() {
                found.extend(find_in_turn(0x100 + set, 6, |_| true));
            }
        }
        assert!(found.iter().all(|found| found.len() == 6), "{found:?}");
    }
}
