//! What puts and gets cost.

use std::cell::RefCell;
use std::hint::black_box;

use shmem::prelude::*;
use shmem::zeroed;

use super::{At, Cases, Measure, row};
use crate::baseline::{self, LINES, WORDS_OF_LINE, near};
use crate::bench::{Bench, Records};
use crate::check::{Bound, Guard, held};
use crate::goal::Goal;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// 0.95 of the bandwidth of `memcpy`, where a transfer is so large that it has one.
const BANDWIDTH: Goal = Goal::Ratio(1.0 / 0.95);

/// A call more than `memcpy`: 1.0 to 1.15.
const CALL: Bound = Bound::Own(Goal::Ratio(3.0));

pub(crate) const PUT: Measure = Measure {
    name: "put",
    about: "Puts: of 8 bytes to a static against a store, of 1 byte to 4 MiB against `memcpy`",
    run: |runner, _| runner.jobs(&PUTS, 2),
    tasks: &[PUTS],
    rows: OF_PUT,
    guards: &[Guard::of(
        "put",
        |runner| runner.jobs(&PUTS, 2),
        || {
            vec![
                held("put8-static 8", Bound::Eased(3.0)),
                held("put8-quiet 8", Bound::Eased(3.0)),
                held("put 8", CALL),
                held("put 4096", Bound::Eased(3.0)),
                held("put 65536", Bound::Eased(3.0)),
            ]
        },
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const OF_PUT: &[Cases] = &[
    row("put8-static | 8 | 8-byte puts to a static, one to each of 64 lines | volatile stores to the same words",
        &[("put8-static *", At::Anywhere, Goal::Ratio(1.2))]),
    row("put8-quiet | 8 | an 8-byte put and its quiet | a volatile store to the same word and a full fence",
        &[("put8-quiet *", At::Anywhere, Goal::Ratio(1.2))]),
    row("put | bytes | a put of a slice | the C library's `memcpy` on the same bytes",
        &[("put 4096..4194304", At::Anywhere, BANDWIDTH)]),
];

pub(crate) const GET: Measure = Measure {
    name: "get",
    about: "Gets of 1 byte to 4 MiB, against `memcpy`",
    run: |runner, _| runner.jobs(&GETS, 2),
    tasks: &[GETS],
    rows: OF_GET,
    guards: &[Guard::of(
        "get",
        |runner| runner.jobs(&GETS, 2),
        || {
            vec![
                held("get 8", CALL),
                held("get 4096", Bound::Eased(3.0)),
                held("get 65536", Bound::Eased(3.0)),
            ]
        },
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const OF_GET: &[Cases] = &[
    row("get | bytes | a get of a slice | the C library's `memcpy` on the same bytes",
        &[("get 4096..4194304", At::Anywhere, BANDWIDTH)]),
];

const PUTS: Task = Task::near("put", puts);
const GETS: Task = Task::near("get", gets);

/// Sizes of transfers, in bytes.
const SIZES: [usize; 8] = [1, 8, 64, 512, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

/// Passes over the lines in one sample: some ten microseconds.
const PASSES: usize = 1000;

/// Transfers of a size in one sample: some hundred microseconds, and one transfer of the largest is
/// that long.
fn transfers(bytes: usize) -> usize {
    ((1 << 21) / bytes).clamp(2, 20_000)
}

/// A row of words: one in each line that is written, and those between.
pub(crate) type Row = [u64; LINES * WORDS_OF_LINE];

#[symmetric]
static ROW: Row;

/// What `put8-static` measures: one 8-byte put to each line of the row. Not inlined, as its limit is not.
#[inline(never)]
fn put_row(world: &World, pe: Pe, value: u64) {
    for line in 0..LINES {
        world.p(ROW.on(pe).index(line * WORDS_OF_LINE), value);
    }
}

fn puts(bench: &mut Bench<'_>) -> Records {
    let (world, repetitions) = (bench.world, bench.repetitions);
    let object = world.alloc(zeroed::<u8>(4 << 20))?;
    let to = object.on(bench.other());
    Ok(bench.alone(|| {
        let mut records = vec![
            bench.record(
                "put8-static 8",
                "an 8-byte put to a static, against a store to the same word",
                put8_static(world, bench.other(), repetitions),
            ),
            bench.record(
                "put8-quiet 8",
                "an 8-byte put and its quiet, against a store to the same word and a full fence",
                put8_quiet(world, bench.other(), repetitions),
            ),
        ];
        for bytes in SIZES {
            let compared = "a put, against memcpy into the same bytes; time for each byte";
            records.push(bench.record(
                &format!("put {bytes}"),
                compared,
                put(world, to.index(..bytes), repetitions),
            ));
        }
        records
    }))
}

fn put8_static(world: &World, pe: Pe, repetitions: usize) -> Samples {
    let words: *mut u64 = near(ROW.on(pe).ptr(world)).cast();
    let (world, pe) = (black_box(world), black_box(pe));
    let cost =
        || nanoseconds_each(PASSES * LINES, || (0..PASSES as u64).for_each(|pass| put_row(world, pe, pass)));
    let limit = || {
        nanoseconds_each(PASSES * LINES, || {
            // SAFETY: a row has `LINES * WORDS_OF_LINE` words, and lives as long as the program.
            (0..PASSES as u64).for_each(|pass| unsafe { baseline::stores(words, pass) });
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

fn put8_quiet(world: &World, pe: Pe, repetitions: usize) -> Samples {
    let word = ROW.on(pe).index(0);
    let raw = near(word.ptr(world));
    let cost = || {
        let (world, word) = (black_box(world), black_box(word));
        nanoseconds_each(PASSES, || {
            for pass in 0..PASSES as u64 {
                world.p(word, pass);
                world.quiet();
            }
        })
    };
    let limit = || {
        nanoseconds_each(PASSES, || {
            // SAFETY: the place holds an aligned word and lives as long as the program.
            (0..PASSES as u64).for_each(|pass| unsafe { baseline::fenced_store(raw, pass) });
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

fn put(world: &World, to: On<'_, [u8]>, repetitions: usize) -> Samples {
    let (bytes, count) = (to.len(), transfers(to.len()));
    let source = vec![1_u8; bytes];
    let start: *mut u8 = near(to.ptr(world)).cast();
    let cost = || {
        nanoseconds_each(count * bytes, || {
            (0..count).for_each(|_| world.put(to, black_box(source.as_slice())))
        })
    };
    let limit = || {
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                let source = black_box(source.as_slice());
                // SAFETY: `start` is a place as long as the source, which is private memory.
                unsafe { baseline::memcpy(start, source.as_ptr(), source.len()) };
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

fn gets(bench: &mut Bench<'_>) -> Records {
    let world = bench.world;
    let object = world.alloc(zeroed::<u8>(4 << 20))?;
    let from = object.on(bench.other());
    Ok(bench.alone(|| {
        let compared = "a get, against memcpy out of the same bytes; time for each byte";
        let of = |bytes| {
            bench.record(
                &format!("get {bytes}"),
                compared,
                get(world, from.index(..bytes), bench.repetitions),
            )
        };
        SIZES.into_iter().map(of).collect()
    }))
}

fn get(world: &World, from: On<'_, [u8]>, repetitions: usize) -> Samples {
    let (bytes, count) = (from.len(), transfers(from.len()));
    let start: *const u8 = near(from.ptr(world)).cast();
    let into = RefCell::new(vec![0_u8; bytes]);
    let cost = || {
        let into = &mut *into.borrow_mut();
        nanoseconds_each(count * bytes, || {
            (0..count).for_each(|_| world.get(black_box(into.as_mut_slice()), from))
        })
    };
    let limit = || {
        let into = &mut *into.borrow_mut();
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                let into = black_box(into.as_mut_slice());
                // SAFETY: `start` is a place as long as `into`, which is private memory.
                unsafe { baseline::memcpy(into.as_mut_ptr(), start, into.len()) };
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}
