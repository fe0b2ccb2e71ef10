//! Dimensions of objects, and fields of structs.

use bytemuck::Pod;

use crate::symmetric_data::{Plain, SymmetricData};

/// Upper limit on the dimensions of a shape.
pub const MAX_DIMS: usize = 6;

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Number of elements; [`Dim::DYNAMIC`] if known at run time.
    pub len: usize,
    /// Bytes from one element to the next.
    pub stride: usize,
}

impl Dim {
    /// The length of a slice at compile time, when it is unknown.
    pub const DYNAMIC: usize = usize::MAX;
}

/// The dimensions of an array, outermost first, and the size of its elements. Each dimension has its own stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    element: usize,
    dims: [Dim; MAX_DIMS],
    rank: usize,
}

impl Shape {
    /// One element of `bytes` bytes, which has no dimensions.
    pub const fn element(bytes: usize) -> Self {
        Self { element: bytes, dims: [Dim { len: 1, stride: 0 }; MAX_DIMS], rank: 0 }
    }

    /// The shape of an array of `len` values of this shape, `stride` bytes apart. Adds a dimension outside the others.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_DIMS`].
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

    /// The shape with the dimensions of `inner`, the shape of each element, inside its own.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_DIMS`].
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

    /// The shape with `len` elements in its outermost dimension, if that is [`Dim::DYNAMIC`].
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

    /// The shape of `len` contiguous values of `T`.
    pub const fn slice_of<T: Shaped>(len: usize) -> Self {
        T::SHAPE.array(len, size_of::<T>())
    }

    /// The dimensions, outermost first.
    #[inline(always)]
    pub const fn dims(&self) -> &[Dim] {
        self.dims.split_at(self.rank).0
    }

    /// Bytes of an element.
    #[inline(always)]
    pub const fn element_bytes(&self) -> usize {
        self.element
    }
}

/// Data with dimensions, of which regions of strided transfers are parts.
///
/// A number or a struct is one element; an array adds a dimension: `[[f64; 64]; 32]` has 32 rows of 64 elements.
///
/// # Safety
///
/// Every element of `SHAPE` must be an `Element` inside the value. Every field of `FIELDS` must be a field of an `Element`. Whatever
/// an expression can name as a field of a `Names` must be in `FIELDS`, by that name and with that type; so `Names` must not give
/// access to fields of another type by `Deref`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no dimensions that a region could name",
    note = "regions are parts of numbers, of `#[derive(Symmetric)]` structs, and of arrays and slices of them"
)]
pub unsafe trait Shaped: SymmetricData {
    /// The type of an element.
    type Element: SymmetricData;

    /// A struct with the names, types and visibility of an element's fields. No value of it exists.
    #[doc(hidden)]
    type Names;

    /// The dimensions.
    const SHAPE: Shape;

    /// The fields of an element that is a struct.
    const FIELDS: &'static [Field] = &[];
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    pub(super) contents: Contents,
}

/// Dimensions and fields of a field's type.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    pub(super) shape: Shape,
    pub(super) fields: &'static [Field],
}

impl Field {
    /// The field `name`, `offset` bytes from the start of its struct.
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
        // SAFETY: one element, the value itself, which is a number and has no fields.
        unsafe impl Shaped for $t {
            type Element = Self;
            type Names = Self;
            const SHAPE: Shape = Shape::element(size_of::<Self>());
        }
    )*};
}
elements!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: one element, the value itself. Nothing is named as a field of it.
unsafe impl<T: Pod> Shaped for Plain<T> {
    type Element = Self;
    type Names = ();
    const SHAPE: Shape = Shape::element(size_of::<Self>());
}

// SAFETY: the values of an array are adjacent, each with its elements, whose fields `T` names.
unsafe impl<T: Shaped, const N: usize> Shaped for [T; N] {
    type Element = T::Element;
    type Names = T::Names;
    const SHAPE: Shape = Shape::slice_of::<T>(N);
    const FIELDS: &'static [Field] = T::FIELDS;
}
