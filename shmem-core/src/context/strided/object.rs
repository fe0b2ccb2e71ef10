//! Objects whose regions `strided!` transfers: symmetric objects and private memory; how they are borrowed, and their elements.

use core::marker::PhantomData;

use crate::array::{NumaArray, Storage};
use crate::endpoint::Endpoint;
use crate::object::{Descriptor, SymBox, Symmetric};
use crate::pe::Pe;
use crate::strided::{Dim, Field, Piece, Shape, Shaped};

const SYMMETRIC_ALIGN: usize = Descriptor::MIN_ALIGN as usize;

const fn at_least(align: usize, least: usize) -> usize {
    if align < least { least } else { align }
}

/// An object that a region of `strided!` can be a part of.
///
/// # Safety
///
/// From its start on, the object must be aligned to `ALIGN` and hold the elements of `SHAPE`, each an
/// `Element`, where an outermost dimension of [`Dim::DYNAMIC`] has `outermost_len` elements. Every field of `FIELDS`
/// must lie inside an `Element`. With `IS_DYNAMIC` the same holds for `shape`, and for `pieces`: in the order of
/// its elements, they cover the object without gaps.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no region that could be transferred",
    label = "neither a symmetric object nor an array or a slice",
    note = "regions are parts of symmetric objects, and of arrays, slices and `Vec`s of numbers, of arrays, and of structs with `#[derive(Symmetric)]`"
)]
pub unsafe trait Object {
    /// Type of the elements.
    type Element;

    /// The dimensions; the outermost is [`Dim::DYNAMIC`] if its length is known at run time.
    const SHAPE: Shape;

    /// The fields of an element that is a struct.
    const FIELDS: &'static [Field];

    /// Its alignment.
    const ALIGN: usize;

    /// Whether dimensions and location are known at run time only: then regions are planned for each transfer, and `SHAPE`
    /// is not used.
    const IS_DYNAMIC: bool = false;

    /// Length of the outermost dimension, if `SHAPE` does not give it.
    fn outermost_len(&self) -> usize;

    /// Its dimensions at run time.
    #[inline(always)]
    fn shape(&self) -> Shape {
        Self::SHAPE.with_len(self.outermost_len())
    }

    /// Its pieces in a PE's slot, if not one range. Only if [`IS_DYNAMIC`](Self::IS_DYNAMIC).
    #[inline(always)]
    fn pieces(&self) -> Option<&[Piece]> {
        None
    }

    /// Bytes from the start of this PE's slot, if it is a symmetric object.
    #[inline(always)]
    fn place(&self, _: &Endpoint) -> Option<usize> {
        None
    }
}

/// An object that other PEs have as well.
///
/// # Safety
///
/// `place_on` must give the object's position on every PE, [`place`](Object::place) on this PE.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not exist on other PEs",
    label = "not a symmetric object",
    note = "the side with `@` is a symmetric object: a static with `#[symmetric]`, a `SymBox` or a `NumaArray`"
)]
pub unsafe trait Remote: Object {
    /// Segment, and bytes from the start of a PE's slot. A `pe` exists only after positions are known.
    fn place_on(&self, pe: Pe) -> (u32, usize);
}

/// An object that a put can read from.
///
/// # Safety
///
/// If [`place`](Object::place) returns an offset, the object is there; else `first` must be its start, readable for as long as
/// the reference lives.
#[diagnostic::on_unimplemented(
    message = "nothing can be read from `{Self}`",
    label = "neither a symmetric object nor an array or a slice",
    note = "the source of a put is a symmetric object, or an array, a slice or a `Vec`"
)]
pub unsafe trait Readable: Object {
    /// The first byte of an object without a place.
    #[inline(always)]
    fn first(&self) -> *const u8 {
        core::ptr::null()
    }

    /// The first byte.
    #[inline(always)]
    fn start(&self, endpoint: &Endpoint) -> *const u8 {
        self.place(endpoint).map_or_else(|| self.first(), |offset| endpoint.mine(offset))
    }
}

/// An object that a get can write to.
///
/// # Safety
///
/// As [`Readable`]; `first_mut` must also be writable.
#[diagnostic::on_unimplemented(
    message = "nothing can be written to `{Self}`",
    label = "neither a symmetric object nor an array or a slice that can be changed",
    note = "the destination of a get is a symmetric object, or an array, a slice or a `Vec` that can be changed"
)]
pub unsafe trait Writable: Object {
    /// The first byte of an object without a place.
    #[inline(always)]
    fn first_mut(&mut self) -> *mut u8 {
        core::ptr::null_mut()
    }

    /// The first byte.
    #[inline(always)]
    fn start_mut(&mut self, endpoint: &Endpoint) -> *mut u8 {
        self.place(endpoint).map_or_else(|| self.first_mut(), |offset| endpoint.mine(offset))
    }
}

/// The dimensions of a value or of a slice.
macro_rules! dimensions {
    ([$item:ty]) => {
        type Element = <$item as Shaped>::Element;
        const SHAPE: Shape = Shape::slice_of::<$item>(Dim::DYNAMIC);
        const FIELDS: &'static [Field] = <$item as Shaped>::FIELDS;
    };
    ($value:ty) => {
        type Element = <$value as Shaped>::Element;
        const SHAPE: Shape = <$value as Shaped>::SHAPE;
        const FIELDS: &'static [Field] = <$value as Shaped>::FIELDS;
    };
}

/// An object that forwards to the object `$of`.
macro_rules! as_object {
    ($self:ident: $object:ty => $of:expr) => {
        type Element = <$object as Object>::Element;
        const SHAPE: Shape = <$object as Object>::SHAPE;
        const FIELDS: &'static [Field] = <$object as Object>::FIELDS;
        const ALIGN: usize = <$object as Object>::ALIGN;
        const IS_DYNAMIC: bool = <$object as Object>::IS_DYNAMIC;

        #[inline(always)]
        fn outermost_len(&$self) -> usize {
            $of.outermost_len()
        }

        #[inline(always)]
        fn shape(&$self) -> Shape {
            $of.shape()
        }

        #[inline(always)]
        fn pieces(&$self) -> Option<&[Piece]> {
            $of.pieces()
        }

        #[inline(always)]
        fn place(&$self, endpoint: &Endpoint) -> Option<usize> {
            $of.place(endpoint)
        }
    };
}

/// The offset of this PE's own copy of a symmetric object.
macro_rules! own_place {
    () => {
        #[inline(always)]
        fn place(&self, endpoint: &Endpoint) -> Option<usize> {
            Some(self.place_on(endpoint.me()).1)
        }
    };
}

macro_rules! symmetric {
    ($([$($parameters:tt)*] $handle:ty;)*) => {$(
        // SAFETY: the handle's position.
        unsafe impl<$($parameters)*> Remote for $handle {
            #[inline(always)]
            fn place_on(&self, pe: Pe) -> (u32, usize) {
                let place = self.on(pe);
                (place.segment(), place.offset())
            }
        }

        // SAFETY: this PE's own copy, which lives as long as the handle.
        unsafe impl<$($parameters)*> Readable for $handle {}
        // SAFETY: this PE's own copy, which lives as long as the handle.
        unsafe impl<$($parameters)*> Writable for $handle {}

        impl<$($parameters)*> $handle {
            /// This PE's own copy, see [`Lend`].
            #[doc(hidden)]
            #[inline(always)]
            pub fn __strided_into(&self) -> Own<'_, Self> {
                Own(self)
            }
        }
    )*};
}
symmetric! {
    [T: Shaped] Symmetric<T>;
    [T: Shaped] SymBox<T>;
    [T: Shaped] SymBox<[T]>;
    [T: Shaped, const D: usize, S: Storage] NumaArray<T, D, S>;
}

macro_rules! objects {
    ($($handle:ty, [$($dimensions:tt)*], $self:ident => $len:expr;)*) => {$(
        // SAFETY: a symmetric object is a `T`, or the handle's `$len` `T`s, on its own cache lines.
        unsafe impl<T: Shaped> Object for $handle {
            dimensions!($($dimensions)*);
            own_place!();
            const ALIGN: usize = at_least(align_of::<T>(), SYMMETRIC_ALIGN);

            #[inline(always)]
            fn outermost_len(&$self) -> usize {
                $len
            }
        }
    )*};
}
objects! {
    Symmetric<T>, [T], self => 1;
    SymBox<T>, [T], self => 1;
    SymBox<[T]>, [[T]], self => self.len();
}

// SAFETY: an array has its elements in row-major order, in one range or in its pieces.
unsafe impl<T: Shaped, const D: usize, S: Storage> Object for NumaArray<T, D, S> {
    type Element = T::Element;
    const SHAPE: Shape = T::SHAPE;
    const FIELDS: &'static [Field] = T::FIELDS;
    const ALIGN: usize = align_of::<T>();
    const IS_DYNAMIC: bool = true;
    own_place!();

    fn outermost_len(&self) -> usize {
        NumaArray::shape(self)[0]
    }

    fn shape(&self) -> Shape {
        row_major::<T>(&NumaArray::shape(self))
    }

    fn pieces(&self) -> Option<&[Piece]> {
        let pieces = NumaArray::pieces(self);
        (pieces.len() > 1).then_some(pieces)
    }
}

/// The dimensions of an array of `T` in row-major order.
pub(super) fn row_major<T: Shaped>(lengths: &[usize]) -> Shape {
    let (mut shape, mut stride) = (T::SHAPE, size_of::<T>());
    for &length in lengths.iter().rev() {
        shape = shape.array(length, stride);
        stride *= length;
    }
    shape
}

/// Arrays and slices: memory of this PE alone.
macro_rules! private {
    ([$($parameters:tt)*] $memory:ty, [$($dimensions:tt)*]) => {
        // SAFETY: contiguous items, each with its elements.
        unsafe impl<$($parameters)*> Object for $memory {
            dimensions!($($dimensions)*);
            const ALIGN: usize = align_of::<T>();

            #[inline(always)]
            fn outermost_len(&self) -> usize {
                self[..].len()
            }
        }

        // SAFETY: the first item of the borrowed memory.
        unsafe impl<$($parameters)*> Readable for $memory {
            #[inline(always)]
            fn first(&self) -> *const u8 {
                self.as_ptr().cast()
            }
        }

        // SAFETY: the first item of the exclusively borrowed memory.
        unsafe impl<$($parameters)*> Writable for $memory {
            #[inline(always)]
            fn first_mut(&mut self) -> *mut u8 {
                self.as_mut_ptr().cast()
            }
        }
    };
}
private!([T: Shaped, const N: usize] [T; N], [[T; N]]);
private!([T: Shaped] [T], [[T]]);
private!([T: Shaped] Vec<T>, [[T]]);

/// References and boxes of an object, for reading.
macro_rules! lenders {
    ($($lender:ty)*) => {$(
        // SAFETY: the object that is lent.
        unsafe impl<O: Object + ?Sized> Object for $lender {
            as_object!(self: O => (**self));
        }

        // SAFETY: the object that is lent.
        unsafe impl<O: Remote + ?Sized> Remote for $lender {
            #[inline(always)]
            fn place_on(&self, pe: Pe) -> (u32, usize) {
                (**self).place_on(pe)
            }
        }

        // SAFETY: the object that is lent, for as long as the reference to the lender lives.
        unsafe impl<O: Readable + ?Sized> Readable for $lender {
            #[inline(always)]
            fn first(&self) -> *const u8 {
                (**self).first()
            }
        }
    )*};
}
lenders!(&O &mut O Box<O>);

/// References and boxes of an object, for writing.
macro_rules! exclusive_lenders {
    ($($lender:ty)*) => {$(
        // SAFETY: the object that is lent, exclusively.
        unsafe impl<O: Writable + ?Sized> Writable for $lender {
            #[inline(always)]
            fn first_mut(&mut self) -> *mut u8 {
                (**self).first_mut()
            }
        }
    )*};
}
exclusive_lenders!(&mut O Box<O>);

/// A borrowed destination, valid for the lifetime of its type.
///
/// # Safety
///
/// The memory of [`start_mut`](Writable::start_mut) must stay writable, and exclusive unless it is symmetric, for any
/// lifetime that the type outlives, even if the value is dropped or forgotten.
pub unsafe trait Lent {}

// SAFETY: an exclusive borrow is valid, and nobody else uses its memory, until its lifetime ends.
unsafe impl<O: ?Sized> Lent for &mut O {}
// SAFETY: symmetric memory exists for as long as an endpoint does.
unsafe impl<O: ?Sized> Lent for Own<'_, O> {}

/// This PE's own copy of a symmetric object, as the destination of a get, by a shared reference to the handle.
#[derive(Debug)]
pub struct Own<'a, O: ?Sized>(pub(super) &'a O);

// SAFETY: the object of the handle.
unsafe impl<O: Remote + ?Sized> Object for Own<'_, O> {
    as_object!(self: O => self.0);
}

// SAFETY: this PE's own copy, which lives as long as the handle.
unsafe impl<O: Remote + ?Sized> Writable for Own<'_, O> {}

/// Borrows the destination of a get as a method call does: a variable exclusively, an exclusive reference again, and a
/// symmetric object's handle by a shared reference.
pub trait Lend {
    /// An exclusive reference.
    #[doc(hidden)]
    #[inline(always)]
    fn __strided_into(&mut self) -> &mut Self {
        self
    }
}

impl<O: ?Sized> Lend for O {}

/// Elements that may be moved to `To`: those of the same type.
#[diagnostic::on_unimplemented(
    message = "expected `{To}`, found `{Self}`",
    label = "the elements of the source are `{Self}`, those of the destination `{To}`",
    note = "both sides of a transfer have the same elements; nothing is converted"
)]
pub trait SameElements<To> {}

impl<E> SameElements<E> for E {}

/// A field of an element `E`, named in `E::Names`, because `E` itself could add fields by `Deref`.
#[inline(always)]
pub fn field<E: Shaped, F: Shaped>(
    _: PhantomData<E>,
    _: impl FnOnce(&E::Names) -> *const F,
) -> PhantomData<F::Element> {
    PhantomData
}

/// Several fields of an element.
#[inline(always)]
pub fn run<R: Run>(_: R) -> PhantomData<R::Elements> {
    PhantomData
}

/// The types of several fields.
pub trait Run {
    /// A tuple of them.
    type Elements;
}

macro_rules! runs {
    ($($($name:ident)*;)*) => {$(
        impl<$($name),*> Run for ($(PhantomData<$name>,)*) {
            type Elements = ($($name,)*);
        }
    )*};
}
runs! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
