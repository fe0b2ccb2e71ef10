//! The pitch against a search through all pitches, and a padded array against a plain one.

use proptest::prelude::*;

use super::{LINE, Padded, pitch};
use crate::strided::{Axis, Part, Shaped, lower};

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

macro_rules! of_sizes {
    ($check:ident, $length:expr, $($size:literal)*) => { $($check::<[u8; $size]>($length)?;)* };
}

fn equals_what_is_found<T>(length: usize) -> Result<(), TestCaseError> {
    prop_assert_eq!(pitch::<T>(length), found::<T>(length), "elements of {} bytes", size_of::<T>());
    Ok(())
}

fn spreads_rows_over_sets<T>(length: usize) -> Result<(), TestCaseError> {
    let (size, pitch) = (size_of::<T>(), pitch::<T>(length));
    prop_assert!(pitch >= length && pitch - length <= length / 8);
    let sets = sets(pitch * size);
    prop_assert!(sets >= 16, "rows of {length} x {size} bytes fall into {sets} sets");
    Ok(())
}

fn lengths() -> impl Strategy<Value = usize> {
    let beside = (4_u32..14, 0..3_usize).prop_map(|(exponent, more)| (1 << exponent) - 1 + more);
    prop_oneof![1_usize..3000, beside]
}

proptest! {
    #[test]
    fn the_pitch_is_the_least_that_spreads_rows_over_sets(length in lengths()) {
        of_sizes!(equals_what_is_found, length, 1 2 3 4 6 8 12 16 20 24 32 40 48 56 64 72 96 128 192 256 4160);
        of_sizes!(spreads_rows_over_sets, length, 1 2 3 4 6 8 12 16 20 24 32 40 48 56 64 72 96 192 4160);
    }

    #[test]
    fn a_padded_array_is_a_plain_one_with_gaps(writes in prop::collection::vec((0..5_usize, 0..6_usize, any::<u32>()), 0..40)) {
        let mut plain = [[0_u32; 6]; 5];
        let mut padded = [Padded::<u32, 6, 9>::filled(0); 5];
        for (row, column, value) in writes {
            plain[row][column] = value;
            padded[row][column] = value;
        }
        for (row, (plain, padded)) in plain.iter().zip(&padded).enumerate() {
            prop_assert_eq!(&**padded, plain);
            prop_assert!(padded.into_iter().eq(plain));
            prop_assert_eq!(*padded, Padded::new(*plain));
            prop_assert_eq!(format!("{padded:?}"), format!("{plain:?}"));
            // The same by address: 9 elements from row to row.
            let flat: &[u32] = bytemuck::cast_slice(core::slice::from_ref(padded));
            prop_assert_eq!((flat.len(), &flat[..6], &flat[6..]), (9, &plain[..], &[0; 3][..]), "row {}", row);
        }
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
    type Row = crate::padded![f64; 1024];
    type Plane = crate::padded![f64; 3; 1024];
    type Cube = crate::padded![f64; 4; 128; 256];
    type Hyper = crate::padded![f32; 2; 3; 5; 7];
    assert_eq!(size_of::<Row>(), 129 * 64);
    assert_eq!(size_of::<Plane>(), 3 * 129 * 64);
    // Rows of 33 lines, planes of 129 rows.
    assert_eq!(size_of::<Cube>(), 4 * 129 * 33 * 64);
    assert_eq!(size_of::<Hyper>(), 2 * 3 * 5 * 7 * 4);
    let mut small: Hyper = bytemuck::Zeroable::zeroed();
    small[1][2][4][6] = 1.0;
    assert_eq!((small.len(), small[0].len(), small[0][0].len(), small[0][0][0].len()), (2, 3, 5, 7));
    assert_eq!(small.iter().flatten().flatten().flatten().sum::<f32>(), 1.0);
}

#[test]
fn regions_end_where_the_elements_do() {
    type Cube = crate::padded![u64; 2; 32; 256];
    let dims: Vec<_> = Cube::SHAPE.dims().iter().map(|dim| (dim.len, dim.stride)).collect();
    // 33 lines a row, 33 rows a plane.
    assert_eq!(dims, [(2, 33 * 33 * 64), (32, 33 * 64), (256, 8)]);
    let row = |to: usize| {
        let axes = [Axis::index(1), Axis::index(31), Axis::range(0, to)];
        lower("CUBE", &Cube::SHAPE, 64, &axes, Part::whole(8)).hull()
    };
    assert_eq!(row(256), 256 * 8);
    let refusal = *std::panic::catch_unwind(|| row(257)).unwrap_err().downcast::<String>().unwrap();
    assert_eq!(refusal, "`CUBE` has 256 elements in dimension 2, but the region ends at 257");
}

#[test]
fn what_lies_behind_a_row_does_not_count() {
    let mut rows = [Padded::<u8, 3, 4>::new([1, 2, 3]), Padded::new([1, 2, 3])];
    bytemuck::bytes_of_mut(&mut rows[1])[3] = 9;
    assert_eq!(rows[0], rows[1]);
    assert_eq!(format!("{:?}", rows[1]), "[1, 2, 3]");
    assert!(std::panic::catch_unwind(|| rows[1][std::hint::black_box(3)]).is_err());
}
