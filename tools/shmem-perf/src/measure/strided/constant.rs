//! Constant transfers by `strided!`: orientations in two dimensions, and what is left of a short one.

use std::hint::black_box;

use shmem::prelude::*;
use shmem::strided::{Axis, Part, Pattern, Shape, Shaped, lower};

use super::{costs, of_costs};
use crate::baseline::near;
use crate::bench::Bench;
use crate::case::Record;
use crate::samples::{Samples, nanoseconds_each};
use crate::strided::baseline;

/// Rows and columns of the matrices; a row is an odd number of cache lines.
const ROWS: usize = 32;
const COLUMNS: usize = 1032;

/// An element of several types.
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

/// The first two fields of a cell.
const MASS_AND_KIND: Part = Part { offset: 0, bytes: 12 };

/// One constant transfer, and the same as a pattern, for what it is compared with.
struct Case {
    name: &'static str,
    transfer: fn(&World, Pe),
    pattern: Pattern,
    place: fn(&World, Pe) -> (*mut u8, *const u8, usize),
}

fn pattern<T: Shaped>(rows: Axis, columns: Axis, part: Part) -> Pattern {
    let shape: Shape = T::SHAPE;
    let side = lower("MATRIX", &shape, 64, &[rows, columns], part);
    Pattern::join(&side, &side)
}

fn matrix(world: &World, pe: Pe) -> (*mut u8, *const u8, usize) {
    let (there, here) = (near(MATRIX.on(pe).ptr(world)), MATRIX.here(world));
    (there.cast(), here.as_ptr().cast(), size_of::<[[f64; COLUMNS]; ROWS]>())
}

fn cells(world: &World, pe: Pe) -> (*mut u8, *const u8, usize) {
    let (there, here) = (near(CELLS.on(pe).ptr(world)), CELLS.here(world));
    (there.cast(), here.as_ptr().cast(), size_of::<[[Cell; 129]; ROWS]>())
}

fn cases() -> [Case; 5] {
    let whole = Part::whole(8);
    let matrix_of = pattern::<[[f64; COLUMNS]; ROWS]>;
    let cells_of = pattern::<[[Cell; 129]; ROWS]>;
    [
        Case {
            name: "matrix/element",
            transfer: |world, pe| strided!(world, MATRIX@pe[..; 2, ..; 4] = MATRIX[..; 2, ..; 4]),
            pattern: matrix_of(Axis::all().step(2), Axis::all().step(4), whole),
            place: matrix,
        },
        Case {
            name: "matrix/group-of-one-type",
            transfer: |world, pe| strided!(world, MATRIX@pe[.., ..; 8; 4] = MATRIX[.., ..; 8; 4]),
            pattern: matrix_of(Axis::all(), Axis::all().step(8).block(4), whole),
            place: matrix,
        },
        Case {
            name: "matrix/group-of-several-types",
            transfer: |world, pe| {
                strided!(world, CELLS@pe[..; 2, ..].{mass, kind} = CELLS[..; 2, ..].{mass, kind});
            },
            pattern: cells_of(Axis::all().step(2), Axis::all(), MASS_AND_KIND),
            place: cells,
        },
        Case {
            name: "matrix/checkerboard",
            transfer: |world, pe| strided!(world, MATRIX@pe[..; 2, ..; 2] = MATRIX[..; 2, ..; 2]),
            pattern: matrix_of(Axis::all().step(2), Axis::all().step(2), whole),
            place: matrix,
        },
        Case {
            name: "matrix/column",
            transfer: |world, pe| strided!(world, MATRIX@pe[.., 0] = MATRIX[.., 0]),
            pattern: matrix_of(Axis::all(), Axis::index(0), whole),
            place: matrix,
        },
    ]
}

/// Elements of the short transfer.
const SHORT: usize = 4;

/// Transfers in one sample of it.
const TIMES: usize = 2000;

/// A short column by `strided!`.
#[inline(never)]
fn short(world: &World, pe: Pe, source: &[f64; SHORT]) {
    strided!(world, MATRIX@pe[..SHORT, 5] = source[..]);
}

/// The same, written by hand: a loop of stores behind the branch to what is not on this node.
#[inline(never)]
fn short_by_hand(world: &World, pe: Pe, source: &[f64; SHORT]) {
    if let Some(to) = MATRIX.on(pe).ptr(world) {
        for (i, value) in source.iter().enumerate() {
            // SAFETY: row `i` of the matrix on this node, which PEs change by raw pointers only.
            unsafe { to.cast::<f64>().wrapping_add(i * COLUMNS + 5).write(*value) };
        }
    } else {
        panic!("the PE is not on this node");
    }
}

/// Constant transfers of [`MATRIX`] and [`CELLS`].
pub(super) fn constant(bench: &Bench<'_>) -> Vec<Record> {
    let (world, pe) = (bench.world, bench.other());
    let compared = "constant regions by strided!, against a load and a store for each of their lines; vs_a1: how many times faster than a loop of puts";
    let of = |Case { name, transfer, pattern, place }| {
        let (to, from, bytes) = place(world, pe);
        let place = to as usize..to as usize + bytes;
        let hulls = pattern.hulls();
        assert!(hulls.0.max(hulls.1) <= bytes, "{name} does not fit its matrix");
        let costs = costs(
            bench.repetitions,
            4,
            || transfer(black_box(world), black_box(pe)),
            // SAFETY: the pattern starts at the matrix's start and fits, on both sides.
            || unsafe { baseline::lines_of_rows(&pattern, to, from) },
            // SAFETY: the pattern starts at the matrix's start and fits, on both sides.
            || unsafe { baseline::loops_of_puts(&pattern, &place, to, from) },
        );
        of_costs(bench, &format!("strided {name}/put"), compared, costs)
    };
    let mut records: Vec<Record> = cases().into_iter().map(of).collect();
    let source = [1.0; SHORT];
    let (world, pe, source) = (black_box(world), black_box(pe), black_box(&source));
    let samples = Samples::alternate(
        bench.repetitions,
        || nanoseconds_each(TIMES, || (0..TIMES).for_each(|_| short(world, pe, source))),
        || nanoseconds_each(TIMES, || (0..TIMES).for_each(|_| short_by_hand(world, pe, source))),
    );
    let compared = "a constant column of 4 by strided!, against a loop of stores behind the same branch";
    records.push(bench.record("strided constant/8x4", compared, samples));
    records
}
