//! Lists of elements that a collective takes apart, or puts together: what is exchanged, and where it comes.

use super::items::Items;
use crate::data::PlainData;
use crate::endpoint::Initiator;
use crate::object::{Extent, Here, SymBox, Symmetric};

/// A list of `I`s that a collective takes apart, such as that of an `alltoall`: `&values[..]`, a reference to an array, a
/// `Vec` or a `Box` of a slice, or `&OBJECT`: a symmetric list, of which that is the calling PE's own copy.
///
/// # Safety
///
/// A place that is given must be that of an object that is reserved, at that offset and with as many bytes, on all PEs that
/// have it, for as long as the reference lives: collectives read and write the copies of others there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of `{I}`",
    label = "not a list of elements, and no symmetric object that is one",
    note = "a list is a slice, an array, a `Vec` or a `Box` of a slice, by reference; or a symmetric object that is a slice or an array: `&OBJECT`",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub unsafe trait Source<I> {
    /// Where it lies, if that is symmetric memory.
    #[doc(hidden)]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// How many elements it has.
    #[doc(hidden)]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize;

    /// Lets the collective read the elements, in private memory.
    #[doc(hidden)]
    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[I]) -> R) -> R;
}

/// Where a collective writes a list of `I`s, such as what all PEs have: `&mut values[..]`, a mutable reference to an array, a
/// `Vec` or a `Box` of a slice, or `&OBJECT`: a symmetric list, of which the calling PE's own copy is written.
///
/// # Safety
///
/// A place that is given must be that of an object that is reserved, at that offset and with as many bytes, on all PEs that
/// have it, for as long as the reference lives: collectives read and write the copies of others there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place for a list of `{I}`",
    label = "not a list of elements that can be written, and no symmetric object that is one",
    note = "a list is `&mut values[..]`, or `&mut` of an array, a `Vec` or a `Box` of a slice; or a symmetric object that is a slice or an array: `&OBJECT`",
    note = "a `values` that is a `&mut [..]` already is lent: `&mut *values`"
)]
pub unsafe trait Destination<I>: Sized {
    /// Where it lies, if that is symmetric memory.
    #[doc(hidden)]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// How many elements it has.
    #[doc(hidden)]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize;

    /// Lets the collective write the elements, in private memory, which has any values before.
    #[doc(hidden)]
    #[track_caller]
    fn write<R>(self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [I]) -> R) -> R;
}

macro_rules! private_lists {
    ($([$($const:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it lies in memory of the program: no place is given.
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
        // SAFETY: it lies in memory of the program: no place is given.
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

/// Of symmetric memory: `$of` is what reads it as a source, `$to` what writes it as a destination.
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
                let mut items = Items::zeroed($here.len());
                $here.read_items(items.all());
                collective(items.all())
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
