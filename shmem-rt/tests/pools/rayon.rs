//! The pool of a PE.

use rayon::prelude::*;
use shmem::prelude::*;

#[symmetric]
static FIELD: [[u64; 512]; 64];

#[shmem::test(pes = 2, env("RAYON_NUM_THREADS" = "3"))]
fn rows_are_iterated_in_parallel(world: &mut World) {
    let pool = world.thread_pool().unwrap();
    assert_eq!(pool.current_num_threads(), 3);
    let sum: u64 = world.local(&FIELD, |field| {
        pool.install(|| {
            field.par_iter_mut().enumerate().for_each(|(number, row)| row.fill(number as u64));
            field.par_iter().map(|row| row.iter().sum::<u64>()).sum()
        })
    });
    assert_eq!(sum, 512 * 32 * 63);
}

#[shmem::test(pes = 2)]
fn the_pes_of_a_node_share_its_cpus(world: &mut World) {
    let (cpus, pool) = (world.cpus_per_pe(), world.thread_pool().unwrap());
    assert!(cpus >= 1);
    assert_eq!(pool.current_num_threads(), cpus);
    let name = pool.install(|| std::thread::current().name().map(str::to_owned)).unwrap();
    assert_eq!(name.split(',').next(), Some(&*format!("PE {}", world.my_pe())));
}
