//! What the grammar of `strided!` allows, and what is checked when the program runs. Random regions, and constant ones by every
//! algorithm, are in `racing::strided`.

use std::num::Wrapping;

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

/// Fills this PE's copy of a field.
fn fill(world: &World, field: &Symmetric<[[f32; COLUMNS]; ROWS]>, pe: usize) {
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            field.here(world).index(i).index(j).store(value(pe, i * COLUMNS + j));
        }
    }
}

fn contents<T: PlainData>(world: &World, object: &'static Symmetric<T>) -> Box<T> {
    let mut all = Box::new(T::zeroed());
    world.get(&mut *all, object.on(world.me()));
    all
}

#[shmem::test(pes = 2)]
fn structures_of_constant_regions(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    let cell = |pe: usize, i: usize| Cell {
        mass: f64::from(value(pe, i)),
        x: value(pe, 100 + i),
        y: value(pe, 200 + i),
        spin: [1, 2, 3].map(|k| (k * 100 + 50 * pe + i) as u16),
        kind: (pe + i) as u16,
    };
    let mine: [Cell; ROWS] = std::array::from_fn(|i| cell(me, i));
    world.put(CELLS.on(world.me()), &mine);
    let rows: [[Cell; 4]; ROWS] = std::array::from_fn(|i| std::array::from_fn(|j| cell(me + 2, 4 * i + j)));
    world.put(GRID.on(world.me()), &rows);
    world.put(ONE.on(world.me()), &cell(me + 4, 0));
    world.barrier_all();
    let from = other.number();

    // One field, into an array of what it is.
    let mut masses = [0.0; ROWS];
    strided!(world, masses[..] = CELLS@other[..].mass);
    assert_eq!(masses, std::array::from_fn(|i| cell(from, i).mass));
    let mut spins = vec![[0; 3]; ROWS];
    strided!(world, algorithm = 2; spins[..] = CELLS@other[..].spin);
    assert_eq!(spins, (0..ROWS).map(|i| cell(from, i).spin).collect::<Vec<_>>());
    // Several of one type, into a matrix; a column of structures.
    let mut places = [[0.0; 2]; ROWS];
    strided!(world, places[..] = GRID@other[.., 2].{x, y});
    assert_eq!(places, std::array::from_fn(|i| [cell(from + 2, 4 * i + 2).x, cell(from + 2, 4 * i + 2).y]));
    // Several of several types, into structures.
    let mut some = [Cell::zeroed(); ROWS / 2];
    strided!(world, some[..].{y, spin} = CELLS@other[1..; 2].{y, spin});
    let expected = |i: usize| {
        let Cell { y, spin, .. } = cell(from, 2 * i + 1);
        Cell { y, spin, ..Cell::zeroed() }
    };
    assert_eq!(some, std::array::from_fn(expected));
    // An object without dimensions.
    let mut spin = [0; 3];
    strided!(world, spin[..] = ONE@other[..].spin);
    assert_eq!(spin, cell(from + 4, 0).spin);
    world.barrier_all();
    strided!(world, CELLS@other[..].kind = GRID[.., 1].kind);
    strided!(world, ONE@other[..].{x, y} = CELLS[3].{x, y});
    world.barrier_all();
    let expected = |i: usize| Cell { kind: cell(from + 2, 4 * i + 1).kind, ..cell(me, i) };
    assert_eq!(*contents(world, &CELLS), std::array::from_fn::<_, ROWS, _>(expected));
    let Cell { x, y, .. } = cell(from, 3);
    assert_eq!(*contents(world, &ONE), Cell { x, y, ..cell(me + 4, 0) });
}

/// A variable behind `dyn` may be a range, of any kind; it is still there afterwards.
#[shmem::test(pes = 2)]
fn variables_that_are_ranges(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    fill(world, &FIELD, me);
    fill(world, &OTHER, me + 2);
    world.barrier_all();
    let theirs = |i: usize, j: usize| value(other.number() + 2, i * COLUMNS + j);
    let (rows, columns, j) = (1..ROWS - 1, 2..=5, 7);
    strided!(world, FIELD@other[dyn rows, 0] = OTHER[dyn rows, dyn j]);
    let mut block = [[0.0; 4]; ROWS - 2];
    strided!(world, block[..] = OTHER@other[dyn rows, dyn columns]);
    assert_eq!(block, std::array::from_fn(|i| std::array::from_fn(|j| theirs(i + 1, j + 2))));
    let mut packed = vec![0.0; 4 * (ROWS - 2)];
    strided!(packed[..] = block[dyn .., ..]);
    assert_eq!(packed, block.as_flattened());
    let (from, odd) = (10.., 1..);
    let mut ends = [0.0; 2];
    strided!(world, ends[..] = OTHER@other[dyn from, 19]);
    assert_eq!(ends, [theirs(10, 19), theirs(11, 19)]);
    let mut every = [0.0; ROWS / 2];
    strided!(world, every[..] = OTHER@other[dyn odd; 2, 3]);
    assert_eq!(every, std::array::from_fn(|i| theirs(2 * i + 1, 3)));
    world.barrier_all();
    for (i, row) in contents(world, &FIELD).iter().enumerate() {
        let first = if rows.contains(&i) { theirs(i, j) } else { value(me, i * COLUMNS) };
        assert_eq!((row[0], row[1]), (first, value(me, i * COLUMNS + 1)), "row {i}");
    }
    let long = 3..=ROWS;
    refused! {
        strided!(world, FIELD@other[dyn long, 0] = OTHER[dyn rows, 0])
            => "`FIELD` has 12 elements in dimension 0, but the region ends at 13";
        strided!(world, FIELD@other[0..3, 0] = OTHER[dyn rows, 0])
            => "the destination is 3 elements, the source 10";
    }
}

/// Dimensions that a region does not name are taken whole: so elements may be arrays, as complex numbers are.
#[shmem::test(pes = 2)]
fn elements_that_are_arrays(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    let complex = |pe: usize, i: usize, j: usize| [f64::from(value(pe, 8 * i + j)), -1.0];
    for (i, j) in (0..6).flat_map(|i| (0..8).map(move |j| (i, j))) {
        WAVES.here(world).index(i).index(j).store(complex(me, i, j));
    }
    world.barrier_all();
    let theirs = |i: usize, j: usize| complex(other.number(), i, j);
    let mut column = [[0.0; 2]; 6];
    strided!(world, column[..] = WAVES@other[.., 3]);
    assert_eq!(column, std::array::from_fn(|i| theirs(i, 3)));
    let (mut row, mut element, i) = (vec![[0.0; 2]; 8], [0.0; 2], 4);
    strided!(world, row[..] = WAVES@other[dyn i]);
    assert!(row.iter().enumerate().all(|(j, z)| *z == theirs(i, j)));
    strided!(world, element[..] = WAVES@other[5, dyn i]);
    assert_eq!(element, theirs(5, 4));
    // Packed, and unpacked.
    let mut packed = vec![[0.0; 2]; 2 * 3];
    strided!(world, packed[..] = WAVES@other[1..3, ..6; 2]);
    let expected = [1, 2].into_iter().flat_map(|i| [0, 2, 4].map(|j| (i, j)));
    assert_eq!(packed, expected.map(|(i, j)| theirs(i, j)).collect::<Vec<_>>());
    let mut unpacked = vec![[[0.0; 2]; 3]; 2];
    strided!(unpacked[..] = packed[..]);
    assert_eq!(unpacked.as_flattened(), packed);
    world.barrier_all();
    strided!(world, WAVES@other[0..2, 7] = WAVES[0..2, 0]);
    world.barrier_all();
    let waves = contents(world, &WAVES);
    assert_eq!([waves[0][7], waves[1][7], waves[2][7]], [theirs(0, 0), theirs(1, 0), complex(me, 2, 7)]);
}

/// Plain data of another crate, through a context.
#[shmem::test(pes = 2)]
fn elements_of_other_crates(world: &mut World) {
    let (me, other) = (world.my_pe() as u32, world.ring_neighbours().1);
    let context = world.create_ctx::<Private>().unwrap();
    let context = context.bind(world);
    world.put(TURNS.on(other), &[Plain(Wrapping(u32::MAX - me)); 4]);
    world.barrier_all();
    let mut ends = [Plain::default(); 2];
    strided!(&context, ends[..] = TURNS@(world.me())[..; 3]);
    assert_eq!(ends.map(|Plain(turns)| turns + Wrapping(2)), [Wrapping(me); 2]);
}

/// The length of a slice is taken from the other side.
#[shmem::test(pes = 2)]
fn slices(world: &mut World) {
    let other = world.ring_neighbours().1;
    let source: Vec<f64> = (0..COLUMNS).map(|i| f64::from(value(world.my_pe(), i))).collect();
    strided!(world, ROW@other[4..12; 2] = (source[..4])[..]);
    strided!(world, ROW@other[1..12; 2] = (source[8..])[..; 2]);
    world.barrier_all();
    let sent = |i: usize| f64::from(value(other.number(), i));
    let row = contents(world, &ROW);
    // The next puts change what has just been read.
    world.barrier_all();
    let expected = |i: usize| match i {
        0 | 2 | 12 => 0.0,
        _ if i % 2 == 1 => sent(7 + i),
        _ => sent(i / 2 - 2),
    };
    assert_eq!(row[..13], std::array::from_fn::<_, 13, _>(expected));
    strided!(world, ROW@other[14..20] = (source[..10])[..; 4; 2]);
    world.barrier_all();
    assert_eq!(contents(world, &ROW)[14..], [0, 1, 4, 5, 8, 9].map(sent));
    // Both sides of a length that only the run knows.
    let heap = world.alloc(zeroed::<f64>(5)).unwrap();
    strided!(world, heap@other[..] = (source[..5])[..]);
    world.barrier_all();
    world.barrier_all();
    let mut found = vec![0.0; 3];
    strided!(world, found[..] = heap@other[..; 2]);
    assert_eq!(found, [0, 2, 4].map(|i| source[i]));
}

/// The cube that `fill_cube` makes.
fn cube_of(pe: usize) -> [[[f32; 5]; 4]; 6] {
    std::array::from_fn(|i| std::array::from_fn(|j| std::array::from_fn(|k| value(pe, (i * 4 + j) * 5 + k))))
}

fn fill_cube(world: &World) {
    for (i, plane) in cube_of(world.my_pe()).iter().enumerate() {
        for (j, row) in plane.iter().enumerate() {
            CUBE.here(world).index(i).index(j).index(..).copy_from(row);
        }
    }
}

/// A line of the run, of the compiler, and of neither: it takes what the region has, in row-major order.
#[shmem::test(pes = 2)]
fn regions_are_packed(world: &mut World) {
    let other = world.ring_neighbours().1;
    fill_cube(world);
    let heap = world.alloc(zeroed::<[f32; 5]>(6)).unwrap();
    world.barrier_all();
    let theirs = cube_of(other.number());
    let face: Vec<f32> =
        (1..5).flat_map(|i| (1..4).map(move |k| (i, k))).map(|(i, k)| theirs[i][2][k]).collect();
    let mut vector = vec![0.0; 12];
    strided!(world, vector[..] = CUBE@other[1..5, 2, 1..4]);
    assert_eq!(vector, face);
    let mut part = [0.0; 20];
    strided!(world, part[3..15] = CUBE@other[1..5, 2, 1..4]);
    assert_eq!((part[2], &part[3..15], part[15]), (0.0, &face[..], 0.0));
    // At distances, in blocks, and whole.
    let mut apart = vec![0.0; 3 * 2 * 4];
    strided!(world, apart[..] = CUBE@other[..; 2, ..; 3, ..4; 2; 2]);
    let expected = [0, 2, 4].into_iter().flat_map(|i| [0, 3].map(|j| (i, j)));
    assert_eq!(apart, expected.flat_map(|(i, j)| theirs[i][j][..4].to_vec()).collect::<Vec<_>>());
    let mut whole = vec![0.0; 120];
    strided!(world, whole[..] = CUBE@other[..]);
    assert_eq!(whole, theirs.as_flattened().as_flattened());
    // From this PE's copy into a line of the other one.
    strided!(world, LINE@other[8..20] = CUBE[1..5, 2, 1..4]);
    world.barrier_all();
    let mut line = vec![0.0_f32; 30];
    line[8..20].copy_from_slice(&face);
    assert_eq!(contents(world, &LINE)[..], line);
    // Rows of which only the run knows the number, opposite lines of which it does not, and of which it does.
    strided!(world, heap@other[..] = LINE[..]);
    world.barrier_all();
    let (mut known, mut unknown, mut rows) = ([0.0_f32; 30], vec![0.0_f32; 30], vec![0.0_f32; 10]);
    strided!(world, known[..] = heap@other[..]);
    strided!(world, unknown[..] = heap@other[..]);
    strided!(world, rows[..] = heap@other[2..4, ..]);
    assert_eq!((&known[..], &unknown[..], &rows[..]), (&line[..], &line[..], &line[10..20]));
    let mut column = vec![0.0_f32; 6];
    strided!(world, column[..] = heap@other[.., 3]);
    assert_eq!(column, [3, 8, 13, 18, 23, 28].map(|i| line[i]));
    world.barrier_all();
}

/// Back into the region from which they were packed, of which the rest stays as it was.
#[shmem::test(pes = 2)]
fn regions_are_unpacked(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    let sent = |pe: usize, i: usize| value(pe, 5000 + i);
    let line: Vec<f32> = (0..12).map(|i| sent(me, i)).collect();
    fill_cube(world);
    world.barrier_all();
    strided!(world, CUBE@other[1..5, 2, 1..4] = line[..]);
    strided!(world, LINE@other[..12] = line[..]);
    world.barrier_all();
    let mut expected = cube_of(me);
    (0..12).for_each(|i| expected[1 + i / 3][2][1 + i % 3] = sent(other.number(), i));
    assert_eq!(*contents(world, &CUBE), expected);
    let mut here = [[0.0; 4]; 5];
    strided!(world, here[1..4, ..] = LINE@(world.me())[..12]);
    assert_eq!(here.as_flattened()[4..16], (0..12).map(|i| sent(other.number(), i)).collect::<Vec<_>>());
    let mut cells = [Cell::zeroed(); 3];
    strided!(world, cells[..].{x, y} = LINE@other[..6]);
    assert!((0..3).all(|i| (cells[i].x, cells[i].y) == (sent(me, 2 * i), sent(me, 2 * i + 1))));
    let mut grid = [[Cell::zeroed(); 2]; 3];
    strided!(world, grid[.., ..].{x, y} = LINE@other[..12]);
    let at = |i: usize, j: usize| (sent(me, 4 * i + 2 * j), sent(me, 4 * i + 2 * j + 1));
    assert!((0..3).all(|i| (0..2).all(|j| (grid[i][j].x, grid[i][j].y) == at(i, j))));
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
    let cube = cube_of(0);
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
    fill(world, &FIELD, 0);
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
    let mut packed = vec![0.0_f32; 11];
    refused! {
        strided!(packed[..] = cube[0..4, 0, 0..3])
            => "the destination is 11 elements, the source 4 x 3, which are 12";
    }
}

#[shmem::test]
fn what_does_not_fit_is_refused_before_anything_moves(world: &mut World) {
    let me = world.me();
    let source = vec![1.0; COLUMNS];
    let (n, start, far, last) = (3, 1, 12, usize::MAX);
    let (mut line, mut into) = ([0.0_f32; 11], [0.0; COLUMNS]);
    refused! {
        strided!(world, FIELD@me[dyn far, ..] = OTHER[0, ..])
            => "`FIELD` has 12 elements in dimension 0, but the index is 12";
        strided!(world, ROW@me[dyn 0..n * far] = source[..])
            => "`ROW` has 20 elements in dimension 0, but the region ends at 36";
        strided!(world, ROW@me[dyn 0..n] = source[..]) => "the destination is 3 elements, the source 20";
        strided!(world, ROW@me[..] = (source[1..])[..]) => "the destination is 20 elements, the source 19";
        strided!(world, ROW@me[5] = source[..]) => "the destination is 1 elements, the source 20";
        strided!(world, ROW@me[0..5] = (source[1..5])[0..5])
            => "`source[1..5]` has 4 elements in dimension 0, but the region ends at 5";
        strided!(world, ROW@me[dyn start..5; dyn last; dyn last] = source[..])
            => "elements, but the region ends at 5";
        strided!(world, ROW@me[dyn start..=last] = source[..])
            => format!("`ROW` has 20 elements in dimension 0, but the region ends at {last}");
        strided!(world, ROW@me[0..5] = (source[..5])[0..=usize::MAX])
            => format!("`source[..5]` has 5 elements in dimension 0, but the region ends at {last}");
        strided!(world, (&mut line[..])[..] = CUBE@me[1..5, 2, 1..4])
            => "the destination is 11 elements, the source 4 x 3, which are 12";
        strided!(world, FIELD@me[0..2, 0..3] = (line[..5])[..])
            => "the destination is 2 x 3 elements, the source 5; those of the destination are 6";
        strided!(world, ROW@me[0..6] = (source[..9])[..; 4; 2])
            => "the last block starts at 8 and has 2 elements, but the region ends at 9";
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
    use shmem::__private::strided::{Axis, Region, get_dyn, loading, put_dyn, storing};
    let me = world.me();
    let (nothing, mut into) = ([0.0_f64; 0], [0.0_f64; 0]);
    let (first, dynamic) = ([Axis::range(0, 1)], [Axis::dynamic()]);
    let (there, here) = (Region::new("ROW", &first, &[]), Region::new("nothing", &dynamic, &[]));
    refused! {
        put_dyn(storing(world), &ROW, me, &nothing, &there, &here, None, |e| e, |e| e)
            => "an index that only the run knows is not given";
        get_dyn(loading(world), &mut into, &ROW, me, &here, &there, None, |e| e, |e| e)
            => "an index that only the run knows is not given";
    }
}

/// What is read must not be written by the same transfer: only where the PE is this one can it be.
#[shmem::test]
fn a_transfer_within_one_object(world: &mut World) {
    let me = world.me();
    fill(world, &FIELD, 0);
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

trait Zeroed {
    fn zeroed() -> Self;
}

impl Zeroed for Cell {
    fn zeroed() -> Self {
        bytemuck::Zeroable::zeroed()
    }
}
