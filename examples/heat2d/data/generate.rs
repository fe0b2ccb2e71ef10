//! Makes `sample.npy`, the field that `heat2d` starts from when it is given none:
//!
//! ```text
//! cargo run -p shmem-examples --bin heat2d-sample > examples/heat2d/data/sample.npy
//! ```
//!
//! A plate of 256 x 256 cells, heated from below, with a hot ring, two hot letters, and four discs.
//! Only whole numbers are used, so that every machine makes the same file.

use std::io::{self, Write};

const SIZE: usize = 256;

const COLD: u8 = 0;
const MILD: u8 = 60;
const HOT: u8 = 255;

const LETTERS: [&str; 7] =
    ["####..#####", "#...#.#....", "#...#.#....", "####..####.", "#.....#....", "#.....#....", "#.....#####"];

/// Cells along an edge of a letter's dot.
const DOT: usize = 13;

fn main() -> io::Result<()> {
    // The header of version 1, padded to 128 bytes as NumPy does.
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({SIZE}, {SIZE}), }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:117}\n").bytes());
    file.extend((0..SIZE * SIZE).map(|at| temperature(at / SIZE, at % SIZE)));
    io::stdout().write_all(&file)
}

fn temperature(row: usize, column: usize) -> u8 {
    let corner = |at: usize| if at < SIZE / 2 { 30 } else { SIZE - 30 };
    let ring = distance(row, column, SIZE / 2, SIZE / 2);
    if row == SIZE - 1 || is_letter(row, column) || (100..114).contains(&ring) {
        HOT
    } else if distance(row, column, corner(row), corner(column)) < 18 {
        if (row < SIZE / 2) == (column < SIZE / 2) { HOT } else { COLD }
    } else if row == 0 || column == 0 || column == SIZE - 1 {
        COLD
    } else {
        MILD
    }
}

fn is_letter(row: usize, column: usize) -> bool {
    let [top, left] = [LETTERS.len(), LETTERS[0].len()].map(|dots| (SIZE - dots * DOT) / 2);
    let line = row.checked_sub(top).and_then(|at| LETTERS.get(at / DOT));
    let dot = line.and_then(|line| line.as_bytes().get(column.checked_sub(left)? / DOT));
    dot == Some(&b'#')
}

/// The distance of two cells, rounded down.
fn distance(row: usize, column: usize, to_row: usize, to_column: usize) -> usize {
    (row.abs_diff(to_row).pow(2) + column.abs_diff(to_column).pow(2)).isqrt()
}
