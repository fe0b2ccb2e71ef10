//! `strided!` moves the same elements for arrays in any storage, on either side. (Parts of a region in each chunk: `strided::split`
//! of shmem-core.)

use shmem::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};
use shmem::prelude::*;

use crate::arrays::all;
use crate::panics::refused;

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    pressure: f64,
    x: u32,
    y: u32,
}

/// Moves columns, a row, fields and whole arrays from one storage to another.
fn moved<S: Storage, T: Storage>(world: &World, one: S, other: T) {
    let (me, right) = (world.me(), world.ring_neighbours().1);
    let number = |[i, j]: [usize; 2]| (i * 100 + j) as u32;
    let from = world.array([64, 32]).storage(one).chunks(3).from_fn(number).unwrap();
    let to = world.array([64, 32]).storage(other).chunks(5).from_fn(number).unwrap();
    let (at, row, step) = (5_usize, 9_usize, 3_usize);
    strided!(world, to@right[.., 0] = from[.., 30]);
    strided!(world, to@right[dyn row, 1..9] = from[dyn at, 11..19]);
    world.scope(|s| strided!(s, to@right[20..; 4, 9..; 2] = from[..11, 20..]));
    world.barrier_all();
    let expected = |i: usize, j: usize| match (i, j) {
        (_, 0) => [i, 30],
        (9, 1..9) => [at, j + 10],
        (20.., 9..) if i.is_multiple_of(4) && j % 2 == 1 => [i / 4 - 5, j / 2 + 16],
        _ => [i, j],
    };
    let expected: Vec<u32> = (0..64 * 32).map(|n| number(expected(n / 32, n % 32))).collect();
    assert_eq!(all(world, &to, me), expected, "{} to {}", from.kind(), to.kind());
    let (mut edge, part) = ([0_u32; 64], world.array([64]).storage(one).chunks(4).zeroed::<u32>().unwrap());
    world.scope(|s| strided!(s, edge[..] = to@right[.., 0]));
    strided!(world, part[dyn ..22] = to@right[dyn ..; dyn step, 0]);
    assert!((0..64).all(|i| edge[i] == number([i, 30])));
    assert!(all(world, &part, me)[..22].iter().eq(edge.iter().step_by(3)));
    world.barrier_all();
    strided!(world, to@right[..] = from[..]);
    world.barrier_all();
    assert_eq!(all(world, &to, me), all(world, &from, me));
    // One field of each element, across chunks.
    let cell = |i: usize, y: u32| Cell { pressure: i as f64, x: 7, y };
    let cells = world.array([64]).storage(other).chunks(3).from_fn(|[i]| cell(i, 9)).unwrap();
    strided!(world, cells@right[..60].y = edge[..60]);
    world.barrier_all();
    let (mut found, mut fields) = ([cell(0, 0); 64], [0_u32; 64]);
    world.get(&mut found[..], cells.on(me));
    strided!(world, fields[..] = cells@me[..].y);
    assert_eq!(found, std::array::from_fn(|i| cell(i, if i < 60 { edge[i] } else { 9 })));
    assert_eq!(fields, found.map(|cell| cell.y));
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn regions_and_fields_across_chunks(world: &mut World) {
    moved(world, Multi, Multi);
    moved(world, Single, Multi);
    moved(world, Multi, Separate);
    moved(world, Cyclic { block: 0 }, Single);
    moved(world, Chosen, Chosen);
}

#[shmem::test(pes = 1)]
fn regions_of_an_array_on_this_pe_do_not_overlap(world: &mut World) {
    let a = world.array([4, 50]).storage(Multi).chunks(4).from_fn(|[i, j]| (i * 50 + j) as u32).unwrap();
    let me = world.me();
    strided!(world, a@me[0, 1..11] = a[3, 30..40]);
    assert_eq!(all(world, &a, me)[1..11], (180..190).collect::<Vec<u32>>());
    refused! {
        strided!(world, a@me[0, 1..11] = a[0, 2..12]) => "the two regions of `a` overlap";
        strided!(world, a@me[0, 41..51] = a[1, 0..10])
            => "`a` has 50 elements in dimension 1, but the region ends at 51";
    }
}
