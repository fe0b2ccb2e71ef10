//! A place: a symmetric object, or a part of one, on one PE.

use core::fmt;
use core::marker::PhantomData;
use core::panic::Location;

use super::index::PlaceIndex;
use super::part::Part;
use crate::data::{Contents, SymmetricData};
use crate::endpoint::Initiator;
use crate::pe::Pe;

/// A symmetric object, or a part of one, on one PE: what put, get and the atomics take.
///
/// ```text
/// GRID.on(right)                 the whole object
/// GRID.on(right).index(3)        one element (one row, if the elements are arrays)
/// GRID.on(right).index(1..=NX)   a slice
/// CELLS.on(right).index(3).field(|cell| &cell.mass)   a field of one element
/// ```
///
/// Bounds are checked when the place is made; with constant indices the check disappears.
pub struct On<'a, T: Contents + ?Sized> {
    pe: Pe,
    segment: u32,
    /// A closure has named the part, and may have given it another type than it was declared with. Apart from the segment,
    /// which statics learn at the start: this the compiler knows.
    is_named: bool,
    offset: usize,
    len: usize,
    _object: PhantomData<Borrowed<'a, T>>,
}

/// Beside a segment: [`On::is_named`].
const NAMED: u32 = 1 << 31;

/// Borrows the handle, and neither owns nor shares a `T`.
type Borrowed<'a, T> = (&'a (), fn() -> *const T);

impl<T: Contents + ?Sized> Clone for On<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Contents + ?Sized> Copy for On<'_, T> {}

impl<'a, T: Contents + ?Sized> On<'a, T> {
    /// # Safety
    ///
    /// `len` items of `T` must lie at `offset` in segment `segment` of every PE's slot, aligned
    /// for the item, reserved for it for all of `'a`.
    #[doc(hidden)]
    #[inline(always)]
    pub const unsafe fn new(pe: Pe, segment: u32, offset: usize, len: usize) -> Self {
        Self { pe, segment, is_named: false, offset, len, _object: PhantomData }
    }

    /// The PE.
    #[inline(always)]
    pub fn pe(&self) -> Pe {
        self.pe
    }

    /// The PE, borrowed from the place: a list of one.
    #[inline(always)]
    pub(crate) fn pes(&self) -> &[Pe] {
        core::slice::from_ref(&self.pe)
    }

    /// Index of the segment.
    #[inline(always)]
    pub fn segment(&self) -> u32 {
        self.segment
    }

    /// Whether a number here may be a part of what is accessed as a number of another size elsewhere: then its access may be
    /// no atomic one (`shared`).
    #[inline(always)]
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// [`segment`](Self::segment) and [`is_named`](Self::is_named) in one word, for who is given no whole place.
    #[inline(always)]
    pub(crate) fn tagged_segment(&self) -> u32 {
        if self.is_named { self.segment | NAMED } else { self.segment }
    }

    /// What is in such a word.
    #[inline(always)]
    pub(crate) fn untagged(segment: u32) -> (u32, bool) {
        (segment & !NAMED, segment & NAMED != 0)
    }

    /// Bytes from the start of the PE's slot.
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of items: 1 for a value, the length of a slice.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "a place of a value has no emptiness")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T::Item>()
    }

    /// A part of the place: an element by number, or a slice by range.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub fn index<I: PlaceIndex<T>>(self, index: I) -> On<'a, I::Output> {
        let (first, len) = index.locate(self.len);
        let offset = self.offset + first * size_of::<<I::Output as Contents>::Item>();
        // SAFETY: `locate` returned a range inside the `len` items of this place, so the part is
        // inside what `new` was promised, and a multiple of the item's size from its start.
        let part = unsafe { On::new(self.pe, self.segment, offset, len) };
        On { is_named: self.is_named, ..part }
    }

    /// The place as a pointer of this process, if the PE is on this node (`shmem_ptr`).
    ///
    /// Loads and stores through it are ordinary ones, unsynchronised with the owner: it is for code
    /// that synchronises by itself. It is not a symmetric address: no operation takes it.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ptr`.
    #[inline]
    #[track_caller]
    pub fn ptr(self, token: &(impl Initiator + ?Sized)) -> Option<*mut T> {
        token.endpoint().require_open(Location::caller());
        let start = token.endpoint().mapped(self.pe, self.offset)?;
        Some(T::from_raw(start.cast(), self.len))
    }
}

impl<'a, T: SymmetricData> On<'a, T> {
    /// A field of a struct, or a part of one: what can be named as a part of the closure's argument, which is a value of
    /// zeroes, and nobody's memory. Plain fields are put and got, and words are changed and waited for, each as if it were
    /// declared by itself.
    ///
    /// ```
    /// # mod shmem { pub use shmem_core::{context::*, object::*}; }
    /// use shmem::{Amo, Atomic, On, Rma, Stores};
    ///
    /// /// Puts an item behind those that are there. (An array of words is one object, too.)
    /// fn push(world: &impl Stores, counts: On<'_, [Atomic<u64>; 2]>, rows: On<'_, [[u64; 64]; 2]>, item: u64) {
    ///     let at = world.fetch_inc(counts.field(|counts| &counts[1]));
    ///     world.p(rows.field(|rows| &rows[1]).index(at as usize % 64), item);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure gives something else than a part of its argument, or a part as a type for which it is not aligned.
    #[inline(always)]
    #[track_caller]
    pub fn field<F: Contents + ?Sized>(self, name: impl for<'x> FnOnce(&'x T) -> &'x F) -> On<'a, F> {
        let part = Part::of(name);
        let offset = self.offset + part.offset;
        part.require_alignment::<T, F>(offset);
        // SAFETY: as many items lie inside a value of `T`, and so inside this place on every PE, aligned, as was just
        // required; of their type every bit pattern is a value. What `new` was promised of the place holds of them.
        let part = unsafe { On::new(self.pe, self.segment, offset, part.len) };
        On { is_named: true, ..part }
    }
}

impl<T: Contents + ?Sized> fmt::Debug for On<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items at segment {} offset {:#x} on {:?}", self.len, self.segment, self.offset, self.pe)
    }
}
