//! Waiting for several words: for all, any or some of them.
//!
//! A program may call `wait_until_any` repeatedly without resetting the words. The calls must return all satisfied words in turn,
//! so each search begins after the word found last (round robin). A thread keeps this word for its last set only. If it alternates
//! between sets, each search begins at a random word. If all began at the same word, they could find the same words for ever.

use core::cell::Cell;
use core::panic::Location;

use super::wait::{Condition, look, wait_for};
use crate::object::{Here, Waitable};
use crate::observe::{Call, Family};
use crate::symmetric_data::copied;

/// Defines each method twice: with one value for all words, and with a value for each word (`_vector`).
macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident / $vector:ident $(<$room:lifetime>($indices:ident))? -> $result:ty = $of:ident;)*) => {$(
        $(#[$doc])*
        $(
            ///
            /// # Panics
            ///
            #[doc = concat!("If `", stringify!($indices), "` has room for fewer numbers than there are words.")]
        )?
        ///
        #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($name), "`.")]
        #[track_caller]
        fn $name$(<$room>)?(self, condition: Condition<Value<'a, Self>> $(, $indices: &$room mut [usize])?) -> $result {
            self.wait_set()$(.into_room($indices))?.compared(|_| condition).$of($($indices)?)
        }

        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "), with a value for each word.")]
        ///
        /// # Panics
        ///
        /// If there are more or fewer values than words.
        $(#[doc = concat!("If `", stringify!($indices), "` has room for fewer numbers than there are words.")])?
        ///
        #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($vector), "`.")]
        #[track_caller]
        fn $vector$(<$room>)?(
            self,
            relation: Relation<Value<'a, Self>>,
            values: &[Value<'a, Self>]
            $(, $indices: &$room mut [usize])?
        ) -> $result {
            self.wait_set().with(values)$(.into_room($indices))?.compared(|i| relation(values[i])).$of($($indices)?)
        }
    )*};
}

/// Several words of the calling PE: an array of [`Signal`](crate::object::Signal)s or [`Atomic`](crate::object::Atomic)s, or a
/// [`WaitSet`], which excludes some words of an array.
///
/// The methods named `_vector` compare each word with its own value, by a relation: [`eq`](super::eq), [`ne`](super::ne),
/// [`gt`](super::gt), [`ge`](super::ge), [`lt`](super::lt) or [`le`](super::le). If there are no words, or all are excluded, every
/// method returns at once.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{Initiator, Signal, SymBox, Words, ge};
///
/// /// Handles each arrival once, in any order.
/// fn drain(world: &impl Initiator, arrived: &SymBox<[Signal]>, mut deal_with: impl FnMut(usize)) {
///     let mut done = vec![false; arrived.len()];
///     while let Some(i) = arrived.here(world).excluding(&done).wait_until_any(ge(1)) {
///         deal_with(i);
///         done[i] = true;
///     }
/// }
/// ```
pub trait Words<'a>: Copy {
    /// Type of the words.
    type Word: Waitable;

    /// The words that the methods check.
    fn wait_set(self) -> WaitSet<'a, Self::Word>;

    /// Excludes word `i` if `excluded[i]` is `true`.
    ///
    /// # Panics
    ///
    /// If the length of `excluded` is not the number of words.
    ///
    /// Source: OpenSHMEM 1.6, the argument `status` of `shmem_wait_until_any` and its relatives.
    #[track_caller]
    fn excluding(self, excluded: &'a [bool]) -> WaitSet<'a, Self::Word> {
        let (words, states) = (self.wait_set().words.len(), excluded.len());
        assert!(
            words == states,
            "{words} words have {states} states; each word has one, which excludes it or not"
        );
        WaitSet { excluded, ..self.wait_set() }
    }

    forms! {
        /// Whether every word satisfies `condition` now. `true` if there are no words.
        test_all / test_all_vector -> bool = test_all;

        /// Returns the index of a word that satisfies `condition` now, if there is one. Repeated calls return such words in turn.
        test_any / test_any_vector -> Option<usize> = test_any;

        /// Writes the indices of the words that satisfy `condition` now, ascending, to the front of `indices`.
        test_some / test_some_vector<'i>(indices) -> &'i [usize] = test_some_into;

        /// Blocks until every word has satisfied `condition` at some time, not necessarily all words at the same time.
        wait_until_all / wait_until_all_vector -> () = wait_until_all;

        /// Blocks until at least one word satisfies `condition`, and returns its index. Repeated calls return such words in turn.
        /// Returns `None` if there are no words, or all are excluded.
        wait_until_any / wait_until_any_vector -> Option<usize> = wait_until_any;

        /// Blocks until a word satisfies `condition`. Writes the indices of all such words, ascending, to the front of `indices`.
        wait_until_some / wait_until_some_vector<'i>(indices) -> &'i [usize] = wait_until_some_into;
    }
}

/// Type of the values that words are compared with.
type Value<'a, W> = <<W as Words<'a>>::Word as Waitable>::Value;

/// A function that makes a condition from a value, such as [`ge`](super::ge).
type Relation<V> = fn(V) -> Condition<V>;

impl<'a, T: Waitable> Words<'a> for Here<'a, [T]> {
    type Word = T;

    fn wait_set(self) -> WaitSet<'a, T> {
        WaitSet { words: self, excluded: &[] }
    }
}

impl<'a, T: Waitable, const N: usize> Words<'a> for Here<'a, [T; N]> {
    type Word = T;

    fn wait_set(self) -> WaitSet<'a, T> {
        self.index(..).wait_set()
    }
}

/// Words of the calling PE, of which some may be excluded. Made by [`excluding`](Words::excluding).
pub struct WaitSet<'a, T: Waitable> {
    words: Here<'a, [T]>,
    /// For each word, whether it is excluded. If empty, no word is.
    excluded: &'a [bool],
}

copied! { [T: Waitable] WaitSet<'_, T>; }

impl<'a, T: Waitable> Words<'a> for WaitSet<'a, T> {
    type Word = T;

    fn wait_set(self) -> Self {
        self
    }
}

impl<'a, T: Waitable> WaitSet<'a, T> {
    /// Panics unless there is one value for each word.
    #[track_caller]
    fn with(self, values: &[T::Value]) -> Self {
        let (words, values) = (self.words.len(), values.len());
        assert!(words == values, "{words} words are compared with {values} values; each word has one");
        self
    }

    /// Panics unless `indices` is long enough for the indices of all words.
    #[track_caller]
    fn into_room(self, indices: &[usize]) -> Self {
        let (words, room) = (self.words.len(), indices.len());
        assert!(words <= room, "there is room for the numbers of {room} words, and there are {words}");
        self
    }

    #[track_caller]
    fn compared<F: Fn(usize) -> Condition<T::Value>>(self, condition: F) -> Compared<'a, T, F> {
        Compared { set: self, condition, location: Location::caller() }
    }

    fn counts(self, word: usize) -> bool {
        self.excluded.get(word).is_none_or(|excluded| !excluded)
    }

    fn call(self, family: Family, location: &'static Location<'static>) -> Call<'a> {
        let bytes = self.words.len() * size_of::<T>();
        Call::new(family, location).at(self.words.endpoint().me(), 0, self.words.offset(), bytes)
    }
}

/// A set of words of the calling PE, each with a condition. Implemented here for [`Words`], and in the C library for words at an
/// address.
pub trait WordSet {
    /// Address of the first word, which identifies the set.
    fn address(&self) -> usize;

    /// Number of words, excluded ones included.
    fn count(&self) -> usize;

    /// Whether a word is checked, because it is not excluded.
    fn counts(&self, word: usize) -> bool;

    /// Whether a word satisfies its condition now.
    fn holds(&self, word: usize) -> bool;

    /// Calls `look` once, and notifies observers.
    fn look<R>(&self, family: Family, look: impl FnOnce() -> R) -> R;

    /// Blocks until `done` returns `true`, and notifies observers.
    fn wait(&self, family: Family, done: impl FnMut() -> bool);

    /// The indices of the words that are not excluded.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).filter(|word| self.counts(*word))
    }

    /// Returns the first word whose condition does not hold now, for reports.
    fn missing(&self) -> usize {
        self.numbers().find(|word| !self.holds(*word)).unwrap_or_default()
    }

    /// Returns a word whose condition holds now. Repeated calls return such words in turn.
    fn any(&self) -> Option<usize> {
        find_in_turn(self.address(), self.count(), |word| self.counts(word) && self.holds(word))
    }

    /// Calls `found(n, word)` for each word whose condition holds now, ascending, with `n` from 0. Returns the number of calls.
    fn some(&self, found: &mut dyn FnMut(usize, usize)) -> usize {
        let holding = self.numbers().filter(|word| self.holds(*word));
        holding.enumerate().map(|(at, word)| found(at, word)).count()
    }

    /// Whether all conditions hold now.
    fn test_all(&self) -> bool {
        self.look(Family::TestAll, || self.numbers().all(|word| self.holds(word)))
    }

    /// As [`any`](Self::any), after progress of the transport; notifies observers.
    fn test_any(&self) -> Option<usize> {
        self.look(Family::TestAny, || self.any())
    }

    /// As [`some`](Self::some), after progress of the transport; notifies observers.
    fn test_some(&self, found: &mut dyn FnMut(usize, usize)) -> usize {
        self.look(Family::TestSome, || self.some(found))
    }

    /// Blocks until each condition has held at some time.
    fn wait_until_all(&self) {
        let mut missing = self.numbers().peekable();
        self.wait(Family::WaitUntilAll, || {
            while missing.next_if(|word| self.holds(*word)).is_some() {}
            missing.peek().is_none()
        });
    }

    /// Blocks until [`any`](Self::any) returns a word. Returns `None` at once if all words are excluded.
    fn wait_until_any(&self) -> Option<usize> {
        let mut found = None;
        self.numbers().next()?;
        self.wait(Family::WaitUntilAny, || {
            found = self.any();
            found.is_some()
        });
        found
    }

    /// Blocks until [`some`](Self::some) finds a word. Returns 0 at once if all words are excluded.
    fn wait_until_some(&self, found: &mut dyn FnMut(usize, usize)) -> usize {
        let mut count = 0;
        if self.numbers().next().is_some() {
            self.wait(Family::WaitUntilSome, || {
                count = self.some(found);
                count > 0
            });
        }
        count
    }
}

/// A set of words, and a function that returns the condition of each word.
struct Compared<'a, T: Waitable, F> {
    set: WaitSet<'a, T>,
    condition: F,
    location: &'static Location<'static>,
}

impl<T: Waitable, F: Fn(usize) -> Condition<T::Value>> Compared<'_, T, F> {
    fn test_some_into<'i>(&self, indices: &'i mut [usize]) -> &'i [usize] {
        let found = self.test_some(&mut |at, word| indices[at] = word);
        &indices[..found]
    }

    fn wait_until_some_into<'i>(&self, indices: &'i mut [usize]) -> &'i [usize] {
        let found = self.wait_until_some(&mut |at, word| indices[at] = word);
        &indices[..found]
    }
}

impl<T: Waitable, F: Fn(usize) -> Condition<T::Value>> WordSet for Compared<'_, T, F> {
    fn address(&self) -> usize {
        self.set.words.as_ptr().addr()
    }

    fn count(&self) -> usize {
        self.set.words.len()
    }

    fn counts(&self, word: usize) -> bool {
        self.set.counts(word)
    }

    fn holds(&self, word: usize) -> bool {
        (self.condition)(word).holds(self.set.words.index(word).now())
    }

    fn look<R>(&self, family: Family, looks: impl FnOnce() -> R) -> R {
        look(self.set.words.endpoint(), || self.set.call(family, self.location), looks)
    }

    fn wait(&self, family: Family, done: impl FnMut() -> bool) {
        let endpoint = self.set.words.endpoint();
        let subject = || {
            let word = self.missing();
            let (condition, word) = ((self.condition)(word), self.set.words.index(word));
            let name = endpoint.waiting().name_of(word.offset());
            format!("{name} {condition}, is {:?}, of {} words", word.now(), self.numbers().count())
        };
        endpoint.tell(self.set.call(family, self.location), || {
            wait_for(endpoint, family.name(), self.location, None, done, subject);
        });
    }
}

#[derive(Clone, Copy)]
struct Turn {
    /// Address of the set that was searched last.
    words: usize,
    /// The word at which the next search begins.
    next: usize,
    /// State of a linear congruential generator, which chooses the word at which a search in another set begins.
    anywhere: u64,
}

std::thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn { words: 0, next: 0, anywhere: 0 }) };
}

/// Finds one of `count` words for which `holds` is true, round robin. The address `words` identifies the set.
fn find_in_turn(words: usize, count: usize, mut holds: impl FnMut(usize) -> bool) -> Option<usize> {
    let mut turn = TURN.get();
    if turn.words != words {
        let next = (turn.anywhere >> 32) as usize % count.max(1);
        // Knuth's multiplier for MMIX. Any multiplier that is 5 modulo 8 has the full period.
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
