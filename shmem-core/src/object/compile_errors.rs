//! Compile-time error texts for `OBJECT[..]`, for parts without a PE (`OBJECT.index(0)`), and for private memory on a PE
//! (`vec.on(pe)`).
//!
//! `OBJECT[..]` would be a reference into memory that other PEs write. Each of these mistakes requires a trait that no type
//! implements, and whose error text names the alternative. The result is an associated type of the trait, so that rustc reports no
//! further errors.

use super::{SymBox, Symmetric};

/// The index type with which `OBJECT[..]` would be a reference. No type implements this trait.
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

/// The index type that `OBJECT.index(..)` would need, without a PE. No type implements this trait.
#[diagnostic::on_unimplemented(
    message = "a symmetric object has parts where it is on a PE: `.on(pe).index(..)`",
    label = "on which PE?",
    note = "`GRID.on(pe).index(i)` is a part of the copy of that PE, `GRID.here(world).index(i)` of the own one"
)]
pub trait Nowhere: sealed::Sealed {
    #[doc(hidden)]
    type Output;
}

/// The PE type that `.on(pe)` of private memory would need. No type implements this trait.
#[diagnostic::on_unimplemented(
    message = "only a symmetric object has a place on a PE: `OBJECT.on(pe)`",
    label = "this PE has no copy of it",
    note = "no PE reaches what is private to another one, such as a `Vec`: declare the object with `#[symmetric]`, as a `static` or by `let`"
)]
pub trait Reach: sealed::Sealed {
    #[doc(hidden)]
    type Output;
}

/// Private memory: slices, and so also `Vec`s and arrays, which have the methods of slices.
pub trait Placeless {
    /// Never compiles, because the memory is private to this PE.
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

/// Defines `OBJECT[..]` and `OBJECT.index(..)` so that both are compile-time errors with an explanation.
macro_rules! no_subscripts {
    ($([$($parameter:tt)*] $object:ty;)*) => {$(
        impl<$($parameter)*> $object {
            /// Never compiles, because the call names no PE.
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
