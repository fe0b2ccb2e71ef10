//! What a put costs.

use std::hint::black_box;

use shmem::prelude::*;
use shmem::zeroed;
use shmem_core::context::{Order, Rma, Stores};
use shmem_core::object::On;

use crate::baseline::{self, LINES, WORDS_OF_LINE, near};
use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::names;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What puts cost.
pub const MEASURE: Measure = Measure {
    name: "put",
    about: "Puts: of 8 bytes to a static against a store, of 1 byte to 4 MiB against `memcpy`",
    run: |runner, _| runner.jobs(&PUT, 2),
    tasks: &[PUT],
    cases: &[
        cases(
            &["put8-static"],
            "8",
            "8-byte puts to a static, one to each of 64 lines",
            "volatile stores to the same words",
        ),
        cases(
            &["put8-quiet"],
            "8",
            "an 8-byte put and its quiet",
            "a volatile store to the same word and a full fence",
        ),
        cases(&["put"], "bytes", "a put of a slice", "the C library's `memcpy` on the same bytes"),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Static | Name::Quiet => Some(Goal::Ratio(1.2)),
            Name::Put(bytes) => bandwidth(bytes),
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        cases: || {
            vec![
                Guarded::new(Name::Static, Bound::Eased(3.0)),
                Guarded::new(Name::Quiet, Bound::Eased(3.0)),
                // A call more than `memcpy`: 1.0 to 1.15.
                Guarded::new(Name::Put(8), Bound::Own(Goal::Ratio(3.0))),
                Guarded::new(Name::Put(4 << 10), Bound::Eased(3.0)),
                Guarded::new(Name::Put(64 << 10), Bound::Eased(3.0)),
            ]
        },
        ..Guard::of("put", |runner| runner.jobs(&PUT, 2))
    }],
    ..Measure::PLAIN
};

const PUT: Task = Task { name: "put", pe: |_, repetitions| bench::run(repetitions, puts) };

names! {
    Static = "put8-static": ["8"];
    Quiet = "put8-quiet": ["8"];
    Put(bytes: usize) = "put": [bytes];
}

/// 0.95 of the bandwidth of `memcpy`, where a transfer is so large that it has one.
pub(crate) fn bandwidth(bytes: usize) -> Option<Goal> {
    (4096..=4 << 20).contains(&bytes).then_some(Goal::Ratio(1.0 / 0.95))
}

#[symmetric]
static ROW: Row;

/// What `put8-static` measures: one 8-byte put to each line of the row.
#[inline(never)]
fn put_row(world: &World, pe: Pe, value: u64) {
    for line in 0..LINES {
        world.p(ROW.on(pe).index(line * WORDS_OF_LINE), value);
    }
}

fn puts(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let object = world.alloc(zeroed::<u8>(4 << 20))?;
    let to = object.on(bench.other());
    Ok(bench.alone(|| {
        let samples = put8_static(world, ROW.on(bench.other()), put_row, repetitions);
        let compared = "an 8-byte put to a static, against a store to the same word";
        let to_static = bench.record(&Name::Static, compared, samples);
        let samples = put8_quiet(world, ROW.on(bench.other()).index(0), repetitions);
        let compared = "an 8-byte put and its quiet, against a store to the same word and a full fence";
        let with_quiet = bench.record(&Name::Quiet, compared, samples);
        let sizes = SIZES.iter().map(|&bytes| {
            let samples = put(world, to.index(..bytes), repetitions);
            let compared = "a put, against memcpy into the same bytes; time for each byte";
            bench.record(&Name::Put(bytes), compared, samples)
        });
        [to_static, with_quiet].into_iter().chain(sizes).collect()
    }))
}

/// Sizes of the transfers that [`put`] and [`get`](super::get::get) are measured with, in bytes.
pub const SIZES: [usize; 8] = [1, 8, 64, 512, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

/// Passes over the lines in one sample: some ten microseconds.
const PASSES: usize = 1000;

/// Transfers of a size in one sample: some hundred microseconds, and one transfer of the largest is
/// that long.
pub(super) fn transfers(bytes: usize) -> usize {
    ((1 << 21) / bytes).clamp(2, 20_000)
}

/// A row of words for [`put8_static`]: one in each line that is written, and those between.
pub type Row = [u64; LINES * WORDS_OF_LINE];

/// 8-byte puts to a static, against raw stores to the same words: nanoseconds for each.
///
/// `put_row` puts its value to the first word of each line of `row`. It is given and not written
/// here, because the static is the program's: in a library every program would carry it. It must
/// not be inlined, as the baseline is not.
///
/// # Panics
///
/// If `row` is not on this node.
pub fn put8_static<I: Stores>(
    token: &I,
    row: On<'_, Row>,
    put_row: fn(&I, shmem_core::pe::Pe, u64),
    repetitions: usize,
) -> Samples {
    let words: *mut u64 = near(row.ptr(token)).cast();
    let (token, pe) = (black_box(token), black_box(row.pe()));
    let cost = || {
        nanoseconds_each(PASSES * LINES, || {
            for pass in 0..PASSES as u64 {
                put_row(token, pe, pass);
            }
        })
    };
    let limit = || {
        nanoseconds_each(PASSES * LINES, || {
            for pass in 0..PASSES as u64 {
                // SAFETY: a row has `LINES * WORDS_OF_LINE` words, and lives while the token does.
                unsafe { baseline::stores(words, pass) };
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

/// 8-byte puts and the quiet of each, against raw stores to the same word with a full fence behind each:
/// nanoseconds for both.
///
/// # Panics
///
/// If `word` is not on this node.
pub fn put8_quiet<I: Stores>(token: &I, word: On<'_, u64>, repetitions: usize) -> Samples {
    let raw = near(word.ptr(token));
    let cost = || {
        let (token, word) = (black_box(token), black_box(word));
        nanoseconds_each(PASSES, || {
            for pass in 0..PASSES as u64 {
                token.p(word, pass);
                token.quiet();
            }
        })
    };
    let limit = || {
        nanoseconds_each(PASSES, || {
            // SAFETY: the place holds an aligned word and lives while the token does.
            (0..PASSES as u64).for_each(|pass| unsafe { baseline::fenced_store(raw, pass) });
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

/// Puts of a whole place, against the C library's `memcpy` into the same bytes: nanoseconds for each
/// byte.
///
/// # Panics
///
/// If `to` is not on this node, or is empty.
pub fn put<I: Stores>(token: &I, to: On<'_, [u8]>, repetitions: usize) -> Samples {
    let bytes = to.len();
    let count = transfers(bytes);
    let source = vec![1_u8; bytes];
    let start: *mut u8 = near(to.ptr(token)).cast();
    let cost = || {
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                token.put(to, black_box(source.as_slice()));
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::undone;

    #[test]
    fn names_are_read_as_they_are_written() {
        undone([(Name::Static, "8"), (Name::Quiet, "8"), (Name::Put(4096), "4096")]);
    }
}
