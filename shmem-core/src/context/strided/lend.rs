//! How `strided!` borrows the destination of a get.

use super::object::Own;
use crate::array::{NumaArray, Storage};
use crate::object::{SymBox, Symmetric};

/// The destination of a get, borrowed by the rules of method calls: a variable is borrowed exclusively,
/// an exclusive reference is lent on, and of a symmetric object's handle a shared reference is enough.
pub trait Lend {
    /// An exclusive reference.
    #[doc(hidden)]
    #[inline(always)]
    fn __strided_into(&mut self) -> &mut Self {
        self
    }
}

impl<O: ?Sized> Lend for O {}

impl<T> Symmetric<T> {
    /// This PE's own copy, see [`Lend`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn __strided_into(&self) -> Own<'_, Self> {
        Own(self)
    }
}

impl<T: ?Sized> SymBox<T> {
    /// This PE's own copy, see [`Lend`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn __strided_into(&self) -> Own<'_, Self> {
        Own(self)
    }
}

impl<T, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// This PE's own copy, see [`Lend`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn __strided_into(&self) -> Own<'_, Self> {
        Own(self)
    }
}
