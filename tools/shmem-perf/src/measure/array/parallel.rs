//! All CPUs of a PE: loops of all threads; and the ways to work on much memory with them, one PE with an array on its nodes, one PE
//! and whoever touches first, and a PE for each CPU with a part of its own.
//!
//! Each of these multiplies all elements of 64 MiB in place. The limit is the same everywhere: private memory of one
//! process, touched first by the threads that work on it.

use rayon::prelude::*;
use shmem::array::{NodePools, ParArray as _, ParArrayMut as _};
use shmem::thread::Single as OneThread;
use shmem_core::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};

use super::*;

/// Parallel loops over arrays of each storage, and one PE with an array.
pub(super) fn in_parallel(given: &Given) -> Done {
    let (world, repetitions) = (&mut shmem::init::<OneThread>()?, given.repetitions);
    let book = &Book::new(Site::of(world, std::thread::available_parallelism()?.get()), given);
    of_storages!(loops, world, book, repetitions)?;
    loops(world, book, repetitions, "chosen", Chosen)?;
    of_storages!(together, world, book, repetitions)?;
    book.print(world.my_pe())
}

/// Parallel loops over an array, against `rayon`'s loops over a slice in the heap, on as many threads: nanoseconds for each
/// element.
fn loops<S: Storage>(world: &mut World, book: &Book<'_>, _: usize, name: &str, storage: S) -> Result<()> {
    let pools = &world.node_pools()?;
    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;
    let array = world.array([ELEMENTS]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    let pool = pools_of_one(pools.threads())?;
    world.local((&array, &plain), |(mut a, plain)| {
        let mut pair =
            |way: &str, array: fn(&mut ArrayMut<'_, u64, 1, S>, &NodePools), slice: fn(&mut [u64])| {
                let cost = || nanoseconds_each(ELEMENTS, || array(black_box(&mut a), pools));
                let limit = || nanoseconds_each(ELEMENTS, || pool.install(|| slice(black_box(&mut *plain))));
                book.pairs(format!("array {name}/{way}"), cost, limit);
            };
        let index =
            |plain: &mut [u64]| plain.par_iter_mut().enumerate().for_each(|(i, value)| *value = i as u64);
        pair(
            "par-index",
            |a, pools| a.par_iter_mut(pools).indexed().for_each(|(i, value)| *value = i as u64),
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
fn together<S: Storage>(
    world: &mut World,
    book: &Book<'_>,
    repetitions: usize,
    name: &str,
    storage: S,
) -> Result<()> {
    let pools = world.node_pools()?;
    let pool = pools_of_one(pools.threads())?;
    let array = world.array([ELEMENTS]).storage(storage).zeroed::<u64>()?;
    let samples = world.local(&array, |mut a| {
        let mut limit = first_touch(&pool);
        let cost = || nanoseconds_each(ELEMENTS, || a.par_iter_mut(&pools).for_each(work));
        Samples::alternate(repetitions, cost, || nanoseconds_each(ELEMENTS, &mut limit))
    });
    book.add(format!("array technique/{name}"), samples);
    world.free(array)
}

/// PEs with a part of the elements each, against a first touch by one of them on all CPUs, while the others
/// wait: nanoseconds for each element.
pub(super) fn apart(given: &Given) -> Done {
    let world = &mut shmem::init::<OneThread>()?;
    let pes = world.n_pes();
    let part = world.alloc(zeroed::<u64>(ELEMENTS.div_ceil(pes)))?;
    let pool = pools_of_one(pes)?;
    let mut limit = (world.my_pe() == 0).then(|| first_touch(&pool));
    let samples = Samples::of(given.repetitions, || {
        let cost = nanoseconds_each(ELEMENTS, || {
            world.local(&part, |part| black_box(part).iter_mut().for_each(work));
        });
        let limit = nanoseconds_each(ELEMENTS, || limit.iter_mut().for_each(|limit| limit()));
        world.barrier_all();
        (cost, limit)
    });
    drop(limit);
    world.free(part)?;
    let book = Book::new(Site::of(world, pes), given);
    book.add(format!("array technique/pes/{pes}"), samples);
    book.print(world.my_pe())
}

fn pools_of_one(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| shmem::ErrorKind::Threads {
        threads,
        place: "the machine".to_owned(),
        reason: error.to_string(),
    })?)
}
