//! Parallel loops over arrays and rows: their results, and the threads that execute them.

use std::collections::BTreeSet;

use rayon::prelude::*;
use shmem::array::{
    ArrayMut, ArrayRef, Cyclic, Multi, NodePools, ParArray, ParArrayMut, Separate, Single, Storage,
};
use shmem::prelude::*;
use shmem_core::memory::Machine;

/// Returns the NUMA node of the calling thread, from its name; `None` if nodes are not known.
fn node_of_thread() -> Option<u32> {
    let thread = std::thread::current();
    let name = thread.name().expect("threads of pools have names");
    let (_, behind) = name.split_once(", ").unwrap();
    behind.strip_prefix("node ").map(|rest| rest.split_once(',').unwrap().0.parse().unwrap())
}

/// Returns whether this thread may run only on the CPUs of its node.
fn stays_on_its_node() -> bool {
    let Some(node) = node_of_thread() else { return true };
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    let may = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    may.eq(Machine::default().topology().cpus_of(node))
}

/// Writes each element's number to it by each kind of loop, and reads it back.
fn loops<const D: usize, S: Storage>(
    world: &mut World,
    pools: &NodePools,
    shape: [usize; D],
    storage: S,
    number: impl Fn([usize; D]) -> u64 + Sync,
) {
    for chunks in [1, 5] {
        let a = world.array(shape).storage(storage).chunks(chunks).zeroed::<u64>().unwrap();
        let b = world.array(shape).storage(Multi).chunks(chunks).from_fn(&number).unwrap();
        let (len, nodes) = (a.len() as u64, a.nodes().to_vec());
        let sum = len * (len - 1) / 2;
        world.local((&a, &b), |(mut a, b): (ArrayMut<'_, u64, D, S>, _)| {
            a.par_iter_mut(pools).zip(b.par_iter(pools)).for_each(|(a, b)| *a = *b + 1);
            assert!(a.iter().copied().eq(1..=len));
            a.par_chunks_mut(pools).for_each(|mut chunk| {
                // A thread of the chunk's node gets the whole chunk.
                assert!(stays_on_its_node());
                assert_eq!(node_of_thread(), nodes.get(chunk.number()).copied());
                chunk.runs_mut().flatten().for_each(|a| *a -= 1);
            });
            assert!(a.iter().copied().eq(0..len));
            assert_eq!(a.par_iter(pools).copied().reduce(|| 0, u64::max), len - 1);
            assert_eq!(a.par_chunks(pools).map(|chunk| chunk.iter().sum::<u64>()).sum::<u64>(), sum);
            // Results are in the order of the chunks.
            let expected = a.chunks().flat_map(|chunk| chunk.iter().copied());
            assert!(a.par_iter(pools).copied().collect::<Vec<u64>>().into_iter().eq(expected));
            assert_eq!(a.par_iter(pools).find_first(|&&a| a + 1 == len), Some(&(len - 1)));
            assert_eq!(a.par_iter(pools).filter(|&&a| a % 3 == 0).count() as u64, len.div_ceil(3));
        });
        world.frozen(&a, |a: ArrayRef<'_, u64, D, S>| assert_eq!(a.par_iter(pools).sum::<u64>(), sum));
    }
}

#[shmem::test(pes = 2, env("RAYON_NUM_THREADS" = "3"))]
fn elements_are_iterated_in_parallel(world: &mut World) {
    let pools = world.node_pools().unwrap();
    let number_2 = |[i, j]: [usize; 2]| (i * 70 + j) as u64;
    let number_3 = |[i, j, k]: [usize; 3]| ((i * 3 + j) * 50 + k) as u64;
    loops(world, &pools, [500], Single, |[i]| i as u64);
    loops(world, &pools, [503], Separate, |[i]| i as u64);
    loops(world, &pools, [503], Cyclic { block: 0 }, |[i]| i as u64);
    loops(world, &pools, [503], Multi, |[i]| i as u64);
    loops(world, &pools, [40, 70], Single, number_2);
    loops(world, &pools, [3, 70], Multi, number_2);
    loops(world, &pools, [2, 3, 50], Separate, number_3);
    loops(world, &pools, [2, 3, 50], Multi, number_3);
}

macro_rules! indexed {
    ($pools:ident: $($array:ident)*) => {$(
        $array.par_iter_mut(&$pools).indexed().for_each(|(index, value)| *value = index);
        let $array = $array.view();
        assert!($array.par_indices(&$pools).all(|index| $array[index] == index));
        let pairs = $array.par_iter(&$pools).indexed().zip($array.par_iter(&$pools));
        assert!(pairs.all(|((index, value), again)| index == *value && again == value));
        let mut seen = $array.par_indices(&$pools).collect::<Vec<_>>();
        seen.sort_unstable();
        assert!(seen.iter().eq($array.iter()));
    )*};
}

#[shmem::test(pes = 2, env("RAYON_NUM_THREADS" = "3"))]
fn indices_are_iterated_in_parallel(world: &mut World) {
    let pools = world.node_pools().unwrap();
    let line = world.array([500]).storage(Multi).chunks(3).zeroed::<[usize; 1]>().unwrap();
    let plane = world.array([2, 300]).storage(Single).chunks(3).zeroed::<[usize; 2]>().unwrap();
    let space = world.array([2, 2, 90]).storage(Multi).chunks(3).zeroed::<[usize; 3]>().unwrap();
    world.local((&line, &plane, &space), |(mut line, mut plane, mut space)| {
        indexed!(pools: line plane space);
        assert_eq!(line.par_iter(&pools).indexed().find_last(|_| true), Some(([499], &[499])));
        // Elements are passed to threads of their chunk's node.
        let nodes: BTreeSet<_> = line
            .par_indices(&pools)
            .map(|[i]| (line.nodes().get(line.chunking().chunk_of(i)).copied(), node_of_thread()))
            .collect();
        assert!(nodes.iter().all(|(chunk, thread)| chunk == thread), "{nodes:?}");
    });
}

#[shmem::test(pes = 1, env("RAYON_NUM_THREADS" = "2"))]
fn arrays_of_other_chunks_are_not_zipped(world: &mut World) {
    let pools = world.node_pools().unwrap();
    let a = world.array([10, 10]).chunks(2).zeroed::<u8>().unwrap();
    let b = world.array([10, 10]).chunks(5).zeroed::<u8>().unwrap();
    world.frozen((&a, &b), |(a, b)| {
        let zip = || a.par_iter(&pools).zip(b.par_iter(&pools)).count();
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(zip)).unwrap_err();
        assert_eq!(
            panic.downcast_ref::<String>().unwrap(),
            "arrays that are iterated together must have the same shape and chunks: \
             one has [10, 10] in 2 chunks, the other [10, 10] in 5"
        );
    });
}

#[shmem::test(pes = 2)]
fn the_pools_have_a_share_of_the_cpus(world: &mut World) {
    let pools = world.node_pools().unwrap();
    let homes = Machine::default().topology().homes();
    assert!(pools.nodes().eq(homes.iter().copied()));
    assert!(pools.threads() >= world.cpus_per_pe().min(homes.len().max(1)));
    assert!(pools.threads() <= world.cpus_per_pe().max(homes.len()));
    for node in homes {
        let pool = pools.of_node(node).unwrap();
        assert!(pool.broadcast(|_| stays_on_its_node()).into_iter().all(|stays| stays));
    }
    assert!(pools.of_node(u32::MAX).is_none());
}

#[symmetric]
static FIELD: padded![u64; 64; 512];

#[shmem::test(pes = 2)]
fn rows_are_iterated_in_parallel(world: &mut World) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let sum: u64 = world.local(&FIELD, |field| {
        pool.install(|| {
            field.par_iter_mut().enumerate().for_each(|(number, row)| row.fill(number as u64));
            field.par_iter().map(|row| row[..512].iter().sum::<u64>()).sum()
        })
    });
    assert_eq!(sum, 512 * 32 * 63);
}
