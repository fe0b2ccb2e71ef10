//! Sides of `strided!`, and its checks at run time. (The elements that each form moves: `racing::strided`.)

use std::num::Wrapping;

use bytemuck::Zeroable as _;
use shmem::Plain;
use shmem::prelude::*;

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
static CUBE: [[[f32; 5]; 4]; 6];
#[symmetric]
static TURNS: [Plain<Wrapping<u32>>; 4];

fn value(pe: usize, i: usize) -> f32 {
    (pe * 10_000 + i + 1) as f32
}

fn fill(world: &World) {
    for (i, j) in (0..ROWS).flat_map(|i| (0..COLUMNS).map(move |j| (i, j))) {
        FIELD.here(world).index(i).index(j).store(value(world.my_pe(), i * COLUMNS + j));
    }
}

/// Sides may be this PE's own copy, objects of any length, and parts of slices; through a context; data of another crate.
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
    // Rows whose number is known only at run time, opposite lines of known and unknown length.
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
    assert_eq!(ROW.here(world).load(), sent(other.number()));
    let kind = |i: usize| if i < 6 { 100 * other.number() + 6 + i } else { 100 * me + i };
    assert!((0..ROWS).all(|i| usize::from(CELLS.here(world).index(i).load().kind) == kind(i)));
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

#[shmem::test]
fn what_does_not_fit_is_refused_before_anything_moves(world: &mut World) {
    let me = world.me();
    let source = vec![1.0; COLUMNS];
    let (n, start, far, last) = (3, 1, 12, usize::MAX);
    let mut line = [0.0_f32; 11];
    refused! {
        strided!(world, FIELD@me[dyn far, ..] = OTHER[0, ..])
            => "`FIELD` has 12 elements in dimension 0, but the index is 12";
        strided!(world, FIELD@me[dyn start..=n + 9, 0] = OTHER[dyn start..far - 1, 0])
            => "`FIELD` has 12 elements in dimension 0, but the region ends at 13";
        strided!(world, ROW@me[..] = (source[1..])[..]) => "the destination is 20 elements, the source 19";
        strided!(world, ROW@me[5] = source[..]) => "the destination is 1 elements, the source 20";
        strided!(world, ROW@me[dyn start..=last] = source[..])
            => format!("`ROW` has 20 elements in dimension 0, but the region ends at {last}");
        strided!(world, (&mut line[..])[..] = CUBE@me[1..5, 2, 1..4])
            => "the destination is 11 elements, the source 4 x 3, which are 12";
        strided!(world, ROW@me[..; dyn n - 3] = source[..]) => "a stride must be at least 1";
        strided!(world, ROW@me[..; 2; dyn n] = source[..])
            => "blocks of 3 elements overlap at a stride of 2; the stride must be at least the block";
    }
    let found = (ROW.here(world).load(), FIELD.here(world).load());
    assert_eq!(found, ([0.0; COLUMNS], [[0.0; COLUMNS]; ROWS]), "something was written");
}

/// Calls that `strided!` does not generate: a dynamic index is declared, but not passed.
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

/// A transfer to the calling PE must not overwrite its own source.
#[shmem::test]
fn a_transfer_within_one_object(world: &mut World) {
    let me = world.me();
    fill(world);
    let overlap = "the two regions of `FIELD` overlap, and the PE is this one: it would write what it still has to read";
    let n = 8;
    // The check compares PE numbers, not the marks of observed PEs.
    // SAFETY: only refused transfers use the observed PE.
    for me in [me, unsafe { me.observed() }] {
        refused! {
            strided!(world, FIELD@me[0, 1..9] = FIELD[0, 0..8]) => overlap;
            strided!(world, FIELD[0, 1..9] = FIELD@me[0, 0..8]) => overlap;
            strided!(world, FIELD[dyn 0, 1..9] = FIELD@me[dyn 0, 0..8]) => overlap;
            strided!(world, FIELD@me[0, dyn 1..=n] = FIELD[0, 0..8]) => overlap;
            strided!(world, FIELD[0, dyn 1..=n] = FIELD@me[0, 0..8]) => overlap;
        }
    }
    // A region onto itself needs no transfer. Disjoint regions are moved.
    let mut expected = FIELD.here(world).load();
    strided!(world, FIELD@me[dyn 1, ..] = FIELD[1, ..]);
    strided!(world, FIELD@me[.., 0] = FIELD[.., 19]);
    strided!(world, FIELD[dyn 3, ..10] = FIELD@me[dyn 3, 10..]);
    strided!(world, FIELD@me[.., 1] = OTHER[.., 1]);
    expected.iter_mut().for_each(|row| row[0] = row[19]);
    expected[3].copy_within(10.., 0);
    expected.iter_mut().for_each(|row| row[1] = 0.0);
    assert_eq!(FIELD.here(world).load(), expected);
}
