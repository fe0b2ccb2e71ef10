//! A PE's part of the box, and what is computed.
//!
//! A new value depends on old ones only: neither the order of the cells nor who computes them changes a bit.

use std::ops::Range;

/// Cells along each edge of a cube.
pub(crate) const N: usize = 32;

/// A plane of a cube, in a frame: the cells of the neighbours, or a wall of 0 degrees.
pub(crate) type Plane = [[f64; N + 2]; N + 2];

/// The cells `1..=N` along each axis are the PE's own.
pub(crate) type Cube = [Plane; N + 2];

/// What is said of the cells at the end: sums over all of them.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) heat: f64,
    /// Of the bits of every cell times a number that no other cell of the box has.
    pub(crate) checksum: u64,
}

/// Sets the cells of the cube in this place to what they are at the beginning. The frame is to be zero.
pub(crate) fn fill(cube: &mut [Plane], place: [usize; 3]) {
    for (index, cell) in own(cube) {
        let [i, j, k] = in_the_box(place, index);
        *cell = ((i * 31 + j * 17 + k * 7) % 101) as f64;
    }
}

/// Makes each new cell of a region the mean of the six old ones around it.
pub(crate) fn relax(old: &[Plane], new: &mut [Plane], [i, j, k]: [Range<usize>; 3]) {
    for i in i {
        for j in j.clone() {
            let (here, new) = (&old[i][j], &mut new[i][j]);
            let (above, below, left, right) =
                (&old[i - 1][j], &old[i + 1][j], &old[i][j - 1], &old[i][j + 1]);
            for k in k.clone() {
                new[k] = (above[k] + below[k] + left[k] + right[k] + here[k - 1] + here[k + 1]) / 6.0;
            }
        }
    }
}

/// The sums of the cube in this place.
pub(crate) fn sums(cube: &mut [Plane], place: [usize; 3]) -> Sums {
    own(cube).fold(Sums::default(), |sums, (index, cell)| {
        let [i, j, k] = in_the_box(place, index);
        let number = ((i << 40) + (j << 20) + k + 1) as u64;
        let checksum = sums.checksum.wrapping_add(cell.to_bits().wrapping_mul(number));
        Sums { heat: sums.heat + *cell, checksum }
    })
}

/// The cells without the frame.
fn own(cube: &mut [Plane]) -> impl Iterator<Item = ([usize; 3], &mut f64)> {
    cube.iter_mut().enumerate().skip(1).take(N).flat_map(|(i, plane)| {
        let rows = plane.iter_mut().enumerate().skip(1).take(N);
        rows.flat_map(move |(j, row)| {
            row.iter_mut().enumerate().skip(1).take(N).map(move |(k, cell)| ([i, j, k], cell))
        })
    })
}

/// Where in the box a cell of the cube in this place is, counted from the wall.
fn in_the_box(place: [usize; 3], index: [usize; 3]) -> [usize; 3] {
    [0, 1, 2].map(|axis| place[axis] * N + index[axis])
}
