//! What words are changed by.

use crate::object::AmoValue;
use crate::transport::Operand;

/// One value for all words of a list, or one for each: `1`, `&values`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value for words of `{V}`",
    label = "neither one `{V}` nor a slice of them",
    note = "words are all changed by the same value, `1`, or each by its own, `&values[..]`"
)]
pub trait OneOrEach<V: AmoValue>: Copy + sealed::Sealed<V> {}

impl<V: AmoValue> OneOrEach<V> for V {}
impl<V: AmoValue> OneOrEach<V> for &[V] {}
impl<V: AmoValue> OneOrEach<V> for &Vec<V> {}
impl<V: AmoValue, const N: usize> OneOrEach<V> for &[V; N] {}

pub(super) mod sealed {
    use super::{AmoValue, Operand};

    /// How values are taken.
    pub trait Sealed<V: AmoValue> {
        /// How many there are; none: there is one for all.
        fn count(&self) -> Option<usize>;

        /// That of word `k` of the list.
        fn value(&self, k: usize) -> V;

        /// All, for transports.
        fn operand(&self) -> Operand<'_>;
    }

    impl<V: AmoValue> Sealed<V> for V {
        #[inline(always)]
        fn count(&self) -> Option<usize> {
            None
        }

        #[inline(always)]
        fn value(&self, _: usize) -> V {
            *self
        }

        fn operand(&self) -> Operand<'_> {
            Operand::Same(self.to_bits64())
        }
    }

    impl<V: AmoValue> Sealed<V> for &[V] {
        #[inline(always)]
        fn count(&self) -> Option<usize> {
            Some(self.len())
        }

        #[inline(always)]
        fn value(&self, k: usize) -> V {
            self[k]
        }

        fn operand(&self) -> Operand<'_> {
            Operand::Own(bytemuck::cast_slice(self))
        }
    }

    impl<V: AmoValue> Sealed<V> for &Vec<V> {
        #[inline(always)]
        fn count(&self) -> Option<usize> {
            Some(self.len())
        }

        #[inline(always)]
        fn value(&self, k: usize) -> V {
            self[k]
        }

        fn operand(&self) -> Operand<'_> {
            Operand::Own(bytemuck::cast_slice(self))
        }
    }

    impl<V: AmoValue, const N: usize> Sealed<V> for &[V; N] {
        #[inline(always)]
        fn count(&self) -> Option<usize> {
            Some(N)
        }

        #[inline(always)]
        fn value(&self, k: usize) -> V {
            self[k]
        }

        fn operand(&self) -> Operand<'_> {
            Operand::Own(bytemuck::cast_slice(*self))
        }
    }
}
