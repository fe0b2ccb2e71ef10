//! Parallel loops over arrays by all threads of a PE, against `rayon`'s parallel loops over a slice.

use rayon::prelude::*;
use shmem::array::{NodePools, ParArray as _, ParArrayMut as _};

use super::*;

pub(super) fn in_parallel(world: &mut World, bench: &Bench<'_>) -> Done {
    of_storages!(loops, world, bench)?;
    Ok(loops(world, bench, "chosen", Chosen)?)
}

/// Measures parallel loops over an array against `rayon`'s loops over a slice of the heap, in nanoseconds for each element. Both
/// have the same number of threads.
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

fn pools_of_one(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| shmem::ErrorKind::Refused(format!("{threads} threads: {error}")))?)
}
