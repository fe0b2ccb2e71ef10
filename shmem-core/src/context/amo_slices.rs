//! Atomic operations on every word of an array.

use super::amo::Amo;
use super::nonblocking::NonBlocking;
use super::rma::Matching;

use crate::endpoint::{Initiator, Stores};
use crate::object::{AtomicWord, On, place_at};

/// What the words of an array are read and written as: plain numbers.
type Value<'a, P> = <<P as AtomicWords<'a>>::Word as AtomicWord>::Value;

/// Reads and writes whole arrays of [`Atomic`](crate::object::Atomic) words.
///
/// Each word is read or written atomically, as by [`fetch`](Amo::fetch) and [`set`](Amo::set); all of them together are not:
/// what others change meanwhile may be seen in one word and not yet in another. On the node that is a load or an
/// exchange for each word. To another node one operation goes for each, none of which waits for the one before.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{AmoSlices, Atomic, On, Stores};
///
/// /// Takes a histogram over, and begins a new one.
/// fn take(world: &impl Stores, bins: On<'_, [Atomic<u64>]>) -> Vec<u64> {
///     let mut counts = vec![0; bins.len()];
///     world.fetch_all(&mut counts, bins);
///     world.set_all(bins, &vec![0; counts.len()]);
///     counts
/// }
/// ```
pub trait AmoSlices: Initiator {
    /// Reads every word into the number of the same index: of a slice, a `Vec` or an array. The numbers are there on
    /// return. From another node, what the token has issued otherwise is then complete as well.
    ///
    /// # Panics
    ///
    /// If there are more or fewer numbers than words.
    #[track_caller]
    fn fetch_all<'a, P: AtomicWords<'a>>(
        &self,
        into: &mut (impl Matching<[Value<'a, P>]> + ?Sized),
        words: P,
    ) {
        let (into, words) = (into.destination(), words.words());
        check_len(words, into.len());
        if words.pe().on_node().is_some() {
            for (i, number) in into.iter_mut().enumerate() {
                *number = self.fetch(words.index(i));
            }
            return;
        }
        self.scope(|scope| {
            for (i, number) in into.iter_mut().enumerate() {
                scope.fetch(number, words.index(i));
            }
        });
    }

    /// Writes the number of the same index to every word; visible to every PE after `quiet`, as by [`set`](Amo::set).
    ///
    /// # Panics
    ///
    /// If there are more or fewer numbers than words.
    #[track_caller]
    fn set_all<'a, P: AtomicWords<'a>>(&self, words: P, numbers: &[Value<'a, P>])
    where
        Self: Stores,
    {
        let words = words.words();
        check_len(words, numbers.len());
        for (i, number) in numbers.iter().enumerate() {
            self.set(words.index(i), *number);
        }
    }
}

impl<I: Initiator + ?Sized> AmoSlices for I {}

/// Several atomic words on one PE: an array of them, or a part of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place of several atomic words",
    label = "not an array of `Atomic<..>` on a PE",
    note = "`fetch_all` and `set_all` take places of arrays and slices of `Atomic<..>`: `COUNTS.on(pe)`, `COUNTS.on(pe).index(4..8)`; one word has `fetch` and `set`, plain numbers have `get` and `put`"
)]
pub trait AtomicWords<'a>: Copy {
    /// What they are.
    type Word: AtomicWord;

    /// All of them.
    fn words(self) -> On<'a, [Self::Word]>;
}

impl<'a, W: AtomicWord> AtomicWords<'a> for On<'a, [W]> {
    type Word = W;

    fn words(self) -> Self {
        self
    }
}

impl<'a, W: AtomicWord, const N: usize> AtomicWords<'a> for On<'a, [W; N]> {
    type Word = W;

    fn words(self) -> On<'a, [W]> {
        self.index(..)
    }
}

#[track_caller]
fn check_len<W: AtomicWord>(place: On<'_, [W]>, numbers: usize) {
    let words = place.len();
    assert!(
        words == numbers,
        "{} has {words} words, and there are {numbers} numbers; each word has one",
        place_at(place.offset())
    );
}
