//! Puts of several threads.

use std::error::Error;
use std::sync::Mutex;

use shmem::perf::baseline::{LINES, WORDS_OF_LINE};
use shmem::perf::threads::{self, Rounds, Rows, THREADS};
use shmem::perf::{Record, Site};
use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};
use shmem::{Context, Stores};

#[symmetric]
static ROWS: Rows;

/// One 8-byte put to each line of a thread's row.
#[inline(never)]
fn put_row<I: Stores>(token: &I, pe: Pe, thread: usize, value: u64) {
    let row = ROWS.on(pe).index(thread);
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}

/// One PE of the job: PE 0 has the threads, and writes to the other.
pub(crate) fn pe(repetitions: usize) -> Result<(), Box<dyn Error>> {
    let world = &shmem::init::<Multiple>()?;
    let cores = std::thread::available_parallelism()?.get();
    let (_, to) = world.ring_neighbours();
    world.barrier_all();
    if world.my_pe() == 0 {
        let site = |threads| Site { shared_cores: threads > cores, ..Site::of(world, cores) };
        let measure = |threads, body: &(dyn Fn(usize, &Rounds) + Sync)| {
            let rows = ROWS.on(to).ptr(world).ok_or("the PEs are not on one node")?;
            // SAFETY: the static's copy on the other PE, which lives as long as the world; that PE sleeps.
            Ok::<_, Box<dyn Error>>(unsafe { threads::against_stores(threads, repetitions, rows, body) })
        };
        for threads in THREADS {
            let shared: Context<Multiple> = world.create_ctx()?;
            let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
            let cases: [(&str, &str, &(dyn Fn(usize, &Rounds) + Sync)); 3] = [
                ("private", "puts of threads with a context each", &|number, rounds| {
                    let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                    let ctx = context.bind(world);
                    rounds.run(number, |pass| put_row(&ctx, to, number, pass));
                }),
                ("multiple", "puts of threads through one context", &|number, rounds| {
                    let ctx = shared.bind(world);
                    rounds.run(number, |pass| put_row(&ctx, to, number, pass));
                }),
                ("locked", "rows of puts of threads through one context behind a lock", &|number, rounds| {
                    rounds.run(number, |pass| {
                        let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                        put_row(&context.bind(world), to, number, pass);
                    });
                }),
            ];
            for (name, what, body) in cases {
                let samples = measure(threads, body)?;
                let compared = format!("{what}, against stores of as many threads to the same words");
                let case = format!("{threads}/{name}");
                let record = Record::new(&site(threads), "threads", case, "ns", compared, samples);
                println!("{}", serde_json::to_string(&record)?);
            }
        }
    }
    world.barrier_all();
    Ok(())
}
