//! What structs and statics may hold, as rustc has to prove it.
//!
//! A macro sees words. What they mean is decided later: an attribute below a derive may change the struct, a macro that
//! stands for a type may mean another one each time it is expanded, a constant may depend on the line on which it stands,
//! and an `impl` may hide in the length of an array. So an expansion proves nothing by what it was given. It asks types that
//! rustc found, at values, for what must hold, by the items of this module, to which safe code can add nothing.
//!
//! For a struct all is asked in one function, [`Derived::seen`], which takes a value of the struct apart, whatever the struct
//! is by then. `Pod` and the others are implemented for what is [`Derived`]: the conditions under which they hold are those
//! under which the function compiles, although conditions are words, too, and stand at each implementation once more.
//!
//! The traits stand here and not in expansions, where they would be an item each with an attribute of the tool
//! `diagnostic`: a program may have a module of that name, and then the attribute is a macro of the program, which
//! changes the item that it stands on. Here rustc fills in the names: what holds is a parameter.

use std::marker::PhantomData;

use shmem_core::data::{PlainData, SymmetricData};

/// A struct of plain data without padding.
///
/// # Safety
///
/// `seen` must compile only if all that is true: it must take `self` apart without `..`, and
///
/// * for each field require that it is a [`FieldOf`] the struct,
/// * and require what proves that there is no padding.
///
/// `#[derive(Symmetric)]` writes such functions.
pub unsafe trait Derived: Sized {
    /// Never called.
    fn seen(self);
}

/// Says of a type that the struct `Holder` may have a field of it.
///
/// # Safety
///
/// The type is [`PlainData`]. `#[derive(Symmetric)]` rests on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "`Atomic` and `Signal` words cannot stand in a struct that put and get move: declare each as a static of its own",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
)]
pub unsafe trait FieldOf<Holder: ?Sized> {
    /// Asked for, and not a bound: that leaves out "required by a bound in ..".
    const CHECKED: () = ();
}

// SAFETY: the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: PlainData, Holder: ?Sized> FieldOf<Holder> for T {}

/// Says of a type that the static `Holder` may be one. A type stands for the static, which has its name.
///
/// # Safety
///
/// The type is [`SymmetricData`]. `#[symmetric]` rests on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
)]
pub unsafe trait ContentsOf<Holder: ?Sized>: Sized {
    /// As [`FieldOf::CHECKED`]; what it is of is found at a value.
    const CHECKED: PhantomData<Self> = PhantomData;
}

// SAFETY: the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricData, Holder: ?Sized> ContentsOf<Holder> for T {}

/// A type that was found at a value. It is exactly that type: none is a `TypeOf` of a type with longer or shorter
/// lifetimes.
#[derive(Debug)]
pub struct TypeOf<T>(PhantomData<fn(T) -> T>);

/// The type of a value.
pub fn type_of<T>(_: &T) -> TypeOf<T> {
    TypeOf(PhantomData)
}

/// The type of what an array is made of.
pub fn item_of<T, const N: usize>(_: TypeOf<[T; N]>) -> TypeOf<T> {
    TypeOf(PhantomData)
}

impl<F> TypeOf<F> {
    /// Requires that it is `T`. (A method: as an argument it would be inferred from what is required.)
    pub fn require_seen<T>(self)
    where
        Self: Seen<T>,
    {
    }

    /// Requires that a field is made of `T`. (For the same reason a method, although it could be a function of two types
    /// that were found.)
    pub fn require_alike<T>(self)
    where
        Self: Alike<T>,
    {
    }
}

/// Says of the type of a field that it is the one that the derive saw. Nobody else can say so.
#[diagnostic::on_unimplemented(
    message = "a field is no longer `{T}`, which `#[derive(Symmetric)]` saw",
    label = "changed by an attribute below the derive",
    note = "write attributes that change a struct above `#[derive(Symmetric)]`"
)]
pub trait Seen<T>: sealed::Same<T> {}

impl<T> Seen<T> for TypeOf<T> {}

/// Says of what a field is made of that it is what the first one is made of. Nobody else can say so.
#[diagnostic::on_unimplemented(
    message = "this field is not made of `{T}`, as the first one is, although it is written as if it were",
    label = "may be aligned otherwise",
    note = "a generic struct has no padding if all its fields are made of one type; give that type one name for all of them, as in `type Element = ..`"
)]
pub trait Alike<T>: sealed::Same<T> {}

impl<T> Alike<T> for TypeOf<T> {}

mod sealed {
    pub trait Same<T> {}

    impl<T> Same<T> for super::TypeOf<T> {}
}
