//! What put and get move to and from a place.

use crate::data::{Contents, PlainData};

/// Data of the program that has the form of what a place holds, `C`: the same type, and for a slice also a `Vec`, a `Box`
/// or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not match a place that holds `{C}`",
    label = "not what the place holds",
    note = "a place of a value takes and gives that value; a place of a slice takes and gives a slice, a `Vec`, a `Box` or an array of the same elements",
    note = "an object that is an array is one value; its elements are a slice: `OBJECT.on(pe).index(..)`, or a part of them: `.index(1..4)`",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`, `&mut values[..]`"
)]
pub trait Matching<C: ?Sized> {
    /// What is written to a place.
    #[doc(hidden)]
    fn source(&self) -> &C;

    /// What is filled from a place.
    #[doc(hidden)]
    fn destination(&mut self) -> &mut C;
}

macro_rules! matching {
    ($(($($generics:tt)*) $whole:ty: $contents:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Matching<$contents> for $whole {
            #[inline(always)]
            fn source(&self) -> &$contents {
                self
            }

            #[inline(always)]
            fn destination(&mut self) -> &mut $contents {
                self
            }
        }
    )*};
}
matching! {
    (C: Contents + ?Sized) C: C;
    (T: PlainData) Vec<T>: [T];
    (T: PlainData) Box<[T]>: [T];
    (T: PlainData, const N: usize) [T; N]: [T];
}

/// What no place holds. Because everything would match a place that does, rustc does not conclude what a place holds from
/// what is moved there, and says of a mistake that the two do not match.
#[derive(Debug)]
pub enum Nothing {}

#[diagnostic::do_not_recommend]
impl<M: ?Sized> Matching<Nothing> for M {
    fn source(&self) -> &Nothing {
        unreachable!("no place holds it")
    }

    fn destination(&mut self) -> &mut Nothing {
        unreachable!("no place holds it")
    }
}
