//! One call of a verb: which way it takes.

use core::panic::Location;

use bytemuck::Zeroable;

use super::combined::{self, with_copies};
use super::listed::Wrong;
use super::listed::sealed::Spread;
use super::listed::{ListIndex, Picked};
use super::near::Near;
use super::rounds::{Deed, carry_out};
use super::verb::Verb;
use super::verb::sealed::Sealed as Values;
use crate::data::PlainData;
use crate::endpoint::Endpoint;
use crate::object::{AmoValue, AtomicWord, object_at};
use crate::observe::{Call, Family, Listed};
use crate::text::counted;
use crate::transport::{Change, Width};

/// Reads elements to `into`.
///
/// # Safety
///
/// `into` must be writable for `len` elements, and nobody else's, for as long as the family says.
///
/// # Panics
///
/// If there is not one for each index, or an index is beyond the end.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn gather<P: Picked<Item: PlainData>>(
    endpoint: &Endpoint,
    into: *mut P::Item,
    len: usize,
    from: P,
    family: Family,
) {
    let (place, indices) = (from.place(), from.indices());
    check_len(indices.len(), len, "elements of the local slice");
    // SAFETY: as many elements as there are indices (caller, and compared just now).
    let done = unsafe { gather_at(endpoint, into, place, indices, family, Location::caller()) };
    if let Err(wrong) = done {
        wrong.refuse(place.len(), place.offset());
    }
}

/// Reads elements to `into`, for the program's line.
///
/// # Errors
///
/// An index that no element has.
///
/// # Safety
///
/// `into` must be writable for as many elements as there are indices, and nobody else's, for as long as the family says.
#[inline(always)]
pub(super) unsafe fn gather_at<P: Spread<Item: PlainData>, X: ListIndex>(
    endpoint: &Endpoint,
    into: *mut P::Item,
    place: P,
    indices: &[X],
    family: Family,
    location: &'static Location<'static>,
) -> Result<(), Wrong> {
    if let Some(near) = Near::find(endpoint, place, indices) {
        // SAFETY: as many elements as there are indices (caller).
        return unsafe { near.gather(into) };
    }
    let call = Call::new(family, location).with(into.cast());
    told(endpoint, place, indices, call, || {
        // SAFETY: as many elements as there are indices (caller).
        unsafe { carry_out(endpoint, place, indices, Deed::Pick(into.cast()), family.until()) }
    })
}

/// Writes elements from `values`.
///
/// # Safety
///
/// `values` must be readable for `len` elements, and unchanged, for as long as the family says.
///
/// # Panics
///
/// If there is not one for each index, or an index is beyond the end.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn scatter<P: Picked<Item: PlainData>>(
    endpoint: &Endpoint,
    to: P,
    values: *const P::Item,
    len: usize,
    family: Family,
) {
    let (place, indices) = (to.place(), to.indices());
    check_len(indices.len(), len, "values");
    let done = if let Some(near) = Near::find(endpoint, place, indices) {
        // SAFETY: as many elements as there are indices (caller, and compared just now).
        unsafe { near.scatter(values) }
    } else {
        let call = Call::new(family, Location::caller()).with(values.cast());
        told(endpoint, place, indices, call, || {
            // SAFETY: as many elements as there are indices (caller, and compared above).
            unsafe { carry_out(endpoint, place, indices, Deed::Place(values.cast()), family.until()) }
        })
    };
    if let Err(wrong) = done {
        wrong.refuse(place.len(), place.offset());
    }
}

/// Changes words.
///
/// # Panics
///
/// If there are values, and not one for each index, or an index is beyond the end.
#[inline(always)]
#[track_caller]
pub(super) fn change<P, K>(endpoint: &Endpoint, words: P, values: impl Values<ValueOf<P>>)
where
    P: Picked<Item: AtomicWord>,
    K: Verb<ValueOf<P>>,
{
    let (place, indices) = (words.place(), words.indices());
    check_values(indices.len(), &values);
    let done = change_at::<_, _, K>(endpoint, place, indices, &values, Location::caller());
    if let Err(wrong) = done {
        wrong.refuse(place.len(), place.offset());
    }
}

/// Changes words, for the program's line. There is a value for each, if there is not one for all.
///
/// # Errors
///
/// An index that no word has.
#[inline(always)]
pub(super) fn change_at<P, X, K>(
    endpoint: &Endpoint,
    place: P,
    indices: &[X],
    values: &impl Values<<P::Item as AtomicWord>::Value>,
    location: &'static Location<'static>,
) -> Result<(), Wrong>
where
    P: Spread<Item: AtomicWord>,
    X: ListIndex,
    K: Verb<<P::Item as AtomicWord>::Value>,
{
    if combined::pays::<_, K>(indices.len(), place.len()) {
        return change_combined::<_, _, K>(endpoint, place, indices, values, location);
    }
    let expected = <P::Item as AtomicWord>::Value::zeroed();
    // SAFETY: nothing comes back.
    unsafe { change_each::<_, _, K>(endpoint, place, indices, None, values, &expected, location) }
}

/// Changes words, and writes what was there to `before`. What a [`CompareSwap`](crate::transport::EachOp::CompareSwap) expects
/// comes as well; others do not look at it.
///
/// # Safety
///
/// `before` must be writable for `len` values, and nobody else's, for as long as the family says.
///
/// # Panics
///
/// If there is not one for each index, or there are values, and not one for each, or an index is beyond the end.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn fetch<P, K>(
    endpoint: &Endpoint,
    before: *mut ValueOf<P>,
    len: usize,
    words: P,
    expected: impl Values<ValueOf<P>>,
    values: impl Values<ValueOf<P>>,
) where
    P: Picked<Item: AtomicWord>,
    K: Verb<ValueOf<P>>,
{
    let (place, indices) = (words.place(), words.indices());
    check_len(indices.len(), len, "places for what was there before");
    check_values(indices.len(), &values);
    check_values(indices.len(), &expected);
    let location = Location::caller();
    // SAFETY: as many values as there are indices (caller, and compared above).
    let done = unsafe {
        change_each::<_, _, K>(endpoint, place, indices, Some(before), &values, &expected, location)
    };
    if let Err(wrong) = done {
        wrong.refuse(place.len(), place.offset());
    }
}

/// The number in the words of a list.
pub(super) type ValueOf<P> = <<P as Picked>::Item as AtomicWord>::Value;

/// Changes words one by one.
///
/// # Safety
///
/// `before`, if it is given, must be writable for as many values as there are indices, and nobody else's, for as long as
/// the family says.
#[inline(always)]
unsafe fn change_each<P, X, K>(
    endpoint: &Endpoint,
    place: P,
    indices: &[X],
    before: Option<*mut <P::Item as AtomicWord>::Value>,
    values: &impl Values<<P::Item as AtomicWord>::Value>,
    expected: &impl Values<<P::Item as AtomicWord>::Value>,
    location: &'static Location<'static>,
) -> Result<(), Wrong>
where
    P: Spread<Item: AtomicWord>,
    X: ListIndex,
    K: Verb<<P::Item as AtomicWord>::Value>,
{
    if let Some(near) = Near::find(endpoint, place, indices) {
        // SAFETY: words are laid out as their numbers (`AtomicWord` is sealed to such); the rest is the caller's promise.
        return unsafe { near.change::<_, K>(before, values, expected) };
    }
    let width = Width::of::<<P::Item as AtomicWord>::Value>();
    let change = Change { op: K::OP, width, operand: values.operand(), expected: expected.operand() };
    let before: Option<*mut u8> = before.map(<*mut _>::cast);
    let local = before.map_or(core::ptr::null(), <*mut u8>::cast_const);
    let call = Call::new(K::FAMILY, location).with(local).word(width, K::OP.with(0, 0));
    told(endpoint, place, indices, call, || {
        let deed = Deed::Change(change, before);
        // SAFETY: words are laid out as their numbers (`AtomicWord` is sealed to such); the rest is the caller's promise.
        unsafe { carry_out(endpoint, place, indices, deed, K::FAMILY.until()) }
    })
}

/// Changes words once that are listed several times.
#[inline(never)]
fn change_combined<P, X, K>(
    endpoint: &Endpoint,
    place: P,
    indices: &[X],
    values: &impl Values<<P::Item as AtomicWord>::Value>,
    location: &'static Location<'static>,
) -> Result<(), Wrong>
where
    P: Spread<Item: AtomicWord>,
    X: ListIndex,
    K: Verb<<P::Item as AtomicWord>::Value>,
{
    let width = Width::of::<<P::Item as AtomicWord>::Value>();
    let call = Call::new(K::FAMILY, location).word(width, K::OP.with(0, 0));
    told(endpoint, place, indices, call, || {
        with_copies(|copies| {
            let (indices, values) = combined::combine::<_, K>(copies, indices, place.len(), values)?;
            let expected = <P::Item as AtomicWord>::Value::zeroed();
            // SAFETY: nothing comes back.
            unsafe { change_each::<_, _, K>(endpoint, place, indices, None, &values, &expected, location) }
        })
    })
}

/// Does something of which an observer is told, if there is one.
fn told<P: Spread, X: ListIndex, R>(
    endpoint: &Endpoint,
    place: P,
    indices: &[X],
    call: Call<'_>,
    body: impl FnOnce() -> R,
) -> R {
    if endpoint.observer().is_none() {
        return body();
    }
    let (pes, size) = (place.pes(), size_of::<P::Item>());
    let valid = indices.iter().map(|index| index.index()).filter(|index| *index < place.len());
    let found = valid.take(Listed::MOST).map(|index| {
        let (rank, element) = place.locator()(index);
        (pes[rank], place.offset() + element * size)
    });
    let places: Vec<_> = found.collect();
    let pe = if let [pe] = pes { Some(*pe) } else { None };
    let call =
        Call { pe, segment: place.segment(), offset: place.offset(), bytes: indices.len() * size, ..call };
    endpoint.tell(call.listed(Listed { size, places: &places }), body)
}

/// # Panics
///
/// If the index is beyond the end of an object of so many elements at an offset.
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
fn check_values<V: AmoValue>(indices: usize, values: &impl Values<V>) {
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
