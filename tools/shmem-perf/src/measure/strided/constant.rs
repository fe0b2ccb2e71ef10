//! Constant transfers by `strided!`: orientations in two dimensions, and what is left of a short one.

use shmem::strided::{Axis, Part, Pattern, Shape, Shaped, lower};

use super::sides::{lines, loop_of_puts};
use super::*;

/// Rows and columns of the matrices; a row is an odd number of cache lines.
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

const MASS_AND_KIND: Part = Part { offset: 0, bytes: 12 };

/// One constant transfer, and the same as a pattern, for what it is compared with.
type Case = (&'static str, fn(&World, Pe), Pattern);

fn pattern<T: Shaped>(rows: Axis, columns: Axis, part: Part) -> Pattern {
    let shape: Shape = T::SHAPE;
    let side = lower("MATRIX", &shape, 64, &[rows, columns], part);
    Pattern::join(&side, &side)
}

fn of_matrix() -> [Case; 4] {
    let of = |rows, columns| pattern::<[[f64; COLUMNS]; ROWS]>(rows, columns, Part::whole(8));
    let all = Axis::all;
    [
        (
            "element",
            |world, pe| strided!(world, MATRIX@pe[..; 2, ..; 4] = MATRIX[..; 2, ..; 4]),
            of(all().step(2), all().step(4)),
        ),
        (
            "group-of-one-type",
            |world, pe| strided!(world, MATRIX@pe[.., ..; 8; 4] = MATRIX[.., ..; 8; 4]),
            of(all(), all().step(8).block(4)),
        ),
        (
            "checkerboard",
            |world, pe| strided!(world, MATRIX@pe[..; 2, ..; 2] = MATRIX[..; 2, ..; 2]),
            of(all().step(2), all().step(2)),
        ),
        ("column", |world, pe| strided!(world, MATRIX@pe[.., 0] = MATRIX[.., 0]), of(all(), Axis::index(0))),
    ]
}

fn of_cells() -> Case {
    (
        "group-of-several-types",
        |world, pe| strided!(world, CELLS@pe[..; 2, ..].{mass, kind} = CELLS[..; 2, ..].{mass, kind}),
        pattern::<[[Cell; 129]; ROWS]>(Axis::all().step(2), Axis::all(), MASS_AND_KIND),
    )
}

const SHORT: usize = 4;

const TIMES: usize = 2000;

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

pub(super) fn constant(world: &World, bench: &Bench<'_>) {
    let pe = other(world);
    let of = |(name, transfer, pattern): Case, (to, from): (*mut u8, *const u8), bytes: usize| {
        let place = to as usize..to as usize + bytes;
        let hulls = pattern.hulls();
        assert!(hulls.0.max(hulls.1) <= bytes, "{name} does not fit its matrix");
        beside_puts(bench, format!("strided matrix/{name}/put"), || {
            [
                timed(4, || transfer(black_box(world), black_box(pe))),
                // SAFETY: the pattern starts at the matrix's start and fits, on both sides.
                timed(4, || unsafe { lines(&pattern, to, from) }),
                // SAFETY: the pattern starts at the matrix's start and fits, on both sides.
                timed(4, || unsafe { loop_of_puts(&pattern, &place, to, from, Direction::Put) }),
            ]
        });
    };
    let matrix = (near(MATRIX.on(pe).ptr(world)).cast(), MATRIX.here(world).as_ptr().cast_const().cast());
    of_matrix().into_iter().for_each(|case| of(case, matrix, size_of::<[[f64; COLUMNS]; ROWS]>()));
    let cells = (near(CELLS.on(pe).ptr(world)).cast(), CELLS.here(world).as_ptr().cast_const().cast());
    of(of_cells(), cells, size_of::<[[Cell; 129]; ROWS]>());
    let source = [1.0; SHORT];
    let (world, pe, source) = (black_box(world), black_box(pe), black_box(&source));
    let ours = || each(TIMES, || short(world, pe, source));
    bench.pairs("strided constant/8x4", ours, || each(TIMES, || short_by_hand(world, pe, source)));
}
