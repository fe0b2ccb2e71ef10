//! Threads that communicate, each through a context of its own.
//!
//! The master makes as many contexts as there are threads, on the default domain; any thread may use one,
//! one at a time. In each region every thread takes the context that was its neighbour's in the region before:
//! contexts belong to no thread. At the end threads register by themselves instead.
//!
//! With feature `rayon` the regions run on a pool's threads, too.

use std::sync::Barrier;

use shmem::Context;
use shmem::prelude::*;
use shmem::thread::{Multiple, Serialized};

/// Threads of each PE, and rows of the table.
const THREADS: usize = 4;

/// Cells that a thread writes in a region.
const CELLS: usize = 1000;

/// What the threads of the PE before have written, a row for each.
#[symmetric]
static TABLE: [[u64; CELLS]; THREADS];

/// Rows that have arrived.
#[symmetric]
static ARRIVED: Signal;

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let world = &*world;
    let mut contexts: Vec<Context<Serialized>> =
        (0..THREADS).map(|_| world.create_ctx()).collect::<Result<_>>()?;
    for region in 1..=2 {
        std::thread::scope(|threads| {
            for (row, context) in contexts.iter_mut().enumerate() {
                threads.spawn(move || send(world, context, row, region));
            }
        });
        check(world, region);
        // Another thread for each in the next region.
        contexts.rotate_left(1);
    }
    let mut regions = 2;
    #[cfg(feature = "rayon")]
    {
        regions += 1;
        on_a_pool(world, &mut contexts, regions);
    }
    drop(contexts);

    regions += 1;
    // Numbers are those of threads that are registered at the same time.
    let all = Barrier::new(THREADS);
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| {
                let registration = world.register_thread().expect("there is a context for each thread");
                all.wait();
                let ctx = registration.bind(world);
                write(&ctx, world.ring_neighbours().1, registration.number(), regions);
            });
        }
    });
    check(world, regions);
    println!("PE {}: {regions} regions of {THREADS} threads; {}", world.my_pe(), world.resources());
    Ok(())
}

/// One thread's part of a region, through a context that it alone has now.
fn send(world: &World<Multiple>, context: &mut Context<Serialized>, row: usize, region: u64) {
    let (_, east) = world.ring_neighbours();
    write(&context.bind(world), east, row, region);
}

/// Writes a row, and completes it: it waits for no other thread's.
fn write(ctx: &impl shmem::Stores, to: Pe, row: usize, region: u64) {
    let cells: Vec<u64> = (0..CELLS).map(|cell| value(row, cell, region)).collect();
    ctx.put(TABLE.on(to).index(row).index(..), &cells[..]);
    ctx.quiet();
    ctx.signal_add(ARRIVED.on(to), 1);
    ctx.quiet();
}

/// The same on the threads of a pool, which takes whichever is free.
#[cfg(feature = "rayon")]
fn on_a_pool(world: &World<Multiple>, contexts: &mut [Context<Serialized>], region: u64) {
    use rayon::prelude::*;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().expect("threads");
    pool.install(|| {
        contexts.par_iter_mut().enumerate().for_each(|(row, context)| send(world, context, row, region));
    });
    check(world, region);
}

/// Waits for the rows of a region, and looks at them.
fn check(world: &World<Multiple>, region: u64) {
    ARRIVED.wait_until(world, ge(region * THREADS as u64));
    for row in 0..THREADS {
        for cell in [0, CELLS / 2, CELLS - 1] {
            assert_eq!(TABLE.here(world).index(row).index(cell).load(), value(row, cell, region));
        }
    }
    world.barrier_all();
}

fn value(row: usize, cell: usize, region: u64) -> u64 {
    region * 1_000_000 + row as u64 * CELLS as u64 + cell as u64
}
