//! Batches: updates that a loop issues one by one, buffered and carried out as lists.
//!
//! A batch buffers at most [`BUDGET`] bytes, whatever the number of PEs. If all words are on this node and their updates are not
//! [combined](super::combined_updates), a list gains only by hiding memory latency. Then fewer updates are buffered, so that the buffer
//! fits the first-level cache.
//!
//! Buffered updates are carried out when the program's closure returns, and dropped if the closure panics.

use std::panic::Location;

use super::combined_updates;
use super::dispatch::{Elements, check_index};
use super::distributed_object::Numbered;
use super::listed::sealed::{Span, Spread};
use super::node_lists::Near;
use super::operation::{self, ListOp};
use crate::context::Order;
use crate::endpoint::Stores;
use crate::object::{AmoValue, AtomicWord, BitValue};

/// Upper limit on the bytes of a batch's buffer.
const BUDGET: usize = 1 << 20;

/// Upper limit on the buffered updates, if all words are on this node.
const NEAR: usize = 1 << 10;

/// Runs `body` with a batch of updates to `words`, and then completes the updates.
#[track_caller]
pub(super) fn run<P, V, R>(
    token: &(impl Stores + ?Sized),
    words: &P,
    body: impl FnOnce(&mut Batch<'_, V>) -> R,
) -> R
where
    P: Numbered<Item: AtomicWord<Value = V>>,
    V: AmoValue,
{
    let (endpoint, place, location) = (token.endpoint(), words.__spread(), Location::caller());
    let (Span { len, offset, .. }, bytes) = (place.span(), size_of::<usize>() + size_of::<V>());
    let many = BUDGET / bytes;
    let is_combined = len <= many / combined_updates::TIMES;
    let is_near = || Near::<_, usize>::find(endpoint, place, &[]).is_some();
    let most = if !is_combined && is_near() { many.min(NEAR) } else { many };
    let mut carry = |update: Update, indices: &[usize], values: &[V]| {
        update.carry_out(Elements { endpoint, place, indices, location }, values);
    };
    let quiet = || token.quiet();
    let kept = Update::ALL.map(|_| Buffered { indices: Vec::new(), values: Vec::new() });
    let mut batch = Batch { len, offset, most, count: 0, kept, carry: &mut carry, quiet: &quiet };
    let result = body(&mut batch);
    batch.flush();
    result
}

/// A function that carries out the buffered updates of one kind, given their indices and values.
type Carry<'b, V> = &'b mut dyn FnMut(Update, &[usize], &[V]);

/// A buffer for updates of words. The updates are sent as lists. [`Indexed::batch`](super::Indexed::batch) makes it.
///
/// Updates have no order until a [`flush`](Self::flush). Each update is applied exactly once.
pub struct Batch<'b, V: AmoValue> {
    len: usize,
    offset: usize,
    most: usize,
    count: usize,
    kept: [Buffered<V>; Update::ALL.len()],
    carry: Carry<'b, V>,
    quiet: &'b dyn Fn(),
}

/// The buffered updates of one kind.
struct Buffered<V> {
    indices: Vec<usize>,
    values: Vec<V>,
}

impl<V: AmoValue> Batch<'_, V> {
    /// Waits until all updates so far are complete: visible to all PEs, and ordered before later operations.
    pub fn flush(&mut self) {
        self.hand_over();
        (self.quiet)();
    }

    #[inline(always)]
    #[track_caller]
    fn keep(&mut self, update: Update, index: usize, value: V) {
        check_index(index, self.len, self.offset);
        let Buffered { indices, values } = &mut self.kept[update as usize];
        indices.push(index);
        values.push(value);
        self.count += 1;
        if self.count == self.most {
            self.hand_over();
        }
    }

    #[cold]
    #[inline(never)]
    fn hand_over(&mut self) {
        for (update, Buffered { indices, values }) in Update::ALL.into_iter().zip(&mut self.kept) {
            if !indices.is_empty() {
                (self.carry)(update, indices, values);
                indices.clear();
                values.clear();
            }
        }
        self.count = 0;
    }
}

/// Applies the update `K` to each listed word with its value. If all values are equal, sends one value.
fn change<K: ListOp<V>, V: AmoValue, P: Spread<Item: AtomicWord<Value = V>>>(
    list: Elements<'_, P, usize>,
    values: &[V],
) {
    match values {
        [first, others @ ..] if others.iter().all(|other| other.to_bits64() == first.to_bits64()) => {
            list.change::<K>(*first);
        }
        _ => list.change::<K>(values),
    }
}

macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident [$bound:ident] = $update:ident;)*) => {
        #[derive(Clone, Copy, Debug)]
        enum Update {
            $($update,)*
        }

        impl Update {
            const ALL: [Self; [$(Self::$update),*].len()] = [$(Self::$update),*];

            fn carry_out<V: AmoValue, P: Spread<Item: AtomicWord<Value = V>>>(
                self,
                list: Elements<'_, P, usize>,
                values: &[V],
            ) {
                match self {
                    $(Self::$update => change::<operation::$update, V, P>(list, values),)*
                }
            }
        }

        $(
            impl<V: $bound> Batch<'_, V> {
                $(#[$doc])*
                ///
                /// # Panics
                ///
                /// If the index is beyond the end.
                #[inline(always)]
                #[track_caller]
                pub fn $name(&mut self, index: usize, value: V) {
                    self.keep(Update::$update, index, value);
                }
            }
        )*
    };
}
updates! {
    /// Writes a word. Of several values written to one word, any one remains.
    set [AmoValue] = Set;
    /// Adds to a word; see [`Indexed::add_each`](super::Indexed::add_each).
    add [AmoValue] = Add;
    /// Sets a word to the minimum of the word and `value`.
    min [AmoValue] = Min;
    /// Sets a word to the maximum of the word and `value`.
    max [AmoValue] = Max;
    /// Combines a word with `value` by bitwise and.
    and [BitValue] = And;
    /// Combines a word with `value` by bitwise or.
    or [BitValue] = Or;
    /// Combines a word with `value` by bitwise exclusive or.
    xor [BitValue] = Xor;
}
