//! All CPUs of a PE: loops of all threads; and the ways to work on much memory with them: one PE with an array on its nodes, one PE
//! and whoever touches first, and a PE for each CPU. Each of these multiplies all elements of 64 MiB in place, against private memory of
//! one process, touched first by the threads that work on it.

use rayon::prelude::*;
use shmem::array::{NodePools, ParArray as _, ParArrayMut as _};

use super::*;

/// Parallel loops over arrays of each storage, and one PE with an array.
pub(super) fn in_parallel(world: &mut World, bench: &Bench<'_>) -> Done {
    of_storages!(loops, world, bench)?;
    loops(world, bench, "chosen", Chosen)?;
    Ok(of_storages!(together, world, bench)?)
}

/// Parallel loops over an array, against `rayon`'s loops over a slice in the heap, on as many threads: nanoseconds for each
/// element.
fn loops<S: Storage>(world: &mut World, bench: &Bench<'_>, name: &str, storage: S) -> Result<()> {
    let pools = &world.node_pools()?;
    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;
    let array = world.array([ELEMENTS]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    let pool = pools_of_one(pools.threads())?;
    world.local((&array, &plain), |(mut a, plain)| {
        let mut pair =
            |way: &str, array: fn(&mut ArrayMut<'_, u64, 1, S>, &NodePools), slice: fn(&mut [u64])| {
                let cost = || nanoseconds_each(ELEMENTS, || array(black_box(&mut a), pools));
                let limit = || nanoseconds_each(ELEMENTS, || pool.install(|| slice(black_box(&mut *plain))));
                bench.pairs(format!("array {name}/{way}"), cost, limit);
            };
        let index =
            |plain: &mut [u64]| plain.par_iter_mut().enumerate().for_each(|(i, value)| *value = i as u64);
        pair(
            "par-index",
            |a, pools| a.par_iter_mut(pools).indexed().for_each(|([i], value)| *value = i as u64),
            index,
        );
        pair(
            "par-iter",
            |a, pools| a.par_iter_mut(pools).for_each(work),
            |a| a.par_iter_mut().for_each(work),
        );
        let chunks = |a: &mut ArrayMut<'_, u64, 1, S>, pools: &NodePools| {
            a.par_chunks_mut(pools).for_each(|mut chunk| {
                for i in chunk.indices() {
                    chunk[i] = i as u64;
                }
            });
        };
        pair("par-chunks", chunks, index);
        let read = |a: &mut ArrayMut<'_, u64, 1, S>, pools: &NodePools| {
            let a = a.view();
            black_box(a.par_indices(pools).map(|i| a[i]).reduce(|| 0, u64::wrapping_add));
        };
        pair("par-read", read, |a| {
            black_box(a.par_iter().copied().reduce(|| 0, u64::wrapping_add));
        });
    });
    world.free(array)?;
    world.free(plain)
}

fn work(value: &mut u64) {
    *value = value.wrapping_mul(3);
}

/// Private memory of one process, touched first by so many threads of its own, which work on equal parts of it.
fn first_touch(threads: usize) -> Result<impl FnMut()> {
    let (pool, part) = (pools_of_one(threads)?, ELEMENTS.div_ceil(threads));
    let mut memory: Vec<u64> = Vec::with_capacity(ELEMENTS);
    let values = (0..ELEMENTS).into_par_iter().with_min_len(part).map(|i| i as u64);
    pool.install(|| memory.par_extend(values));
    Ok(move || {
        let memory = black_box(&mut memory);
        pool.install(|| memory.par_iter_mut().with_min_len(part).for_each(work));
    })
}

/// One PE with an array of a storage on its nodes, against a first touch: nanoseconds for each element.
fn together<S: Storage>(world: &mut World, bench: &Bench<'_>, name: &str, storage: S) -> Result<()> {
    let pools = world.node_pools()?;
    let array = world.array([ELEMENTS]).storage(storage).zeroed::<u64>()?;
    let mut limit = first_touch(pools.threads())?;
    world.local(&array, |mut a| {
        let cost = || nanoseconds_each(ELEMENTS, || a.par_iter_mut(&pools).for_each(work));
        bench.pairs(format!("array technique/{name}"), cost, || nanoseconds_each(ELEMENTS, &mut limit));
    });
    world.free(array)
}

/// PEs with a part of the elements each, against a first touch by one of them on all CPUs, while the others
/// wait: nanoseconds for each element.
pub(super) fn apart(world: &mut World, bench: &Bench<'_>) -> Done {
    let pes = world.n_pes();
    let part = world.alloc(zeroed::<u64>(ELEMENTS.div_ceil(pes)))?;
    let mut limit = if world.my_pe() == 0 { Some(first_touch(pes)?) } else { None };
    bench.pair(format!("array technique/pes/{pes}"), || {
        let cost = nanoseconds_each(ELEMENTS, || {
            world.local(&part, |part| black_box(part).iter_mut().for_each(work));
        });
        let limit = nanoseconds_each(ELEMENTS, || limit.iter_mut().for_each(|limit| limit()));
        world.barrier_all();
        (cost, limit)
    });
    drop(limit);
    Ok(world.free(part)?)
}

fn pools_of_one(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| shmem::ErrorKind::Refused(format!("{threads} threads: {error}")))?)
}
