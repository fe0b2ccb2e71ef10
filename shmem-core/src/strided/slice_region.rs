//! Regions of a slice, such as a `Vec` of cells, that is used as an array of several dimensions. (`strided!` is for array types.)

use core::marker::PhantomData;
use core::ops::Range;

use super::byte_layout::Layout;
use super::choose_kernel::settings;
use super::dimensions::{MAX_DIMS, Shape};
use super::execute::execute_dyn;
use super::plan::TransferPlan;
use super::region::{Axis, Part, lower};
use crate::symmetric_data::PlainData;

/// A region of a slice that is used as an array, in row-major order.
pub(crate) struct PartOfSlice<T> {
    layout: Layout,
    cells: usize,
    elements: usize,
    _elements: PhantomData<fn() -> T>,
}

impl<T: PlainData> PartOfSlice<T> {
    /// Returns a region of a slice of `cells` elements that is used as an array of this `shape`. Panics if the shape has another
    /// number of elements, or the region is not inside the shape.
    #[track_caller]
    pub(crate) fn new<const D: usize>(cells: usize, shape: [usize; D], region: &[Range<usize>; D]) -> Self {
        const { assert!(1 <= D && D <= MAX_DIMS, "a region has 1 to 6 dimensions") }
        let number = |lens: [usize; D]| {
            // If a length is 0, the product of the others may overflow.
            if lens.contains(&0) {
                Some(0)
            } else {
                lens.iter().try_fold(1_usize, |all, len| all.checked_mul(*len))
            }
        };
        assert!(
            number(shape) == Some(cells),
            "the slice has {cells} elements, and the shape {shape:?} has another number of them"
        );
        let mut dims = Shape::element(size_of::<T>());
        let mut stride = size_of::<T>();
        for &len in shape.iter().rev() {
            dims = dims.array(len, stride);
            stride = stride.saturating_mul(len);
        }
        let axes = region.each_ref().map(|range| Axis::range(range.start, range.end));
        let layout = lower("slice", &dims, align_of::<T>(), &axes, Part::whole(size_of::<T>()));
        // The product does not overflow: `lower` found the region inside the shape, so the region has at most `cells` elements.
        let elements = number(region.each_ref().map(|range| range.len())).unwrap_or(cells);
        Self { layout, cells, elements, _elements: PhantomData }
    }

    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the start of the region in `slice`, and the plan that packs the region. Panics if the slice has another length.
    #[track_caller]
    pub(crate) fn pack(&self, slice: &[T]) -> (*const u8, TransferPlan) {
        assert_eq!(slice.len(), self.cells);
        let plan = Self::plan(&self.line(), &self.layout);
        (slice.as_ptr().cast::<u8>().wrapping_add(self.layout.offset()), plan)
    }

    /// Writes `packed` to the region of `slice`. Panics if `packed` has another length than the region, or `slice` than the array.
    #[track_caller]
    pub(crate) fn unpack(&self, packed: &[T], slice: &mut [T]) {
        assert_eq!((packed.len(), slice.len()), (self.elements, self.cells));
        let plan = Self::plan(&self.layout, &self.line());
        let to = slice.as_mut_ptr().cast::<u8>().wrapping_add(self.layout.offset());
        // SAFETY: `new` found the region inside an array with as many elements as `slice` has, and `slice` is borrowed exclusively.
        // Each element has one index there, so no two blocks overlap. `packed` has as many elements as the plan reads. Both slices
        // are aligned for `T`, which the plan assumes.
        unsafe { execute_dyn(&plan, to, packed.as_ptr().cast()) };
    }

    fn line(&self) -> Layout {
        Layout::line(self.elements, self.layout.block_bytes(), self.layout.align)
    }

    #[track_caller]
    fn plan(to: &Layout, from: &Layout) -> TransferPlan {
        let settings = settings();
        TransferPlan::new(to, from, settings.algorithm, &settings.thresholds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::refusal;

    #[test]
    fn a_region_lies_in_the_shape_and_the_shape_in_the_slice() {
        let new = |shape, region: [Range<usize>; 2]| PartOfSlice::<u64>::new(12, shape, &region).elements();
        assert_eq!(new([3, 4], [1..3, 0..4]), 8);
        for shape in [[3, 5], [usize::MAX, 2]] {
            let said =
                format!("the slice has 12 elements, and the shape {shape:?} has another number of them");
            assert_eq!(refusal(|| _ = new(shape, [0..1, 0..1])), said);
        }
        let rows = refusal(|| _ = new([3, 4], [0..4, 0..1]));
        assert_eq!(rows, "`slice` has 3 elements in dimension 0, but the region ends at 4");
        let turned = refusal(|| _ = new([3, 4], [0..1, Range { start: 3, end: 2 }]));
        assert_eq!(turned, "the region starts at 3 and ends at 2");
    }

    #[test]
    fn of_nothing_there_may_be_any_number() {
        let none = PartOfSlice::<u64>::new(0, [usize::MAX, 0, 5], &[0..usize::MAX, 0..0, 2..5]);
        none.unpack(&[], &mut []);
        let bytes = PartOfSlice::<[u64; 0]>::new(usize::MAX, [usize::MAX, 1], &[3..usize::MAX, 0..1]);
        assert_eq!(bytes.elements(), usize::MAX - 3);
        let all = vec![[0; 0]; usize::MAX];
        assert_eq!(bytes.pack(&all).1.pattern().bytes(), 0);
    }
}
