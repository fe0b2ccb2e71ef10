//! Puts of several threads.

use std::error::Error;
use std::sync::Mutex;

use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};
use shmem::{Context, On, Stores, zeroed};
use shmem_perf::baseline::{LINES, WORDS_OF_LINE};
use shmem_perf::put::Row;
use shmem_perf::threads::{self, LOCKED_PASSES, MOST_THREADS, PASSES, Rounds, THREADS};
use shmem_perf::{Record, Site};

/// What one thread runs: its number, and the rounds that are timed.
type Body<'a> = dyn Fn(usize, &Rounds<'_>) + Sync + 'a;

/// One 8-byte put to each line of a thread's row.
#[inline(never)]
fn put_row<I: Stores>(token: &I, row: On<'_, Row>, value: u64) {
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}

/// One PE of the job: PE 0 has the threads, and writes to the other.
pub(crate) fn pe(repetitions: usize) -> Result<(), Box<dyn Error>> {
    let world = &shmem::init::<Multiple>()?;
    let cores = std::thread::available_parallelism()?.get();
    let (_, other) = world.ring_neighbours();
    let object = world.alloc(zeroed::<Row>(MOST_THREADS))?;
    let rows = object.on(other);
    world.barrier_all();
    if world.my_pe() == 0 {
        let site = |threads| Site { shared_cores: threads > cores, ..Site::of(world, cores) };
        let measure = |threads: (usize, u64), body: &Body<'_>| {
            let rows = rows.ptr(world).ok_or("the PEs are not on one node")?.cast();
            // SAFETY: the object has as many rows on the other PE, and is freed below; that PE sleeps.
            Ok::<_, Box<dyn Error>>(unsafe { threads::against_stores(threads, repetitions, rows, body) })
        };
        for threads in THREADS {
            let shared: Context<Multiple> = world.create_ctx()?;
            let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
            let cases: [(&str, u64, &str, &Body<'_>); 3] = [
                ("private", PASSES, "puts of threads with a context each", &|number, rounds| {
                    let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                    let ctx = context.bind(world);
                    rounds.run(number, |pass| put_row(&ctx, rows.index(number), pass));
                }),
                ("multiple", PASSES, "puts of threads through one context", &|number, rounds| {
                    let ctx = shared.bind(world);
                    rounds.run(number, |pass| put_row(&ctx, rows.index(number), pass));
                }),
                (
                    "locked",
                    LOCKED_PASSES,
                    "puts of threads through one context, each behind a lock",
                    &|number, rounds| {
                        let row = rows.index(number);
                        rounds.run(number, |pass| {
                            for line in 0..LINES {
                                let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                                context.bind(world).p(row.index(line * WORDS_OF_LINE), pass);
                            }
                        });
                    },
                ),
            ];
            for (name, passes, what, body) in cases {
                let samples = measure((threads, passes), body)?;
                let compared = format!("{what}, against stores of as many threads to the same words");
                let case = format!("{threads}/{name}");
                let record = Record::new(&site(threads), "threads", case, "ns", compared, samples);
                println!("{}", serde_json::to_string(&record)?);
            }
        }
    }
    world.free(object)?;
    Ok(())
}
