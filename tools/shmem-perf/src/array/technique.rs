//! The ways to work on much memory with all CPUs: one PE with an array on its nodes, one PE and whoever
//! touches first, and a PE for each CPU with a part of its own.
//!
//! Each multiplies all elements of 64 MiB in place. The limit is the same everywhere: private memory of one
//! process, touched first by the threads that work on it.

use std::hint::black_box;

use rayon::prelude::*;
use shmem::array::ParArrayMut as _;
use shmem::thread::ThreadLevel;
use shmem::{ErrorKind, Result, World, zeroed};
use shmem_core::array::Storage;

use super::{ELEMENTS, Measured};
use crate::array::name::{Name, StorageName};
use crate::samples::{Samples, nanoseconds_each};

/// What every way does with its elements.
fn work(value: &mut u64) {
    *value = value.wrapping_mul(3);
}

/// Private memory of one process, touched first by the threads of `pool`, in equal parts.
fn first_touch(pool: &rayon::ThreadPool) -> impl FnMut() {
    let part = ELEMENTS.div_ceil(pool.current_num_threads());
    let mut memory: Vec<u64> = Vec::with_capacity(ELEMENTS);
    let values = (0..ELEMENTS).into_par_iter().with_min_len(part).map(|i| i as u64);
    pool.install(|| memory.par_extend(values));
    move || {
        let memory = black_box(&mut memory);
        pool.install(|| memory.par_iter_mut().with_min_len(part).for_each(work));
    }
}

/// One PE with an array of a storage on its nodes, against a first touch: nanoseconds for each element.
///
/// # Errors
///
/// If there is no room for the array, or there are no threads.
pub fn together<L: ThreadLevel, S: Storage>(
    world: &mut World<L>,
    name: StorageName,
    storage: S,
    repetitions: usize,
) -> Result<Measured> {
    let pools = world.node_pools()?;
    let pool = pools_of_one(pools.threads())?;
    let array = world.array([ELEMENTS]).storage(storage).zeroed::<u64>()?;
    let samples = world.local(&array, |mut a| {
        let mut limit = first_touch(&pool);
        Samples::alternate(
            repetitions,
            || nanoseconds_each(ELEMENTS, || a.par_iter_mut(&pools).for_each(work)),
            || nanoseconds_each(ELEMENTS, &mut limit),
        )
    });
    world.free(array)?;
    Ok((Name::Technique(name), samples))
}

/// PEs with a part of the elements each, against a first touch by one of them on all CPUs, while the others
/// wait: nanoseconds for each element. All PEs call it.
///
/// # Errors
///
/// If there is no room for the parts, or there are no threads.
pub fn apart<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Measured> {
    let pes = world.n_pes();
    let part = world.alloc(zeroed::<u64>(ELEMENTS.div_ceil(pes)))?;
    let pool = pools_of_one(pes)?;
    let mut limit = (world.my_pe() == 0).then(|| first_touch(&pool));
    let mut samples = Samples::new();
    for repetition in 0..=repetitions {
        let cost = nanoseconds_each(ELEMENTS, || {
            world.local(&part, |part| black_box(part).iter_mut().for_each(work));
        });
        let limit = nanoseconds_each(ELEMENTS, || limit.iter_mut().for_each(|limit| limit()));
        world.barrier_all();
        // The first pair pays for first touches.
        if repetition > 0 {
            samples.push(cost, limit);
        }
    }
    drop(limit);
    world.free(part)?;
    Ok((Name::Pes(pes), samples))
}

fn pools_of_one(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| ErrorKind::Threads {
        threads,
        place: "the machine".to_owned(),
        reason: error.to_string(),
    })?)
}
