//! Where a part of a value lies, found by naming it: `|queue| &queue.head`.
//!
//! The closure is given a value of zeroes, which is one of every type concerned, and never memory that others write. What it
//! gives back is looked for inside that value, whatever the closure did. If it only names a part, the compiler knows
//! the answer, and nothing of this is left in an optimised build.

use core::mem::MaybeUninit;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};

use crate::data::{Contents, SymmetricData};

/// Bytes up to which the value of zeroes lies on the stack.
const ON_STACK: usize = 4096;

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Bytes from the start of the value.
    pub(super) offset: usize,
    /// Items of the part.
    pub(super) len: usize,
}

impl Part {
    /// # Panics
    ///
    /// If what the closure gives is no part of its argument.
    #[inline(always)]
    #[track_caller]
    pub(super) fn of<T: SymmetricData, F: Contents + ?Sized>(
        name: impl for<'x> FnOnce(&'x T) -> &'x F,
    ) -> Self {
        if size_of::<T>() <= ON_STACK { Self::near(name) } else { Self::far(name) }
    }

    #[inline]
    #[track_caller]
    fn near<T: SymmetricData, F: Contents + ?Sized>(name: impl for<'x> FnOnce(&'x T) -> &'x F) -> Self {
        let zeroes = MaybeUninit::<T>::zeroed();
        // SAFETY: all zeroes are a value of the type (`SymmetricData`).
        Self::inside(unsafe { zeroes.assume_init_ref() }, name)
    }

    /// Of a value that would be long on the stack.
    #[inline(never)]
    #[track_caller]
    fn far<T: SymmetricData, F: Contents + ?Sized>(name: impl for<'x> FnOnce(&'x T) -> &'x F) -> Self {
        let layout = Layout::new::<MaybeUninit<T>>();
        assert!(layout.size() > ON_STACK, "what is short lies on the stack");
        // SAFETY: it has more than no bytes, as just seen.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: memory of the global allocator with the layout of a `MaybeUninit<T>`, of which every byte is a value.
        let zeroes: Box<MaybeUninit<T>> = unsafe { Box::from_raw(memory.cast()) };
        // SAFETY: all zeroes are a value of the type (`SymmetricData`), and the memory was allocated zeroed.
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

    /// Requires that a part that begins at an address, or an offset in a slot, is aligned for its items.
    ///
    /// # Panics
    ///
    /// If it is not, which only a part can be that was given another type.
    #[inline(always)]
    #[track_caller]
    pub(super) fn require_alignment<T: SymmetricData, F: Contents + ?Sized>(self, start: usize) {
        let align = align_of::<F::Item>();
        // Known while compiling where a field was named.
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

    #[test]
    fn parts_lie_where_they_are_named() {
        let third = Part::of(|row: &[u32; 5]| &row[3]);
        assert_eq!(third, Part { offset: 12, len: 1 });
        let last = Part::of(|row: &[u32; 5]| &row[2..]);
        assert_eq!(last, Part { offset: 8, len: 3 });
        // More than the stack is asked for.
        let far = Part::of(|row: &[[u64; 1024]; 1024]| &row[1000][7]);
        assert_eq!(far, Part { offset: (1000 * 1024 + 7) * 8, len: 1 });
        let none = Part::of(|row: &[u32; 5]| &row[5..]);
        assert_eq!(none, Part { offset: 20, len: 0 });
    }

    #[test]
    #[should_panic(expected = "is no part of the value")]
    fn what_lies_elsewhere_is_no_part() {
        static ELSEWHERE: u64 = 0;
        Part::of(|_: &[u64; 2]| &ELSEWHERE);
    }

    #[test]
    #[should_panic(expected = "aligned to 8 bytes")]
    fn what_is_read_as_another_type_must_be_aligned_for_it() {
        let part = Part { offset: 0, len: 1 };
        part.require_alignment::<[u8; 8], u64>(16);
        part.require_alignment::<[u8; 8], u64>(12);
    }
}
