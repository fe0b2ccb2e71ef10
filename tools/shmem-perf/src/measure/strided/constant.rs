//! Transfers by `strided!` with constant regions: two-dimensional selections, and a short column.

use shmem_core::strided::Level;

use super::sides::{lines, loop_of_puts};
use super::*;

/// Rows of a matrix. A row has an odd number of cache lines, so that a column uses all cache sets.
const ROWS: usize = 32;
const COLUMNS: usize = 1032;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    kind: u32,
    flags: u32,
    energy: f64,
}

#[symmetric]
static MATRIX: [[f64; COLUMNS]; ROWS];

#[symmetric]
static CELLS: [[Cell; 129]; ROWS];

/// (name of a case, transfer with constant regions, the same blocks as a pattern for the baseline).
type Case = (&'static str, fn(&World, Pe), Pattern);

fn cases() -> [Case; 5] {
    // Rows at a stride, each with blocks at a stride.
    let of = |block, (rows, row), (count, stride)| {
        let level = |count, stride| Level { count, to: stride, from: stride };
        Pattern::of_levels(block, &[level(rows, row), level(count, stride)])
    };
    const ROW: usize = 8 * COLUMNS;
    [
        (
            "element",
            |world, pe| strided!(world, MATRIX@pe[..; 2, ..; 4] = MATRIX[..; 2, ..; 4]),
            of(8, (ROWS / 2, 2 * ROW), (COLUMNS / 4, 32)),
        ),
        (
            "group-of-one-type",
            |world, pe| strided!(world, MATRIX@pe[.., ..; 8; 4] = MATRIX[.., ..; 8; 4]),
            of(32, (ROWS, ROW), (COLUMNS / 8, 64)),
        ),
        (
            "checkerboard",
            |world, pe| strided!(world, MATRIX@pe[..; 2, ..; 2] = MATRIX[..; 2, ..; 2]),
            of(8, (ROWS / 2, 2 * ROW), (COLUMNS / 2, 16)),
        ),
        ("column", |world, pe| strided!(world, MATRIX@pe[.., 0] = MATRIX[.., 0]), of(8, (ROWS, ROW), (1, 0))),
        (
            "group-of-several-types",
            |world, pe| strided!(world, CELLS@pe[..; 2, ..].{mass, kind} = CELLS[..; 2, ..].{mass, kind}),
            of(12, (ROWS / 2, 2 * 129 * 24), (129, 24)),
        ),
    ]
}

const SHORT: usize = 4;

const TIMES: usize = 2000;

#[inline(never)]
fn short(world: &World, pe: Pe, source: &[f64; SHORT]) {
    strided!(world, MATRIX@pe[..SHORT, 5] = source[..]);
}

/// The column of [`short`] by hand: a loop of stores, after a branch on whether the PE is on this node.
#[inline(never)]
fn short_by_hand(world: &World, pe: Pe, source: &[f64; SHORT]) {
    if let Some(to) = MATRIX.on(pe).ptr(world) {
        for (i, value) in source.iter().enumerate() {
            // SAFETY: the element is in row `i` of the matrix, which is mapped on this node. PEs access it by raw pointers only.
            unsafe { to.cast::<f64>().wrapping_add(i * COLUMNS + 5).write(*value) };
        }
    } else {
        panic!("the PE is not on this node");
    }
}

pub(super) fn constant(world: &World, bench: &Bench<'_>) {
    let pe = other(world);
    let matrix: (*mut u8, *const u8, usize) = (
        near(MATRIX.on(pe).ptr(world)).cast(),
        MATRIX.here(world).as_ptr().cast_const().cast(),
        size_of::<[[f64; COLUMNS]; ROWS]>(),
    );
    let cells = (
        near(CELLS.on(pe).ptr(world)).cast(),
        CELLS.here(world).as_ptr().cast_const().cast(),
        size_of::<[[Cell; 129]; ROWS]>(),
    );
    for (name, transfer, pattern) in cases() {
        let (to, from, bytes) = if name == "group-of-several-types" { cells } else { matrix };
        let place = to.addr()..to.addr() + bytes;
        assert!(hull(&pattern) <= bytes, "{name} does not fit its matrix");
        beside_puts(bench, format!("strided matrix/{name}/put"), || {
            [
                timed(4, || transfer(black_box(world), black_box(pe))),
                // SAFETY: on both sides, the pattern begins at the start of the matrix, and fits the matrix.
                timed(4, || unsafe { lines(&pattern, to, from) }),
                // SAFETY: on both sides, the pattern begins at the start of the matrix, and fits the matrix.
                timed(4, || unsafe { loop_of_puts(&pattern, &place, to, from, Direction::Put) }),
            ]
        });
    }
    let (world, pe, source) = black_box((world, pe, &[1.0; SHORT]));
    let ours = || each(TIMES, || short(world, pe, source));
    bench.pairs("strided constant/8x4", ours, || each(TIMES, || short_by_hand(world, pe, source)));
}
