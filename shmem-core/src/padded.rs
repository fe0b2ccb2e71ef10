//! Arrays whose rows are a chosen pitch apart.
//!
//! The cells of a column of `[[f64; 1024]; 1024]` are 8 KiB apart, and all map to one set of a cache, which holds a
//! dozen lines. Transfers and loops along such a column take three to ten times as long as in an array whose rows are
//! one line longer. [`padded!`](macro@crate::padded) names the type of such an array, and [`pitch`] chooses the length of its rows.

const LINE: usize = 64;

/// The type of an array whose rows map to different sets of a cache: `padded![f64; ROWS; COLUMNS]` is `[[f64; PITCH]; ROWS]`, where
/// `PITCH` is the [`pitch`] of `COLUMNS`.
///
/// Lengths are in the order of the indices, outermost first. Each length but the first is replaced by its pitch, and so is a single
/// length:
///
/// | | |
/// |---|---|
/// | `padded![T; COLUMNS]` | one row, for arrays and slices of rows: `SymBox<[padded![f64; 1024]]>` |
/// | `padded![T; ROWS; COLUMNS]` | an array of rows |
/// | `padded![T; PLANES; ROWS; COLUMNS]` | an array of planes, whose rows are padded; each plane is padded as well |
///
/// A range leaves the padding of a row out: `field[row][..COLUMNS]`. The lengths must be constants, not parameters of a generic
/// item.
///
/// ```
/// # use shmem_core as shmem;
/// use shmem::padded;
///
/// const COLUMNS: usize = 1024;
/// type Field = padded![f64; 8; COLUMNS];
///
/// let mut field: Field = [[0.0; padded::pitch::<f64>(COLUMNS)]; 8];
/// field[3][..COLUMNS].fill(1.0);
/// assert_eq!(field[3].iter().sum::<f64>(), 1024.0);
/// // 129 lines from row to row, where a plain array has 128.
/// assert_eq!(size_of::<Field>(), 8 * 129 * 64);
/// ```
#[macro_export]
macro_rules! padded {
    ($element:ty; $length:expr) => { [$element; $crate::padded::pitch::<$element>($length)] };
    ($element:ty; $length:expr; $($inner:expr);+) => { [$crate::padded!(@inner $element; $($inner);+); $length] };
    (@inner $element:ty; $length:expr) => { $crate::padded!($element; $length) };
    (@inner $element:ty; $length:expr; $($inner:expr);+) => {
        $crate::padded!($crate::padded!(@inner $element; $($inner);+); $length)
    };
}

/// The distance of rows of `length` elements, in elements, in an array of [`padded!`](macro@crate::padded).
///
/// This is the least pitch for which every row starts on a cache line, and rows are an odd number of lines apart, so that
/// successive rows map to all sets in turn. (If elements have an even number of lines, the distance has as few factors of two as
/// possible.) A row is padded by an eighth at most. A row that would need more padding gets none (pitch `length`). Such rows are
/// short, under 1 KiB if the element size is a power of two. Rows of elements of at most 64 bytes, padded or not, map to 16 of 64
/// sets or more.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LINE, pitch};

    /// Number of sets that the first lines of many rows map to, in a cache with 64 sets.
    fn sets(pitch_in_bytes: usize) -> u32 {
        (0..4096).fold(0_u64, |seen, row| seen | 1 << (row * pitch_in_bytes / LINE % 64)).count_ones()
    }

    fn found<T>(length: usize) -> usize {
        let size = size_of::<T>();
        let is_aligned = |pitch: &usize| (pitch * size).is_multiple_of(LINE);
        let lines = |pitch: &usize| pitch * size / LINE;
        let near = (length..=length + length / 8).filter(is_aligned);
        let odd = near.into_iter().find(|pitch| {
            let best = (length.max(1)..).take(4 * LINE).filter(is_aligned);
            let best = best.map(|pitch| lines(&pitch).trailing_zeros()).min().unwrap();
            lines(pitch).trailing_zeros() == best
        });
        odd.unwrap_or(length)
    }

    fn is_least_and_spreads_rows<T>(length: usize) -> Result<(), TestCaseError> {
        let (size, pitch) = (size_of::<T>(), pitch::<T>(length));
        prop_assert_eq!(pitch, found::<T>(length), "elements of {} bytes", size);
        // Elements of many whole lines have few sets, whatever the pitch.
        prop_assert!(sets(pitch * size) >= 16 || [128, 256].contains(&size), "{length} x {size} bytes");
        Ok(())
    }

    proptest! {
        #[test]
        fn the_pitch_is_the_least_that_spreads_rows_over_sets(
            length in prop_oneof![1_usize..3000, (4_u32..14, 0..3_usize).prop_map(|(power, more)| (1 << power) - 1 + more)],
        ) {
            macro_rules! of_sizes {
                ($($size:literal)*) => { $(is_least_and_spreads_rows::<[u8; $size]>(length)?;)* };
            }
            of_sizes!(1 2 3 4 6 8 12 16 20 24 32 40 48 56 64 72 96 128 192 256 4160);
        }
    }

    #[test]
    fn a_row_as_long_as_there_are_numbers_stays_so() {
        assert_eq!(pitch::<u64>(usize::MAX), usize::MAX);
        assert_eq!(pitch::<u8>(usize::MAX), usize::MAX);
        assert_eq!(pitch::<[u8; 64]>(usize::MAX - 1), usize::MAX, "an odd number of lines");
    }

    #[test]
    fn the_macro_pads_all_dimensions_but_the_outermost() {
        assert_eq!(size_of::<padded![f64; 1024]>(), 129 * 64);
        assert_eq!(size_of::<padded![f64; 3; 1024]>(), 3 * 129 * 64);
        // Rows of 33 lines, planes of 129 rows.
        assert_eq!(size_of::<padded![f64; 4; 128; 256]>(), 4 * 129 * 33 * 64);
        assert_eq!(size_of::<padded![f32; 2; 3; 5; 7]>(), 2 * 3 * 5 * 7 * 4);
    }
}
