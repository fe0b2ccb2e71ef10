//! Views of the crate `ndarray` on objects that [`World::local`](crate::World::local) and
//! [`World::frozen`](crate::World::frozen) open: nested arrays and slices of nested arrays ([`AsNdarray`]), and arrays
//! of [`World::array`](crate::World::array) ([`ArrayNdarray`]). Needs feature `ndarray`.
//!
//! A view borrows the reference of the phase, so it ends with the phase.
//!
//! ```no_run
//! use shmem::ndarray::AsNdarray;
//! use shmem::prelude::*;
//!
//! #[symmetric]
//! static FIELD: [[f64; 1024]; 1024];
//!
//! /// The mean of the inner cells, and the last column set to it.
//! fn level(world: &mut World) -> f64 {
//!     world.local(&FIELD, |field| {
//!         let mut field = field.view_mut();             // ArrayViewMut2<f64>
//!         let mean = field.slice(::ndarray::s![1..-1, 1..-1]).mean().unwrap();
//!         field.column_mut(1023).fill(mean);
//!         mean
//!     })
//! }
//! # fn main() {}
//! ```

use bytemuck::Pod;
use ndarray::{ArrayView, ArrayViewMut, Dimension, IntoDimension, Ix0, ShapeBuilder, StrideShape};
use shmem_core::array::{ArrayMut, ArrayRef, ChunkMut, ChunkRef, Contiguous};
use shmem_core::strided::{Shape, Shaped};
use shmem_core::symmetric_data::{Plain, PlainData};

/// A slice that has a view of `ndarray`. Its items are numbers, [`Element`]s, or arrays of these. An array is a slice, too.
pub trait AsNdarray {
    /// The type of the elements.
    type Element;

    /// The number of dimensions, as a type of `ndarray`: `Ix2` for an array of rows.
    type Dimension: Dimension;

    /// Returns the array as a view.
    ///
    /// # Panics
    ///
    /// If the array has no bytes, and the product of its lengths overflows.
    fn view(&self) -> ArrayView<'_, Self::Element, Self::Dimension>;

    /// Returns the array as an exclusive view.
    ///
    /// # Panics
    ///
    /// As [`view`](Self::view).
    fn view_mut(&mut self) -> ArrayViewMut<'_, Self::Element, Self::Dimension>;
}

/// A number, or a `#[derive(Symmetric)]` struct with `impl shmem::ndarray::Element for Particle {}`.
pub trait Element: PlainData + Shaped<Element = Self> {}

/// [`Shaped`] with the number of dimensions as a type. An element has no dimensions, and an array one more than its items.
pub trait Nested: Shaped {
    /// The number of dimensions, as a type of `ndarray`.
    type Dimension: Dimension;
}

macro_rules! elements {
    ($($t:ty)*) => {$(
        impl Element for $t {}
    )*};
}
elements!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

impl<T: Pod> Element for Plain<T> {}

impl<T: Element> Nested for T {
    type Dimension = Ix0;
}

impl<T: Nested, const N: usize> Nested for [T; N] {
    type Dimension = <T::Dimension as Dimension>::Larger;
}

impl<T: Nested> AsNdarray for [T] {
    type Element = T::Element;
    type Dimension = <T::Dimension as Dimension>::Larger;

    fn view(&self) -> ArrayView<'_, Self::Element, Self::Dimension> {
        let first = self.as_ptr().cast();
        // SAFETY: `extents` describes only elements of the slice (`Shaped`). The slice is borrowed for as long as the view.
        unsafe { ArrayView::from_shape_ptr(extents::<T, _>(self.len()), first) }
    }

    fn view_mut(&mut self) -> ArrayViewMut<'_, Self::Element, Self::Dimension> {
        let first = self.as_mut_ptr().cast();
        // SAFETY: `extents` describes only elements of the slice (`Shaped`). The slice is borrowed exclusively for as long as the
        // view. No two indices share an element, because each element is a distinct value inside an item of the slice.
        unsafe { ArrayViewMut::from_shape_ptr(extents::<T, _>(self.len()), first) }
    }
}

/// Returns the lengths, and the strides in elements, of a view on `len` values of `T`.
///
/// Panics if the product of lengths other than 0 overflows. `ndarray` forbids that; an array without bytes can have such lengths.
fn extents<T: Shaped, D: Dimension>(len: usize) -> StrideShape<D> {
    let shape = const { Shape::slice_of::<T>(0) };
    let dims = shape.dims();
    let (mut lens, mut strides) = (D::zeros(dims.len()), D::zeros(dims.len()));
    for (axis, dim) in dims.iter().enumerate() {
        lens[axis] = if axis == 0 { len } else { dim.len };
        // Elements without bytes have the same address, so their stride is 0.
        strides[axis] = dim.stride.checked_div(shape.element_bytes()).unwrap_or(0);
    }
    let product =
        lens.slice().iter().filter(|len| **len > 0).try_fold(1_usize, |all, len| all.checked_mul(*len));
    assert!(
        product.is_some_and(|product| product <= isize::MAX as usize),
        "an array without elements has too many rows for a view"
    );
    lens.strides(strides)
}

/// An array of [`World::array`](crate::World::array) that has a view of `ndarray`. This is an array whose storage is one range
/// ([`Contiguous`]), or a chunk (a part on one NUMA node) of any array.
///
/// ```no_run
/// use shmem::array::Single;
/// use shmem::ndarray::{ArrayNdarray, ArrayNdarrayMut};
/// use shmem::prelude::*;
///
/// #[shmem::main]
/// fn main(world: &mut World) -> Result<()> {
///     let field = world.array([600, 800]).storage(Single).zeroed::<f64>()?;
///     let mean = world.local(&field, |mut field| {
///         field.ndarray_mut().column_mut(799).fill(1.0);      // ArrayViewMut2<f64>
///         field.ndarray().mean()
///     });
///     assert_eq!(mean, Some(1.0 / 800.0));
///     Ok(())
/// }
/// ```
pub trait ArrayNdarray<const D: usize> {
    /// The type of the elements.
    type Element;

    /// The number of dimensions, as a type of `ndarray`: `Ix2` for two.
    type Dimension: Dimension;

    /// Returns the array as a view. Indices begin with 0, also in a chunk.
    fn ndarray(&self) -> ArrayView<'_, Self::Element, Self::Dimension>;
}

/// [`ArrayNdarray`] with an exclusive view.
pub trait ArrayNdarrayMut<const D: usize>: ArrayNdarray<D> {
    /// Returns the array as an exclusive view. Indices begin with 0, also in a chunk.
    fn ndarray_mut(&mut self) -> ArrayViewMut<'_, Self::Element, Self::Dimension>;
}

macro_rules! arrays {
    ($($array:ident)*) => {$(
        impl<T, const D: usize, S: Contiguous> ArrayNdarray<D> for $array<'_, T, D, S>
        where
            [usize; D]: IntoDimension,
        {
            type Element = T;
            type Dimension = <[usize; D] as IntoDimension>::Dim;

            fn ndarray(&self) -> ArrayView<'_, T, Self::Dimension> {
                let view = ArrayView::from_shape(self.shape().into_dimension(), self.as_slice());
                view.unwrap_or_else(|_| unreachable!("the slice has the elements of the shape"))
            }
        }
    )*};
}
arrays!(ArrayRef ArrayMut);

impl<T, const D: usize, S: Contiguous> ArrayNdarrayMut<D> for ArrayMut<'_, T, D, S>
where
    [usize; D]: IntoDimension,
{
    fn ndarray_mut(&mut self) -> ArrayViewMut<'_, T, Self::Dimension> {
        let view = ArrayViewMut::from_shape(self.shape().into_dimension(), self.as_mut_slice());
        view.unwrap_or_else(|_| unreachable!("the slice has the elements of the shape"))
    }
}

macro_rules! chunks {
    ($($chunk:ident)*) => {$(
        impl<T, const D: usize> ArrayNdarray<D> for $chunk<'_, T, D>
        where
            [usize; D]: IntoDimension,
        {
            type Element = T;
            type Dimension = <[usize; D] as IntoDimension>::Dim;

            fn ndarray(&self) -> ArrayView<'_, T, Self::Dimension> {
                let (start, lens, strides) = self.__layout();
                // SAFETY: `lens` and `strides` describe the chunk's elements from `start` on. The view borrows the chunk.
                unsafe { ArrayView::from_shape_ptr(extents_of(lens, strides), start) }
            }
        }
    )*};
}
chunks!(ChunkRef ChunkMut);

impl<T, const D: usize> ArrayNdarrayMut<D> for ChunkMut<'_, T, D>
where
    [usize; D]: IntoDimension,
{
    fn ndarray_mut(&mut self) -> ArrayViewMut<'_, T, Self::Dimension> {
        let (start, lens, strides) = self.__layout();
        // SAFETY: `lens` and `strides` describe the elements of the chunk, which begin at `start`. No two indices share
        // an element. The chunk is borrowed exclusively for as long as the view.
        unsafe { ArrayViewMut::from_shape_ptr(extents_of(lens, strides), start) }
    }
}

fn extents_of<const D: usize>(
    lens: [usize; D],
    strides: [usize; D],
) -> StrideShape<<[usize; D] as IntoDimension>::Dim>
where
    [usize; D]: IntoDimension,
{
    lens.into_dimension().strides(strides.into_dimension())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "an array without elements has too many rows for a view")]
    fn nothing_is_not_seen_more_often_than_there_are_numbers() {
        const MANY: usize = 1 << 40;
        let nothing = [[[0.0_f64; 0]; MANY]; MANY];
        assert_eq!(nothing[0].view().dim(), (MANY, 0));
        let _ = nothing.view();
    }
}
