//! Compile-time messages for `OBJECT[..]`, for parts without a PE (`OBJECT.index(0)`), and for private memory on a PE (`vec.on(pe)`).
//!
//! `OBJECT[..]` would be a reference into memory that other PEs write. Each of these mistakes needs a trait that no type implements, and
//! whose message names the alternative. The result is an associated type of that trait, so that rustc reports nothing else.

use super::{SymBox, Symmetric};

/// An index that gives a reference into a symmetric object. No type implements this.
#[diagnostic::on_unimplemented(
    message = "a symmetric object gives no reference by `[..]`: other PEs may write it at any time",
    label = "not an index of symmetric memory",
    note = "by value: `GRID.here(world).index(i).load()` and `GRID.here(world).index(i).store(x)` for the own copy, `world.put(GRID.on(pe).index(1..4), &row)` and `world.get(&mut row, GRID.on(pe).index(1..4))` for that of a PE",
    note = "by reference: `world.local(&GRID, |grid| grid[i] = x)`, which all PEs call together"
)]
pub trait Subscript: sealed::Sealed {
    #[doc(hidden)]
    type Output: ?Sized;
}

/// An index of an object without a PE. No type implements this.
#[diagnostic::on_unimplemented(
    message = "a symmetric object has parts where it is on a PE: `.on(pe).index(..)`",
    label = "on which PE?",
    note = "`GRID.on(pe).index(i)` is a part of the copy of that PE, `GRID.here(world).index(i)` of the own one"
)]
pub trait Nowhere: sealed::Sealed {
    #[doc(hidden)]
    type Output;
}

/// A PE that reaches the private memory of another PE. No type implements this.
#[diagnostic::on_unimplemented(
    message = "only a symmetric object has a place on a PE: `OBJECT.on(pe)`",
    label = "this PE has no copy of it",
    note = "no PE reaches what is private to another one, such as a `Vec`: declare the object with `#[symmetric]`, as a `static` or by `let`"
)]
pub trait Reach: sealed::Sealed {
    #[doc(hidden)]
    type Output;
}

/// Private memory: slices, and with them `Vec` and arrays.
pub trait Placeless {
    /// Refused: private to this PE.
    #[doc(hidden)]
    fn on<P: Reach>(&self, pe: P) -> P::Output;
}

impl<T> Placeless for [T] {
    fn on<P: Reach>(&self, pe: P) -> P::Output {
        pe.never()
    }
}

mod sealed {
    pub trait Sealed {
        fn never<T>(self) -> T;
    }
}

/// Refuses `OBJECT[..]` and `OBJECT.index(..)`.
macro_rules! no_subscripts {
    ($([$($parameter:tt)*] $object:ty;)*) => {$(
        impl<$($parameter)*> $object {
            /// Refused: no PE is named.
            #[doc(hidden)]
            pub fn index<I: $crate::object::Nowhere>(&self, index: I) -> I::Output {
                index.never()
            }
        }

        impl<$($parameter)*, I: $crate::object::Subscript> core::ops::Index<I> for $object {
            type Output = I::Output;

            fn index(&self, index: I) -> &Self::Output {
                index.never()
            }
        }
    )*};
}
pub(crate) use no_subscripts;

no_subscripts! {
    [T] Symmetric<T>;
    [T: ?Sized] SymBox<T>;
}
