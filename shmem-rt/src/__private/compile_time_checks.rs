//! Checks of the contents of structs and statics. rustc evaluates the checks when it compiles an expansion.
//!
//! A macro sees only tokens, and cannot know the types that they mean: an attribute below a derive may change the
//! struct, a macro in place of a type may expand differently each time, a constant may depend on its line, and the
//! length of an array may contain an `impl`. So an expansion checks the types that rustc infers for values. It uses the
//! items of this module, which safe code cannot implement.
//!
//! All checks of a struct are in one function, [`Derived::seen`], which destructures a value of the struct as rustc sees it. `Pod`
//! and the other traits are implemented for types that are [`Derived`], so they hold only if the function compiles.
//!
//! The name `shmem` in an expansion may lead to another crate: one of safe code that re-exports this crate, but replaces a
//! check. So every check is an item of the trait [`Derived`] itself, or a method of a type that such an item returns. A
//! struct that implements this crate's `Derived` thus has this crate's checks; to implement a trait of another crate is of no
//! use. Traits without items are implemented by [`plain_data!`](crate::__plain_data), which names the traits of this crate.

use std::marker::PhantomData;

use shmem_core::const_format::Message;
use shmem_core::strided::Field;
use shmem_core::symmetric_data::{PlainData, SymmetricData};

/// A struct of plain data without padding.
///
/// # Safety
///
/// `seen` must compile only for such a struct: it must destructure `self` without `..`, require for each field that the struct
/// [holds](Self::holds) its type, and evaluate a constant that subtracts the sizes of all fields from [`LAYOUT`](Self::LAYOUT).
/// `#[derive(Symmetric)]` writes such functions.
pub unsafe trait Derived: Sized {
    /// A type whose fields have the names of the struct's fields; see [`Shaped`](shmem_core::strided::Shaped).
    type Names;

    /// The fields of the struct, which `strided!` regions can select.
    const FIELDS: &'static [Field];

    fn seen(self);

    /// The size of the struct, from which [`seen`](Self::seen) subtracts the sizes of the fields.
    const LAYOUT: Layout = Layout { left: size_of::<Self>() };

    /// Returns the type of a value, as a value of [`TypeOf`].
    fn type_of<T>(_: &T) -> TypeOf<T> {
        TypeOf(PhantomData)
    }

    /// Requires that the struct may have a field of type `T`.
    fn holds<T: FieldOf<Self>>() {}
}

/// A struct of words (`Atomic`, `Signal`) and plain data, without padding. Operations move its words, but never the whole struct.
///
/// # Safety
///
/// As for [`Derived`]. `#[derive(Symmetric)]` writes such functions for structs with `#[shmem(words)]`.
pub unsafe trait DerivedWords: Sized + 'static {
    /// Only this trait has this item: an expansion that reaches [`Derived`] instead, whose structs can move, does not compile.
    const MOVED_BY_NOTHING: ();

    fn seen(self);

    /// The size of the struct, from which [`seen`](Self::seen) subtracts the sizes of the fields.
    const LAYOUT: Layout = Layout { left: size_of::<Self>() };

    /// Returns the type of a value, as a value of [`TypeOf`].
    fn type_of<T>(_: &T) -> TypeOf<T> {
        TypeOf(PhantomData)
    }

    /// Requires that the struct may have a field of type `T`.
    fn holds<T: WordFieldOf<Self>>() {}
}

/// The size of a struct, minus the sizes of the fields that were subtracted so far.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    left: usize,
}

impl Layout {
    /// Subtracts the size of a field of type `T`.
    #[must_use]
    pub const fn less<T>(self) -> Self {
        Self { left: self.left.wrapping_sub(size_of::<T>()) }
    }

    /// Requires that the fields of the struct `name` fill it.
    ///
    /// # Panics
    ///
    /// At compile time, if there is padding.
    #[track_caller]
    pub const fn require_no_padding(self, name: &str) {
        if self.left != 0 {
            let message = Message::new()
                .text("`")
                .text(name)
                .text("` has ")
                .number(self.left as u64)
                .text(" byte(s) of padding; add a field such as `_pad: [u8; ")
                .number(self.left as u64)
                .text("]`");
            panic!("{}", message.as_str());
        }
    }
}

/// A type that a field of the struct `Holder` may have.
///
/// # Safety
///
/// The type is [`PlainData`]. `#[derive(Symmetric)]` relies on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "`Atomic` and `Signal` words cannot stand in a struct that put and get move: add `#[shmem(words)]`, and reach its fields one by one",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait FieldOf<Holder: ?Sized> {
    /// A constant that the expansion evaluates before [`Derived::holds`], to avoid rustc's note "required by a bound in ..".
    const CHECKED: () = ();
}

// SAFETY: `T` is `PlainData` by the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: PlainData, Holder: ?Sized> FieldOf<Holder> for T {}

/// A type that a field of the struct `Holder` with words may have.
///
/// # Safety
///
/// The type is [`SymmetricData`]. `#[derive(Symmetric)]` relies on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "neither plain data nor a word",
    note = "symmetric objects mean the same on every PE, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait WordFieldOf<Holder: ?Sized> {
    /// A constant that the expansion evaluates before [`DerivedWords::holds`], to avoid rustc's note "required by a bound in ..".
    const CHECKED: () = ();
}

// SAFETY: `T` is `SymmetricData` by the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricData, Holder: ?Sized> WordFieldOf<Holder> for T {}

/// A type that the static `Holder` may have. `Holder` is a type with the name of the static.
///
/// # Safety
///
/// The type is [`SymmetricData`]. `#[symmetric]` relies on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait ContentsOf<Holder: ?Sized>: Sized {
    /// A constant that the expansion evaluates to require the trait without rustc's note "required by a bound in ..". Its type lets
    /// rustc infer `Self` from a value.
    const CHECKED: PhantomData<Self> = PhantomData;
}

// SAFETY: `T` is `SymmetricData` by the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricData, Holder: ?Sized> ContentsOf<Holder> for T {}

/// The type of a value, invariant in its lifetimes.
#[derive(Debug)]
pub struct TypeOf<T>(PhantomData<fn(T) -> T>);

impl<F> TypeOf<F> {
    /// Requires that the type of the value is `T`. (A bound on a function's argument would influence the inferred type.)
    pub fn require_seen<T>(self)
    where
        Self: Seen<T>,
    {
    }
}

/// The type of a field is the type `T` that the derive saw. Sealed.
#[diagnostic::on_unimplemented(
    message = "a field is no longer `{T}`, which `#[derive(Symmetric)]` saw",
    label = "changed by an attribute below the derive",
    note = "write attributes that change a struct above `#[derive(Symmetric)]`"
)]
pub trait Seen<T>: sealed::Same<T> {}

impl<T> Seen<T> for TypeOf<T> {}

mod sealed {
    pub trait Same<T> {}

    impl<T> Same<T> for super::TypeOf<T> {}
}
