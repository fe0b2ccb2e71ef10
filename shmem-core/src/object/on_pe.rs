//! Places: a symmetric object, or a part of one, on one PE.
//!
//! A closure names a field: `|queue| &queue.head`. Its argument is a value of zeroes, not memory that other PEs write. The
//! reference that it returns must point inside the argument. If the closure only names a field, its offset is a constant in
//! optimised builds.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};

use super::index::PlaceIndex;
use crate::endpoint::Initiator;
use crate::pe::Pe;
use crate::symmetric_data::{Contents, SymmetricData, copied};
use crate::text::counted;

/// A symmetric object on one PE, or a part of it: the argument of put, get and atomics.
///
/// ```text
/// GRID.on(right)                 the whole object
/// GRID.on(right).index(3)        one element (one row, if the elements are arrays)
/// GRID.on(right).index(1..=NX)   a slice
/// CELLS.on(right).index(3).field(|cell| &cell.mass)   a field of one element
/// ```
///
/// Bounds are checked when the place is made. With constant indices, the compiler removes the check.
pub struct On<'a, T: Contents + ?Sized> {
    pe: Pe,
    segment: u32,
    /// Whether `field` made the place, so that a number here may overlap a number of another size. Not a bit of `segment`, so that
    /// the compiler sees a constant.
    is_named: bool,
    offset: usize,
    len: usize,
    _object: PhantomData<Borrowed<'a, T>>,
}

/// The bit of [`On::tagged_segment`] that stores [`On::is_named`].
const NAMED: u32 = 1 << 31;

/// Makes a place borrow its handle, but own no `T`, so that it is `Send` and `Sync` for every `T`.
type Borrowed<'a, T> = (&'a (), fn() -> *const T);

copied! { [T: Contents + ?Sized] On<'_, T>; }

impl<'a, T: Contents + ?Sized> On<'a, T> {
    /// # Safety
    ///
    /// At `offset` in segment `segment`, every PE's slot must have `len` items of `T`, aligned, and reserved for all of `'a`.
    #[doc(hidden)]
    #[inline(always)]
    pub const unsafe fn new(pe: Pe, segment: u32, offset: usize, len: usize) -> Self {
        Self { pe, segment, is_named: false, offset, len, _object: PhantomData }
    }

    /// The PE of the place.
    #[inline(always)]
    pub fn pe(&self) -> Pe {
        self.pe
    }

    #[inline(always)]
    pub(crate) fn pes(&self) -> &[Pe] {
        core::slice::from_ref(&self.pe)
    }

    /// Index of the place's segment.
    #[inline(always)]
    pub fn segment(&self) -> u32 {
        self.segment
    }

    /// Whether `field` made this place. If so, a number here may overlap a number of another size at another place, so accesses are
    /// not atomic (module `shared`).
    #[inline(always)]
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// Packs [`segment`](Self::segment) and [`is_named`](Self::is_named) into one word.
    #[inline(always)]
    pub(crate) fn tagged_segment(&self) -> u32 {
        if self.is_named { self.segment | NAMED } else { self.segment }
    }

    /// Splits a tagged segment into [`segment`](Self::segment) and [`is_named`](Self::is_named).
    #[inline(always)]
    pub(crate) fn untagged(segment: u32) -> (u32, bool) {
        (segment & !NAMED, segment & NAMED != 0)
    }

    /// Bytes from the start of the PE's slot to the place.
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

    /// Size of the place in bytes.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T::Item>()
    }

    /// Returns a part of the place: an element by its index, or a slice by a range of indices.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub fn index<I: PlaceIndex<T>>(self, index: I) -> On<'a, I::Output> {
        let (first, len) = index.locate(self.len, self.offset);
        let offset = self.offset + first * size_of::<<I::Output as Contents>::Item>();
        // SAFETY: `locate` returned a range inside this place. So the part is inside the items for which the caller of `new`
        // vouched, and starts at a multiple of the item's size.
        let part = unsafe { On::new(self.pe, self.segment, offset, len) };
        On { is_named: self.is_named, ..part }
    }

    /// Returns a pointer to the place in this process, or `None` if the PE is on another node.
    ///
    /// Loads and stores through the pointer are not synchronised with the place's PE. The pointer is not a symmetric address, so it
    /// cannot be passed to an operation.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ptr`.
    #[inline]
    #[track_caller]
    pub fn ptr(self, token: &(impl Initiator + ?Sized)) -> Option<*mut T> {
        let start = token.endpoint().mapped(self.pe, self.offset)?;
        Some(T::from_raw(start.cast(), self.len))
    }
}

impl<'a, T: SymmetricData> On<'a, T> {
    /// Returns the place of a field of a struct, or of a part of a field. The closure gets a value of zeroes, and returns a
    /// reference to the field in this value, of which only the position counts. Operations on the returned place are those on an
    /// object of the field's type: put and get for plain data, atomics and waits for a word.
    ///
    /// ```
    /// # mod shmem { pub use shmem_core::{context::*, object::*}; }
    /// use shmem::{Amo, Atomic, On, Rma, Stores};
    ///
    /// /// Puts an item behind those in the second row. (`field` also names an element of an array.)
    /// fn push(world: &impl Stores, counts: On<'_, [Atomic<u64>; 2]>, rows: On<'_, [[u64; 64]; 2]>, item: u64) {
    ///     let at = world.fetch_inc(counts.field(|counts| &counts[1]));
    ///     world.p(rows.field(|rows| &rows[1]).index(at as usize % 64), item);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure returns a reference outside its argument, or to a type for which the field is not aligned.
    #[inline(always)]
    #[track_caller]
    pub fn field<F: Contents + ?Sized>(self, name: impl for<'x> FnOnce(&'x T) -> &'x F) -> On<'a, F> {
        let part = NamedPart::of(name);
        let offset = self.offset + part.offset;
        part.require_alignment::<T, F>(offset);
        // SAFETY: `part.len` items are inside a `T`, so inside this place on every PE, and they are aligned (`require_alignment`).
        // Every bit pattern is a valid item. This place is reserved for `'a`, so its part is too.
        let part = unsafe { On::new(self.pe, self.segment, offset, part.len) };
        On { is_named: true, ..part }
    }
}

impl<T: Contents + ?Sized> fmt::Debug for On<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pe, segment, offset, len, .. } = *self;
        write!(f, "{} at segment {segment} offset {offset:#x} on {pe:?}", counted(len, "item"))
    }
}

/// Upper limit on the size in bytes of a value of zeroes on the stack. Larger values are on the heap.
const ON_STACK: usize = 4096;

/// The part of a value that a closure names: its offset in the value in bytes, and its number of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedPart {
    offset: usize,
    len: usize,
}

impl NamedPart {
    /// Returns the part of a value of zeroes to which `name` returns a reference. Panics if the reference is outside the value.
    #[inline(always)]
    #[track_caller]
    fn of<T: SymmetricData, F: Contents + ?Sized>(name: impl for<'x> FnOnce(&'x T) -> &'x F) -> Self {
        if size_of::<T>() <= ON_STACK { Self::near(name) } else { Self::far(name) }
    }

    #[inline]
    #[track_caller]
    fn near<T: SymmetricData, F: Contents + ?Sized>(name: impl for<'x> FnOnce(&'x T) -> &'x F) -> Self {
        let zeroes = MaybeUninit::<T>::zeroed();
        // SAFETY: a `T` of zeroes is valid (`SymmetricData`).
        Self::inside(unsafe { zeroes.assume_init_ref() }, name)
    }

    /// As `of`, for a value that is too large for the stack.
    #[inline(never)]
    #[track_caller]
    fn far<T: SymmetricData, F: Contents + ?Sized>(name: impl for<'x> FnOnce(&'x T) -> &'x F) -> Self {
        let layout = Layout::new::<MaybeUninit<T>>();
        assert!(layout.size() > ON_STACK, "what is short lies on the stack");
        // SAFETY: the size of the layout is not 0, as just asserted.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: the global allocator returned `memory` for the layout of a `MaybeUninit<T>`, which is valid with any bytes.
        let zeroes: Box<MaybeUninit<T>> = unsafe { Box::from_raw(memory.cast()) };
        // SAFETY: a `T` of zeroes is valid (`SymmetricData`), and the memory was allocated zeroed.
        Self::inside(unsafe { zeroes.assume_init_ref() }, name)
    }

    #[inline(always)]
    #[track_caller]
    fn inside<T: SymmetricData, F: Contents + ?Sized>(
        value: &T,
        name: impl for<'x> FnOnce(&'x T) -> &'x F,
    ) -> Self {
        let part = name(value);
        let offset = part.start_of().addr().wrapping_sub(core::ptr::from_ref(value).addr());
        let end = offset.checked_add(size_of_val(part));
        if end.is_none_or(|end| end > size_of::<T>()) {
            elsewhere();
        }
        Self { offset, len: part.len_of() }
    }

    /// Panics if the part is not aligned for its items, which can happen only if the closure changes the type. `start` is the
    /// offset of the part in a PE's slot.
    #[inline(always)]
    #[track_caller]
    fn require_alignment<T: SymmetricData, F: Contents + ?Sized>(self, start: usize) {
        let align = align_of::<F::Item>();
        // Known at compile time if the closure only names a field.
        let is_aligned = align_of::<T>() >= align && self.offset.is_multiple_of(align);
        if !is_aligned && !start.is_multiple_of(align) {
            misaligned(align);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn elsewhere() -> ! {
    panic!(
        "what was named is no part of the value; name a field of the argument: `.field(|value| &value.name)`"
    )
}

#[cold]
#[inline(never)]
#[track_caller]
fn misaligned(align: usize) -> ! {
    panic!(
        "the part is read as a type that is aligned to {align} bytes, and does not lie so; name it as what it is"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::refusal;

    #[test]
    fn parts_lie_where_they_are_named() {
        let last = NamedPart::of(|row: &[u32; 5]| &row[2..]);
        assert_eq!(last, NamedPart { offset: 8, len: 3 });
        // More than the stack is asked for.
        let far = NamedPart::of(|row: &[[u64; 1024]; 1024]| &row[1000][7]);
        assert_eq!(far, NamedPart { offset: (1000 * 1024 + 7) * 8, len: 1 });
        let none = NamedPart::of(|row: &[u32; 5]| &row[5..]);
        assert_eq!(none, NamedPart { offset: 20, len: 0 });
    }

    #[test]
    fn what_lies_elsewhere_or_is_not_aligned_is_no_part() {
        static ELSEWHERE: u64 = 0;
        let elsewhere = refusal(|| _ = NamedPart::of(|_: &[u64; 2]| &ELSEWHERE));
        assert!(elsewhere.contains("is no part of the value"), "{elsewhere}");
        let part = NamedPart { offset: 0, len: 1 };
        part.require_alignment::<[u8; 8], u64>(16);
        let misaligned = refusal(|| part.require_alignment::<[u8; 8], u64>(12));
        assert!(misaligned.contains("aligned to 8 bytes"), "{misaligned}");
    }
}
