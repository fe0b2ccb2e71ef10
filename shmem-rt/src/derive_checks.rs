//! What structs and statics may hold, as rustc has to prove it.
//!
//! A macro sees words. What they mean is decided later: an attribute below a derive may change the struct, a macro that
//! stands for a type may mean another one each time it is expanded, a constant may depend on the line on which it stands,
//! and an `impl` may hide in the length of an array. So an expansion proves nothing by what it was given. It asks types that
//! rustc found, at values, for what must hold, by the items of this module, to which safe code can add nothing.
//!
//! For a struct all is asked in one function, [`Derived::seen`], which takes a value of the struct apart, whatever the struct
//! is by then. `Pod` and the others are implemented for what is [`Derived`]: they hold if the function compiles.
//!
//! An expansion cannot know whose names it is given: a package of safe code may be called `shmem`, hand on what is real,
//! and put something else in the place of a check. So each check is asked of [`Derived`] itself, by the words by which it is
//! implemented: what it provides, and methods of the types that it gives. Who has that trait has its checks, and who
//! has another one has nothing. No other trait has the items that the expansion gives it; traits without items are
//! implemented by [`plain_data!`](crate::__plain_data), which names its own.
//!
//! The traits stand here and not in expansions, where they would be an item each with an attribute of the tool
//! `diagnostic`: a program may have a module of that name, and then the attribute is a macro of the program, which
//! changes the item that it stands on. Here rustc fills in the names: what holds is a parameter.

use std::marker::PhantomData;

use shmem_core::data::{PlainData, SymmetricData};
use shmem_core::message::Message;
use shmem_core::strided::Field;

/// A struct of plain data without padding.
///
/// # Safety
///
/// `seen` must compile only if all that is true: it must take `self` apart without `..`, require of each field that the
/// struct [holds](Self::holds) its type, and stand beside a constant that is evaluated and takes the sizes of all fields
/// off [`LAYOUT`](Self::LAYOUT). `#[derive(Symmetric)]` writes such functions.
pub unsafe trait Derived: Sized {
    /// Has the names of the fields; see [`Shaped`](shmem_core::strided::Shaped).
    type Names;

    /// The fields, for regions.
    const FIELDS: &'static [Field];

    /// Never called.
    fn seen(self);

    /// From which the sizes of fields are taken.
    const LAYOUT: Layout = Layout { left: size_of::<Self>() };

    /// The type of a value.
    fn type_of<T>(_: &T) -> TypeOf<T> {
        TypeOf(PhantomData)
    }

    /// Requires that a field may be a `T`.
    fn holds<T: FieldOf<Self>>() {}
}

/// A struct without padding that holds words of atomic operations, and perhaps plain data: nothing moves it as a whole.
/// What proves it has the same names as those of [`Derived`], and is asked of this trait in the same way.
///
/// # Safety
///
/// As for [`Derived`]. `#[derive(Symmetric)]` writes such functions for structs with `#[shmem(words)]`.
pub unsafe trait DerivedWords: Sized + 'static {
    /// Nothing. Another trait has no such item.
    const MOVED_BY_NOTHING: ();

    /// Never called.
    fn seen(self);

    /// From which the sizes of fields are taken.
    const LAYOUT: Layout = Layout { left: size_of::<Self>() };

    /// The type of a value.
    fn type_of<T>(_: &T) -> TypeOf<T> {
        TypeOf(PhantomData)
    }

    /// Requires that a field may be a `T`.
    fn holds<T: WordFieldOf<Self>>() {}
}

/// The size of a struct, less those of some fields.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    left: usize,
}

impl Layout {
    /// Takes a field off.
    #[must_use]
    pub const fn less<T>(self) -> Self {
        Self { left: self.left.wrapping_sub(size_of::<T>()) }
    }

    /// Requires that the fields of the struct `name` filled it.
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

/// Says of a type that the struct `Holder` may have a field of it.
///
/// # Safety
///
/// The type is [`PlainData`]. `#[derive(Symmetric)]` rests on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "`Atomic` and `Signal` words cannot stand in a struct that put and get move: add `#[shmem(words)]`, and reach its fields one by one",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait FieldOf<Holder: ?Sized> {
    /// Asked for before [`Derived::holds`]: that leaves out "required by a bound in ..".
    const CHECKED: () = ();
}

// SAFETY: the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: PlainData, Holder: ?Sized> FieldOf<Holder> for T {}

/// Says of a type that the struct `Holder`, which is not moved as a whole, may have a field of it.
///
/// # Safety
///
/// The type is [`SymmetricData`]. `#[derive(Symmetric)]` rests on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "neither plain data nor a word",
    note = "symmetric objects mean the same on every PE, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait WordFieldOf<Holder: ?Sized> {
    /// Asked for before [`DerivedWords::holds`]: that leaves out "required by a bound in ..".
    const CHECKED: () = ();
}

// SAFETY: the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricData, Holder: ?Sized> WordFieldOf<Holder> for T {}

/// Says of a type that the static `Holder` may be one. A type stands for the static, which has its name.
///
/// # Safety
///
/// The type is [`SymmetricData`]. `#[symmetric]` rests on that.
#[diagnostic::on_unimplemented(
    message = "`{Holder}` holds `{Self}`, which cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`, an array or a `SymBox<[T]>` for `Vec`)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait ContentsOf<Holder: ?Sized>: Sized {
    /// Asked for as [`FieldOf::CHECKED`] is; what it is of is found at a value.
    const CHECKED: PhantomData<Self> = PhantomData;
}

// SAFETY: the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricData, Holder: ?Sized> ContentsOf<Holder> for T {}

/// A type that was found at a value. It is exactly that type: none is a `TypeOf` of a type with longer or shorter
/// lifetimes.
#[derive(Debug)]
pub struct TypeOf<T>(PhantomData<fn(T) -> T>);

impl<F> TypeOf<F> {
    /// Requires that it is `T`. (A method: as an argument it would be inferred from what is required.)
    pub fn require_seen<T>(self)
    where
        Self: Seen<T>,
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

mod sealed {
    pub trait Same<T> {}

    impl<T> Same<T> for super::TypeOf<T> {}
}
