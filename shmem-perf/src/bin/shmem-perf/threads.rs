//! Puts of several threads.

use std::error::Error;
use std::sync::Mutex;

use clap::Args;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};
use shmem::{Context, On, Stores, zeroed};
use shmem_perf::baseline::{LINES, WORDS_OF_LINE};
use shmem_perf::jobs::Job;
use shmem_perf::put::Row;
use shmem_perf::threads::{self, Copies, LOCKED_PASSES, MOST_THREADS, PASSES, Rounds, SIZES, THREADS};
use shmem_perf::{Record, Site};

use crate::Measure;
use crate::runner::Runner;

/// Which puts.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// Puts of 64 bytes to 64 KiB as well, against memcpy.
    #[arg(long)]
    sizes: bool,
}

impl Runner {
    pub(crate) fn threads(&mut self, options: &Options) -> Result<(), Box<dyn Error>> {
        self.repeat(&self.job(Measure::Threads, 2, 1, &threads::variables()))?;
        if options.sizes { self.repeat(&self.threads_by_size(&SIZES)) } else { Ok(()) }
    }

    /// A job with puts of these sizes, in bytes, of at most those of [`SIZES`].
    pub(crate) fn threads_by_size(&self, sizes: &[usize]) -> Job {
        let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
        let mut job = self.job(Measure::ThreadsBySize, 2, 1, &threads::variables());
        job.args.extend(["--sizes".into(), sizes.join(",")]);
        job
    }
}

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

/// What one thread runs that puts whole places.
type CopyBody<'a> = dyn Fn(usize, &Copies<'_>) + Sync + 'a;

/// One PE of the job with larger puts.
pub(crate) fn by_size(sizes: &[usize], repetitions: usize) -> Result<(), Box<dyn Error>> {
    let world = &shmem::init::<Multiple>()?;
    let cores = std::thread::available_parallelism()?.get();
    let (_, other) = world.ring_neighbours();
    let object = world.alloc(zeroed::<u8>(MOST_THREADS * sizes.iter().max().copied().unwrap_or(0)))?;
    let places = object.on(other);
    world.barrier_all();
    let all = THREADS.into_iter().flat_map(|threads| sizes.iter().map(move |&bytes| (threads, bytes)));
    for (threads, bytes) in all.filter(|_| world.my_pe() == 0) {
        let shared: Context<Multiple> = world.create_ctx()?;
        let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
        let place = |number: usize| places.index(number * bytes..(number + 1) * bytes);
        let cases: [(&str, u64, &str, &CopyBody<'_>); 3] = [
            ("private", 1, "puts of threads with a context each", &|number, copies| {
                let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                let (ctx, to) = (context.bind(world), place(number));
                copies.run(number, |source| ctx.put(to, source));
            }),
            ("multiple", 1, "puts of threads through one context", &|number, copies| {
                let (ctx, to) = (shared.bind(world), place(number));
                copies.run(number, |source| ctx.put(to, source));
            }),
            ("locked", 8, "puts of threads through one context, each behind a lock", &|number, copies| {
                let to = place(number);
                copies.run(number, |source| {
                    let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                    context.bind(world).put(to, source);
                });
            }),
        ];
        for (name, fewer, what, body) in cases {
            let start = places.ptr(world).ok_or("the PEs are not on one node")?.cast();
            let puts = threads::puts(bytes).div_ceil(fewer);
            // SAFETY: the object has a place for each thread on the other PE, and is freed below; that PE sleeps.
            let samples =
                unsafe { threads::against_copies((threads, bytes), puts, repetitions, start, body) };
            let compared = format!("{what}, against memcpy by as many threads into the same bytes");
            let site = Site { shared_cores: threads > cores, ..Site::of(world, cores) };
            let case = format!("{threads}/{name}/{bytes}");
            let record = Record::new(&site, "threads-by-size", case, "ns", compared, samples);
            println!("{}", serde_json::to_string(&record)?);
        }
    }
    world.free(object)?;
    Ok(())
}
