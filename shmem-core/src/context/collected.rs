//! What a PE gives to a collective that collects it.

use crate::data::{Contents, Movable, PlainData, zeroed_items};
use crate::endpoint::Initiator;
use crate::object::{Extent, Here, SymBox, Symmetric};

/// What a PE gives to a collective that brings it to all, by reference: a value, a slice, a `Vec` or a `Box` of a slice, or a
/// symmetric object, of which that is the calling PE's own copy. It consists of `I`s: a value is one of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be collected",
    label = "neither plain data nor a symmetric object",
    note = "collect and fcollect take references to plain data, a slice, a `Vec` or a `Box` of it, or a symmetric object of it",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub trait Collected<I> {
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
impl<M: Movable + ?Sized> Collected<M::Item> for M {
    #[inline(always)]
    fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[M::Item]) -> R) -> R {
        collective(self.items())
    }
}

#[diagnostic::do_not_recommend]
impl<C: Contents<Item: PlainData> + ?Sized> Collected<C::Item> for Here<'_, C> {
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Some(self.extent())
    }

    #[track_caller]
    fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[C::Item]) -> R) -> R {
        let mut items = zeroed_items(self.len());
        self.read_items(&mut items);
        collective(&items)
    }
}

#[diagnostic::do_not_recommend]
impl<T: PlainData> Collected<T> for Symmetric<T> {
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Some(self.here(token).extent())
    }

    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T]) -> R) -> R {
        self.here(token).read(token, collective)
    }
}

#[diagnostic::do_not_recommend]
impl<C: Contents<Item: PlainData> + ?Sized> Collected<C::Item> for SymBox<C> {
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Some(self.here(token).extent())
    }

    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[C::Item]) -> R) -> R {
        self.here(token).read(token, collective)
    }
}
