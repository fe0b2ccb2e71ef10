//! One call for a list: checks the lengths, and chooses the algorithm (`node_lists`, `combined_updates` or `remote_lists`).

use core::panic::Location;

use bytemuck::Zeroable;

use super::combined_updates::{self, COPIES};
use super::listed::sealed::{Span, Spread};
use super::listed::{IndexBeyondEnd, ListIndex, Listed};
use super::node_lists::Near;
use super::operation::{ListOp, OneOrEach};
use super::remote_lists::{carry_out, with_kept};
use crate::endpoint::Endpoint;
use crate::object::{AmoValue, AtomicWord, object_at};
use crate::observe::{self, Call, Family};
use crate::symmetric_data::{PlainData, copied};
use crate::text::counted;
pub(super) use crate::transport::ListRequest;
use crate::transport::{Change, Until, Width};

/// The number type of the words of a place.
pub(super) type Value<P> = <<P as Spread>::Item as AtomicWord>::Value;

/// The elements of a call, and the source line of the call.
pub(super) struct Elements<'a, P, X> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) place: P,
    pub(super) indices: &'a [X],
    pub(super) location: &'static Location<'static>,
}

copied! { [P: Copy, X] Elements<'_, P, X>; }

impl<'a, P: Spread, X: ListIndex> Elements<'a, P, X> {
    /// Returns the elements of a list, with the source line of the caller.
    #[inline(always)]
    #[track_caller]
    pub(super) fn of(endpoint: &'a Endpoint, list: Listed<'a, P, X>) -> Self {
        let (place, indices) = list.__parts();
        Self { endpoint, place, indices, location: Location::caller() }
    }

    /// Carries out `request`, which reads or writes the elements. `len` is the number of values in local memory, and `what` their
    /// name in panic texts. Panics if `len` is not the number of indices, or an index is beyond the end.
    ///
    /// # Safety
    ///
    /// For as long as `until` says, the local memory of `request` must have `len` elements: writable and accessed by nobody else if
    /// `request` reads the listed elements, and readable and unchanged if `request` writes them.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn transfer(
        self,
        request: ListRequest<'_>,
        len: usize,
        what: &str,
        family: Family,
        until: Until,
    ) where
        P::Item: PlainData,
    {
        let Self { endpoint, place, indices, location } = self;
        check_len(indices.len(), len, what);
        self.require(match (Near::find(endpoint, place, indices), request) {
            // SAFETY: `into` has an element for each index (`check_len`), writable and accessed by nobody else (caller).
            (Some(near), ListRequest::Pick(into)) => unsafe { near.gather(into.cast()) },
            // SAFETY: `values` has an element for each index (`check_len`), which is readable (caller).
            (Some(near), ListRequest::Place(values)) => unsafe { near.scatter(values.cast()) },
            (_, request) => self.told(Call::new(family.form(until), location).with(request.local()), || {
                // SAFETY: the request's local memory has an element for each index (`check_len`). The caller ensures the rest.
                unsafe { carry_out(endpoint, place, indices, request, until) }
            }),
        });
    }

    /// Runs `body`, and reports the call to the observer, if the job has one.
    fn told<R>(self, call: Call<'_>, body: impl FnOnce() -> R) -> R {
        let Self { endpoint, place, indices, .. } = self;
        if endpoint.observer().is_none() {
            return body();
        }
        let (pes, size, Span { len, segment, offset, .. }) =
            (place.pes(), size_of::<P::Item>(), place.span());
        let valid = indices.iter().map(|index| index.index()).filter(|index| *index < len);
        let found = valid.take(observe::Listed::MOST).map(|index| {
            let (rank, element) = place.locator()(index);
            (pes[rank], offset + element * size)
        });
        let places: Vec<_> = found.collect();
        let pe = if let [pe] = pes { Some(*pe) } else { None };
        let listed = Some(observe::Listed { size, places: &places });
        endpoint.tell(Call { pe, segment, offset, bytes: indices.len() * size, listed, ..call }, body)
    }

    /// Panics if `done` is the error of an index beyond the end.
    #[inline(always)]
    #[track_caller]
    fn require(self, done: Result<(), IndexBeyondEnd>) {
        if let Err(wrong) = done {
            let Span { len, offset, .. } = self.place.span();
            wrong.refuse(len, offset);
        }
    }
}

impl<P: Spread<Item: AtomicWord>, X: ListIndex> Elements<'_, P, X> {
    /// Applies the operation `K` to the listed words. Panics if the number of `values` is neither one nor that of the indices, or
    /// an index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub(super) fn change<K: ListOp<Value<P>>>(self, values: impl OneOrEach<Value<P>>) {
        check_values(self.indices.len(), values);
        self.require(if combined_updates::pays::<_, K>(self.indices.len(), self.place.span().len) {
            self.change_combined::<K>(values)
        } else {
            // SAFETY: without `before`, the caller need not provide local memory.
            unsafe { self.change_each::<K>(None, values, Value::<P>::zeroed(), Until::Return) }
        });
    }

    /// Applies the operation `K` to the listed words, and writes their previous values to `before`. Only
    /// [`CompareSwap`](crate::transport::EachOp::CompareSwap) uses the expected values. Panics as [`change`](Self::change) does,
    /// and if `len` is not the number of indices.
    ///
    /// # Safety
    ///
    /// For as long as `until` says, `before` must be writable for `len` values, and accessed by nobody else.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn fetch<K: ListOp<Value<P>>>(
        self,
        before: *mut Value<P>,
        len: usize,
        (expected, values): (impl OneOrEach<Value<P>>, impl OneOrEach<Value<P>>),
        until: Until,
    ) {
        check_len(self.indices.len(), len, "places for what was there before");
        check_values(self.indices.len(), values);
        check_values(self.indices.len(), expected);
        // SAFETY: `before` has a value for each index (`check_len`). The caller ensures the rest.
        self.require(unsafe { self.change_each::<K>(Some(before), values, expected, until) });
    }

    /// Applies the operation `K` to the listed words, once for each index.
    ///
    /// # Safety
    ///
    /// For as long as `until` says, `before`, if given, must be writable for a value per index, and accessed by nobody else.
    #[inline(always)]
    unsafe fn change_each<K: ListOp<Value<P>>>(
        self,
        before: Option<*mut Value<P>>,
        values: impl OneOrEach<Value<P>>,
        expected: impl OneOrEach<Value<P>>,
        until: Until,
    ) -> Result<(), IndexBeyondEnd> {
        let Self { endpoint, place, indices, location } = self;
        if let Some(near) = Near::find(endpoint, place, indices) {
            // SAFETY: a word has the layout of its number (`AtomicWord` is sealed to such types). The caller ensures the rest.
            return unsafe { near.change::<_, K>(before, values, expected) };
        }
        let width = Width::of::<Value<P>>();
        let change = Change { op: K::OP, width, operand: values.operand(), expected: expected.operand() };
        let request = ListRequest::Change(change, before.map(<*mut _>::cast));
        let call =
            Call::new(K::FAMILY.form(until), location).with(request.local()).word(width, K::OP.with(0, 0));
        self.told(call, || {
            // SAFETY: a word has the layout of its number (`AtomicWord` is sealed to such types). The caller ensures the rest.
            unsafe { carry_out(endpoint, place, indices, request, until) }
        })
    }

    /// Combines the updates of each word in private memory, and then updates each word once.
    #[inline(never)]
    fn change_combined<K: ListOp<Value<P>>>(
        self,
        values: impl OneOrEach<Value<P>>,
    ) -> Result<(), IndexBeyondEnd> {
        let Self { endpoint, place, indices, location } = self;
        let call = Call::new(K::FAMILY, location).word(Width::of::<Value<P>>(), K::OP.with(0, 0));
        self.told(call, || {
            with_kept(&COPIES, |copies| {
                let (indices, values) =
                    combined_updates::combine::<_, K>(copies, indices, place.span().len, values)?;
                let once = Elements { endpoint, place, indices, location };
                // SAFETY: without `before`, the caller need not provide local memory.
                unsafe { once.change_each::<K>(None, values, Value::<P>::zeroed(), Until::Return) }
            })
        })
    }
}

/// Panics if `index` is beyond the end of the object of `len` elements at `offset`.
#[inline(always)]
#[track_caller]
pub(super) fn check_index(index: usize, len: usize, offset: usize) {
    if index >= len {
        beyond(index, len, offset);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn beyond(index: usize, len: usize, offset: usize) -> ! {
    panic!(
        "index {index} is beyond the end: {} has {} (0..{len})",
        object_at(offset),
        counted(len, "element")
    )
}

#[inline(always)]
#[track_caller]
fn check_values<V: AmoValue>(indices: usize, values: impl OneOrEach<V>) {
    if let Some(values) = values.count() {
        check_len(indices, values, "values");
    }
}

#[inline(always)]
#[track_caller]
fn check_len(indices: usize, others: usize, what: &str) {
    if indices != others {
        differ(indices, others, what);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn differ(indices: usize, others: usize, what: &str) -> ! {
    panic!("the list has {indices} indices, and there are {others} {what}: there is one for each index")
}
