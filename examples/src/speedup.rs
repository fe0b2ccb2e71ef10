//! What several PEs gain: how long all of them take for a problem together, and how long one process takes
//! alone, with code that knows nothing of PEs.
//!
//! The two take turns in one job, so that they meet the same machine; a ratio of two numbers of one pair means
//! more than either number. While PE 0 is alone, the others sleep in a barrier. The examples that have a serial
//! solution share this module.

use std::hint::black_box;
use std::time::Instant;

use shmem::prelude::*;

/// What a command line says about times.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Speedup {
    /// Solve the problem so many times by all PEs and as often by PE 0 alone, in turn, and print nothing but
    /// a line of JSON for each pair, in nanoseconds.
    #[arg(long, value_name = "PAIRS", value_parser = clap::value_parser!(u32).range(1..))]
    times: Option<u32>,
}

impl Speedup {
    /// Whether times are all that is asked for.
    pub fn is_asked(self) -> bool {
        self.times.is_some()
    }

    /// Takes the pairs, behind one that nobody sees: it pays for first touches. `serial` is called on PE 0 alone,
    /// and gives what solves the problem there. Collective.
    pub fn measure<S: FnMut() -> R, R>(
        self,
        world: &mut World,
        mut parallel: impl FnMut(&mut World),
        serial: impl FnOnce() -> S,
    ) {
        let mut serial = (world.my_pe() == 0).then(serial);
        for pair in 0..=self.times.unwrap_or(0) {
            // All are awake behind the first one.
            world.barrier_all();
            world.barrier_all();
            let start = Instant::now();
            parallel(world);
            // It takes as long as it takes the slowest PE.
            world.barrier_all();
            let parallel = start.elapsed();
            let Some(serial) = &mut serial else { continue };
            let start = Instant::now();
            black_box(serial());
            let serial = start.elapsed();
            if pair > 0 {
                println!(r#"{{"parallel":{},"serial":{}}}"#, parallel.as_nanos(), serial.as_nanos());
            }
        }
    }
}
