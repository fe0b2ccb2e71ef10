//! What a PE gives to a collective that collects it.

use super::items::Items;
use crate::data::{Contents, Movable, PlainData};
use crate::endpoint::Initiator;
use crate::object::{Extent, Here, SymBox, Symmetric};

/// What a PE gives to a collective that brings it to all, by reference: a value, a slice, a `Vec` or a `Box` of a slice, or a
/// symmetric object, of which that is the calling PE's own copy. It consists of `I`s: a value is one of them.
///
/// # Safety
///
/// A place that is given must be that of an object that is reserved, at that offset and with as many bytes, on all PEs that
/// have it, for as long as the reference lives: collectives read and write the copies of others there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be collected",
    label = "neither plain data nor a symmetric object",
    note = "collect and fcollect take references to plain data, a slice, a `Vec` or a `Box` of it, or a symmetric object of it",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub unsafe trait Collected<I> {
    /// Where it lies, if that is symmetric memory. Asked, as `read` is, by whoever has a token: an endpoint is none.
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
// SAFETY: it lies in memory of the program: no place is given.
unsafe impl<M: Movable + ?Sized> Collected<M::Item> for M {
    #[inline(always)]
    fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[M::Item]) -> R) -> R {
        collective(self.items())
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: the place is that of the object itself, which is reserved for as long as the handle lives.
unsafe impl<C: Contents<Item: PlainData> + ?Sized> Collected<C::Item> for Here<'_, C> {
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Some(self.extent())
    }

    #[track_caller]
    fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[C::Item]) -> R) -> R {
        let mut items = Items::zeroed(self.len());
        self.read_items(items.all());
        collective(items.all())
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: the place is that of the object itself, which is reserved for as long as the handle lives.
unsafe impl<T: PlainData> Collected<T> for Symmetric<T> {
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Some(self.here(token).extent())
    }

    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T]) -> R) -> R {
        self.here(token).read(token, collective)
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: the place is that of the object itself, which is reserved for as long as the handle lives.
unsafe impl<C: Contents<Item: PlainData> + ?Sized> Collected<C::Item> for SymBox<C> {
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Some(self.here(token).extent())
    }

    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[C::Item]) -> R) -> R {
        self.here(token).read(token, collective)
    }
}
