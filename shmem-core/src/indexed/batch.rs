//! Batches: updates and reads that a loop issues one by one, buffered and carried out as lists.
//!
//! A buffer holds a fixed number of bytes, for any number of PEs. If all words are on this node and are not
//! [combined](super::combined), a list only hides the latency of memory: then the buffer fits the nearest cache.
//!
//! Buffers are carried out when the body returns, and dropped if the body panics. The destination of a read is borrowed beyond
//! the loop, so it cannot be used before the element has arrived.

use std::panic::Location;

use super::call::{Deed, Elements, check_index};
use super::combined;
use super::listed::sealed::{Span, Spread};
use super::near::Near;
use super::over::Numbered;
use super::verb::{self, Verb};
use crate::context::Order;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue};
use crate::observe::Family;
use crate::symmetric_data::PlainData;
use crate::transport::Until;

/// Bytes of a batch's buffer.
const BUDGET: usize = 1 << 20;

/// Most buffered elements, if the object is on this node.
const NEAR: usize = 1 << 10;

/// Runs `body` with a batch of words, and completes the batch.
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
    let most = match BUDGET / bytes {
        many if len <= many / combined::TIMES => many,
        _ => most(endpoint, place, bytes),
    };
    let mut carry = |update: Update, indices: &[usize], values: &[V]| {
        update.carry_out(Elements { endpoint, place, indices, location }, values);
    };
    let quiet = || token.quiet();
    let mut batch = Batch::new((len, offset), most, &mut carry, &quiet);
    let result = body(&mut batch);
    batch.flush();
    result
}

/// Most elements of a batch's buffer, at `bytes` bytes each.
pub(super) fn most<P: Spread>(endpoint: &Endpoint, place: P, bytes: usize) -> usize {
    let is_near = Near::<_, usize>::find(endpoint, place, &[]).is_some();
    (BUDGET / bytes).clamp(1, if is_near { NEAR } else { BUDGET })
}

type Carry<'b, V> = &'b mut dyn FnMut(Update, &[usize], &[V]);

/// Buffers updates of words, and sends them as lists: from [`Indexed::batch`](super::Indexed::batch).
///
/// Updates have no order until a [`flush`](Self::flush). Each update is applied exactly once.
pub struct Batch<'b, V: AmoValue> {
    len: usize,
    offset: usize,
    most: usize,
    count: usize,
    kept: [Kept<V>; Update::ALL.len()],
    carry: Carry<'b, V>,
    quiet: &'b dyn Fn(),
}

struct Kept<V> {
    indices: Vec<usize>,
    values: Vec<V>,
}

impl<'b, V: AmoValue> Batch<'b, V> {
    fn new((len, offset): (usize, usize), most: usize, carry: Carry<'b, V>, quiet: &'b dyn Fn()) -> Self {
        let kept = Update::ALL.map(|_| Kept { indices: Vec::new(), values: Vec::new() });
        Self { len, offset, most, count: 0, kept, carry, quiet }
    }

    /// Waits until all updates so far are complete: visible to all PEs, and ordered before later operations.
    pub fn flush(&mut self) {
        self.hand_over();
        (self.quiet)();
    }

    #[inline(always)]
    #[track_caller]
    fn keep(&mut self, update: Update, index: usize, value: V) {
        check_index(index, self.len, self.offset);
        let Kept { indices, values } = &mut self.kept[update as usize];
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
        for (update, Kept { indices, values }) in Update::ALL.into_iter().zip(&mut self.kept) {
            if !indices.is_empty() {
                (self.carry)(update, indices, values);
                indices.clear();
                values.clear();
            }
        }
        self.count = 0;
    }
}

/// Changes each word by its value. If all values are equal, sends one value.
fn change<K: Verb<V>, V: AmoValue, P: Spread<Item: AtomicWord<Value = V>>>(
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
        /// The operations of a batch.
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
                    $(Self::$update => change::<verb::$update, V, P>(list, values),)*
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
    /// Writes a word. Of several writes to a word, one remains.
    set [AmoValue] = Set;
    /// Adds to a word; see [`Indexed::add_each`](super::Indexed::add_each).
    add [AmoValue] = Add;
    /// Sets a word to the minimum with the value.
    min [AmoValue] = Min;
    /// Sets a word to the maximum with the value.
    max [AmoValue] = Max;
    /// Bitwise and.
    and [BitValue] = And;
    /// Bitwise or.
    or [BitValue] = Or;
    /// Bitwise exclusive or.
    xor [BitValue] = Xor;
}

/// Runs `body`, and completes its reads of elements before the return.
#[track_caller]
pub(super) fn run_gathers<'env, P: Numbered<Item: PlainData>, R>(
    token: &(impl Initiator + ?Sized),
    from: &P,
    body: impl FnOnce(&mut Gathers<'_, 'env, P::Item>) -> R,
) -> R {
    let (endpoint, place, location) = (token.endpoint(), from.__spread(), Location::caller());
    let mut carry = |indices: &[usize], found: &mut [P::Item]| {
        let list = Elements { endpoint, place, indices, location };
        // SAFETY: `found` is borrowed exclusively, and unused after the return.
        unsafe {
            let deed = Deed::Pick(found.as_mut_ptr().cast());
            list.transfer(deed, found.len(), "places", Family::Gather, Until::Return)
        };
    };
    let bytes = size_of::<usize>() + size_of::<*mut P::Item>() + size_of::<P::Item>();
    let Span { len, offset, .. } = place.span();
    let mut gathers = Gathers::new((len, offset), most(endpoint, place, bytes), &mut carry);
    let result = body(&mut gathers);
    gathers.hand_over();
    result
}

type CarryReads<'b, T> = &'b mut dyn FnMut(&[usize], &mut [T]);

/// Buffers reads of elements, and carries them out as lists: from [`Indexed::gathers`](super::Indexed::gathers).
pub struct Gathers<'b, 'env, T> {
    len: usize,
    offset: usize,
    most: usize,
    indices: Vec<usize>,
    into: Vec<&'env mut T>,
    found: Vec<T>,
    carry: CarryReads<'b, T>,
}

impl<'b, 'env, T: PlainData> Gathers<'b, 'env, T> {
    fn new((len, offset): (usize, usize), most: usize, carry: CarryReads<'b, T>) -> Self {
        Self { len, offset, most, indices: Vec::new(), into: Vec::new(), found: Vec::new(), carry }
    }

    /// Reads an element into `into`, by the end of `gathers`.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub fn get(&mut self, index: usize, into: &'env mut T) {
        check_index(index, self.len, self.offset);
        self.indices.push(index);
        self.into.push(into);
        if self.into.len() == self.most {
            self.hand_over();
        }
    }

    #[cold]
    #[inline(never)]
    fn hand_over(&mut self) {
        let Self { indices, into, found, carry, .. } = self;
        found.resize(indices.len(), T::zeroed());
        carry(indices, found);
        for (into, found) in into.drain(..).zip(&*found) {
            *into = *found;
        }
        indices.clear();
    }
}
