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
    let mut file = io::stdout().lock();
    file.write_all(&header())?;
    let cells: Vec<u8> = (0..SIZE * SIZE).map(|at| temperature(at / SIZE, at % SIZE)).collect();
    file.write_all(&cells)
}

/// The header of version 1, padded to 128 bytes as NumPy does.
fn header() -> Vec<u8> {
    let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({SIZE}, {SIZE}), }}");
    let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    header.extend(format!("{text:117}\n").bytes());
    header
}

fn temperature(row: usize, column: usize) -> u8 {
    if row == SIZE - 1 {
        return HOT;
    }
    if is_letter(row, column) || (100..114).contains(&distance(row, column, SIZE / 2, SIZE / 2)) {
        return HOT;
    }
    let corner = |at: usize| if at < SIZE / 2 { 30 } else { SIZE - 30 };
    if distance(row, column, corner(row), corner(column)) < 18 {
        return if (row < SIZE / 2) == (column < SIZE / 2) { HOT } else { COLD };
    }
    if row == 0 || column == 0 || column == SIZE - 1 { COLD } else { MILD }
}

fn is_letter(row: usize, column: usize) -> bool {
    let (height, width) = (LETTERS.len() * DOT, LETTERS[0].len() * DOT);
    let (top, left) = ((SIZE - height) / 2, (SIZE - width) / 2);
    if !(top..top + height).contains(&row) || !(left..left + width).contains(&column) {
        return false;
    }
    LETTERS[(row - top) / DOT].as_bytes()[(column - left) / DOT] == b'#'
}

/// The distance of two cells, rounded down.
fn distance(row: usize, column: usize, to_row: usize, to_column: usize) -> usize {
    (row.abs_diff(to_row).pow(2) + column.abs_diff(to_column).pow(2)).isqrt()
}
