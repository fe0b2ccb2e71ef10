//! Arrays whose rows are a chosen pitch apart.
//!
//! The cells of a column of `[[f64; 1024]; 1024]` are 8 KiB apart, and all map to one set of a cache, which holds a
//! dozen lines. Transfers and loops along such a column take three to ten times as long as in an array whose rows are
//! one line longer.
//!
//! [`Padded`] is a row: elements, and padding behind them. It derefs to the array of its elements, so an array of padded
//! rows is indexed, iterated and sliced as plain rows are. [`padded!`](macro@crate::padded) names the type, and
//! [`pitch`] chooses the distance.

use core::fmt;
use core::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

use crate::data::{PlainData, SymmetricData};
use crate::message::refuse;
use crate::strided::{Field, Shape, Shaped};

const LINE: usize = 64;

/// The type of an array whose rows map to different sets of a cache: `padded![f64; ROWS;
/// COLUMNS]` instead of `[[f64; COLUMNS]; ROWS]`.
///
/// Lengths are in the order of the indices, outermost first. Every dimension but the outermost becomes a [`Padded`]
/// with the pitch of [`pitch`]:
///
/// | | |
/// |---|---|
/// | `padded![T; COLUMNS]` | one row, for arrays and slices of rows: `SymBox<[padded![f64; 1024]]>` |
/// | `padded![T; ROWS; COLUMNS]` | an array of rows |
/// | `padded![T; PLANES; ROWS; COLUMNS]` | an array of planes, each of them padded rows, and padded itself |
///
/// The lengths must be constants, not parameters of a generic item.
///
/// ```
/// # use shmem_core as shmem;
/// use shmem::padded;
/// use shmem::padded::Padded;
///
/// const COLUMNS: usize = 1024;
/// type Field = padded![f64; 8; COLUMNS];
///
/// let mut field: Field = [Padded::filled(0.0); 8];
/// field[3][5] = 1.0;
/// assert_eq!(field[3][4..7], [0.0, 1.0, 0.0]);
/// assert_eq!(field[3].len(), COLUMNS);
/// // 129 lines from row to row, where a plain array has 128.
/// assert_eq!(size_of::<Field>(), 8 * 129 * 64);
/// ```
#[macro_export]
macro_rules! padded {
    ($element:ty; $length:expr) => { $crate::padded!(@inner $element; $length) };
    ($element:ty; $length:expr; $($inner:expr);+) => { [$crate::padded!(@inner $element; $($inner);+); $length] };
    (@inner $element:ty; $length:expr) => {
        $crate::padded::Padded<$element, { $length }, { $crate::padded::pitch::<$element>($length) }>
    };
    (@inner $element:ty; $length:expr; $($inner:expr);+) => {
        $crate::padded!(@inner $crate::padded!(@inner $element; $($inner);+); $length)
    };
}

/// `LENGTH` elements in the space of `PITCH`: a row of an array with padded rows.
///
/// Derefs to `[T; LENGTH]`. The padding consists of elements, so a row is plain data if `T` is. It has no index.
///
/// [`padded!`](macro@crate::padded) chooses the pitch. A written pitch must be at least `LENGTH`; a smaller
/// pitch is a compile error at the first use of an element:
///
/// ```compile_fail,E0080
/// # use shmem_core as shmem;
/// use shmem::padded::Padded;
///
/// // a row of 4 elements does not fit into a pitch of 3; `padded![T; ..]` chooses one
/// let _ = Padded::<u8, 4, 3>::filled(0)[0];
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Padded<T, const LENGTH: usize, const PITCH: usize>([T; PITCH]);

/// The distance of rows of `length` elements, in elements, in an array of [`padded!`](macro@crate::padded).
///
/// The least pitch for which every row starts on a cache line, and rows are an odd number of lines apart. (Elements may
/// have an even number of lines: then the nearest to odd.) So successive rows map to all sets in turn. No row is
/// padded by more than an eighth: such rows are short, under 1 KiB if the element size is a power of two, and map to
/// 16 sets or more.
///
/// ```
/// # use shmem_core as shmem;
/// use shmem::padded::pitch;
///
/// assert_eq!(pitch::<f64>(1024), 1032);       // 8 KiB and a line
/// assert_eq!(pitch::<f64>(1000), 1000);       // 125 lines
/// assert_eq!(pitch::<f64>(16), 16);
/// ```
pub const fn pitch<T>(length: usize) -> usize {
    let size = size_of::<T>();
    if size == 0 {
        return length;
    }
    // The least number of elements that fills whole lines.
    let step = LINE / (1 << min(size.trailing_zeros(), LINE.trailing_zeros()));
    let steps = length.div_ceil(step);
    match step.checked_mul(steps + 1 - steps % 2) {
        Some(aligned) if aligned - length <= length / 8 => aligned,
        _ => length,
    }
}

const fn min(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

impl<T, const LENGTH: usize, const PITCH: usize> Padded<T, LENGTH, PITCH> {
    /// Evaluated where code relies on `LENGTH <= PITCH`.
    pub(crate) const FITS: () = {
        if LENGTH > PITCH {
            refuse!("a row of " [LENGTH] " elements does not fit into a pitch of " [PITCH] "; `padded![T; ..]` chooses one");
        }
    };

    /// A row of these elements.
    pub const fn new(elements: [T; LENGTH]) -> Self
    where
        T: PlainData,
    {
        // SAFETY: `T` is plain data, so zero bytes are a value of `T`, and of an array of `T`.
        let mut row: Self = unsafe { core::mem::zeroed() };
        *row.elements_mut() = elements;
        row
    }

    /// A row whose elements are all `value`.
    pub const fn filled(value: T) -> Self
    where
        T: PlainData,
    {
        Self([value; PITCH])
    }

    const fn elements(&self) -> &[T; LENGTH] {
        const { Self::FITS }
        match self.0.first_chunk() {
            Some(elements) => elements,
            None => unreachable!(),
        }
    }

    const fn elements_mut(&mut self) -> &mut [T; LENGTH] {
        const { Self::FITS }
        match self.0.first_chunk_mut() {
            Some(elements) => elements,
            None => unreachable!(),
        }
    }
}

// SAFETY: it is an array of `T`, which is symmetric data.
unsafe impl<T: SymmetricData, const LENGTH: usize, const PITCH: usize> SymmetricData
    for Padded<T, LENGTH, PITCH>
{
}

// SAFETY: `LENGTH` consecutive values of `T`, each with its elements, fit into the row (`FITS`).
unsafe impl<T: Shaped, const LENGTH: usize, const PITCH: usize> Shaped for Padded<T, LENGTH, PITCH> {
    type Element = T::Element;
    type Names = T::Names;
    const SHAPE: Shape = {
        let () = Self::FITS;
        Shape::slice_of::<T>(LENGTH)
    };
    const FIELDS: &'static [Field] = T::FIELDS;
}

// SAFETY: it is an array of `T`, which may be all zeroes.
unsafe impl<T: Zeroable, const LENGTH: usize, const PITCH: usize> Zeroable for Padded<T, LENGTH, PITCH> {}

// SAFETY: it is an array of `T`, which is plain data.
unsafe impl<T: Pod, const LENGTH: usize, const PITCH: usize> Pod for Padded<T, LENGTH, PITCH> {}

impl<T, const LENGTH: usize, const PITCH: usize> Deref for Padded<T, LENGTH, PITCH> {
    type Target = [T; LENGTH];

    #[inline(always)]
    fn deref(&self) -> &[T; LENGTH] {
        self.elements()
    }
}

impl<T, const LENGTH: usize, const PITCH: usize> DerefMut for Padded<T, LENGTH, PITCH> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; LENGTH] {
        self.elements_mut()
    }
}

impl<'a, T, const LENGTH: usize, const PITCH: usize> IntoIterator for &'a Padded<T, LENGTH, PITCH> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const LENGTH: usize, const PITCH: usize> IntoIterator for &'a mut Padded<T, LENGTH, PITCH> {
    type Item = &'a mut T;
    type IntoIter = core::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: PartialEq, const LENGTH: usize, const PITCH: usize> PartialEq for Padded<T, LENGTH, PITCH> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const LENGTH: usize, const PITCH: usize> Eq for Padded<T, LENGTH, PITCH> {}

impl<T: fmt::Debug, const LENGTH: usize, const PITCH: usize> fmt::Debug for Padded<T, LENGTH, PITCH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests;
