//! Dimensions of objects, and fields of structs.

use bytemuck::Pod;

use crate::symmetric_data::{Plain, SymmetricData};

/// Upper limit on the dimensions of a shape.
pub const MAX_DIMS: usize = 6;

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Number of elements; [`Dim::DYNAMIC`] if the number is known at run time only.
    pub len: usize,
    /// Bytes from one element to the next.
    pub stride: usize,
}

impl Dim {
    /// Stands for the length of a slice where that length is not known, as at compile time.
    pub const DYNAMIC: usize = usize::MAX;
}

/// The dimensions of an array, outermost first, each with its stride, and the size of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    element: usize,
    dims: [Dim; MAX_DIMS],
    rank: usize,
}

impl Shape {
    /// Returns the shape of one element of `bytes` bytes, which has no dimensions.
    pub const fn element(bytes: usize) -> Self {
        Self { element: bytes, dims: [Dim { len: 1, stride: 0 }; MAX_DIMS], rank: 0 }
    }

    /// Returns the shape of an array of `len` values of this shape, `stride` bytes apart: one more dimension, outside the others.
    ///
    /// # Panics
    ///
    /// If the new shape has more than [`MAX_DIMS`] dimensions.
    #[must_use]
    pub const fn array(self, len: usize, stride: usize) -> Self {
        assert!(self.rank < MAX_DIMS, "a region has at most 6 dimensions");
        let mut outer = self;
        outer.dims[0] = Dim { len, stride };
        let mut i = 0;
        while i < self.rank {
            outer.dims[i + 1] = self.dims[i];
            i += 1;
        }
        outer.rank += 1;
        outer
    }

    /// Returns this shape with more dimensions inside its own: those of `inner`, the shape of each element.
    ///
    /// # Panics
    ///
    /// If the new shape has more than [`MAX_DIMS`] dimensions.
    #[must_use]
    pub const fn containing(self, inner: &Self) -> Self {
        assert!(self.rank + inner.rank <= MAX_DIMS, "a region has at most 6 dimensions");
        let mut outer = self;
        outer.element = inner.element;
        let mut i = 0;
        while i < inner.rank {
            outer.dims[outer.rank] = inner.dims[i];
            outer.rank += 1;
            i += 1;
        }
        outer
    }

    /// Returns the shape with `len` elements in its outermost dimension, if the length of that dimension is [`Dim::DYNAMIC`].
    #[must_use]
    #[inline(always)]
    pub const fn with_len(mut self, len: usize) -> Self {
        if self.is_open() {
            self.dims[0].len = len;
        }
        self
    }

    /// Whether the length of the outermost dimension is unknown.
    #[inline(always)]
    pub const fn is_open(&self) -> bool {
        self.rank > 0 && self.dims[0].len == Dim::DYNAMIC
    }

    /// Returns the shape of `len` contiguous values of `T`.
    pub const fn slice_of<T: Shaped>(len: usize) -> Self {
        T::SHAPE.array(len, size_of::<T>())
    }

    /// Returns the dimensions, outermost first.
    #[inline(always)]
    pub const fn dims(&self) -> &[Dim] {
        self.dims.split_at(self.rank).0
    }

    /// Returns the bytes of an element.
    #[inline(always)]
    pub const fn element_bytes(&self) -> usize {
        self.element
    }
}

/// Data with dimensions. Strided transfers select regions of it.
///
/// A number or a struct is one element; an array adds a dimension: `[[f64; 64]; 32]` has 32 rows of 64 elements.
///
/// # Safety
///
/// Every element of `SHAPE` must be an `Element` inside the value. Every entry of `FIELDS` must be a field of an `Element`. Every
/// field that an expression can name in a value of `Names` must be in `FIELDS`, with the same name and type. So `Names` must not
/// give access to fields of another type by `Deref`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no dimensions that a region could name",
    note = "regions are parts of numbers, of `#[derive(Symmetric)]` structs, and of arrays and slices of them"
)]
pub unsafe trait Shaped: SymmetricData {
    /// The type of an element.
    type Element: SymmetricData;

    /// A struct with the names, types and visibility of an element's fields, never instantiated: a closure on it names a field.
    #[doc(hidden)]
    type Names;

    /// The dimensions of the data.
    const SHAPE: Shape;

    /// The fields of an element; none if an element is no struct.
    const FIELDS: &'static [Field] = &[];
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    pub(super) contents: Contents,
}

/// The dimensions and the fields of the type of a field.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    pub(super) shape: Shape,
    pub(super) fields: &'static [Field],
}

impl Field {
    /// Returns the field `name`, `offset` bytes from the start of its struct.
    pub const fn new(name: &'static str, offset: usize, contents: Contents) -> Self {
        Self { name, offset, contents }
    }

    pub(super) const fn bytes(&self) -> usize {
        match self.contents.shape.dims() {
            [] => self.contents.shape.element_bytes(),
            [outermost, ..] => outermost.len * outermost.stride,
        }
    }
}

macro_rules! elements {
    ($($t:ty)*) => {$(
        // SAFETY: the value is its only element, a number, which has no fields.
        unsafe impl Shaped for $t {
            type Element = Self;
            type Names = Self;
            const SHAPE: Shape = Shape::element(size_of::<Self>());
        }
    )*};
}
elements!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: the value is its only element. `Names` is `()`, which has no fields.
unsafe impl<T: Pod> Shaped for Plain<T> {
    type Element = Self;
    type Names = ();
    const SHAPE: Shape = Shape::element(size_of::<Self>());
}

// SAFETY: the values of an array are adjacent. Each has the elements that `T` describes, with the fields that `T` names.
unsafe impl<T: Shaped, const N: usize> Shaped for [T; N] {
    type Element = T::Element;
    type Names = T::Names;
    const SHAPE: Shape = Shape::slice_of::<T>(N);
    const FIELDS: &'static [Field] = T::FIELDS;
}
