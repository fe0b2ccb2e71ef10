//! Arguments of collectives that exchange and collect data, and buffers for items of symmetric memory.

use core::mem::MaybeUninit;

use crate::data::{Movable, PlainData, zeroed_items};
use crate::endpoint::Initiator;
use crate::object::{Extent, Here, SymBox, Symmetric};

/// A list of `I`s that a collective reads, such as that of an `alltoall`: `&values[..]`, a reference to an array, a `Vec` or
/// a `Box` of a slice, or `&OBJECT`: the calling PE's own copy of a symmetric list.
///
/// # Safety
///
/// As for [`Contribution`](super::Contribution).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of `{I}`",
    label = "not a list of elements, and no symmetric object that is one",
    note = "a list is a slice, an array, a `Vec` or a `Box` of a slice, by reference; or a symmetric object that is a slice or an array: `&OBJECT`",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub unsafe trait Source<I> {
    /// The extent, if in symmetric memory.
    #[doc(hidden)]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// Number of elements.
    #[doc(hidden)]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize;

    /// Lets the collective read the elements, in private memory.
    #[doc(hidden)]
    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[I]) -> R) -> R;
}

/// A list of `I`s that a collective writes, such as the result of a `collect`: `&mut values[..]`, a mutable reference to an
/// array, a `Vec` or a `Box` of a slice, or `&OBJECT`: the calling PE's own copy of a symmetric list.
///
/// # Safety
///
/// As for [`Contribution`](super::Contribution).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place for a list of `{I}`",
    label = "not a list of elements that can be written, and no symmetric object that is one",
    note = "a list is `&mut values[..]`, or `&mut` of an array, a `Vec` or a `Box` of a slice; or a symmetric object that is a slice or an array: `&OBJECT`",
    note = "a `values` that is a `&mut [..]` already is lent: `&mut *values`"
)]
pub unsafe trait Destination<I>: Sized {
    /// The extent, if in symmetric memory.
    #[doc(hidden)]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// Number of elements.
    #[doc(hidden)]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize;

    /// Lets the collective write the elements, in private memory with unspecified values.
    #[doc(hidden)]
    #[track_caller]
    fn write<R>(self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [I]) -> R) -> R;
}

// Not implemented for all `Matching` types: a program's own `Matching` could return another length at each call.
macro_rules! private_lists {
    ($([$($const:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: private memory: no place is returned.
        unsafe impl<T: PlainData, $($const)*> Source<T> for $list {
            #[inline(always)]
            fn items(&self, _: &(impl Initiator + ?Sized)) -> usize {
                self.len()
            }

            #[inline(always)]
            fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T]) -> R) -> R {
                collective(&self[..])
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: private memory: no place is returned.
        unsafe impl<T: PlainData, $($const)*> Destination<T> for &mut $list {
            #[inline(always)]
            fn items(&self, _: &(impl Initiator + ?Sized)) -> usize {
                self.len()
            }

            #[inline(always)]
            fn write<R>(self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [T]) -> R) -> R {
                collective(&mut self[..])
            }
        }
    )*};
}
private_lists! {
    [] [T];
    [] Vec<T>;
    [] Box<[T]>;
    [const N: usize] [T; N];
}

/// Symmetric lists: `$of` is a source, and `$to` a destination.
macro_rules! symmetric_lists {
    ($([$($const:tt)*] $of:ty, $to:ty, $self:ident, $token:ident: $here:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: the place is that of the object itself, which is reserved for as long as the handle lives.
        unsafe impl<T: PlainData, $($const)*> Source<T> for $of {
            fn place(&$self, $token: &(impl Initiator + ?Sized)) -> Option<Extent> {
                Some($here.extent())
            }

            fn items(&$self, $token: &(impl Initiator + ?Sized)) -> usize {
                $here.len()
            }

            #[track_caller]
            fn read<R>(&$self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T]) -> R) -> R {
                $here.lend(collective)
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: the place is that of the object itself, which is reserved for as long as the handle lives.
        unsafe impl<T: PlainData, $($const)*> Destination<T> for $to {
            fn place(&$self, $token: &(impl Initiator + ?Sized)) -> Option<Extent> {
                Some($here.extent())
            }

            fn items(&$self, $token: &(impl Initiator + ?Sized)) -> usize {
                $here.len()
            }

            #[track_caller]
            fn write<R>($self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [T]) -> R) -> R {
                let mut items = Items::zeroed($here.len());
                let result = collective(items.all());
                $here.write_items(items.all());
                result
            }
        }
    )*};
}
symmetric_lists! {
    [] Here<'_, [T]>, Here<'_, [T]>, self, _token: self;
    [const N: usize] Here<'_, [T; N]>, Here<'_, [T; N]>, self, _token: self.index(..);
    [] SymBox<[T]>, &SymBox<[T]>, self, token: self.here(token);
    [const N: usize] SymBox<[T; N]>, &SymBox<[T; N]>, self, token: self.here(token).index(..);
    [const N: usize] Symmetric<[T; N]>, &Symmetric<[T; N]>, self, token: self.here(token).index(..);
}

/// An argument of `collect` and `fcollect`, by reference: a value, a slice, a `Vec` or a `Box` of a slice, or the calling PE's
/// own copy of a symmetric object. Items are `I`s: a value is one item.
///
/// # Safety
///
/// As for [`Contribution`](super::Contribution).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be collected",
    label = "neither plain data nor a symmetric object",
    note = "collect and fcollect take references to plain data, a slice, a `Vec` or a `Box` of it, or a symmetric object of it",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub unsafe trait Collected<I> {
    /// The extent, if in symmetric memory.
    #[doc(hidden)]
    #[track_caller]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// Lets the collective read the items.
    #[doc(hidden)]
    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[I]) -> R) -> R;
}

#[diagnostic::do_not_recommend]
// SAFETY: private memory: no place is returned.
unsafe impl<M: Movable + ?Sized> Collected<M::Item> for M {
    #[inline(always)]
    fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[M::Item]) -> R) -> R {
        collective(self.items())
    }
}

/// Bytes on the stack.
const FEW: usize = 1 << 10;

/// Items, initially zero. A few bytes are on the stack, without an allocation.
pub(super) struct Items<T> {
    /// Uninitialised after the items' bytes.
    few: MaybeUninit<[u128; FEW / size_of::<u128>()]>,
    many: Vec<T>,
    count: usize,
}

impl<T: PlainData> Items<T> {
    #[inline]
    pub(super) fn zeroed(count: usize) -> Self {
        let is_few =
            size_of::<T>() > 0 && align_of::<T>() <= align_of::<u128>() && count <= FEW / size_of::<T>();
        if !is_few {
            return Self { few: MaybeUninit::uninit(), many: zeroed_items(count), count };
        }
        let mut few = MaybeUninit::<[u128; FEW / size_of::<u128>()]>::uninit();
        // SAFETY: `few` has that many bytes, as just checked, and is a local.
        unsafe { few.as_mut_ptr().cast::<u8>().write_bytes(0, count * size_of::<T>()) };
        Self { few, many: Vec::new(), count }
    }

    #[inline]
    pub(super) fn all(&mut self) -> &mut [T] {
        if self.many.len() == self.count {
            return &mut self.many;
        }
        // SAFETY: `zeroed` has put `count` items into `few`, which is aligned and large enough for them. Zeroes are
        // items, and so is whatever was written since (`PlainData`). The items are borrowed as `self` is.
        unsafe { core::slice::from_raw_parts_mut(self.few.as_mut_ptr().cast(), self.count) }
    }
}
