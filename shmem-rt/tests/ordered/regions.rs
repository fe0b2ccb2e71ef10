//! What the grammar of `strided!` allows, and what is checked when the program runs. Random regions, and constant ones by every
//! algorithm, are in `racing::strided`.

use std::num::Wrapping;

use bytemuck::{Zeroable as _, bytes_of, cast_slice_mut};
use shmem::Plain;
use shmem::prelude::*;

use crate::dice::Dice;
use crate::panics::refused;

const ROWS: usize = 12;
const COLUMNS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    x: f32,
    y: f32,
    spin: [u16; 3],
    kind: u16,
}

#[symmetric]
static ROW: [f64; COLUMNS];
#[symmetric]
static FIELD: [[f32; COLUMNS]; ROWS];
#[symmetric]
static OTHER: [[f32; COLUMNS]; ROWS];
#[symmetric]
static CELLS: [Cell; ROWS];
#[symmetric]
static GRID: [[Cell; 4]; ROWS];
#[symmetric]
static ONE: Cell;
#[symmetric]
static CUBE: [[[f32; 5]; 4]; 6];
#[symmetric]
static LINE: [f32; 30];
#[symmetric]
static WAVES: [[[f64; 2]; 8]; 6];
#[symmetric]
static TURNS: [Plain<Wrapping<u32>>; 4];

/// A value for element `i` on `pe`.
fn value(pe: usize, i: usize) -> f32 {
    (pe * 10_000 + i + 1) as f32
}

/// Fills this PE's copy of the field.
fn fill(world: &World) {
    for (i, j) in (0..ROWS).flat_map(|i| (0..COLUMNS).map(move |j| (i, j))) {
        FIELD.here(world).index(i).index(j).store(value(world.my_pe(), i * COLUMNS + j));
    }
}

fn contents<T: PlainData>(world: &World, object: &'static Symmetric<T>) -> Box<T> {
    let mut all = Box::new(T::zeroed());
    world.get(&mut *all, object.on(world.me()));
    all
}

/// Memory of a PE's own.
trait Memory: Clone {
    fn bytes(&mut self) -> &mut [u8];
}

impl<T: PlainData> Memory for Vec<T> {
    fn bytes(&mut self) -> &mut [u8] {
        cast_slice_mut(self)
    }
}

impl<T: PlainData, const N: usize> Memory for [T; N] {
    fn bytes(&mut self) -> &mut [u8] {
        cast_slice_mut(self)
    }
}

/// Fills memory with bytes that differ from those of other numbers.
fn filled<M: Memory>(mut memory: M, number: usize) -> M {
    memory.bytes().iter_mut().enumerate().for_each(|(i, byte)| *byte = ((i * 7 + number * 61) % 251) as u8);
    memory
}

/// Gets a region of the other PE's object into memory of this one, and puts there what such memory has. `elements` gives an element
/// of both sides by its number in the region: what a loop over all of them does is what is expected.
fn both_ways<A: PlainData, M: Memory, E: Copy>(
    world: &World,
    object: &'static Symmetric<A>,
    memory: M,
    get: impl Fn(Pe, M) -> M,
    put: impl Fn(Pe, M),
    count: usize,
    elements: impl for<'e> Fn(&'e mut A, &'e mut M, usize) -> (&'e mut E, &'e mut E),
) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    let object_of = |pe: usize| filled(vec![A::zeroed()], pe);
    let memory_of = |pe: usize| filled(memory.clone(), 2 + pe);
    world.put(object.on(world.me()), &object_of(me)[0]);
    world.barrier_all();
    let mut found = get(other, memory_of(me));
    let (mut expected, mut theirs) = (memory_of(me), object_of(other.number()));
    for n in 0..count {
        let (from, to) = elements(&mut theirs[0], &mut expected, n);
        *to = *from;
    }
    assert_eq!(found.bytes(), expected.bytes(), "what was got");
    world.barrier_all();
    put(other, memory_of(me));
    world.barrier_all();
    let (mut expected, mut sent) = (object_of(me), memory_of(other.number()));
    for n in 0..count {
        let (to, from) = elements(&mut expected[0], &mut sent, n);
        *to = *from;
    }
    assert_eq!(bytes_of(&*contents(world, object)), expected.bytes(), "what was put");
    world.barrier_all();
}

/// Regions of objects and of memory; how many elements each has, and which they are.
macro_rules! moved {
    ($world:ident: $($object:ident[$($there:tt)*] $(. $of:tt)* = $memory:expr, [$($here:tt)*] $(. $by:tt)*;
        $count:expr => $elements:expr;)*) => {$({
        let world: &World = $world;
        both_ways(
            world,
            &$object,
            $memory,
            |pe, mut memory| {
                strided!(world, memory[$($here)*] $(. $by)* = $object@pe[$($there)*] $(. $of)*);
                memory
            },
            |pe, memory| strided!(world, $object@pe[$($there)*] $(. $of)* = memory[$($here)*] $(. $by)*),
            $count,
            $elements,
        );
    })*};
}

/// One of the two.
fn coordinate(cell: &mut Cell, n: usize) -> &mut f32 {
    if n.is_multiple_of(2) { &mut cell.x } else { &mut cell.y }
}

/// One of the four.
fn small(cell: &mut Cell, n: usize) -> &mut u16 {
    if n % 4 == 3 { &mut cell.kind } else { &mut cell.spin[n % 4] }
}

#[shmem::test(pes = 2)]
fn fields_of_structures(world: &mut World) {
    moved! { world:
        // One field, into an array of what it is, and of an object without dimensions.
        CELLS[..].mass = [0.0_f64; ROWS], [..]; ROWS => |there, here, n| (&mut there[n].mass, &mut here[n]);
        CELLS[..].spin = vec![[0_u16; 3]; ROWS], [..]; ROWS => |there, here, n| (&mut there[n].spin, &mut here[n]);
        ONE[..].spin = [0_u16; 3], [..]; 3 => |there, here, n| (&mut there.spin[n], &mut here[n]);
        // Several of one type, into a matrix, a line and structures; a column of structures.
        GRID[.., 2].{x, y} = [[0.0_f32; 2]; ROWS], [..];
            2 * ROWS => |there, here, n| (coordinate(&mut there[n / 2][2], n), &mut here[n / 2][n % 2]);
        LINE[..6] = [Cell::zeroed(); 3], [..].{x, y};
            6 => |there, here, n| (&mut there[n], coordinate(&mut here[n / 2], n));
        LINE[..12] = [[Cell::zeroed(); 2]; 3], [.., ..].{x, y};
            12 => |there, here, n| (&mut there[n], coordinate(&mut here[n / 4][n / 2 % 2], n));
        // Several of several types, into structures.
        CELLS[1..; 2].{spin, kind} = [Cell::zeroed(); ROWS / 2], [..].{spin, kind};
            2 * ROWS => |there, here, n| (small(&mut there[n / 4 * 2 + 1], n), small(&mut here[n / 4], n));
    }
}

/// A variable behind `dyn` may be a range, of any kind; it is still there afterwards.
#[shmem::test(pes = 2)]
fn variables_that_are_ranges(world: &mut World) {
    let (rows, columns, from, odd, j) = (1..ROWS - 1, 2..=5, 10.., 1.., 7);
    moved! { world:
        FIELD[dyn rows, dyn j] = vec![0.0_f32; ROWS - 2], [..];
            ROWS - 2 => |there, here, n| (&mut there[n + 1][7], &mut here[n]);
        FIELD[dyn rows, dyn columns] = [[0.0_f32; 4]; ROWS - 2], [..];
            4 * (ROWS - 2) => |there, here, n| (&mut there[n / 4 + 1][n % 4 + 2], &mut here[n / 4][n % 4]);
        FIELD[dyn from, 19] = [0.0_f32; 2], [..]; 2 => |there, here, n| (&mut there[n + 10][19], &mut here[n]);
        FIELD[dyn odd; 2, 3] = [0.0_f32; ROWS / 2], [..];
            ROWS / 2 => |there, here, n| (&mut there[2 * n + 1][3], &mut here[n]);
    }
    assert_eq!((rows, columns, from, odd), (1..ROWS - 1, 2..=5, 10.., 1..));
}

/// Dimensions that a region does not name are taken whole: so elements may be arrays, as complex numbers are.
#[shmem::test(pes = 2)]
fn elements_that_are_arrays(world: &mut World) {
    let i = 4;
    moved! { world:
        WAVES[.., 3] = [[0.0_f64; 2]; 6], [..]; 6 => |there, here, n| (&mut there[n][3], &mut here[n]);
        WAVES[dyn i] = vec![[0.0_f64; 2]; 8], [..]; 8 => |there, here, n| (&mut there[4][n], &mut here[n]);
        WAVES[5, dyn i] = [0.0_f64; 2], [..]; 2 => |there, here, n| (&mut there[5][4][n], &mut here[n]);
        WAVES[1..3, ..6; 2] = vec![[0.0_f64; 2]; 6], [..];
            6 => |there, here, n| (&mut there[1 + n / 3][n % 3 * 2], &mut here[n]);
    }
}

/// A line of the run, of the compiler, and of neither has what the region has, in row-major order; the rest stays as it was.
#[shmem::test(pes = 2)]
fn regions_are_packed_and_unpacked(world: &mut World) {
    fn face(cube: &mut [[[f32; 5]; 4]; 6], n: usize) -> &mut f32 {
        &mut cube[1 + n / 3][2][1 + n % 3]
    }
    moved! { world:
        CUBE[1..5, 2, 1..4] = vec![0.0_f32; 12], [..]; 12 => |there, here, n| (face(there, n), &mut here[n]);
        CUBE[1..5, 2, 1..4] = [0.0_f32; 20], [3..15]; 12 => |there, here, n| (face(there, n), &mut here[n + 3]);
        LINE[..12] = [[0.0_f32; 4]; 5], [1..4, ..];
            12 => |there, here, n| (&mut there[n], &mut here[1 + n / 4][n % 4]);
        // At distances, in blocks, and whole.
        CUBE[..; 2, ..; 3, ..4; 2; 2] = vec![0.0_f32; 24], [..];
            24 => |there, here, n| (&mut there[n / 8 * 2][n / 4 % 2 * 3][n % 4], &mut here[n]);
        CUBE[..] = vec![0.0_f32; 120], [..];
            120 => |there, here, n| (&mut there[n / 20][n / 5 % 4][n % 5], &mut here[n]);
        ROW[14..20] = vec![0.0_f64; 10], [..; 4; 2];
            6 => |there, here, n| (&mut there[14 + n], &mut here[n / 2 * 4 + n % 2]);
    }
}

/// From this PE's copy, to an object of which only the run knows the length, and from parts of slices; through a context, and data
/// of another crate.
#[shmem::test(pes = 2)]
fn objects_and_slices_are_sides(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    let cells: [Cell; ROWS] = std::array::from_fn(|i| Cell { kind: (100 * me + i) as u16, ..Cell::zeroed() });
    let source: Vec<f64> = (0..COLUMNS).map(|i| f64::from(value(me, i))).collect();
    let heap = world.alloc(zeroed::<[f64; 5]>(4)).unwrap();
    let context = world.create_ctx::<Private>().unwrap();
    world.put(CELLS.on(world.me()), &cells);
    world.put(TURNS.on(other), &[Plain(Wrapping(u32::MAX - me as u32)); 4]);
    world.barrier_all();
    strided!(world, CELLS@other[..6].kind = CELLS[6..].kind);
    strided!(world, ROW@other[4..12; 2] = (source[..4])[..]);
    strided!(world, ROW@other[1..12; 2] = (source[8..])[..; 2]);
    world.barrier_all();
    // Rows of which only the run knows the number, opposite lines of which it does not, and of which it does.
    strided!(world, heap@other[..] = ROW[..]);
    let mut ends = [Plain::default(); 2];
    strided!(&context.bind(world), ends[..] = TURNS@(world.me())[..; 3]);
    assert_eq!(ends.map(|Plain(turns)| turns + Wrapping(2)), [Wrapping(me as u32); 2]);
    world.barrier_all();
    let sent = |pe: usize| -> [f64; COLUMNS] {
        let sent = |i: usize| f64::from(value(pe, i));
        std::array::from_fn(|i| match i {
            1..12 if i % 2 == 1 => sent(7 + i),
            4..12 => sent(i / 2 - 2),
            _ => 0.0,
        })
    };
    assert_eq!(*contents(world, &ROW), sent(other.number()));
    let kind = |i: usize| if i < 6 { 100 * other.number() + 6 + i } else { 100 * me + i };
    assert!(contents(world, &CELLS).iter().enumerate().all(|(i, cell)| usize::from(cell.kind) == kind(i)));
    let (mut known, mut unknown, mut rows) = ([0.0; COLUMNS], vec![0.0; COLUMNS], vec![0.0; 10]);
    strided!(world, known[..] = heap@other[..]);
    strided!(world, unknown[..] = heap@other[..]);
    strided!(world, rows[..] = heap@other[2..4, ..]);
    let mut column = vec![0.0; 4];
    strided!(world, column[..] = heap@other[.., 3]);
    let theirs = sent(other.number());
    assert_eq!((known, &unknown[..], &rows[..]), (theirs, &theirs[..], &theirs[10..]));
    assert_eq!(column, [3, 8, 13, 18].map(|i| theirs[i]));
    world.barrier_all();
}

/// The first one of some indices below `len`, the end, and a distance.
fn range(dice: &mut Dice, len: u64) -> (usize, usize, usize) {
    let first = dice.below(len);
    let end = first + dice.below(len - first) + 1;
    (first as usize, end as usize, dice.below(3) as usize + 1)
}

/// Between two places of this PE's own memory, in a phase and outside.
#[shmem::test(pes = 1)]
fn regions_of_own_memory(world: &mut World) {
    let cube: [[[f32; 5]; 4]; 6] = filled([[[0.0; 5]; 4]; 6], 0);
    let mut dice = Dice(45);
    for _ in 0..200 {
        let (a, c) = (range(&mut dice, 6), range(&mut dice, 5));
        let j = dice.below(4) as usize;
        let indices: Vec<[usize; 2]> =
            (a.0..a.1).step_by(a.2).flat_map(|i| (c.0..c.1).step_by(c.2).map(move |k| [i, k])).collect();
        let mut packed = vec![0.0_f32; indices.len()];
        strided!(packed[..] = cube[dyn a.0..a.1; dyn a.2, dyn j, dyn c.0..c.1; dyn c.2]);
        assert!(indices.iter().zip(&packed).all(|([i, k], x)| *x == cube[*i][j][*k]));
        let mut into = vec![[[0.0_f32; 5]; 4]; 6];
        strided!(into[dyn a.0..a.1; dyn a.2, dyn j, dyn c.0..c.1; dyn c.2] = packed[..]);
        let mut expected = vec![[[0.0; 5]; 4]; 6];
        indices.iter().for_each(|[i, k]| expected[*i][j][*k] = cube[*i][j][*k]);
        assert_eq!(into, expected);
        // With constants, an index of the run, and lengths of the run.
        let mut plane = [[0.0_f32; 5]; 6];
        strided!(plane[..] = cube[.., dyn j, ..]);
        assert!((0..6).all(|i| plane[i] == cube[i][j]));
        let mut all = vec![0.0_f32; 120];
        strided!(all[..] = into[..]);
        assert_eq!(all, expected.as_flattened().as_flattened());
    }
    fill(world);
    world.local(&FIELD, |field| {
        let mut column = [0.0; ROWS];
        strided!(algorithm = 2; column[..] = field[.., 3]);
        assert_eq!(column, std::array::from_fn(|i| value(0, i * COLUMNS + 3)));
        strided!(field[4..6, 2..8] = column[..]);
        assert_eq!((field[5][2], field[5][8]), (column[6], value(0, 5 * COLUMNS + 8)));
        let cells = [Cell { x: 1.0, y: 2.0, ..Cell::zeroed() }; 2];
        strided!((&mut field[0])[4..8] = cells[..].{x, y});
        assert_eq!(field[0][4..8], [1.0, 2.0, 1.0, 2.0]);
    });
}

#[shmem::test]
fn what_does_not_fit_is_refused_before_anything_moves(world: &mut World) {
    let me = world.me();
    let source = vec![1.0; COLUMNS];
    let (n, start, far, last) = (3, 1, 12, usize::MAX);
    let (mut line, mut into, cube) = ([0.0_f32; 11], [0.0; COLUMNS], [[[0.0_f32; 5]; 4]; 6]);
    let (long, rows) = (3..=ROWS, 1..ROWS - 1);
    refused! {
        strided!(world, FIELD@me[dyn far, ..] = OTHER[0, ..])
            => "`FIELD` has 12 elements in dimension 0, but the index is 12";
        strided!(world, FIELD@me[dyn long, 0] = OTHER[dyn rows, 0])
            => "`FIELD` has 12 elements in dimension 0, but the region ends at 13";
        strided!(world, FIELD@me[0..3, 0] = OTHER[dyn rows, 0]) => "the destination is 3 elements, the source 10";
        strided!(world, ROW@me[..] = (source[1..])[..]) => "the destination is 20 elements, the source 19";
        strided!(world, ROW@me[5] = source[..]) => "the destination is 1 elements, the source 20";
        strided!(world, ROW@me[0..5] = (source[1..5])[0..5])
            => "`source[1..5]` has 4 elements in dimension 0, but the region ends at 5";
        strided!(world, ROW@me[dyn start..=last] = source[..])
            => format!("`ROW` has 20 elements in dimension 0, but the region ends at {last}");
        strided!(world, ROW@me[0..5] = (source[..5])[0..=usize::MAX])
            => format!("`source[..5]` has 5 elements in dimension 0, but the region ends at {last}");
        strided!(world, (&mut line[..])[..] = CUBE@me[1..5, 2, 1..4])
            => "the destination is 11 elements, the source 4 x 3, which are 12";
        strided!((&mut line[..])[..] = cube[0..4, 0, 0..3])
            => "the destination is 11 elements, the source 4 x 3, which are 12";
        strided!(world, (&mut into[1..])[20] = ROW@me[0])
            => "`&mut into[1..]` has 19 elements in dimension 0, but the index is 20";
        strided!(world, ROW@me[..; dyn n - 3] = source[..]) => "a stride must be at least 1";
        strided!(world, ROW@me[..; 2; dyn n] = source[..])
            => "blocks of 3 elements overlap at a stride of 2; the stride must be at least the block";
    }
    assert_eq!(*contents(world, &ROW), [0.0; COLUMNS], "something was written");
    assert_eq!(*contents(world, &FIELD), [[0.0; COLUMNS]; ROWS], "something was written");
}

/// What the macro would not write: an index that is promised and not given.
#[shmem::test]
fn an_index_that_is_not_given_is_not_taken_for_0(world: &mut World) {
    use shmem::__private::strided::{Axis, Constant, Region, get, loading, put, storing};
    let me = world.me();
    let (nothing, mut into) = ([0.0_f64; 0], [0.0_f64; 0]);
    let (first, dynamic) = ([Axis::range(0, 1)], [Axis::dynamic()]);
    let (there, here) = (Region::new("ROW", &first, &[]), Region::new("nothing", &dynamic, &[]));
    refused! {
        put(storing(world), &ROW, me, &nothing, &there, &here, &const { Constant::dynamic(None) }, |e| e, |e| e)
            => "an index that only the run knows is not given";
        get(loading(world), &mut into, &ROW, me, &here, &there, &const { Constant::dynamic(None) }, |e| e, |e| e)
            => "an index that only the run knows is not given";
    }
}

/// What is read must not be written by the same transfer: only where the PE is this one can it be.
#[shmem::test]
fn a_transfer_within_one_object(world: &mut World) {
    let me = world.me();
    fill(world);
    let overlap = "the two regions of `FIELD` overlap, and the PE is this one: it would write what it still has to read";
    let n = 8;
    // Where the PE is counts, and not how it is marked.
    // SAFETY: nothing but what is refused here is issued to it.
    for me in [me, unsafe { me.observed() }] {
        refused! {
            strided!(world, FIELD@me[0, 1..9] = FIELD[0, 0..8]) => overlap;
            strided!(world, FIELD[0, 1..9] = FIELD@me[0, 0..8]) => overlap;
            strided!(world, FIELD[dyn 0, 1..9] = FIELD@me[dyn 0, 0..8]) => overlap;
            strided!(world, FIELD@me[0, dyn 1..=n] = FIELD[0, 0..8]) => overlap;
            strided!(world, FIELD[0, dyn 1..=n] = FIELD@me[0, 0..8]) => overlap;
        }
    }
    // The same is nothing to do, and what lies apart is moved.
    strided!(world, FIELD@me[dyn 1, ..] = FIELD[1, ..]);
    strided!(world, FIELD@me[.., 0] = FIELD[.., 19]);
    strided!(world, FIELD[dyn 3, ..10] = FIELD@me[dyn 3, 10..]);
    strided!(world, FIELD@me[.., 1] = OTHER[.., 1]);
    for (i, row) in contents(world, &FIELD).iter().enumerate() {
        let right = |j: usize| value(0, i * COLUMNS + j);
        let expected = |j: usize| match j {
            1 => 0.0,
            0 if i != 3 => right(19),
            _ if i == 3 && j < 10 => right(j + 10),
            _ => right(j),
        };
        assert_eq!(*row, std::array::from_fn(expected), "row {i}");
    }
}
