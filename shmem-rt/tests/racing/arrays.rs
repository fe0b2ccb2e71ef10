//! Arrays in chunks: made, dropped and freed in each storage, and places in them. (Access from other PEs: random programs, and
//! `array_strided`.)

use shmem::array::{ArrayHere, ArrayOn, Multi, Single, Storage, StorageKind};
use shmem::prelude::*;
use shmem::{Here, On};
use shmem_core::symmetric_data::PlainData;

use crate::dice::Dice;
use crate::held::{held, is_loopback};
use crate::panics::said;

/// Returns all elements of an array on a PE, in row-major order.
pub(crate) fn all<T: PlainData, const D: usize, S: Storage>(
    world: &World,
    array: &NumaArray<T, D, S>,
    pe: Pe,
) -> Vec<T> {
    let mut elements = vec![T::zeroed(); array.len()];
    world.get(&mut elements[..], array.on(pe));
    elements
}

/// Makes layers as the source does: each layer exists until the next one has been made. At the end, no memory is held.
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
            // Memory pools are kept.
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
    // Another partition has a pool of its own.
    let id = world.create_partition("SIZE=1M:KIND=NORMALMEM:POLICY=PREFERRED").unwrap().id();
    let before = world.registrations();
    let elsewhere = world.array([9]).storage(Multi).partition_id(id).filled(1_u8).unwrap();
    assert!(world.registrations() > before);
    drop((first, others, elsewhere));
    // An array that exceeds a pool gets another pool for it alone.
    let before = world.registrations();
    let large = world.array([70 << 20]).storage(Multi).chunks(1).zeroed::<u8>().unwrap();
    assert_eq!(world.registrations(), before + 1);
    world.free(large).unwrap();
    let again = world.array([70 << 20]).storage(Multi).chunks(1).zeroed::<u8>().unwrap();
    assert_eq!((world.registrations(), again.len()), (before + 1, 70 << 20));
}

/// Compares a part of an array with a list, as other PEs and as this PE access it. Writes other numbers to all three.
fn compare<const D: usize>(
    world: &World,
    dice: &mut Dice,
    (there, here): (ArrayOn<'_, u64, D>, ArrayHere<'_, u64, D>),
    model: &mut [u64],
) {
    assert_eq!((there.shape(), there.len()), (here.shape(), model.len()));
    assert_eq!((here.len(), here.is_empty()), (model.len(), model.is_empty()));
    let (mut one, mut other) = (vec![0; model.len()], vec![0; model.len()]);
    world.get(&mut one[..], there);
    here.copy_to(&mut other);
    assert_eq!((&one[..], &other[..]), (&*model, &*model));
    let (way, new) = (dice.below(3), dice.below(1 << 30));
    model.iter_mut().zip(0..).for_each(|(item, i)| *item = new + if way == 0 { 0 } else { i });
    match way {
        0 => here.fill(new),
        1 => here.copy_from(model),
        _ => world.put(there, model),
    }
}

fn compare_one(world: &World, dice: &mut Dice, (there, here): (On<'_, u64>, Here<'_, u64>), model: &mut u64) {
    assert_eq!((world.g(there), here.load()), (*model, *model));
    *model = dice.below(1 << 30);
    if dice.below(2) == 0 { world.p(there, *model) } else { here.store(*model) }
}

/// Elements, rows, planes and ranges in each storage are those of a list in row-major order.
#[shmem::test(pes = 1)]
fn parts_of_arrays_are_those_of_a_list(world: &mut World) {
    let me = world.me();
    let dice = &mut Dice(71);
    for kind in StorageKind::ALL.into_iter().cycle().take(4 * 6) {
        let [n, m, l] = [(); 3].map(|()| dice.below(9) + 1);
        let chunks = dice.below(n.max(m).max(l)) + 1;
        let cube = world.array([n, m, l]).storage_kind(kind).chunks(chunks);
        let cube = cube.from_fn(|[i, j, k]| ((i * m + j) * l + k) as u64).unwrap();
        let (there, here) = (cube.on(me), cube.here(world));
        let mut c: Vec<u64> = (0..(n * m * l) as u64).collect();
        for _ in 0..12 {
            let [i, j, k] = [n, m, l].map(|length| dice.below(length));
            let at = (i * m + j) * l + k;
            compare(world, dice, (there.index(i), here.index(i)), &mut c[i * m * l..(i + 1) * m * l]);
            let row = (there.index(i).index(j), here.index(i).index(j));
            compare(world, dice, row, &mut c[at - k..][..l]);
            let (rows, inside) = (dice.range(n), dice.range(n));
            let inside = inside.start.min(rows.len())..inside.end.min(rows.len());
            let of = (rows.start + inside.start) * m * l..(rows.start + inside.end) * m * l;
            let (some, own) = (there.index(rows.clone()), here.index(rows));
            compare(world, dice, (some.index(inside.clone()), own.index(inside)), &mut c[of]);
            compare_one(world, dice, (there.index([i, j, k]), here.index(i).index([j, k])), &mut c[at]);
            let one = (there.index(i..).index([0, j, k]), here.index(i).index(j).index(k));
            compare_one(world, dice, one, &mut c[at]);
            for beyond in [[n, j, k], [i, m, k], [i, j, l]] {
                said(|| there.index(beyond));
            }
            said(|| there.index(n));
            said(|| there.index(i).index(m));
            said(|| there.index(..=n));
        }
    }
}
