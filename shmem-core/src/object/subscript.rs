//! Why symmetric objects have no `[..]`.
//!
//! It would be a reference into memory that other PEs write. So it is refused, by a trait that nothing implements: its
//! message says what there is instead. What would come out is a type of that trait, so that rustc says nothing else.

use core::ops::Index;

use super::{SymBox, Symmetric};

/// An index with which a symmetric object gives a reference. There is none.
#[diagnostic::on_unimplemented(
    message = "a symmetric object gives no reference by `[..]`: other PEs may write it at any time",
    label = "not an index of symmetric memory",
    note = "by value: `GRID.here(world).index(i).load()` and `.store(x)` for the own copy, `world.put(GRID.on(pe).index(1..4), &row)` and `world.get(..)` for that of a PE",
    note = "by reference: `world.local(&GRID, |grid| grid[i] = x)`, which all PEs call together"
)]
pub trait Subscript: sealed::Sealed {
    #[doc(hidden)]
    type Output: ?Sized;
}

mod sealed {
    pub trait Sealed {
        fn never<'a, T: ?Sized>(self) -> &'a T;
    }
}

impl<T, I: Subscript> Index<I> for Symmetric<T> {
    type Output = I::Output;

    fn index(&self, index: I) -> &Self::Output {
        index.never()
    }
}

impl<T: ?Sized, I: Subscript> Index<I> for SymBox<T> {
    type Output = I::Output;

    fn index(&self, index: I) -> &Self::Output {
        index.never()
    }
}
