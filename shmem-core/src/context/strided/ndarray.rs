//! Arrays and views of the crate `ndarray` as the private side of a transfer.
//!
//! They must be contiguous in row-major order, because kernels read the gaps between the blocks of a region, and the gaps of a view
//! may be borrowed elsewhere.

use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};

use super::object::{Object, Readable, Writable, row_major};
use crate::strided::{Field, Shape, Shaped};

/// # Panics
///
/// If the array's elements are not in row-major order without gaps, or it has more dimensions than a region can have.
#[track_caller]
fn shape_of<A: Shaped, D: Dimension>(array: ArrayView<'_, A, D>) -> Shape {
    assert!(
        array.is_standard_layout(),
        "this view of shape {:?} has strides {:?}: a side of `strided!` has its elements in row-major order without gaps; \
         name the array that it is a view of, and select the region in the brackets",
        array.shape(),
        array.strides()
    );
    row_major::<A>(array.shape())
}

macro_rules! readable {
    ($($array:ty)*) => {$(
        // SAFETY: `shape_of` checked that all items are contiguous. Each item has the elements of an `A`.
        unsafe impl<A: Shaped, D: Dimension> Object for $array {
            type Element = A::Element;
            const SHAPE: Shape = A::SHAPE;
            const FIELDS: &'static [Field] = A::FIELDS;
            const ALIGN: usize = align_of::<A>();
            const IS_DYNAMIC: bool = true;

            fn outermost_len(&self) -> usize {
                self.shape().first().copied().unwrap_or(1)
            }

            #[track_caller]
            fn shape(&self) -> Shape {
                shape_of(self.view())
            }
        }

        // SAFETY: `first` returns the address of the first element of the borrowed array.
        unsafe impl<A: Shaped, D: Dimension> Readable for $array {
            fn first(&self) -> *const u8 {
                self.as_ptr().cast()
            }
        }
    )*};
}
readable!(Array<A, D> ArrayView<'_, A, D> ArrayViewMut<'_, A, D>);

macro_rules! writable {
    ($($array:ty)*) => {$(
        // SAFETY: `first_mut` returns the address of the first element of the exclusively borrowed array.
        unsafe impl<A: Shaped, D: Dimension> Writable for $array {
            fn first_mut(&mut self) -> *mut u8 {
                self.as_mut_ptr().cast()
            }
        }
    )*};
}
writable!(Array<A, D> ArrayViewMut<'_, A, D>);
