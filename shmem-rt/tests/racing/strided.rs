//! `strided!` and the strided routines between PEs, compared with loops over elements: random regions and all that the grammar
//! allows, at once and in scopes, by every algorithm.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use proptest::test_runner::Config;
use shmem::PlainData;
use shmem::prelude::*;

use crate::dice::Dice;
use crate::panics::{refused, said};

const LEN: usize = 240;
const ROWS: usize = 20;
const COLUMNS: usize = 24;

type Cells = [[Cell; COLUMNS]; ROWS];
type Plane = [[f32; COLUMNS]; ROWS];
type Cube = [[[u16; 8]; 6]; 5];
type Waves = [[[f64; 2]; 8]; 6];

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

/// Bytes of fields in a cell.
const VELOCITY_Y: Range<usize> = 12..16;
const MASS_AND_VELOCITY: Range<usize> = 0..16;
const SPIN_TO_LEVEL: Range<usize> = 16..24;

#[symmetric]
static BYTES: [u8; LEN];
#[symmetric]
static WORDS: [f32; LEN];
#[symmetric]
static ROW: [f64; LEN];
#[symmetric]
static WIDE: [u128; LEN];
#[symmetric]
static FIELD: Plane;
#[symmetric]
static CELLS: [Cell; LEN];
#[symmetric]
static GRID: Cells;
#[symmetric]
static CUBE: Cube;
#[symmetric]
static ONE: Cell;
#[symmetric]
static WAVES: Waves;

/// What is taken of a dimension: `first..end; step; block`.
#[derive(Clone, Copy, Debug)]
struct Taken {
    first: usize,
    end: usize,
    step: usize,
    block: usize,
}

impl Taken {
    fn blocks(self) -> usize {
        (self.first..self.end).step_by(self.step).count()
    }

    fn len(self) -> usize {
        self.blocks() * self.block
    }

    /// The index of element `n`.
    fn at(self, n: usize) -> usize {
        self.first + n / self.block * self.step + n % self.block
    }
}

/// What is taken of a dimension there and here.
type Line = (Taken, Taken);

/// The same number of elements of a dimension of `there` and of one of `here`, in blocks of up to `block`.
fn pair(dice: &mut Dice, there: usize, here: usize, block: usize) -> Line {
    let mut below = |n: usize| dice.below(n as u64) as usize;
    let (shorter, block) = (there.min(here), 1 + below(block));
    let gap = (shorter / 5).clamp(1, 12);
    let count = below((shorter - block) / (block + gap) + 2);
    let mut taken = |len: usize| {
        let step = block + below(gap + 1);
        let reach = count.saturating_sub(1) * step + if count == 0 { 0 } else { block };
        let first = below(len - reach + 1);
        let end = first + reach;
        // Elements behind the last one, which its stride leaves out.
        let rest = if block == 1 && count > 0 { below(4).min(step - 1).min(len - end) } else { 0 };
        Taken { first, end: end + rest, step, block }
    };
    (taken(there), taken(here))
}

/// What a PE starts with, in the symmetric object and in memory of its own.
fn initial(pe: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i * 7 + pe * 101) % 251) as u8).collect()
}

/// Which byte there is which byte here, of what gives `count` elements by number: of each of them these bytes, or all.
fn moved<A: PlainData, B: Pod, E>(
    count: usize,
    field: Option<Range<usize>>,
    elements: impl for<'e> Fn(&'e mut A, &'e mut B, usize) -> (&'e mut E, &'e mut E),
) -> Vec<[usize; 2]> {
    let (mut object, mut memory) = (vec![A::zeroed()], vec![B::zeroed()]);
    let [first, other] = [object.as_ptr().addr(), memory.as_ptr().addr()];
    let of_element = (0..count).flat_map(|n| {
        let (there, here) = elements(&mut object[0], &mut memory[0], n);
        let [there, here] = [(&raw const *there).addr() - first, (&raw const *here).addr() - other];
        field.clone().unwrap_or(0..size_of::<E>()).map(move |byte| [there + byte, here + byte])
    });
    of_element.collect()
}

/// Whether a transfer is a put, and whether it is made in a scope.
#[derive(Clone, Copy, Debug)]
struct How {
    put: bool,
    scoped: bool,
}

/// Puts and gets between both PEs at once, on random cases, each against a loop over bytes.
fn compare<A: PlainData, B: Pod, C: std::fmt::Debug + Copy>(
    world: &mut World,
    object: &'static Symmetric<A>,
    case: impl Fn(&mut Dice) -> C,
    moved: impl Fn(C) -> Vec<[usize; 2]>,
    transfer: impl Fn(&World, Pe, C, &mut B, How),
) {
    let (me, (_, other)) = (world.my_pe(), world.ring_neighbours());
    let symmetric = |pe: usize| initial(pe, size_of::<A>());
    let private = |pe: usize| initial(pe + 50, size_of::<B>());
    // One that is always the same in each way.
    let cases = if size_of::<C>() == 0 { 4 } else { Config::default().cases.min(100) };
    let mut dice = Dice(size_of::<A>() as u64);
    for number in 0..cases {
        let (case, how) = (case(&mut dice), How { put: number % 2 == 0, scoped: number % 4 > 1 });
        let (mut own, mut local) = (vec![A::zeroed()], vec![B::zeroed()]);
        cast_slice_mut(&mut own).copy_from_slice(&symmetric(me));
        cast_slice_mut(&mut local).copy_from_slice(&private(me));
        world.put(object.on(world.me()), &own[0]);
        world.barrier_all();
        transfer(world, other, case, &mut local[0], how);
        let (mut expected_own, mut expected_local) = (symmetric(me), private(me));
        let (theirs, their_local) = (symmetric(other.number()), private(other.number()));
        for [there, here] in moved(case) {
            match how.put {
                true => expected_own[there] = their_local[here],
                false => expected_local[here] = theirs[there],
            }
        }
        world.barrier_all();
        world.get(&mut own[0], object.on(world.me()));
        assert_eq!(cast_slice::<A, u8>(&own), &expected_own, "the symmetric side of {case:?}, {how:?}");
        assert_eq!(cast_slice::<B, u8>(&local), &expected_local, "the local side of {case:?}, {how:?}");
        world.barrier_all();
    }
}

/// Evaluates a call of the world or of a scope.
macro_rules! issued {
    ($world:ident, $how:ident, |$by:ident| $call:expr) => {
        if $how.scoped {
            $world.scope(|$by| $call)
        } else {
            let $by = $world;
            $call
        }
    };
}

/// Compares `strided!` between a region of an object and one of an array of the PE.
macro_rules! both_ways {
    ($world:ident, ($($option:tt)*) $object:ident, $local:ty, $draw:expr, $moved:expr, |$case:pat_param|
        [$($there:tt)*] $(. $of_there:tt)* = [$($here:tt)*] $(. $of_here:tt)*) => {
        compare::<_, $local, _>($world, &$object, $draw, $moved, |world, pe, $case, local, how| {
            if how.put {
                let local = &*local;
                issued!(world, how, |by| strided!(by, $($option)*
                    $object@pe[$($there)*] $(. $of_there)* = local[$($here)*] $(. $of_here)*));
            } else {
                issued!(world, how, |by| strided!(by, $($option)*
                    local[$($here)*] $(. $of_here)* = $object@pe[$($there)*] $(. $of_there)*));
            }
        })
    };
}

/// Regions of objects and of arrays of the PE; how many elements each has, and which they are.
macro_rules! regions {
    ($world:ident $option:tt: $($object:ident[$($there:tt)*] $(. $of:tt)* = $local:ty, [$($here:tt)*] $(. $by:tt)*;
        $count:expr => $elements:expr;)*) => {$(
        let bytes = moved::<_, $local, _>($count, None, $elements);
        both_ways!($world, $option $object, $local, |_| (), |()| bytes.clone(), |()|
            [$($there)*] $(. $of)* = [$($here)*] $(. $by)*);
    )*};
}

/// One of the last two.
fn last(cell: &mut Cell, n: usize) -> &mut u8 {
    if n.is_multiple_of(2) { &mut cell.kind } else { &mut cell.level }
}

/// Regions of all that the grammar allows.
#[shmem::test(pes = 2)]
fn regions_are_those_of_loops(world: &mut World) {
    // Behind `dyn`, variables may be ranges of any kind, which are still there afterwards.
    let (rows, columns, from, odd, i, j) = (1..ROWS - 1, 2..=5, 10.., 1.., 4, 7);
    regions! { world ():
        // One field, also of an object without dimensions.
        CELLS[..].mass = [f64; LEN], [..]; LEN => |there: &mut [Cell; LEN], here, n| (&mut there[n].mass, &mut here[n]);
        ONE[..].spin = [u16; 3], [..]; 3 => |there: &mut Cell, here, n| (&mut there.spin[n], &mut here[n]);
        // Several of one type, into a matrix and from lines of structures; a column of structures.
        GRID[.., 2].{kind, level} = [[u8; 2]; ROWS], [..];
            2 * ROWS => |there: &mut Cells, here, n| (last(&mut there[n / 2][2], n), &mut here[n / 2][n % 2]);
        BYTES[..6] = [Cell; 3], [..].{kind, level};
            6 => |there: &mut [u8; LEN], here, n| (&mut there[n], last(&mut here[n / 2], n));
        BYTES[..12] = [[Cell; 2]; 3], [.., ..].{kind, level};
            12 => |there: &mut [u8; LEN], here, n| (&mut there[n], last(&mut here[n / 4][n / 2 % 2], n));
        FIELD[dyn rows, dyn j] = [f32; ROWS - 2], [..];
            ROWS - 2 => |there: &mut Plane, here, n| (&mut there[n + 1][7], &mut here[n]);
        FIELD[dyn rows, dyn columns] = [[f32; 4]; ROWS - 2], [..];
            4 * (ROWS - 2) => |there: &mut Plane, here, n| (&mut there[n / 4 + 1][n % 4 + 2], &mut here[n / 4][n % 4]);
        FIELD[dyn from, 19] = [f32; ROWS - 10], [..];
            ROWS - 10 => |there: &mut Plane, here, n| (&mut there[n + 10][19], &mut here[n]);
        FIELD[dyn odd; 2, 3] = [f32; ROWS / 2], [..];
            ROWS / 2 => |there: &mut Plane, here, n| (&mut there[2 * n + 1][3], &mut here[n]);
        // Dimensions that are not named are taken whole: so elements may be arrays, as complex numbers are.
        WAVES[.., 3] = [[f64; 2]; 6], [..]; 6 => |there: &mut Waves, here, n| (&mut there[n][3], &mut here[n]);
        WAVES[dyn i] = [[f64; 2]; 8], [..]; 8 => |there: &mut Waves, here, n| (&mut there[4][n], &mut here[n]);
        WAVES[5, dyn i] = [f64; 2], [..]; 2 => |there: &mut Waves, here, n| (&mut there[5][4][n], &mut here[n]);
        WAVES[1..3, ..6; 2] = [[f64; 2]; 6], [..];
            6 => |there: &mut Waves, here, n| (&mut there[1 + n / 3][n % 3 * 2], &mut here[n]);
        // A line has what the region has, in row-major order.
        CUBE[1..5, 2, 1..4] = [u16; 20], [3..15];
            12 => |there: &mut Cube, here, n| (&mut there[1 + n / 3][2][1 + n % 3], &mut here[n + 3]);
        WORDS[..12] = [[f32; 4]; 5], [1..4, ..];
            12 => |there: &mut [f32; LEN], here, n| (&mut there[n], &mut here[1 + n / 4][n % 4]);
        // At distances, in blocks, and whole.
        CUBE[..; 2, ..; 3, ..4; 2; 2] = [u16; 24], [..];
            24 => |there: &mut Cube, here, n| (&mut there[n / 8 * 2][n / 4 % 2 * 3][n % 4], &mut here[n]);
        CUBE[..] = [u16; 240], [..];
            240 => |there: &mut Cube, here, n| (&mut there[n / 48][n / 8 % 6][n % 8], &mut here[n]);
        ROW[14..20] = [f64; 10], [..; 4; 2];
            6 => |there: &mut [f64; LEN], here, n| (&mut there[14 + n], &mut here[n / 2 * 4 + n % 2]);
        // Two matrices: a piece, a column, a row, blocks, and a chequerboard.
        FIELD[2..4, ..] = Plane, [7..9, ..];
            48 => |there: &mut Plane, here, n| (&mut there[2 + n / 24][n % 24], &mut here[7 + n / 24][n % 24]);
        FIELD[.., 3] = Plane, [.., 19]; ROWS => |there: &mut Plane, here, n| (&mut there[n][3], &mut here[n][19]);
        FIELD[3, 4..20; 3] = Plane, [..6, 1];
            6 => |there: &mut Plane, here, n| (&mut there[3][4 + 3 * n], &mut here[n][1]);
        FIELD[.., 3..=6] = Plane, [.., 20..];
            4 * ROWS => |there: &mut Plane, here, n| (&mut there[n / 4][3 + n % 4], &mut here[n / 4][20 + n % 4]);
        FIELD[3..7, 5] = Plane, [..8; 6; 2, 6];
            4 => |there: &mut Plane, here, n| (&mut there[3 + n][5], &mut here[n / 2 * 6 + n % 2][6]);
        FIELD[..; 2, 1..; 2] = Plane, [1..; 2, ..; 2]; 120 => |there: &mut Plane, here, n|
            (&mut there[n / 12 * 2][1 + n % 12 * 2], &mut here[1 + n / 12 * 2][n % 12 * 2]);
    }
    // By each algorithm that the macro names.
    macro_rules! by_algorithms {
        ($($algorithm:tt)*) => {$(
            regions! { world (algorithm = $algorithm;): FIELD[2, ..20; 8; 4] = Plane, [5, 1..13];
                12 => |there: &mut Plane, here, n| (&mut there[2][n / 4 * 8 + n % 4], &mut here[5][1 + n]); }
        )*};
    }
    by_algorithms!(1 2 3 auto);
    assert_eq!((rows, columns, from, odd), (1..ROWS - 1, 2..=5, 10.., 1..));
}

/// Random blocks of a line, or fields of them, on both sides.
macro_rules! lines {
    ($world:ident: $($object:ident: $element:ty, $block:literal $(, $field:ident [$($of:tt)*])?;)*) => {$(
        let draw = |dice: &mut Dice| pair(dice, LEN, 100, $block);
        let field: Option<Range<usize>> = [$($field)?].into_iter().next();
        let bytes = |(t, h): Line| {
            moved(t.len(), field.clone(), |there: &mut [$element; LEN], here: &mut [$element; 100], n| {
                (&mut there[t.at(n)], &mut here[h.at(n)])
            })
        };
        both_ways!($world, () $object, [$element; 100], draw, bytes, |(t, h)|
            [dyn t.first..t.end; dyn t.step; dyn t.block] $(. $($of)*)?
                = [dyn h.first..h.end; dyn h.step; dyn h.block] $(. $($of)*)?);
    )*};
}

/// The strided routines on elements and on bytes, by the world and in scopes.
fn by_routines(world: &mut World) {
    macro_rules! compared {
        ($object:ident: $element:ty, |$by:ident, $pe:ident, $put:ident, $t:ident, $h:ident, $local:ident| $call:expr) => {
            compare::<_, [$element; LEN], _>(
                world,
                &$object,
                |dice| pair(dice, LEN, LEN, 30),
                |(t, h)| {
                    moved(t.len(), None, |there: &mut [$element; LEN], here: &mut [$element; LEN], n| {
                        (&mut there[t.at(n)], &mut here[h.at(n)])
                    })
                },
                |world, $pe, ($t, $h), local, how| {
                    let ($local, $put) = (&mut local[$h.first..], how.put);
                    issued!(world, how, |$by| $call);
                },
            );
        };
    }
    macro_rules! of_elements {
        ($($object:ident: $element:ty;)*) => {$(
            compared!($object: $element, |by, pe, put, t, h, local| {
                let place = $object.on(pe).index(t.first..);
                match (put, t.block) {
                    (true, 1) => by.iput(place, local, t.step, h.step, t.blocks()),
                    (true, n) => by.ibput(place, local, t.step, h.step, n, t.blocks()),
                    (false, 1) => by.iget(local, place, h.step, t.step, t.blocks()),
                    (false, n) => by.ibget(local, place, h.step, t.step, n, t.blocks()),
                }
            });
        )*};
    }
    of_elements! {
        BYTES: u8;
        WORDS: f32;
        ROW: f64;
        WIDE: u128;
    }
    let start = BYTES.here(world).addr();
    compared!(BYTES: u8, |by, pe, put, t, h, local| {
        let place = start.add(t.first);
        match (put, t.blocks()) {
            (true, 1) => by.putmem(place, &local[..t.block], pe),
            (true, n) => by.iputmem(place, local, t.step, h.step, t.block, n, pe),
            (false, 1) => by.getmem(&mut local[..t.block], place, pe),
            (false, n) => by.igetmem(local, place, h.step, t.step, t.block, n, pe),
        }
    });
}

macro_rules! blocks {
    ($($name:ident: $algorithm:literal;)*) => {$(
        #[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = $algorithm))]
        fn $name(world: &mut World) {
            lines! { world:
                BYTES: u8, 7;
                ROW: f64, 7;
                WIDE: u128, 7;
            }
            by_routines(world);
        }
    )*};
}
blocks! {
    blocks_by_kernels: "auto";
    blocks_one_by_one: "1";
    blocks_by_columns: "2";
    blocks_by_the_published_table: "3";
}

/// Structures, fields of them, and single elements; and matrices, of which groups of rows and columns are taken.
#[shmem::test(pes = 2)]
fn structures_and_matrices(world: &mut World) {
    lines! { world:
        ROW: f64, 1;
        CELLS: Cell, 3;
        CELLS: Cell, 3, VELOCITY_Y [velocity.y];
        CELLS: Cell, 3, MASS_AND_VELOCITY [{mass, velocity}];
    }
    macro_rules! matrices {
        ($($object:ident: $element:ty, $block:expr $(, $field:ident [$($of:tt)*])?;)*) => {$(
            let draw = |dice: &mut Dice| (pair(dice, ROWS, ROWS, 1), pair(dice, COLUMNS, COLUMNS, $block));
            let field: Option<Range<usize>> = [$($field)?].into_iter().next();
            let bytes = |((r, to_r), (c, to_c)): (Line, Line)| {
                type Matrix = [[$element; COLUMNS]; ROWS];
                moved(r.len() * c.len(), field.clone(), |there: &mut Matrix, here: &mut Matrix, n| {
                    let (i, j) = (n / c.len(), n % c.len());
                    (&mut there[r.at(i)][c.at(j)], &mut here[to_r.at(i)][to_c.at(j)])
                })
            };
            both_ways!(world, () $object, [[$element; COLUMNS]; ROWS], draw, bytes, |((r, to_r), (c, to_c))|
                [dyn r.first..r.end; dyn r.step, dyn c.first..c.end; dyn c.step; dyn c.block] $(. $($of)*)?
                    = [dyn to_r.first..to_r.end; dyn to_r.step,
                        dyn to_c.first..to_c.end; dyn to_c.step; dyn to_c.block] $(. $($of)*)?);
        )*};
    }
    matrices! {
        FIELD: f32, 5;
        GRID: Cell, 1;
        GRID: Cell, 3, SPIN_TO_LEVEL [{spin, kind, level}];
    }
}

#[shmem::test]
fn what_does_not_fit_is_refused_before_anything_moves(world: &mut World) {
    let me = world.me();
    let row = ROW.on(me).index(..100);
    let ones = [1.0; 100];
    let (most, address) = (usize::MAX, ROW.here(world).addr());
    refused! {
        world.iput(row, &ones, 20, 1, 6)
            => "the place has 100 elements, but 6 blocks of 1 at a stride of 20 end at 101";
        world.ibput(row, &ones[..10], 8, 4, 4, 3)
            => "the source has 10 elements, but 3 blocks of 4 at a stride of 4 end at 12";
        world.iget(&mut [0.0; 4], row, 0, 1, 4)
            => "the stride of the destination is 0; a stride must be at least 1";
        world.ibget(&mut [0.0; 20], row, 4, 3, 4, 2)
            => "blocks of 4 elements overlap at a stride of 3 in the place; the stride must be at least the block";
        world.iputmem(address, &[1; 8], 1 << 40, 1, 1, 2, me) => "`iputmem`: the 1099511627777 bytes at";
    }
    for (count, stride) in [(2, most), (3, most / 2 + 1), (most / 8 + 2, 8), (most, 1)] {
        said(|| world.iput(row, &ones, stride, 1, count));
        said(|| world.iget(&mut [0.0; 2], row, 1, stride, count));
        said(|| world.iputmem(address, &[1; 8], stride, 1, 1, count, me));
        said(|| world.igetmem(&mut [1; 8], address, stride, 1, 1, count, me));
    }
    // Of no blocks nothing else is looked at, and of one no stride.
    world.ibput(row, &ones, 0, 0, most, 0);
    world.ibget(&mut [0.0; 1], row, most, 3, most, 0);
    world.ibget(&mut [0.0; 2], row, most, most, 2, 1);
    world.iput(row, &[0.0; 3], most / 8 + 2, most - 1, 1);
    assert_eq!(ROW.here(world).load(), [0.0; LEN], "something was written");
}
