//! Parallel iteration inside phases.

use rayon::prelude::*;
use shmem::prelude::*;

const ROWS: usize = 64;

#[symmetric]
static FIELD: padded![u64; ROWS; 512];

#[symmetric]
static PLAIN: [[u64; 512]; ROWS];

#[shmem::test(pes = 2, env("RAYON_NUM_THREADS" = "3"))]
fn rows_are_iterated_in_parallel(world: &mut World) -> Result<()> {
    let pool = world.thread_pool()?;
    assert_eq!(pool.current_num_threads(), 3);
    let me = world.my_pe() as u64;
    let sum: u64 = world.local((&FIELD, &PLAIN), |(field, plain)| {
        pool.install(|| {
            let rows = field.par_iter_mut().zip(plain.par_iter_mut()).enumerate();
            rows.for_each(|(number, (row, plain))| {
                row.fill(number as u64 + me);
                plain.copy_from_slice(&row[..]);
            });
            // The elements of one row, too.
            field[3].par_iter_mut().for_each(|value| *value = 0);
            field.par_iter().map(|row| row.iter().sum::<u64>()).sum()
        })
    });
    assert_eq!(sum, (0..ROWS as u64).filter(|row| *row != 3).map(|row| 512 * (row + me)).sum::<u64>());
    assert_eq!(PLAIN.here(world).index(ROWS - 1).index(511).load(), ROWS as u64 - 1 + me);
    Ok(())
}

#[shmem::test(pes = 2)]
fn the_pes_of_a_node_share_its_cpus(world: &mut World) {
    let cpus = world.cpus_per_pe();
    assert!(cpus >= 1);
    let pool = world.thread_pool().unwrap();
    assert_eq!(pool.current_num_threads(), cpus);
    assert_eq!(
        pool.install(|| std::thread::current().name().map(str::to_owned)).unwrap().split(',').next(),
        Some(&*format!("PE {}", world.my_pe()))
    );
}

#[cfg(feature = "ndarray")]
#[shmem::test(pes = 2, env("RAYON_NUM_THREADS" = "2"))]
fn views_are_iterated_in_parallel(world: &mut World) {
    use shmem::ndarray::AsNdarray;

    let pool = world.thread_pool().unwrap();
    let sum = world.local((&FIELD, &PLAIN), |(field, plain)| {
        pool.install(|| {
            field.view_mut().par_mapv_inplace(|value| value + 2);
            ndarray::Zip::from(plain.view_mut())
                .and(field.view())
                .par_for_each(|plain, value| *plain += 3 * value);
            plain.view().sum()
        })
    });
    assert_eq!(sum, ROWS as u64 * 512 * 6);
}
