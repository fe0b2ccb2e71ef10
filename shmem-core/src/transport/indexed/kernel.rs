//! The loops over listed elements in memory of this process: at an initiator on the same node, and at the target of a message. A
//! list that has arrived in a message is [checked](Target::listed) once, so its loop checks no index.
//!
//! Listed elements are scattered, so each probably misses the cache. A core can have several loads in flight, but on many
//! processors only one locked instruction. So the loops prefetch lines some elements [ahead](led). Each element is accessed as by a
//! single operation ([`shm`], [`apply`]).

use super::{Change, ListRequest, Operand, position};
use crate::planted_fault::mutant;
use crate::transport::atomic_op::apply;
use crate::transport::target::Target;
use crate::transport::{AtomicOp, EachOp, Number, Width, shm};

/// Prefetch distance in elements: more than the number of lines that a core can wait for.
pub(crate) const LEAD: usize = 32;

/// Upper limit on the bytes of an object that is accessed by plain loads and stores without prefetches. Its lines are probably in a
/// cache of the core, where these accesses overlap by themselves.
pub(crate) const NEAR: usize = 1 << 20;

/// Number of updates after which the bell of the words' owner is rung, so that a waiter need not wait for the end of a long list.
pub(crate) const RING: usize = 512;

/// Minimum length of a list whose elements are prefetched.
const SHORT: usize = 4;

/// Calls `work` for elements `0..count`, in order, with the address that `address` returns. `expect` (a prefetch) gets each address
/// [`LEAD`] elements before `work` does. If `is_kept`, the address is stored until its element's turn. Otherwise it is computed
/// again, which is faster before locked instructions, because they wait for earlier stores. Stops at the first error of `address`.
#[inline(always)]
pub(crate) fn led<E>(
    is_kept: bool,
    count: usize,
    address: impl Fn(usize) -> Result<*mut u8, E>,
    expect: impl Fn(*mut u8),
    mut work: impl FnMut(usize, *mut u8),
) -> Result<(), E> {
    if count < SHORT {
        for k in 0..count {
            work(k, address(k)?);
        }
        return Ok(());
    }
    let mut kept = [core::ptr::null_mut(); LEAD];
    for (k, kept) in kept.iter_mut().enumerate().take(count) {
        *kept = address(k)?;
        expect(*kept);
    }
    let end = if mutant("lead-without-end") { count - 1 } else { count };
    for k in 0..end {
        let place = if is_kept { kept[k % LEAD] } else { address(k)? };
        if k + LEAD < count {
            let next = address(k + LEAD)?;
            expect(next);
            if is_kept {
                kept[k % LEAD] = next;
            }
        }
        work(k, place);
    }
    Ok(())
}

/// Listed elements of `size` bytes in memory of this process. Element 0 is at `first`.
#[derive(Clone, Copy)]
pub(crate) struct Near<'a> {
    pub(crate) first: *mut u8,
    pub(crate) size: usize,
    pub(crate) indices: &'a [u32],
}

impl Near<'_> {
    #[inline(always)]
    fn each(self, expect: impl Fn(*mut u8), work: impl FnMut(usize, *mut u8)) {
        let Self { first, size, indices } = self;
        let address = |k: usize| Ok(first.wrapping_add(indices[k] as usize * size));
        let Ok(()) = led::<core::convert::Infallible>(false, indices.len(), address, expect, work);
    }

    /// Carries out an operation on the elements. Result `k` is written to `positions[k]` of local memory, or `k` without positions.
    /// `ring` rings the owner's bell after every [`RING`] changes of words, and after the last. Panics if words have operands of
    /// their own, but some have none.
    ///
    /// # Safety
    ///
    /// Every listed element must be, for `Pick`, readable; for `Place`, writable; for a change, an aligned word of `size` bytes,
    /// the change's width, that is only changed atomically. Local memory must be, for `Place`, readable for one element per index;
    /// for results, writable for one element at each position; for results of a change, also aligned.
    pub(crate) unsafe fn carry_out(
        self,
        request: ListRequest<'_>,
        positions: Option<&[u32]>,
        ring: impl Fn(),
    ) {
        match request {
            // SAFETY: the caller's promise.
            ListRequest::Pick(into) => unsafe { self.pick(into, positions) },
            // SAFETY: the caller's promise.
            ListRequest::Place(source) => unsafe { self.place(source) },
            ListRequest::Change(change, before) => {
                let before = before.map(|before| (before, positions));
                // SAFETY: the caller's promise.
                unsafe { self.change(&change, before, ring) };
            }
        }
    }

    /// # Safety
    ///
    /// As [`carry_out`](Self::carry_out).
    unsafe fn pick(self, into: *mut u8, positions: Option<&[u32]>) {
        macro_rules! picked {
            ($bytes:expr) => {
                self.each(
                    |place| shm::expect_read(place),
                    |k, place| {
                        let to = into.wrapping_add(position(positions, k) * $bytes);
                        // SAFETY: `place` is an element of the list, and `to` the place of its result (caller).
                        unsafe { shm::get(to, place, $bytes) };
                    },
                )
            };
        }
        match self.size {
            4 => picked!(4),
            8 => picked!(8),
            16 => picked!(16),
            bytes => picked!(bytes),
        }
    }

    /// # Safety
    ///
    /// As [`carry_out`](Self::carry_out).
    unsafe fn place(self, source: *const u8) {
        macro_rules! placed {
            ($bytes:expr) => {
                self.each(
                    |place| shm::expect_write(place),
                    |k, place| {
                        // SAFETY: `place` is an element of the list, and its value is readable (caller).
                        unsafe { shm::put(place, source.wrapping_add(k * $bytes), $bytes) };
                    },
                )
            };
        }
        match self.size {
            4 => placed!(4),
            8 => placed!(8),
            16 => placed!(16),
            bytes => placed!(bytes),
        }
    }

    /// # Safety
    ///
    /// As [`carry_out`](Self::carry_out).
    unsafe fn change(self, change: &Change<'_>, before: Option<(*mut u8, Option<&[u32]>)>, ring: impl Fn()) {
        // Generates a loop for each operation, so that no loop branches on the operation.
        macro_rules! by {
            ($width:expr, |$k:ident| $op:expr) => {{
                let expect = |place: *mut u8| match change.op {
                    EachOp::Fetch => shm::expect_read(place),
                    _ => shm::expect_write(place),
                };
                match before {
                    None => self.each(expect, |$k, word| {
                        // SAFETY: `word` is an aligned word of this width (caller).
                        unsafe { apply(word, $width, $op) };
                        if $k % RING == RING - 1 {
                            ring();
                        }
                    }),
                    Some((before, positions)) => self.each(expect, |$k, word| {
                        // SAFETY: `word` is an aligned word of this width (caller).
                        let found = unsafe { apply(word, $width, $op) };
                        let to = before.wrapping_add(position(positions, $k) * $width.bytes());
                        // SAFETY: `to` is aligned, and writable for a value (caller).
                        unsafe { $width.write(to, found) };
                        if $k % RING == RING - 1 {
                            ring();
                        }
                    }),
                }
            }};
        }
        macro_rules! of_width {
            ($width:expr, $($op:ident)*) => {
                match (change.op, change.operand) {
                    (EachOp::Fetch, _) => by!($width, |k| AtomicOp::Fetch),
                    (EachOp::CompareSwap, _) => by!($width, |k| change.at(k)),
                    $(
                        (EachOp::$op, Operand::Same(value)) => by!($width, |k| AtomicOp::$op(value)),
                        (EachOp::$op, own) => by!($width, |k| AtomicOp::$op(own.at(k, $width))),
                    )*
                    (EachOp::Min(Number::Unsigned), own) => by!($width, |k| AtomicOp::Min(Number::Unsigned, own.at(k, $width))),
                    (EachOp::Min(Number::Signed), own) => by!($width, |k| AtomicOp::Min(Number::Signed, own.at(k, $width))),
                    (EachOp::Min(Number::Float), own) => by!($width, |k| AtomicOp::Min(Number::Float, own.at(k, $width))),
                    (EachOp::Max(Number::Unsigned), own) => by!($width, |k| AtomicOp::Max(Number::Unsigned, own.at(k, $width))),
                    (EachOp::Max(Number::Signed), own) => by!($width, |k| AtomicOp::Max(Number::Signed, own.at(k, $width))),
                    (EachOp::Max(Number::Float), own) => by!($width, |k| AtomicOp::Max(Number::Float, own.at(k, $width))),
                }
            };
        }
        match change.width {
            Width::W4 => of_width!(Width::W4, Set Swap Add And Or Xor AddFloat),
            Width::W8 => of_width!(Width::W8, Set Swap Add And Or Xor AddFloat),
        }
        if change.op != EachOp::Fetch && !mutant("list-without-bell") {
            ring();
        }
    }
}

/// Listed elements that are all in the memory of a target.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    target: Target,
    near: Near<'a>,
}

/// The error that a listed element is not in the target's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beyond {
    /// Bytes from the start of element 0 to the end of the listed element with the largest index; `None` if they overflow.
    pub(crate) bytes: Option<usize>,
}

impl Target {
    /// The listed elements of `size` bytes; element 0 is at `offset`. Fails if one is not in the target's memory.
    pub(crate) fn listed(self, offset: usize, size: usize, indices: &[u32]) -> Result<Listed<'_>, Beyond> {
        let largest = indices.iter().max().map(|largest| *largest as usize);
        let bytes = largest.map_or(Some(0), |largest| largest.checked_mul(size)?.checked_add(size));
        let first = bytes.and_then(|bytes| self.address(offset, bytes)).ok_or(Beyond { bytes })?;
        Ok(Listed { target: self, near: Near { first, size, indices } })
    }
}

impl Listed<'_> {
    /// Reads the elements to consecutive places of `into`. Panics if the elements and `into` differ in length.
    pub(crate) fn pick(self, into: &mut [u8]) {
        self.must_have(into.len());
        // SAFETY: all elements are in the target's memory (`listed`), and `into` has their length (`must_have`).
        unsafe { self.near.carry_out(ListRequest::Pick(into.as_mut_ptr()), None, || ()) };
    }

    /// Writes consecutive values of `data` to the elements. Of several values for one element, the last stays. Panics if the
    /// elements and `data` differ in length.
    pub(crate) fn place(self, data: &[u8]) {
        self.must_have(data.len());
        // SAFETY: all elements are in the target's memory (`listed`), and `data` has their length (`must_have`).
        unsafe { self.near.carry_out(ListRequest::Place(data.as_ptr()), None, || ()) };
    }

    /// Applies the change to the listed words, rings the PE's bell unless the change is a fetch (which changes nothing), and writes
    /// the old values to consecutive places of `before`, if given. Panics if words are not aligned or have another width, their
    /// number is not that of the operands, or `before` has another length or is not aligned.
    pub(crate) fn change(self, change: Change<'_>, before: Option<&mut [u8]>) {
        let Near { first, size, indices } = self.near;
        let width = change.width.bytes();
        assert!(size == width && first.addr().is_multiple_of(width), "words of {size} bytes at {first:p}");
        assert!(change.is_for(indices.len()), "{} words have fewer operands", indices.len());
        let before = before.map(|before| {
            self.must_have(before.len());
            before.as_mut_ptr()
        });
        let is_aligned = before.is_none_or(|before| before.addr().is_multiple_of(width));
        assert!(is_aligned, "words are written to {before:?}");
        // SAFETY: the words are aligned and have this width (asserted), and all are in the target's memory (`listed`). `before` has
        // their length (`must_have`), and is aligned. Words are changed only here, by `Target::update` and by `shm::atomic`.
        unsafe { self.near.carry_out(ListRequest::Change(change, before), None, || self.target.ring()) };
    }

    fn must_have(&self, bytes: usize) {
        let Near { size, indices, .. } = self.near;
        assert!(
            indices.len().checked_mul(size) == Some(bytes),
            "{} elements of {size} bytes in {bytes}",
            indices.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn the_bell_is_rung_between_updates_and_after_the_last() {
        let (mut words, list) = ([0_u32; 4], vec![1; 3 * RING + 1]);
        let rung = Cell::new(0);
        let change = Change::new(EachOp::Add, Width::W4, Operand::Same(1));
        let seen = Near { first: words.as_mut_ptr().cast(), size: 4, indices: &list };
        // SAFETY: words of the test's own.
        unsafe { seen.carry_out(ListRequest::Change(change, None), None, || rung.set(rung.get() + 1)) };
        assert_eq!((words, rung.get()), ([0, 3 * RING as u32 + 1, 0, 0], 4));
    }
}
