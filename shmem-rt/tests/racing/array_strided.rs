//! `strided!` on arrays in chunks: whatever pieces they lie in, the elements moved are those of an array that
//! is one range.

use shmem::array::{Chosen, Cyclic, Multi, NumaArray, Separate, Single, Storage};
use shmem::prelude::*;

use crate::dice::Dice;
use crate::panics::refused;

fn below(dice: &mut Dice, n: usize) -> usize {
    dice.below(n as u64) as usize
}

/// First element, end and step of a range of at most `len` elements with at least one.
fn range(dice: &mut Dice, len: usize) -> (usize, usize, usize) {
    let first = below(dice, len);
    let end = first + 1 + below(dice, len - first);
    (first, end, 1 + below(dice, 4))
}

fn elements<const D: usize, S: Storage>(world: &World, array: &NumaArray<u32, D, S>, pe: Pe) -> Vec<u32> {
    let mut all = vec![0; array.len()];
    world.get(&mut all[..], array.on(pe));
    all
}

fn blank<const D: usize, S: Storage>(world: &World, array: &NumaArray<u32, D, S>) {
    world.put(array.on(world.me()), &vec![0; array.len()][..]);
}

/// The elements of a region with `steps` = (first, end, step) in each dimension of `shape`.
fn region(shape: &[usize], steps: &[(usize, usize, usize)]) -> Vec<usize> {
    shape.iter().zip(steps).fold(vec![0], |numbers, (&len, &(first, end, step))| {
        let along = || (first..end).step_by(step);
        numbers.iter().flat_map(|number| along().map(move |i| number * len + i)).collect()
    })
}

/// Moves random regions of two dimensions between arrays of different storages, both ways.
fn planes<A: Storage, B: Storage>(world: &World, one: A, other: B) {
    let right = world.ring_neighbours().1;
    let mut dice = Dice(7);
    for chunks in [1, 2, 3, 5] {
        for shape in [[40, 30], [3, 120], [120, 2]] {
            let from = world
                .array(shape)
                .storage(one)
                .chunks(chunks)
                .from_fn(|[i, j]| (i * 1000 + j + 1) as u32)
                .unwrap();
            let to = world.array(shape).storage(other).chunks(chunks).zeroed::<u32>().unwrap();
            for round in 0..20 {
                let rows = range(&mut dice, shape[0]);
                let columns = range(&mut dice, shape[1]);
                let source = region(&shape, &[rows, columns]);
                // The same counts somewhere else, at other steps.
                let count = |(first, end, step): (usize, usize, usize)| (end - first).div_ceil(step);
                let mut place = |len: usize, count: usize| {
                    let step = 1 + below(&mut dice, if count > 1 { (len - 1) / (count - 1) } else { 3 });
                    let hull = (count - 1) * step + 1;
                    let first = below(&mut dice, len - hull + 1);
                    (first, first + hull, step)
                };
                let (to_rows, to_columns) = (place(shape[0], count(rows)), place(shape[1], count(columns)));
                let target = region(&shape, &[to_rows, to_columns]);
                blank(world, &to);
                world.barrier_all();
                let (a, b, s) = rows;
                let (c, d, t) = columns;
                let (e, f, u) = to_rows;
                let (g, h, v) = to_columns;
                if round % 2 == 0 {
                    strided!(world, to@right[dyn e..f; dyn u, dyn g..h; dyn v] = from[dyn a..b; dyn s, dyn c..d; dyn t]);
                } else {
                    strided!(world, to[dyn e..f; dyn u, dyn g..h; dyn v] = from@right[dyn a..b; dyn s, dyn c..d; dyn t]);
                }
                world.barrier_all();
                let (given, all) = (elements(world, &from, world.me()), elements(world, &to, world.me()));
                let mut wanted = vec![0; all.len()];
                for (&to, &from) in target.iter().zip(&source) {
                    wanted[to] = given[from];
                }
                assert_eq!(
                    all, wanted,
                    "{shape:?} in {chunks} chunks: {rows:?} {columns:?} to {to_rows:?} {to_columns:?}"
                );
                world.barrier_all();
            }
        }
    }
}

#[shmem::test(pes = 2)]
fn random_regions_of_all_storages(world: &mut World) {
    planes(world, Multi, Multi);
    planes(world, Single, Multi);
    planes(world, Multi, Separate);
    planes(world, Cyclic { block: 0 }, Single);
    planes(world, Chosen, Chosen);
}

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    pressure: f64,
    x: u32,
    y: u32,
}

#[shmem::test(pes = 2)]
fn constant_regions_and_fields_across_chunks(world: &mut World) {
    fn columns<S: Storage>(world: &World, storage: S) {
        let right = world.ring_neighbours().1;
        let a =
            world.array([64, 32]).storage(storage).chunks(3).from_fn(|[i, j]| (i * 100 + j) as u32).unwrap();
        strided!(world, a@right[.., 0] = a[.., 30]);
        let (at, row) = (5_usize, 9_usize);
        strided!(world, a@right[dyn row, 1..9] = a[dyn at, 11..19]);
        let mut edge = [0_u32; 64];
        world.barrier_all();
        strided!(world, edge[..] = a@right[.., 0]);
        let all = elements(world, &a, world.me());
        for i in 0..64 {
            assert_eq!(edge[i] as usize, i * 100 + 30);
            assert_eq!(all[i * 32] as usize, i * 100 + 30);
            for j in 1..32 {
                let moved = i == row && (1..9).contains(&j);
                let expected = if moved { at * 100 + j + 10 } else { i * 100 + j };
                assert_eq!(all[i * 32 + j] as usize, expected, "{i}, {j}");
            }
        }
        world.barrier_all();
        strided!(world, a@right[..] = a[..]);
        world.barrier_all();
        // A field across chunks.
        let cell = |i: usize, y: u32| Cell { pressure: i as f64, x: 7, y };
        let cells = world.array([64]).storage(storage).chunks(3).from_fn(|[i]| cell(i, 9)).unwrap();
        strided!(world, cells@right[..60].y = edge[..60]);
        world.barrier_all();
        let (mut found, mut fields) = ([cell(0, 0); 64], [0_u32; 64]);
        world.get(&mut found[..], cells.on(world.me()));
        strided!(world, fields[..] = cells@(world.me())[..].y);
        assert_eq!(found, std::array::from_fn(|i| cell(i, if i < 60 { edge[i] } else { 9 })));
        assert_eq!(fields, found.map(|cell| cell.y));
        world.barrier_all();
    }
    columns(world, Single);
    columns(world, Separate);
    columns(world, Cyclic { block: 0 });
    columns(world, Multi);
    columns(world, Chosen);
}

#[shmem::test(pes = 1)]
fn regions_of_an_array_on_this_pe_do_not_overlap(world: &mut World) {
    let a = world.array([4, 50]).storage(Multi).chunks(4).from_fn(|[i, j]| (i * 50 + j) as u32).unwrap();
    let me = world.me();
    strided!(world, a@me[0, 1..11] = a[3, 30..40]);
    assert_eq!(elements(world, &a, me)[1..11], (180..190).collect::<Vec<u32>>());
    refused! {
        strided!(world, a@me[0, 1..11] = a[0, 2..12]) => "the two regions of `a` overlap";
        strided!(world, a@me[0, 41..51] = a[1, 0..10])
            => "`a` has 50 elements in dimension 1, but the region ends at 51";
    }
}
