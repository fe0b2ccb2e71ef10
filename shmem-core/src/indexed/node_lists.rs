//! Lists whose elements are all on this node. They are accessed in the arena, in the order of the list.

use super::listed::IndexBeyondEnd;
use super::listed::ListIndex;
use super::listed::sealed::{Span, Spread};
use super::operation::{ListOp, OneOrEach};
use crate::endpoint::Endpoint;
use crate::object::AmoValue;
use crate::pe::Pe;
use crate::planted_fault::mutant;
use crate::symmetric_data::PlainData;
use crate::transport::atomic_op::apply;
use crate::transport::indexed::kernel::{NEAR, RING, led};
use crate::transport::{EachOp, Width, shm};

/// If the job has other nodes or an observer, objects over more PEs than this are left to `remote_lists`, without a test of each
/// PE.
const FEW: usize = 64;

pub(super) struct Near<'e, 'i, P, X> {
    endpoint: &'e Endpoint,
    place: P,
    indices: &'i [X],
}

impl<'e, 'i, P: Spread, X: ListIndex> Near<'e, 'i, P, X> {
    /// Returns the list; `None` if there is an observer, if a PE is on another node, or if the job has other nodes and the object
    /// is over more than [`FEW`] PEs.
    #[inline(always)]
    pub(super) fn find(endpoint: &'e Endpoint, place: P, indices: &'i [X]) -> Option<Self> {
        let pes = place.pes();
        let is_here = |pe: &Pe| endpoint.slot_of(*pe).is_some();
        let is_near = (endpoint.is_plain() || pes.len() <= FEW) && pes.iter().all(is_here);
        is_near.then_some(Self { endpoint, place, indices })
    }

    /// Returns a function from a position in the list to the address of the element, in the arena.
    #[inline(always)]
    fn addresses(&self) -> impl Fn(usize) -> Result<*mut u8, IndexBeyondEnd> + Copy {
        let Self { endpoint, place, indices } = self;
        let Span { len, offset, .. } = place.span();
        let (locate, pes) = (place.locator(), place.pes());
        let (indices, start_of) = (*indices, endpoint.starts());
        let start = move |pe: &Pe| {
            let slot = pe.slot().unwrap_or_else(|| unreachable!("all were looked at"));
            start_of(slot).wrapping_add(offset)
        };
        let first = pes.first().map(start);
        move |k| {
            let index = indices[k].index();
            if index >= len {
                return Err(IndexBeyondEnd { position: k, index });
            }
            let (rank, element) = locate(index);
            let start = match first {
                Some(first) if P::IS_ONE => first,
                _ => start(&pes[rank]),
            };
            Ok(start.wrapping_add(element * size_of::<P::Item>()))
        }
    }

    /// Calls `work` for all elements, in order. If the object is large, calls `expect` for each element, some elements earlier, to
    /// prefetch its cache lines.
    #[inline(always)]
    fn each(
        &self,
        expect: impl Fn(*mut u8),
        mut work: impl FnMut(usize, *mut u8),
    ) -> Result<(), IndexBeyondEnd> {
        let (count, address) = (self.indices.len(), self.addresses());
        if self.place.span().len.saturating_mul(size_of::<P::Item>()) <= NEAR {
            for k in 0..count {
                work(k, address(k)?);
            }
            return Ok(());
        }
        led(!P::IS_ONE, count, address, expect, work)
    }

    /// Reads all elements into `into`.
    ///
    /// # Safety
    ///
    /// `into` must be writable for an element per index, and accessed by nobody else.
    #[inline(always)]
    pub(super) unsafe fn gather(&self, into: *mut P::Item) -> Result<(), IndexBeyondEnd>
    where
        P::Item: PlainData,
    {
        let is_named = self.place.span().is_named;
        self.each(
            |place| shm::expect_read(place),
            move |k, from| {
                let to = into.wrapping_add(k);
                if size_of::<P::Item>() <= 16 {
                    // SAFETY: `from` is an aligned element of the object (`addresses`).
                    let value = unsafe { shm::load(from.cast::<P::Item>(), is_named) };
                    // SAFETY: `k` is below the length of the list, so `to` is writable (caller).
                    unsafe { to.write(value) };
                } else {
                    // SAFETY: `from` is an element of the object (`addresses`), and `to` is writable (caller).
                    unsafe { shm::get(to.cast(), from, size_of::<P::Item>()) };
                }
            },
        )
    }

    /// Writes all elements from `values`.
    ///
    /// # Safety
    ///
    /// `values` must be readable for an element per index.
    #[inline(always)]
    pub(super) unsafe fn scatter(&self, values: *const P::Item) -> Result<(), IndexBeyondEnd>
    where
        P::Item: PlainData,
    {
        let is_named = self.place.span().is_named;
        self.each(shm::expect_write, move |k, to| {
            let from = values.wrapping_add(k);
            if size_of::<P::Item>() <= 16 {
                // SAFETY: `k` is below the length of the list, so `from` is readable (caller).
                let value = unsafe { from.read() };
                // SAFETY: `to` is an aligned element of the object (`addresses`).
                unsafe { shm::store(to.cast::<P::Item>(), value, is_named) };
            } else {
                // SAFETY: `to` is an element of the object (`addresses`), and `from` is readable (caller).
                unsafe { shm::put(to, from.cast(), size_of::<P::Item>()) };
            }
        })
    }

    /// Applies the operation `K` to all words.
    ///
    /// # Safety
    ///
    /// Elements must be words of `V`. `before`, if given, must be writable for a value per index, and accessed by nobody else.
    #[inline(always)]
    pub(super) unsafe fn change<V: AmoValue, K: ListOp<V>>(
        &self,
        before: Option<*mut V>,
        values: impl OneOrEach<V>,
        expected: impl OneOrEach<V>,
    ) -> Result<(), IndexBeyondEnd> {
        let (count, is_silent) = (self.indices.len(), K::OP == EachOp::Fetch);
        let ring = |k: usize| {
            if k % RING == RING - 1 && !is_silent {
                self.ring();
            }
        };
        let changed = |k: usize, word: *mut u8| {
            let op = K::OP.with(values.value(k).to_bits64(), expected.value(k).to_bits64());
            // SAFETY: `word` is an element of the object (`addresses`), which is an aligned word of `V` (caller).
            unsafe { apply(word, Width::of::<V>(), op) }
        };
        let address = self.addresses();
        let expect = |word: *mut u8| match K::OP {
            EachOp::Fetch => shm::expect_read(word),
            _ => shm::expect_write(word),
        };
        let done = match before {
            None => led(!P::IS_ONE, count, address, expect, |k, word| {
                _ = changed(k, word);
                ring(k);
            }),
            Some(before) => led(!P::IS_ONE, count, address, expect, |k, word| {
                let found = V::from_bits64(changed(k, word));
                // SAFETY: `k` is below the length of the list, so that place of `before` is writable (caller).
                unsafe { before.wrapping_add(k).write(found) };
                ring(k);
            }),
        };
        // Ring even if an index was wrong, because words earlier in the list were changed.
        if !is_silent && !mutant("list-without-bell") {
            self.ring();
        }
        done
    }

    /// Rings the doorbells of the PEs whose words the list changes, or of all PEs of the object if the list has at least as many
    /// elements as there are PEs.
    #[inline(never)]
    fn ring(&self) {
        let Self { endpoint, place, indices } = self;
        let ring = |slot: Option<usize>| {
            let Some(slot) = slot else { return };
            // SAFETY: `start_of` returns the start of the mapped slot of a PE on this node.
            unsafe { Endpoint::bell_at(endpoint.start_of(slot)) }.ring_watchers();
        };
        let pes = place.pes();
        if indices.len() < pes.len() {
            let (valid, locate) = (indices.iter().map(|index| index.index()), place.locator());
            return valid
                .filter(|index| *index < place.span().len)
                .for_each(|index| ring(pes[locate(index).0].slot()));
        }
        pes.iter().for_each(|pe| ring(pe.slot()));
    }
}
