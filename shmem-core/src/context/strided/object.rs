//! Objects whose regions `strided!` transfers (symmetric objects and private memory), their elements, and how they are borrowed.

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

/// An object of which `strided!` can transfer a region.
///
/// # Safety
///
/// The object must be aligned to `ALIGN`, and have the elements of `SHAPE` from its start on, each an `Element`. An outermost
/// dimension of [`Dim::DYNAMIC`] has `outermost_len` elements. Every field of `FIELDS` must be inside an `Element`. With
/// `IS_DYNAMIC`, `shape` must describe the elements in place of `SHAPE`, and `pieces`, in their order, must have all of them
/// without gaps.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no region that could be transferred",
    label = "neither a symmetric object nor an array or a slice",
    note = "regions are parts of symmetric objects, and of arrays, slices and `Vec`s of numbers, of arrays, and of structs with `#[derive(Symmetric)]`"
)]
pub unsafe trait Object {
    /// Type of the object's elements.
    type Element;

    /// The object's dimensions. The outermost is [`Dim::DYNAMIC`] if its length is known at run time only.
    const SHAPE: Shape;

    /// The fields of an element, if elements are structs.
    const FIELDS: &'static [Field];

    /// The object's alignment.
    const ALIGN: usize;

    /// Whether the object's dimensions and location are known at run time only. If so, every transfer is planned at run time, and
    /// `SHAPE` is not used.
    const IS_DYNAMIC: bool = false;

    /// Length of the outermost dimension, if `SHAPE` does not give it.
    fn outermost_len(&self) -> usize;

    /// The object's dimensions at run time.
    #[inline(always)]
    fn shape(&self) -> Shape {
        Self::SHAPE.with_len(self.outermost_len())
    }

    /// The object's pieces in a PE's slot, or `None` if it is one range. `None` unless [`IS_DYNAMIC`](Self::IS_DYNAMIC).
    #[inline(always)]
    fn pieces(&self) -> Option<&[Piece]> {
        None
    }

    /// Bytes from the start of this PE's slot to the object, or `None` if the object is private memory.
    #[inline(always)]
    fn place(&self, _: &Endpoint) -> Option<usize> {
        None
    }
}

/// An object that exists on every PE.
///
/// # Safety
///
/// `place_on` must return the object's position on every PE, and [`place`](Object::place) its position on this PE.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not exist on other PEs",
    label = "not a symmetric object",
    note = "the side with `@` is a symmetric object: a static with `#[symmetric]`, a `SymBox` or a `NumaArray`"
)]
pub unsafe trait Remote: Object {
    /// Returns the object's segment, and its offset in a PE's slot in bytes. A [`Pe`] proves that statics have their positions,
    /// because it is given out later.
    fn place_on(&self, pe: Pe) -> (u32, usize);
}

/// An object that can be the source of a put.
///
/// # Safety
///
/// If [`place`](Object::place) returns an offset, the object must be at this offset. Otherwise `first` must return the object's
/// start, readable for as long as the reference lives.
#[diagnostic::on_unimplemented(
    message = "nothing can be read from `{Self}`",
    label = "neither a symmetric object nor an array or a slice",
    note = "the source of a put is a symmetric object, or an array, a slice or a `Vec`"
)]
pub unsafe trait Readable: Object {
    /// Returns the address of the object's first byte, if the object is private memory.
    #[inline(always)]
    fn first(&self) -> *const u8 {
        core::ptr::null()
    }

    /// Returns the address of the object's first byte.
    #[inline(always)]
    fn start(&self, endpoint: &Endpoint) -> *const u8 {
        self.place(endpoint).map_or_else(|| self.first(), |offset| endpoint.mine(offset))
    }
}

/// An object that can be the destination of a get.
///
/// # Safety
///
/// If [`place`](Object::place) returns an offset, the object must be at this offset. Otherwise `first_mut` must return the object's
/// start, for as long as the reference lives. In both cases the memory must be readable and writable.
#[diagnostic::on_unimplemented(
    message = "nothing can be written to `{Self}`",
    label = "neither a symmetric object nor an array or a slice that can be changed",
    note = "the destination of a get is a symmetric object, or an array, a slice or a `Vec` that can be changed"
)]
pub unsafe trait Writable: Object {
    /// Returns the address of the object's first byte, if the object is private memory.
    #[inline(always)]
    fn first_mut(&mut self) -> *mut u8 {
        core::ptr::null_mut()
    }

    /// Returns the address of the object's first byte.
    #[inline(always)]
    fn start_mut(&mut self, endpoint: &Endpoint) -> *mut u8 {
        self.place(endpoint).map_or_else(|| self.first_mut(), |offset| endpoint.mine(offset))
    }
}

/// Defines the constants of [`Object`] that describe dimensions and fields, for a value or for a slice.
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

/// Defines the items of [`Object`] for a type that wraps or borrows another object, `$of`.
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

/// Defines [`Object::place`] of a symmetric object: the offset of this PE's own copy.
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
        // SAFETY: the handle's place on a PE has the object's position.
        unsafe impl<$($parameters)*> Remote for $handle {
            #[inline(always)]
            fn place_on(&self, pe: Pe) -> (u32, usize) {
                let place = self.on(pe);
                (place.segment(), place.offset())
            }
        }

        // SAFETY: `place` returns the offset of this PE's own copy, which is reserved while the handle lives.
        unsafe impl<$($parameters)*> Readable for $handle {}
        // SAFETY: `place` returns the offset of this PE's own copy, which is reserved while the handle lives.
        unsafe impl<$($parameters)*> Writable for $handle {}

        impl<$($parameters)*> $handle {
            /// This PE's own copy, as the destination of a get. A call on a handle finds this before [`Lend`]'s method of the same
            /// name, because `&self` is tried before `&mut self`.
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
        // SAFETY: a symmetric object is a `T`, or a slice of `$len` `T`s, and aligned to cache lines.
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

// SAFETY: the elements of an array are in row-major order, in one range or in its pieces.
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

/// Returns the dimensions of an array of `T`s in row-major order.
pub(super) fn row_major<T: Shaped>(lengths: &[usize]) -> Shape {
    let (mut shape, mut stride) = (T::SHAPE, size_of::<T>());
    for &length in lengths.iter().rev() {
        shape = shape.array(length, stride);
        stride *= length;
    }
    shape
}

/// Implements [`Object`], [`Readable`] and [`Writable`] for arrays and slices in private memory.
macro_rules! private {
    ([$($parameters:tt)*] $memory:ty, [$($dimensions:tt)*]) => {
        // SAFETY: the items are contiguous, and each has the elements of a `T`.
        unsafe impl<$($parameters)*> Object for $memory {
            dimensions!($($dimensions)*);
            const ALIGN: usize = align_of::<T>();

            #[inline(always)]
            fn outermost_len(&self) -> usize {
                self[..].len()
            }
        }

        // SAFETY: `first` returns the address of the first item of the borrowed memory.
        unsafe impl<$($parameters)*> Readable for $memory {
            #[inline(always)]
            fn first(&self) -> *const u8 {
                self.as_ptr().cast()
            }
        }

        // SAFETY: `first_mut` returns the address of the first item of the exclusively borrowed memory.
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

/// Implements [`Object`], [`Remote`] and [`Readable`] for references and boxes of objects.
macro_rules! lenders {
    ($($lender:ty)*) => {$(
        // SAFETY: every method forwards to the object behind the reference or box.
        unsafe impl<O: Object + ?Sized> Object for $lender {
            as_object!(self: O => (**self));
        }

        // SAFETY: `place_on` forwards to the object behind the reference or box.
        unsafe impl<O: Remote + ?Sized> Remote for $lender {
            #[inline(always)]
            fn place_on(&self, pe: Pe) -> (u32, usize) {
                (**self).place_on(pe)
            }
        }

        // SAFETY: `first` forwards to the object behind the reference or box, borrowed with it.
        unsafe impl<O: Readable + ?Sized> Readable for $lender {
            #[inline(always)]
            fn first(&self) -> *const u8 {
                (**self).first()
            }
        }
    )*};
}
lenders!(&O &mut O Box<O>);

/// Implements [`Writable`] for exclusive references and boxes of objects.
macro_rules! exclusive_lenders {
    ($($lender:ty)*) => {$(
        // SAFETY: `first_mut` forwards to the object behind the reference or box, borrowed exclusively with it.
        unsafe impl<O: Writable + ?Sized> Writable for $lender {
            #[inline(always)]
            fn first_mut(&mut self) -> *mut u8 {
                (**self).first_mut()
            }
        }
    )*};
}
exclusive_lenders!(&mut O Box<O>);

/// A borrowed destination of a get, whose memory stays valid for the whole lifetime in its type.
///
/// # Safety
///
/// If the type outlives `'b`, the memory of [`start_mut`](Writable::start_mut) must be writable for all of `'b`, even if the value
/// is dropped or forgotten. Unless the memory is symmetric, nothing else may access it for `'b`.
pub unsafe trait Lent {}

// SAFETY: until its lifetime ends, an exclusive reference is valid, and nothing else accesses its memory.
unsafe impl<O: ?Sized> Lent for &mut O {}
// SAFETY: symmetric memory exists for as long as any endpoint.
unsafe impl<O: ?Sized> Lent for Own<'_, O> {}

/// This PE's own copy of a symmetric object as the destination of a get. It borrows the object's handle by a shared reference.
#[derive(Debug)]
pub struct Own<'a, O: ?Sized>(pub(super) &'a O);

// SAFETY: every method forwards to the object's handle.
unsafe impl<O: Remote + ?Sized> Object for Own<'_, O> {
    as_object!(self: O => self.0);
}

// SAFETY: `place` returns the offset of this PE's own copy, which is reserved while the handle lives.
unsafe impl<O: Remote + ?Sized> Writable for Own<'_, O> {}

/// Borrows the destination of a get as the receiver of a method call is borrowed: a variable exclusively, an exclusive reference by
/// a reborrow, and the handle of a symmetric object by a shared reference.
pub trait Lend {
    /// Returns an exclusive reference to the destination.
    #[doc(hidden)]
    #[inline(always)]
    fn __strided_into(&mut self) -> &mut Self {
        self
    }
}

impl<O: ?Sized> Lend for O {}

/// Elements that `strided!` may move to elements of type `To`: those of the same type.
#[diagnostic::on_unimplemented(
    message = "expected `{To}`, found `{Self}`",
    label = "the elements of the source are `{Self}`, those of the destination `{To}`",
    note = "both sides of a transfer have the same elements; nothing is converted"
)]
pub trait SameElements<To> {}

impl<E> SameElements<E> for E {}

/// Returns the type of a field of an element `E`. The closure names the field in `E::Names`, because in `E` itself the name could
/// also mean a field behind `Deref`.
#[inline(always)]
pub fn field<E: Shaped, F: Shaped>(
    _: PhantomData<E>,
    _: impl FnOnce(&E::Names) -> *const F,
) -> PhantomData<F::Element> {
    PhantomData
}

/// Returns the types of several fields of an element, as a tuple.
#[inline(always)]
pub fn run<R: Run>(_: R) -> PhantomData<R::Elements> {
    PhantomData
}

/// A tuple of markers for the types of several fields.
pub trait Run {
    /// The tuple of the fields' types.
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
