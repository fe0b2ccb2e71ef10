//! Threads for parallel iteration inside a phase. With feature `rayon`.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{ErrorKind, Result};
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Makes a thread pool for parallel iteration over objects that [`local`](Self::local) and [`frozen`](Self::frozen) open. It has
    /// this PE's share of the node's CPUs ([`cpus_per_pe`](Self::cpus_per_pe)), or `RAYON_NUM_THREADS` threads. `rayon`'s own pool
    /// would have a thread for each CPU on each PE.
    ///
    /// Rows are elements of slices:
    ///
    /// ```no_run
    /// use rayon::prelude::*;
    /// use shmem::prelude::*;
    ///
    /// #[symmetric]
    /// static FIELD: [[f64; 1024]; 1024];
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let pool = world.thread_pool()?;
    ///     let sum: f64 = world.local(&FIELD, |field| {
    ///         pool.install(|| {
    ///             field.par_iter_mut().enumerate().for_each(|(number, row)| row.fill(number as f64));
    ///             field.par_iter().map(|row| row.iter().sum::<f64>()).sum()
    ///         })
    ///     });
    ///     assert_eq!(sum, 1024.0 * 1023.0 * 512.0);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Phases stay sound: no thread of the pool reaches a token, because the world is borrowed, and none keeps a reference, because a
    /// closure that may outlive the phase cannot borrow from it:
    ///
    /// ```compile_fail,E0502
    /// # use rayon::prelude::*;
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static FIELD: [[f64; 1024]; 1024];
    /// # fn misuse(world: &mut World<shmem::thread::Multiple>, pool: &rayon::ThreadPool) {
    /// world.local(&FIELD, |field| pool.install(|| field.par_iter_mut().for_each(|_| world.quiet())));
    /// # }
    /// ```
    ///
    /// ```compile_fail,E0521
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static FIELD: [[f64; 1024]; 1024];
    /// # fn misuse(world: &mut World, pool: &rayon::ThreadPool) {
    /// world.local(&FIELD, |field| pool.spawn(move || field[0].fill(1.0)));
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the system cannot create the threads.
    #[track_caller]
    pub fn thread_pool(&self) -> Result<ThreadPool> {
        let me = self.my_pe();
        let asked = std::env::var_os("RAYON_NUM_THREADS");
        // 0: `rayon` reads the variable.
        let threads = if asked.is_some() { 0 } else { self.cpus_per_pe() };
        let name = move |thread| format!("PE {me}, thread {thread}");
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build().map_err(|error| {
            let asked: Option<usize> = asked.and_then(|asked| asked.to_str()?.parse().ok());
            let threads = asked.unwrap_or(threads);
            ErrorKind::Refused(format!("{threads} threads on PE {me}: {error}"))
        });
        Ok(pool?)
    }
}
