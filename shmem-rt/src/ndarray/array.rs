//! Views of arrays whose shape the run decides.

use ndarray::{ArrayView, ArrayViewMut, Dimension, IntoDimension, ShapeBuilder, StrideShape};
use shmem_core::array::{ArrayMut, ArrayRef, ChunkMut, ChunkRef, Contiguous};

/// An array of [`World::array`](crate::World::array) that `ndarray` can look at as it lies in memory: one whose storage is
/// one range ([`Contiguous`]), or a chunk of any.
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
    /// What it is made of.
    type Element;

    /// Its dimensions, as a type: `Ix2` for two.
    type Dimension: Dimension;

    /// The array as a view, whose indices begin with 0 for a chunk, too.
    fn ndarray(&self) -> ArrayView<'_, Self::Element, Self::Dimension>;
}

/// As [`ArrayNdarray`], exclusively.
pub trait ArrayNdarrayMut<const D: usize>: ArrayNdarray<D> {
    /// The array as an exclusive view, whose indices begin with 0 for a chunk, too.
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
                // SAFETY: from its first element on, these are the elements of the chunk, which is borrowed for as long
                // as the view.
                unsafe { ArrayView::from_shape_ptr(extents(lens, strides), start) }
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
        // SAFETY: from its first element on, these are the elements of the chunk, each under one index; it is borrowed
        // exclusively for as long as the view.
        unsafe { ArrayViewMut::from_shape_ptr(extents(lens, strides), start) }
    }
}

fn extents<const D: usize>(
    lens: [usize; D],
    strides: [usize; D],
) -> StrideShape<<[usize; D] as IntoDimension>::Dim>
where
    [usize; D]: IntoDimension,
{
    lens.into_dimension().strides(strides.into_dimension())
}
