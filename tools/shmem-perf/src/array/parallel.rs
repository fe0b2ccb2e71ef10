//! Loops of all threads of a PE.

use std::hint::black_box;

use rayon::prelude::*;
use shmem::array::{NodePools, ParArray as _, ParArrayMut as _};
use shmem::thread::ThreadLevel;
use shmem::{ErrorKind, Result, World, zeroed};
use shmem_core::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};

use super::{CHUNKS, ELEMENTS, Measured};
use crate::array::name::{Name, StorageName, Way};
use crate::samples::{Samples, nanoseconds_each};

/// Parallel loops over arrays of each storage, against `rayon`'s loops over a slice in the heap, on as many
/// threads: nanoseconds for each element. Cases are `single/par-index`, `multi/par-iter`.
///
/// # Errors
///
/// If there is no room for the arrays, or there are no threads.
pub fn parallel<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Vec<Measured>> {
    let pools = world.node_pools()?;
    let mut measured = of_storage(world, &pools, StorageName::Single, Single, repetitions)?;
    measured.extend(of_storage(world, &pools, StorageName::Separate, Separate, repetitions)?);
    measured.extend(of_storage(world, &pools, StorageName::Cyclic, Cyclic { block: 0 }, repetitions)?);
    measured.extend(of_storage(world, &pools, StorageName::Multi, Multi, repetitions)?);
    measured.extend(of_storage(world, &pools, StorageName::Chosen, Chosen, repetitions)?);
    Ok(measured)
}

fn of_storage<L: ThreadLevel, S: Storage>(
    world: &mut World<L>,
    pools: &NodePools,
    name: StorageName,
    storage: S,
    repetitions: usize,
) -> Result<Vec<Measured>> {
    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;
    let array = world.array([ELEMENTS]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(pools.threads()).build();
    let pool = pool.map_err(|error| ErrorKind::Threads {
        threads: pools.threads(),
        place: "the machine".to_owned(),
        reason: error.to_string(),
    })?;
    let measured = world.local((&array, &plain), |(mut a, plain)| {
        let index = |plain: &mut [u64]| {
            let plain = black_box(plain);
            pool.install(|| plain.par_iter_mut().enumerate().for_each(|(i, value)| *value = i as u64));
        };
        let each = |body: &mut dyn FnMut()| nanoseconds_each(ELEMENTS, body);
        let pair = |way: Way, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
            (Name::Loop(name, way), Samples::alternate(repetitions, || each(cost), || each(limit)))
        };
        vec![
            pair(
                Way::ParIndex,
                &mut || a.par_iter_mut(pools).indexed().for_each(|(i, value)| *value = i as u64),
                &mut || index(plain),
            ),
            pair(
                Way::ParIter,
                &mut || a.par_iter_mut(pools).for_each(|value| *value = value.wrapping_mul(3)),
                &mut || {
                    let plain = black_box(&mut *plain);
                    pool.install(|| plain.par_iter_mut().for_each(|value| *value = value.wrapping_mul(3)));
                },
            ),
            pair(
                Way::ParChunks,
                &mut || {
                    a.par_chunks_mut(pools).for_each(|mut chunk| {
                        for i in chunk.indices() {
                            chunk[i] = i as u64;
                        }
                    });
                },
                &mut || index(plain),
            ),
            pair(
                Way::ParRead,
                &mut || {
                    let a = a.view();
                    let sum = a.par_indices(pools).map(|i| a[i]).reduce(|| 0, u64::wrapping_add);
                    black_box(sum);
                },
                &mut || {
                    let plain = black_box(&*plain);
                    let sum = pool.install(|| plain.par_iter().copied().reduce(|| 0, u64::wrapping_add));
                    black_box(sum);
                },
            ),
        ]
    });
    world.free(array)?;
    world.free(plain)?;
    Ok(measured)
}
