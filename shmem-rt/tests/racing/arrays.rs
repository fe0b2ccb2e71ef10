//! Arrays in chunks: made, dropped and freed in each storage, and places in them. (From other PEs: random programs, and
//! `array_strided`.)

use shmem::array::{ArrayHere, ArrayOn, Multi, Single, Storage, StorageKind};
use shmem::prelude::*;
use shmem::{Here, On};
use shmem_core::symmetric_data::PlainData;

use crate::dice::Dice;
use crate::held::{held, is_loopback};
use crate::panics::said;

/// All elements of an array on a PE, in row-major order.
pub(crate) fn all<T: PlainData, const D: usize, S: Storage>(
    world: &World,
    array: &NumaArray<T, D, S>,
    pe: Pe,
) -> Vec<T> {
    let mut elements = vec![T::zeroed(); array.len()];
    world.get(&mut elements[..], array.on(pe));
    elements
}

/// The loop of the source: each layer exists until the next one has been made. No memory is held at the end.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".
#[shmem::test(pes = [2, 4], env("SHMEM_SYMMETRIC_SIZE" = "80M"))]
fn layers_follow_each_other(world: &mut World) {
    const LAYERS: u64 = 6;
    for storage in StorageKind::ALL.into_iter().chain([StorageKind::Cyclic { block: 64 << 10 }]) {
        let mut before = None;
        for len in [1 << 7, 7500, 1 << 17] {
            let layer = |number| world.array([len]).storage_kind(storage).chunks(4).filled(number).unwrap();
            let mut next = layer(0);
            let start = world.registrations();
            for number in 1..=LAYERS {
                let current = std::mem::replace(&mut next, layer(number));
                assert_eq!(all(world, &current, world.me()), vec![number - 1; len]);
                if number % 2 == 0 {
                    world.free(current).unwrap();
                }
            }
            let made = world.registrations() - start;
            let pooled = matches!(storage, StorageKind::Single | StorageKind::Multi);
            assert_eq!(made, if pooled { 0 } else { LAYERS }, "each array that lies by itself is registered");
            drop(next);
            world.reclaim();
            // Pools are kept.
            let now = held();
            let is_same = is_loopback() || now == *before.get_or_insert(now);
            assert!(is_same, "{len} words: {now:?}, before {before:?}");
        }
    }
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

/// Reads and writes places of arrays through the network's path and through the own copy, and compares them with a list.
struct ArrayPlaces<'w> {
    world: &'w World,
    dice: Dice,
    next: u64,
}

impl ArrayPlaces<'_> {
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
        self.next += 1_000_000;
        let way = self.dice.below(3);
        model.iter_mut().zip(0..).for_each(|(new, i)| *new = self.next + if way == 0 { 0 } else { i });
        match way {
            0 => here.fill(self.next),
            1 => here.copy_from(model),
            _ => self.world.put(there, model),
        }
    }

    fn element(&mut self, there: On<'_, u64>, here: Here<'_, u64>, model: &mut u64) {
        assert_eq!((self.world.g(there), here.load()), (*model, *model));
        self.next += 1;
        *model = self.next;
        if self.dice.below(2) == 0 { self.world.p(there, self.next) } else { here.store(self.next) }
    }
}

/// Elements, rows, planes and ranges in each storage are those of a list in row-major order.
#[shmem::test(pes = 1)]
fn parts_of_arrays_are_those_of_a_list(world: &mut World) {
    let me = world.me();
    let mut parts = ArrayPlaces { world, dice: Dice(71), next: 0 };
    for kind in StorageKind::ALL.into_iter().cycle().take(4 * 6) {
        let [n, m, l] = [(); 3].map(|()| parts.dice.below(9) + 1);
        let chunks = parts.dice.below(n.max(m).max(l)) + 1;
        let array = world.array([n * m * l]).storage_kind(kind).chunks(chunks.min(n * m * l));
        let line = array.from_fn(|[i]| i as u64).unwrap();
        let cube = world.array([n, m, l]).storage_kind(kind).chunks(chunks);
        let cube = cube.from_fn(|[i, j, k]| ((i * m + j) * l + k) as u64).unwrap();
        let mut a: Vec<u64> = (0..(n * m * l) as u64).collect();
        let mut c = a.clone();
        for _ in 0..12 {
            let (i, j, k) = (parts.dice.below(n), parts.dice.below(m), parts.dice.below(l));
            let (there, here) = (line.on(me), line.here(world));
            parts.part(there, here, &mut a);
            parts.element(there.index(i), here.index(i), &mut a[i]);
            let range = parts.dice.range(n);
            let inside = parts.dice.range(range.len());
            let both = range.start + inside.start..range.start + inside.end;
            let (there, here) = (there.index(range.clone()), here.index(range));
            let (there, here) = (there.index(inside.clone()), here.index(inside));
            parts.part(there, here, &mut a[both.clone()]);
            if !both.is_empty() {
                parts.element(there.index([0]), here.index(0), &mut a[both.start]);
                said(|| there.index([both.len()]));
            }

            let (there, here) = (cube.on(me), cube.here(world));
            parts.part(there.index(i), here.index(i), &mut c[i * m * l..(i + 1) * m * l]);
            parts.part(there.index(i).index(j), here.index(i).index(j), &mut c[(i * m + j) * l..][..l]);
            let rows = parts.dice.range(n);
            let of = rows.start * m * l..rows.end * m * l;
            parts.part(there.index(rows.clone()), here.index(rows), &mut c[of]);
            let at = (i * m + j) * l + k;
            parts.element(there.index([i, j, k]), here.index(i).index([j, k]), &mut c[at]);
            parts.element(there.index(i..).index([0, j, k]), here.index(i).index(j).index(k), &mut c[at]);
            for beyond in [[n, j, k], [i, m, k], [i, j, l]] {
                said(|| there.index(beyond));
            }
            said(|| there.index(n));
            said(|| there.index(i).index(m));
            said(|| there.index(..=n));
        }
    }
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(128))]
struct Aligned128([u64; 16]);

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(8192))]
struct Aligned8192([[u64; 16]; 64]);

/// Each element is aligned, in each storage and number of chunks.
#[shmem::test(pes = 2)]
fn elements_are_aligned(world: &mut World) {
    for kind in StorageKind::ALL {
        for chunks in [1, 2, 3, 7] {
            let lines = world.array([701]).storage_kind(kind).chunks(chunks).zeroed::<Aligned128>().unwrap();
            let wide = world.array([2, 9]).storage_kind(kind).chunks(chunks).zeroed::<Aligned8192>().unwrap();
            world.local((&lines, &wide), |(mut lines, mut wide)| {
                assert!(lines.iter_mut().all(|line| (&raw const *line).addr().is_multiple_of(128)));
                assert!(wide.iter_mut().all(|one| (&raw const *one).addr().is_multiple_of(8192)));
            });
        }
    }
}
