//! Arrays in chunks: made, filled, reached from other PEs, dropped and freed, in every storage.

use shmem::array::{ArrayHere, ArrayOn, Chosen, Cyclic, Multi, Separate, Single, Storage, StorageKind};
use shmem::prelude::*;
use shmem::{Here, On};
use shmem_core::data::PlainData;

use crate::dice::Dice;
use crate::{is_loopback, refusal};

/// Mappings of this process's memory and open descriptors.
fn held() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = maps.lines().filter(|line| line.contains("/memfd:")).count();
    (memory, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

/// All elements of an array on a PE, in row-major order.
fn all<T: PlainData, const D: usize, S: Storage>(
    world: &World,
    array: &NumaArray<T, D, S>,
    pe: Pe,
) -> Vec<T> {
    let mut elements = vec![T::zeroed(); array.len()];
    world.get(&mut elements[..], array.on(pe));
    elements
}

/// Makes arrays of several shapes in a storage, and has every PE write into every other.
fn made_and_reached<S: Storage>(world: &mut World, storage: S) {
    let (me, n) = (world.my_pe(), world.n_pes());
    for chunks in [1, 2, 3, 4, 7] {
        let value = |pe: usize, index: &[usize]| {
            index.iter().fold(pe as u64 + 1, |value, i| value * 1000 + *i as u64)
        };
        let line = world.array([5000]).storage(storage).chunks(chunks).from_fn(|i| value(me, &i)).unwrap();
        let plane = world.array([3, 700]).storage(storage).chunks(chunks).from_fn(|i| value(me, &i)).unwrap();
        let cube =
            world.array([2, 9, 70]).storage(storage).chunks(chunks).from_fn(|i| value(me, &i)).unwrap();
        let zeros = world.array([999]).storage(storage).chunks(chunks).zeroed::<f32>().unwrap();
        let ones = world.array([999]).storage(storage).chunks(chunks).filled([1_u8; 3]).unwrap();
        for pe in world.pes().iter().collect::<Vec<_>>() {
            let k = pe.number();
            assert!(all(world, &line, pe).into_iter().eq((0..5000).map(|i| value(k, &[i]))));
            let expected = (0..3).flat_map(|i| (0..700).map(move |j| [i, j]));
            assert!(all(world, &plane, pe).into_iter().eq(expected.map(|index| value(k, &index))));
            let indices = (0..2).flat_map(|i| (0..9).flat_map(move |j| (0..70).map(move |k| [i, j, k])));
            assert!(all(world, &cube, pe).into_iter().eq(indices.map(|index| value(k, &index))));
            assert_eq!(all(world, &zeros, pe), [0.0; 999]);
            assert_eq!(all(world, &ones, pe), [[1; 3]; 999]);
        }
        world.barrier_all();
        // A share of each array from each PE, across the ends of chunks.
        let share = 5000 / n;
        for pe in world.pes().iter().collect::<Vec<_>>() {
            let mine: Vec<u64> =
                (0..share).map(|i| (me * n + pe.number()) as u64 * 10_000 + i as u64).collect();
            world.put(line.on(pe).index(me * share..(me + 1) * share), &mine[..]);
            world.p(cube.on(pe).index([1, me % 9, 69]), 7);
        }
        world.barrier_all();
        let found = all(world, &line, world.me());
        for (from, found) in found.chunks_exact(share).take(n).enumerate() {
            let base = (from * n + me) as u64 * 10_000;
            assert!(found.iter().copied().eq((0..share as u64).map(|i| base + i)), "from PE {from}");
        }
        assert_eq!(world.g(cube.on(world.me()).index([1, (n - 1) % 9, 69])), 7);
        assert_eq!(world.affinity(&line).unwrap(), 1.0, "one node, or all is where it belongs");
        world.free(line).unwrap();
        drop((plane, cube, zeros));
        world.free(ones).unwrap();
    }
}

/// Calls a function with each storage.
macro_rules! in_every_storage {
    ($call:ident($world:ident $(, $argument:expr)*)) => {
        $call($world, Single $(, $argument)*);
        $call($world, Separate $(, $argument)*);
        $call($world, Cyclic { block: 0 } $(, $argument)*);
        $call($world, Cyclic { block: 64 << 10 } $(, $argument)*);
        $call($world, Multi $(, $argument)*);
        $call($world, Chosen $(, $argument)*);
    };
}

#[shmem::test(pes = [2, 3])]
fn arrays_are_reached(world: &mut World) {
    in_every_storage!(made_and_reached(world));
}

#[shmem::test(pes = [2, 4], env("SHMEM_SYMMETRIC_SIZE" = "80M"))]
fn layers_follow_each_other(world: &mut World) {
    let most = if world.n_pes() == 2 { 4 << 20 } else { 1 << 20 };
    in_every_storage!(next_layer(world, &[1 << 10, 100_000, most]));
}

#[shmem::test(pes = 8)]
fn layers_follow_each_other_on_many(world: &mut World) {
    in_every_storage!(next_layer(world, &[1 << 10, 64 << 10]));
}

/// The loop of the source: each layer is computed from the one before it, whose memory goes back.
///
/// ```text
/// for layer in 1..numLayers {
///    var curLayer: [0..#nextLayer.size] node;
///    curLayer = nextLayer;
///    resize(nextLayer, n);
///    for v in curLayer {
///        var idx: int = complicatedExpensiveComputation(v);
///        nextLayer[idx] = someValue;
///    }
/// }
/// ```
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".
fn next_layer<S: Storage>(world: &mut World, storage: S, sizes: &[usize]) {
    const LAYERS: u64 = 6;
    const CHUNKS: usize = 4;
    let (pes, me): (Vec<Pe>, _) = (world.pes().iter().collect(), world.my_pe());
    let mut before = None;
    for &bytes in sizes {
        let n = bytes / 8;
        let layer = || world.array([n]).storage(storage).chunks(CHUNKS);
        // Node i of a layer is on PE i % pes, and its successor is a permutation of the nodes.
        let successor = |v: u64| (v.wrapping_mul(5) + 3) % n as u64;
        let owner = |v: u64| pes[v as usize % pes.len()];
        let mut next = layer().filled(u64::MAX).unwrap();
        // Whoever owns a node of the first layer says that it is itself.
        let own = || (0..n as u64).filter(|v| owner(*v).number() == me);
        own().for_each(|v| world.p(next.on(owner(v)).index(v as usize), v));
        let start = world.registrations();
        for number in 1..=LAYERS {
            world.barrier_all();
            let current = std::mem::replace(&mut next, layer().filled(u64::MAX).unwrap());
            let found = all(world, &current, world.me());
            let stride = if n > 4096 { 61 } else { 1 };
            for v in own().filter(|v| v % stride == 0) {
                let there = found[v as usize];
                assert!(there == v || there == u64::MAX, "layer {number}: node {v} is {there}");
                let to = successor(v);
                if n > 4096 {
                    // Only some of the nodes go on: then most of the next layer is empty.
                    world.p(next.on(owner(v)).index(v as usize), v);
                } else {
                    world.p(next.on(owner(to)).index(to as usize), to);
                }
            }
            if number % 2 == 0 {
                world.free(current).unwrap();
            }
        }
        let made = world.registrations() - start;
        match next.kind() {
            StorageKind::Single | StorageKind::Multi => assert_eq!(made, 0, "nothing is registered anew"),
            _ => assert_eq!(made, LAYERS, "each array is registered"),
        }
        drop(next);
        world.reclaim();
        // The pools stay.
        let now = held();
        if bytes == sizes[0] {
            before = Some(now);
        }
        assert!(is_loopback() || Some(now) == before, "{bytes} bytes: {now:?}, before {before:?}");
    }
}

#[shmem::test(pes = 2)]
fn memory_of_its_own_is_used_again_when_all_have_dropped_it(world: &mut World) {
    let make = || world.array([1 << 16]).storage(Separate).filled(7_u64).unwrap();
    let offset = |array: &NumaArray<u64, 1, Separate>| array.parts().list()[0].offset;
    let first = make();
    let at = offset(&first);
    let mut kept = Some(first);
    if world.my_pe() == 0 {
        kept = None;
    }
    let second = make();
    assert_ne!(offset(&second), at, "PE 1 still uses it");
    if let Some(kept) = &kept {
        assert_eq!(all(world, kept, world.pe(0).unwrap()), vec![7; 1 << 16], "all of it");
    }
    drop(kept);
    let third = world.array([1 << 16]).storage(Separate).zeroed::<u64>().unwrap();
    assert_eq!(third.parts().list()[0].offset, at, "now nobody does");
    assert_eq!(all(world, &third, world.pe(0).unwrap()), vec![0; 1 << 16]);
    drop(second);
}

#[shmem::test(pes = 2)]
fn a_put_on_its_way_arrives_before_the_array_goes(world: &mut World) {
    for kind in StorageKind::ALL.into_iter().cycle().take(40) {
        let array = world.array([10_000]).storage_kind(kind).chunks(3).zeroed::<u64>().unwrap();
        let (_, east) = world.ring_neighbours();
        for i in 0..50 {
            world.put(array.on(east).index(i * 200..(i + 1) * 200), &[i as u64; 200][..]);
        }
        match kind {
            StorageKind::Separate => drop(array),
            _ => world.free(array).unwrap(),
        }
    }
}

#[shmem::test(pes = 2)]
fn without_a_storage_an_array_lies_in_the_heap_if_there_is_room(world: &mut World) {
    let kind = |n: usize, chunks: usize| {
        let array = world.array([n]).chunks(chunks).zeroed::<u8>().unwrap();
        array.kind()
    };
    assert_eq!(kind(4 * 4096 - 1, 4), StorageKind::Single);
    assert_eq!(kind(32 << 20, 4), StorageKind::Single);
    assert_eq!(kind(65 << 20, 4), StorageKind::Separate);
    let typed = world.array([9]).storage(Multi).zeroed::<u8>().unwrap();
    assert_eq!(typed.kind(), StorageKind::Multi);
}

#[shmem::test(pes = 2, env("SHMEM_ARRAY_STORAGE" = "Cyclic=8K"))]
fn the_environment_decides_where_the_program_does_not(world: &mut World) {
    let chosen = world.array([9]).zeroed::<u8>().unwrap();
    assert_eq!(chosen.kind(), StorageKind::Cyclic { block: 8192 });
    let typed = world.array([1 << 20]).storage(Single).zeroed::<u8>().unwrap();
    assert_eq!(typed.kind(), StorageKind::Single);
    let kind = world.array([9]).storage_kind(StorageKind::Multi).zeroed::<u8>().unwrap().kind();
    assert_eq!(kind, StorageKind::Multi);
}

#[shmem::test(pes = 1, env("SHMEM_ARRAY_STORAGE" = "seperate"))]
#[should_panic(expected = "SHMEM_ARRAY_STORAGE=seperate: `seperate` is not a storage of arrays")]
fn a_storage_that_is_none_is_refused(_: &mut World) {}

#[shmem::test(pes = 2, env("SHMEM_LATER_SIZE" = "64M"))]
fn what_cannot_be_made_is_the_same_error_on_every_pe(world: &mut World) {
    let of = |n: usize| world.array([n]);
    let huge = usize::MAX / 2;
    let cases = [
        (of(0).zeroed::<u8>().map(drop), "an array of 0 has no elements"),
        (world.array([3, 0, 2]).zeroed::<u8>().map(drop), "an array of 3x0x2 has no elements"),
        (of(10).zeroed::<[u8; 0]>().map(drop), "elements of no bytes"),
        (of(10).chunks(11).zeroed::<u8>().map(drop), "an array of 10 cannot be cut into 11 chunks"),
        (of(10).chunks(0).zeroed::<u8>().map(drop), "in 0 chunks; give 1 or more"),
        // A list of them would be larger than any memory, too.
        (of(1 << 50).chunks(1 << 50).zeroed::<u8>().map(drop), "an array has at most 65536; ask for a chunk"),
        (of(huge).zeroed::<u64>().map(drop), "does not fit into an address space"),
        (
            world.array([huge, 9]).zeroed::<u64>().map(drop),
            "x9 elements of 8 bytes does not fit into an address space",
        ),
        (
            of(10).storage(Cyclic { block: 5000 }).zeroed::<u8>().map(drop),
            "a block is a number of bytes such as 64K, a multiple of the page",
        ),
        (of(65 << 20).storage(Separate).zeroed::<u8>().map(drop), "no room for another segment of 65M"),
        // A list of its blocks would be larger than any memory.
        (of(1 << 60).storage(Cyclic { block: 1 << 16 }).zeroed::<u8>().map(drop), "1048576T are asked for"),
        (of(65 << 20).storage(Multi).zeroed::<u8>().map(drop), "no room for another segment"),
        (
            of(65 << 20).storage(Single).zeroed::<u8>().map(drop),
            "no room for 65M aligned to 4096 in partition `default`",
        ),
        (of(10).partition_id(77).zeroed::<u8>().map(drop), "there is no partition 77"),
    ];
    for (result, part) in cases {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` in: {error}");
        let (mut least, mut most) = (0_u64, 0_u64);
        least = error.bytes().fold(least, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        most += least;
        world.min(&mut least);
        world.max(&mut most);
        assert_eq!(least, most, "the PEs differ: {error}");
    }
    assert_eq!(world.registrations(), 0, "nothing is left of any of them");
    let all = of(60 << 20).storage(Separate).zeroed::<u8>().unwrap();
    world.free(all).unwrap();
}

#[shmem::test(pes = 2)]
fn pools_serve_all_arrays_of_their_partition(world: &mut World) {
    let first = world.array([1000]).storage(Multi).chunks(3).filled(1_u32).unwrap();
    let pools = world.registrations();
    assert!(pools >= 1);
    let others: Vec<_> =
        (1..60).map(|n| world.array([n * 1000]).storage(Multi).chunks(3).filled(n).unwrap()).collect();
    assert_eq!(world.registrations(), pools);
    for (n, other) in (1..).zip(&others) {
        assert!(all(world, other, world.me()).iter().all(|value| *value == n));
    }
    // Another partition has its own.
    let id = world.create_partition("SIZE=1M:KIND=NORMALMEM:POLICY=PREFERRED").unwrap().id();
    let before = world.registrations();
    let elsewhere = world.array([9]).storage(Multi).partition_id(id).filled(1_u8).unwrap();
    assert!(world.registrations() > before);
    drop((first, others, elsewhere));
    // Larger than a pool: one more, for it alone.
    let before = world.registrations();
    let large = world.array([70 << 20]).storage(Multi).chunks(1).zeroed::<u8>().unwrap();
    assert_eq!(world.registrations(), before + 1);
    world.free(large).unwrap();
    let again = world.array([70 << 20]).storage(Multi).chunks(1).zeroed::<u8>().unwrap();
    assert_eq!((world.registrations(), again.len()), (before + 1, 70 << 20));
}

#[shmem::test(pes = 2)]
fn phases_open_arrays_beside_other_objects(world: &mut World) {
    for kind in StorageKind::ALL {
        let grid =
            world.array([300, 7]).storage_kind(kind).chunks(4).from_fn(|[i, j]| (i * 7 + j) as u64).unwrap();
        let total = world.alloc([0_u64]).unwrap();
        let me = world.my_pe() as u64;
        world.local((&grid, &total), |(mut grid, total)| {
            for [i, j] in grid.indices() {
                assert_eq!(grid[[i, j]], (i * 7 + j) as u64);
                grid[[i, j]] += 10_000 * me;
            }
            total[0] = grid.iter().sum();
        });
        let sum: u64 = (0..2100).sum();
        for pe in world.pes().iter().collect::<Vec<_>>() {
            let offset = 10_000 * pe.number() as u64;
            assert!(all(world, &grid, pe).into_iter().eq((0..2100).map(|value| value + offset)), "{kind}");
            assert_eq!(world.g(total.on(pe).index(0)), sum + 2100 * offset);
        }
        world.frozen(&grid, |grid| assert_eq!(grid.iter().count(), 2100));
        let twice = refusal(|| world.local((&grid, &grid), |_| ()));
        assert!(twice.contains("is named twice in one `local`"), "{kind}: {twice}");
    }
}

#[shmem::test(pes = 1)]
fn indices_of_a_range_count_from_its_start(world: &mut World) {
    let me = world.me();
    for kind in StorageKind::ALL {
        let array = world.array([100]).storage_kind(kind).chunks(7).from_fn(|[i]| i as u32).unwrap();
        let range = array.on(me).index(20..60).index(5..);
        assert_eq!((world.g(range.index(3)), world.g(range.index([3]))), (28, 28), "{kind}");
        for empty in [range.index(0..0), range.index(35..35), range.index(7..7)] {
            world.get(&mut [][..], empty);
        }
        // The range ends before element 60.
        refusal(|| range.index([35]));
    }
}

/// What is written to a part of an array, here or on another PE, is written to the same elements of a model.
struct Parts<'w> {
    world: &'w World,
    dice: Dice,
    next: u64,
}

impl Parts<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.dice.below(n as u64) as usize
    }

    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let first = self.below(len + 1);
        first..first + self.below(len - first + 1)
    }

    /// Reads and writes a part, of which these are the elements in the model.
    fn part<const D: usize>(
        &mut self,
        there: ArrayOn<'_, u64, D>,
        here: ArrayHere<'_, u64, D>,
        model: &mut [u64],
    ) {
        assert_eq!((there.shape(), there.len()), (here.shape(), model.len()));
        assert_eq!((here.len(), here.is_empty()), (model.len(), model.is_empty()));
        let (mut one, mut other) = (vec![0; model.len()], vec![0; model.len()]);
        self.world.get(&mut one[..], there);
        here.copy_to(&mut other);
        assert_eq!((&one[..], &other[..]), (&*model, &*model));
        self.next += 1;
        let new: Vec<u64> = (0..model.len() as u64).map(|i| self.next * 1_000_000 + i).collect();
        match self.below(3) {
            0 => self.world.put(there, &new[..]),
            1 => here.copy_from(&new),
            _ => {
                here.fill(self.next);
                return model.fill(self.next);
            }
        }
        model.copy_from_slice(&new);
    }

    fn element(&mut self, there: On<'_, u64>, here: Here<'_, u64>, model: &mut u64) {
        assert_eq!((self.world.g(there), here.load()), (*model, *model));
        self.next += 1;
        *model = self.next;
        if self.below(2) == 0 { self.world.p(there, self.next) } else { here.store(self.next) }
    }
}

/// Elements, rows, planes and ranges of them are what they are in row-major order, in every storage.
#[shmem::test(pes = 1)]
fn parts_of_arrays_are_those_of_a_model(world: &mut World) {
    let me = world.me();
    let mut parts = Parts { world, dice: Dice(71), next: 0 };
    for kind in StorageKind::ALL.into_iter().cycle().take(4 * 6) {
        let (n, m, l) = (parts.below(9) + 1, parts.below(9) + 1, parts.below(9) + 1);
        let chunks = parts.below(n.max(m).max(l)) + 1;
        let line = world.array([n * 5]).storage_kind(kind).chunks(chunks).from_fn(|[i]| i as u64).unwrap();
        let plane = world.array([n, m]).storage_kind(kind).chunks(chunks.min(n.max(m)));
        let plane = plane.from_fn(|[i, j]| (i * m + j) as u64).unwrap();
        let cube = world.array([n, m, l]).storage_kind(kind).chunks(chunks);
        let cube = cube.from_fn(|[i, j, k]| ((i * m + j) * l + k) as u64).unwrap();
        let model = |len: usize| (0..len as u64).collect::<Vec<_>>();
        let (mut a, mut b, mut c) = (model(n * 5), model(n * m), model(n * m * l));
        for _ in 0..12 {
            let (i, j, k) = (parts.below(n), parts.below(m), parts.below(l));
            let (there, here) = (line.on(me), line.here(world));
            parts.part(there, here, &mut a);
            let range = parts.range(n * 5);
            let inside = parts.range(range.len());
            let both = range.start + inside.start..range.start + inside.end;
            let range = (there.index(range.clone()), here.index(range));
            parts.part(range.0.index(inside.clone()), range.1.index(inside), &mut a[both]);
            parts.element(there.index(i), here.index(i), &mut a[i]);

            let (there, here) = (plane.on(me), plane.here(world));
            parts.part(there.index(i), here.index(i), &mut b[i * m..(i + 1) * m]);
            let rows = parts.range(n);
            let of = |rows: &std::ops::Range<usize>, row: usize| rows.start * row..rows.end * row;
            parts.part(there.index(rows.clone()), here.index(rows.clone()), &mut b[of(&rows, m)]);
            parts.element(there.index([i, j]), here.index([i, j]), &mut b[i * m + j]);
            parts.element(there.index(i..).index([0, j]), here.index(i).index(j), &mut b[i * m + j]);

            let (there, here) = (cube.on(me), cube.here(world));
            parts.part(there.index(i), here.index(i), &mut c[i * m * l..(i + 1) * m * l]);
            parts.part(there.index(i).index(j), here.index(i).index(j), &mut c[(i * m + j) * l..][..l]);
            parts.part(there.index(rows.clone()), here.index(rows.clone()), &mut c[of(&rows, m * l)]);
            let at = (i * m + j) * l + k;
            parts.element(there.index([i, j, k]), here.index(i).index([j, k]), &mut c[at]);
            for beyond in [[n, j, k], [i, m, k], [i, j, l]] {
                refusal(|| there.index(beyond));
            }
            refusal(|| there.index(n));
            refusal(|| there.index(i).index(m));
            refusal(|| there.index(..=n));
        }
    }
    let slice = world.array([3, 4]).storage(Single).filled(7_u8).unwrap();
    slice.slice_here(world).index(4..8).fill(9);
    assert_eq!(world.g(slice.slice_on(me).index(7)), 9);
    assert_eq!(world.g(slice.on(me).index([2, 0])), 7);
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(128))]
struct Line([u64; 16]);

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(8192))]
struct Wide([[u64; 16]; 64]);

/// Slid or not, in whatever piece: each element is aligned.
#[shmem::test(pes = 2)]
fn elements_are_aligned(world: &mut World) {
    for kind in StorageKind::ALL {
        for chunks in [1, 2, 3, 7] {
            let lines = world.array([701]).storage_kind(kind).chunks(chunks).zeroed::<Line>().unwrap();
            let wide = world.array([2, 9]).storage_kind(kind).chunks(chunks).zeroed::<Wide>().unwrap();
            world.local((&lines, &wide), |(mut lines, mut wide)| {
                assert!(lines.iter_mut().all(|line| (&raw const *line).addr().is_multiple_of(128)));
                assert!(wide.iter_mut().all(|one| (&raw const *one).addr().is_multiple_of(8192)));
            });
        }
    }
}
