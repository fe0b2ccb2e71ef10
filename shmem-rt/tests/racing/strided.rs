//! `strided!` between PEs, against loops over elements: each orientation with random regions, and the
//! places that the grammar allows.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use shmem::PlainData;
use shmem::prelude::*;

const LEN: usize = 240;
const ROWS: usize = 20;
const COLUMNS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Velocity {
    x: f32,
    y: f32,
}

/// A structure with fields of several sizes and alignments.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: Velocity,
    spin: [u16; 3],
    kind: u8,
    level: u8,
}

const MASS: Field = Field { offset: 0, bytes: 8 };
const VELOCITY_Y: Field = Field { offset: 12, bytes: 4 };
const MASS_AND_VELOCITY: Field = Field { offset: 0, bytes: 16 };
const SPIN: Field = Field { offset: 16, bytes: 6 };
const SPIN_TO_LEVEL: Field = Field { offset: 16, bytes: 8 };

#[symmetric]
static BYTES: [u8; LEN];
#[symmetric]
static ROW: [f64; LEN];
#[symmetric]
static WIDE: [u128; LEN];
#[symmetric]
static FIELD: [[f32; COLUMNS]; ROWS];
#[symmetric]
static MATRIX: [[f64; COLUMNS]; ROWS];
#[symmetric]
static CELLS: [Cell; LEN];
#[symmetric]
static GRID: [[Cell; COLUMNS]; ROWS];
#[symmetric]
static CUBE: [[[u16; 8]; 6]; 5];

/// The part of each element that is moved, in bytes.
#[derive(Clone, Copy, Debug)]
struct Field {
    offset: usize,
    bytes: usize,
}

const fn whole<E>() -> Field {
    Field { offset: 0, bytes: size_of::<E>() }
}

/// What is taken of a dimension: `first..end; step; block`.
#[derive(Clone, Copy, Debug)]
struct Taken {
    first: usize,
    end: usize,
    step: usize,
    block: usize,
}

impl Taken {
    fn elements(self) -> Vec<usize> {
        (self.first..self.end).step_by(self.step).flat_map(|i| i..i + self.block).collect()
    }
}

prop_compose! {
    /// `count` blocks of `block` in a dimension of `len`, as far as they fit: both sides of a transfer take
    /// as many.
    fn taken(len: usize, count: usize, block: usize)
        (step in block..block + 4, first in 0..=len - reach(count, block + 3, block), rest in 0..4_usize)
        -> Taken
    {
        let end = first + reach(count, step, block);
        // Elements behind the last one, which its stride leaves out.
        let rest = if block == 1 { rest.min(step - 1).min(len - end) } else { 0 };
        Taken { first, end: end + rest * usize::from(count > 0), step, block }
    }
}

/// Elements from the first of `count` blocks to behind the last.
fn reach(count: usize, step: usize, block: usize) -> usize {
    if count == 0 { 0 } else { (count - 1) * step + block }
}

/// The same number of elements of a dimension of `there` and of one of `here`, in blocks of up to `block`.
fn pair(there: usize, here: usize, block: usize) -> impl Strategy<Value = (Taken, Taken)> {
    let shorter = there.min(here);
    let count = move |block: usize| (0..=(shorter - block) / (block + 3) + 1, Just(block));
    (1..=block)
        .prop_flat_map(count)
        .prop_flat_map(move |(count, block)| (taken(there, count, block), taken(here, count, block)))
}

/// Bytes of a region, in order. `dims` are lengths, outermost first.
fn bytes(dims: &[usize], axes: &[Taken], size: usize, field: Field) -> Vec<usize> {
    let mut found = vec![0];
    for (len, axis) in dims.iter().zip(axes) {
        let elements = axis.elements();
        found = found.iter().flat_map(|at| elements.iter().map(move |i| at * len + i)).collect();
    }
    found
        .into_iter()
        .flat_map(|at| at * size + field.offset..at * size + field.offset + field.bytes)
        .collect()
}

/// Byte `i` of what a PE starts with, in the symmetric object and in memory of its own.
fn initial(pe: usize, i: usize) -> u8 {
    ((i * 7 + pe * 101) % 251) as u8
}

/// One side of a case, for the loop that it is compared with: the bytes, in order.
struct Sides {
    there: Vec<usize>,
    here: Vec<usize>,
}

/// Puts and gets between both PEs at once, on random cases, each against a loop over bytes.
fn compare<A: PlainData, B: Pod, C: std::fmt::Debug + Copy>(
    world: &mut World,
    object: &'static Symmetric<A>,
    cases: impl Strategy<Value = C>,
    sides: impl Fn(C) -> Sides,
    put: impl Fn(&World, Pe, C, &B),
    get: impl Fn(&World, Pe, C, &mut B),
) {
    let (_, other) = world.ring_neighbours();
    let me = world.my_pe();
    let symmetric = |pe: usize| (0..size_of::<A>()).map(|i| initial(pe, i)).collect::<Vec<u8>>();
    let private = |pe: usize| (0..size_of::<B>()).map(|i| initial(pe + 50, i)).collect::<Vec<u8>>();
    // The same cases on every PE: the barriers inside are collective.
    let default = Config::default();
    let config = Config { cases: default.cases.min(100), failure_persistence: None, ..default };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let done = runner.run(&(cases, any::<bool>()), |(case, is_put)| {
        let Sides { there, here } = sides(case);
        prop_assert_eq!(there.len(), here.len());
        let mut before = vec![A::zeroed()];
        cast_slice_mut(&mut before).copy_from_slice(&symmetric(me));
        world.put(object.on(world.me()), &before[0]);
        let mut local = vec![B::zeroed()];
        cast_slice_mut(&mut local).copy_from_slice(&private(me));
        world.barrier_all();
        let (mut expected_there, mut expected_here) = (symmetric(me), private(me));
        if is_put {
            put(world, other, case, &local[0]);
            let source = private(other.number());
            there.iter().zip(&here).for_each(|(to, from)| expected_there[*to] = source[*from]);
        } else {
            get(world, other, case, &mut local[0]);
            let source = symmetric(other.number());
            there.iter().zip(&here).for_each(|(from, to)| expected_here[*to] = source[*from]);
        }
        world.barrier_all();
        let mut found = vec![A::zeroed()];
        world.get(&mut found[0], object.on(world.me()));
        prop_assert_eq!(cast_slice::<A, u8>(&found), &expected_there, "the symmetric side");
        prop_assert_eq!(cast_slice::<B, u8>(&local), &expected_here, "the local side");
        world.barrier_all();
        Ok(())
    });
    done.unwrap();
}

type Line = (Taken, Taken);
type Plane = (Line, Line);

fn line<E>(there: usize, here: usize, field: Field) -> impl Fn(Line) -> Sides {
    move |(to, from)| Sides {
        there: bytes(&[there], &[to], size_of::<E>(), field),
        here: bytes(&[here], &[from], size_of::<E>(), field),
    }
}

fn plane<E>(there: [usize; 2], here: [usize; 2], field: Field) -> impl Fn(Plane) -> Sides {
    move |(rows, columns)| Sides {
        there: bytes(&there, &[rows.0, columns.0], size_of::<E>(), field),
        here: bytes(&here, &[rows.1, columns.1], size_of::<E>(), field),
    }
}

/// Two axes of planes of `ROWS` x `COLUMNS` on both sides.
fn planes(block: usize) -> impl Strategy<Value = Plane> {
    (pair(ROWS, ROWS, 1), pair(COLUMNS, COLUMNS, block))
}

#[shmem::test(pes = 2)]
fn contiguous(world: &mut World) {
    let run = |count: usize| move |first: usize| Taken { first, end: first + count, step: 1, block: 1 };
    let cases = (0..=LEN).prop_flat_map(move |count| {
        let first = 0..=LEN - count;
        (first.clone().prop_map(run(count)), first.prop_map(run(count)))
    });
    compare::<_, [f64; LEN], _>(
        world,
        &ROW,
        cases,
        line::<f64>(LEN, LEN, whole::<f64>()),
        |world, pe, (to, from), local| {
            strided!(world, ROW@pe[dyn to.first..to.end] = local[dyn from.first..from.end]);
        },
        |world, pe, (from, to), local| {
            strided!(world, local[dyn to.first..to.end] = ROW@pe[dyn from.first..from.end]);
        },
    );
}

#[shmem::test(pes = 2)]
fn element_by_element(world: &mut World) {
    macro_rules! elements {
        ($object:ident: $element:ty) => {
            compare::<_, [$element; 100], _>(
                world,
                &$object,
                pair(LEN, 100, 1),
                line::<$element>(LEN, 100, whole::<$element>()),
                |world, pe, (to, from), local| {
                    strided!(world, $object@pe[dyn to.first..to.end; dyn to.step]
                        = local[dyn from.first..from.end; dyn from.step]);
                },
                |world, pe, (from, to), local| {
                    strided!(world, local[dyn to.first..to.end; dyn to.step]
                        = $object@pe[dyn from.first..from.end; dyn from.step]);
                },
            );
        };
    }
    elements!(BYTES: u8);
    elements!(ROW: f64);
    elements!(WIDE: u128);
}

#[shmem::test(pes = 2)]
fn block_by_block(world: &mut World) {
    in_blocks(world);
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "1"))]
fn block_by_block_by_algorithm_1(world: &mut World) {
    in_blocks(world);
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "2"))]
fn block_by_block_by_algorithm_2(world: &mut World) {
    in_blocks(world);
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "3"))]
fn block_by_block_by_algorithm_3(world: &mut World) {
    in_blocks(world);
}

fn in_blocks(world: &mut World) {
    macro_rules! blocks {
        ($object:ident: $element:ty) => {
            compare::<_, [$element; 100], _>(
                world,
                &$object,
                pair(LEN, 100, 7),
                line::<$element>(LEN, 100, whole::<$element>()),
                |world, pe, (to, from), local| {
                    strided!(world, $object@pe[dyn to.first..to.end; dyn to.step; dyn to.block]
                        = local[dyn from.first..from.end; dyn from.step; dyn from.block]);
                },
                |world, pe, (from, to), local| {
                    strided!(world, local[dyn to.first..to.end; dyn to.step; dyn to.block]
                        = $object@pe[dyn from.first..from.end; dyn from.step; dyn from.block]);
                },
            );
        };
    }
    blocks!(BYTES: u8);
    blocks!(ROW: f64);
    blocks!(WIDE: u128);
}

/// Blocks on one side, and as many elements in a row on the other.
#[shmem::test(pes = 2)]
fn blocks_packed_and_unpacked(world: &mut World) {
    let packed = |(to, _): Line| {
        let count = to.elements().len();
        (to, Taken { first: 0, end: count, step: 1, block: 1 })
    };
    compare::<_, [f64; LEN], _>(
        world,
        &ROW,
        pair(LEN, LEN, 7).prop_map(packed),
        line::<f64>(LEN, LEN, whole::<f64>()),
        |world, pe, (to, from), local| {
            strided!(world, ROW@pe[dyn to.first..to.end; dyn to.step; dyn to.block] = (local[..from.end])[..]);
        },
        |world, pe, (from, to), local| {
            strided!(world, local[dyn ..to.end] = ROW@pe[dyn from.first..from.end; dyn from.step; dyn from.block]);
        },
    );
}

#[shmem::test(pes = 2)]
fn structures(world: &mut World) {
    macro_rules! fields {
        ($field:expr, $($chosen:tt)*) => {
            compare::<_, [Cell; 100], _>(
                world,
                &CELLS,
                pair(LEN, 100, 3),
                line::<Cell>(LEN, 100, $field),
                |world, pe, (to, from), local| {
                    strided!(world, CELLS@pe[dyn to.first..to.end; dyn to.step; dyn to.block] $($chosen)*
                        = local[dyn from.first..from.end; dyn from.step; dyn from.block] $($chosen)*);
                },
                |world, pe, (from, to), local| {
                    strided!(world, local[dyn to.first..to.end; dyn to.step; dyn to.block] $($chosen)*
                        = CELLS@pe[dyn from.first..from.end; dyn from.step; dyn from.block] $($chosen)*);
                },
            );
        };
    }
    fields!(whole::<Cell>(),);
    fields!(MASS, .mass);
    fields!(VELOCITY_Y, .velocity.y);
    fields!(SPIN, .spin);
    fields!(MASS_AND_VELOCITY, .{mass, velocity});
    fields!(SPIN_TO_LEVEL, .{spin, kind, level});
}

/// A field on one side, an array of what it is on the other.
#[shmem::test(pes = 2)]
fn fields_of_structures_and_arrays(world: &mut World) {
    compare::<_, [[u16; 3]; 100], _>(
        world,
        &CELLS,
        pair(LEN, 100, 1),
        |(to, from)| Sides {
            there: bytes(&[LEN], &[to], size_of::<Cell>(), SPIN),
            here: bytes(&[100], &[from], 6, whole::<[u16; 3]>()),
        },
        |world, pe, (to, from), local| {
            strided!(world, CELLS@pe[dyn to.first..to.end; dyn to.step].spin
                = local[dyn from.first..from.end; dyn from.step, ..]);
        },
        |world, pe, (from, to), local| {
            strided!(world, local[dyn to.first..to.end; dyn to.step, ..]
                = CELLS@pe[dyn from.first..from.end; dyn from.step].spin);
        },
    );
    compare::<_, [[u8; 2]; 100], _>(
        world,
        &CELLS,
        pair(LEN, 100, 1),
        |(to, from)| Sides {
            there: bytes(&[LEN], &[to], size_of::<Cell>(), Field { offset: 22, bytes: 2 }),
            here: bytes(&[100], &[from], 2, whole::<[u8; 2]>()),
        },
        |world, pe, (to, from), local| {
            strided!(world, CELLS@pe[dyn to.first..to.end; dyn to.step].{kind, level}
                = local[dyn from.first..from.end; dyn from.step, ..]);
        },
        |world, pe, (from, to), local| {
            strided!(world, local[dyn to.first..to.end; dyn to.step, ..]
                = CELLS@pe[dyn from.first..from.end; dyn from.step].{kind, level});
        },
    );
}

/// The fields of one colour: every other element of every other row.
#[shmem::test(pes = 2)]
fn checkerboard(world: &mut World) {
    let colour = |rows: (usize, usize), columns: (usize, usize)| {
        let half =
            |first: usize, count: usize| Taken { first, end: first + 2 * count - 1, step: 2, block: 1 };
        let there = (half(rows.0, 4), half(columns.0, 9));
        let here = (half(rows.1, 4), half(columns.1, 9));
        ((there.0, here.0), (there.1, here.1))
    };
    let cases = (
        (0..=ROWS - 7, 0..=ROWS - 7).prop_map(|rows| rows),
        (0..=COLUMNS - 17, 0..=COLUMNS - 17).prop_map(|columns| columns),
    );
    compare::<_, [[f32; COLUMNS]; ROWS], _>(
        world,
        &FIELD,
        cases.prop_map(move |(rows, columns)| colour(rows, columns)),
        plane::<f32>([ROWS, COLUMNS], [ROWS, COLUMNS], whole::<f32>()),
        |world, pe, (rows, columns), local| {
            strided!(world, FIELD@pe[dyn rows.0.first..rows.0.end; 2, dyn columns.0.first..columns.0.end; 2]
                = local[dyn rows.1.first..rows.1.end; 2, dyn columns.1.first..columns.1.end; 2]);
        },
        |world, pe, (rows, columns), local| {
            strided!(world, local[dyn rows.1.first..rows.1.end; 2, dyn columns.1.first..columns.1.end; 2]
                = FIELD@pe[dyn rows.0.first..rows.0.end; 2, dyn columns.0.first..columns.0.end; 2]);
        },
    );
}

macro_rules! matrix {
    ($world:ident, $object:ident: $element:ty, $block:expr, $field:expr, $($chosen:tt)*) => {
        compare::<_, [[$element; COLUMNS]; ROWS], _>(
            $world,
            &$object,
            planes($block),
            plane::<$element>([ROWS, COLUMNS], [ROWS, COLUMNS], $field),
            |world, pe, ((rows, to_rows), (columns, to_columns)), local| {
                strided!(world,
                    $object@pe[dyn rows.first..rows.end; dyn rows.step,
                        dyn columns.first..columns.end; dyn columns.step; dyn columns.block] $($chosen)*
                    = local[dyn to_rows.first..to_rows.end; dyn to_rows.step,
                        dyn to_columns.first..to_columns.end; dyn to_columns.step; dyn to_columns.block]
                        $($chosen)*);
            },
            |world, pe, ((rows, to_rows), (columns, to_columns)), local| {
                strided!(world,
                    local[dyn to_rows.first..to_rows.end; dyn to_rows.step,
                        dyn to_columns.first..to_columns.end; dyn to_columns.step; dyn to_columns.block]
                        $($chosen)*
                    = $object@pe[dyn rows.first..rows.end; dyn rows.step,
                        dyn columns.first..columns.end; dyn columns.step; dyn columns.block] $($chosen)*);
            },
        );
    };
}

#[shmem::test(pes = 2)]
fn matrix_of_single_elements(world: &mut World) {
    matrix!(world, MATRIX: f64, 1, whole::<f64>(),);
    matrix!(world, FIELD: f32, 1, whole::<f32>(),);
}

#[shmem::test(pes = 2)]
fn matrix_of_groups_of_one_type(world: &mut World) {
    matrix!(world, MATRIX: f64, 5, whole::<f64>(),);
    matrix!(world, FIELD: f32, 5, whole::<f32>(),);
}

#[shmem::test(pes = 2)]
fn matrix_of_groups_of_several_types(world: &mut World) {
    matrix!(world, GRID: Cell, 1, whole::<Cell>(),);
    matrix!(world, GRID: Cell, 3, MASS_AND_VELOCITY, .{mass, velocity});
    matrix!(world, GRID: Cell, 3, SPIN_TO_LEVEL, .{spin, kind, level});
}

/// Three dimensions, one of them an index.
#[shmem::test(pes = 2)]
fn planes_of_a_cube(world: &mut World) {
    compare::<_, [[u16; 8]; 5], _>(
        world,
        &CUBE,
        (pair(5, 5, 1), 0..6_usize, pair(8, 8, 2)),
        |(planes, row, columns)| {
            let row = Taken { first: row, end: row + 1, step: 1, block: 1 };
            Sides {
                there: bytes(&[5, 6, 8], &[planes.0, row, columns.0], 2, whole::<u16>()),
                here: bytes(&[5, 8], &[planes.1, columns.1], 2, whole::<u16>()),
            }
        },
        |world, pe, (planes, row, columns), local| {
            strided!(world,
                CUBE@pe[dyn planes.0.first..planes.0.end; dyn planes.0.step, dyn row,
                    dyn columns.0.first..columns.0.end; dyn columns.0.step; dyn columns.0.block]
                = local[dyn planes.1.first..planes.1.end; dyn planes.1.step,
                    dyn columns.1.first..columns.1.end; dyn columns.1.step; dyn columns.1.block]);
        },
        |world, pe, (planes, row, columns), local| {
            strided!(world,
                local[dyn planes.1.first..planes.1.end; dyn planes.1.step,
                    dyn columns.1.first..columns.1.end; dyn columns.1.step; dyn columns.1.block]
                = CUBE@pe[dyn planes.0.first..planes.0.end; dyn planes.0.step, dyn row,
                    dyn columns.0.first..columns.0.end; dyn columns.0.step; dyn columns.0.block]);
        },
    );
}
