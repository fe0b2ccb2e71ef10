//! Strided transfers.
//!
//! ```text
//! constant    transfers by `strided!`, whose layouts the compiler knows
//! study       many layouts, some of them random: against a loop of puts, and against the best of all kernels
//! published   the table of the literature: blocks or columns?
//! exchange    the edges of a field, to a neighbour
//! ```

mod constant;
mod exchange;
mod published;
mod study;

use std::cell::RefCell;

use clap::{Args, FromArgMatches};
use shmem::zeroed;
use shmem_core::context::Stores;

use super::{At, Cases, Measure, peers as others, row};
use crate::bench::{Bench, Records};
use crate::case::Record;
use crate::check::{Bound, Guard, held};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::peers::Peer;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::strided::{Direction, Sides, Spread};
use crate::task::{Done, Task};

pub(crate) use self::exchange::measure as published_exchange;
pub(crate) use self::published::measure as published_table;
pub(crate) use self::study::{regret_of, regret_of_a_few, transfers};

pub(crate) const MEASURE: Measure = Measure {
    name: "strided",
    about: "Strided transfers against loads and stores of the same lines, and against a loop of puts; then some 600 layouts \
            against a loop of puts",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    tasks: &[
        STRIDED,
        study::SWEEP,
        study::REGRET,
        study::REGRET_SAMPLE,
        published::TABLE,
        exchange::EXCHANGE,
    ],
    rows: ROWS,
    guards: &[
        Guard::of("strided", orientations, || {
            // 1.6 to 3 times as fast as a loop of puts: too near to it to be told from it everywhere.
            let column = Bound::Own(Goal::Ratio(4.0));
            // Small blocks with small gaps, which are moved 6 to 20 times as fast as by a loop of puts.
            let beats_a_loop = Bound::Own(Goal::Faster(4.0, 2.0));
            // What the check of regions and the way to the PE may cost beside three short copies, on any processor: some
            // nanoseconds, which are more than half of what these take where copies are fast.
            let few = Bound::Own(Goal::RatioOr(1.5, 12.0));
            let cases = [
                held("strided column/1024/put", column),
                held("strided column/1024/get", column),
                held("strided aos/24/8/1k/put", beats_a_loop),
                held("strided aos/24/8/1k/get", beats_a_loop),
                held("strided checkerboard-f64/1k/put", beats_a_loop),
                held("strided checkerboard-f32/1k/put", Bound::Own(Goal::OnlyFaster(2.0))),
                held("strided constant/8x4", Bound::Eased(3.0)),
            ];
            let aliased = ALIASED.iter().map(|blocks| few_of("strided-alias", blocks));
            let all = FEW.iter().map(|blocks| few_of("strided-few", blocks)).chain(aliased);
            cases.into_iter().chain(all.map(|name| held(&name, few))).collect()
        }),
        Guard {
            jobs: 1,
            ..Guard::of("strided --regret", regret_of_a_few, || {
                vec![held("regret auto/sample", Bound::Own(Goal::Tail(2.5, 5.0)))]
            })
        },
    ],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("strided | layout/direction | `iputmem`, `igetmem`; constant `strided!` | a load from each line of the source, then a \
         store to each of the destination", &[("strided constant/8x4", At::Anywhere, Goal::RatioOr(1.0, 1.3)),
        ("strided column/**/put", At::Anywhere, Goal::Faster(1.1, 2.2)),
        ("strided column/**/get", At::Anywhere, Goal::Faster(1.15, 2.2)),
        ("strided column4/**/put", At::Anywhere, Goal::Faster(1.1, 2.5)),
        ("strided column4/**/get", At::Anywhere, Goal::Faster(1.15, 2.5)),
        ("strided aos/24/8/*/put", At::Anywhere, Goal::Faster(1.1, 3.0)),
        ("strided aos/24/8/*/get", At::Anywhere, Goal::Faster(1.15, 3.0)),
        ("strided checkerboard-f64/**/put", At::Anywhere, Goal::Faster(1.1, 3.0)),
        ("strided checkerboard-f64/**/get", At::Anywhere, Goal::Faster(1.15, 3.0)),
        ("strided checkerboard-f32/**", At::Anywhere, Goal::OnlyFaster(10.0)),
        ("strided column-pitch-8K/**", At::Anywhere, Goal::OnlyFaster(1.8)),
        ("strided matrix/row-512|row-1024|row-2048/*", At::Anywhere, Goal::OnlyFaster(0.95))]),
    // What is chosen for them must cost nothing beside the loop of puts that it replaces.
    row("strided-few | blocks/bytes/gap | the same for a few large blocks | a loop of puts",
        &[("strided-few|strided-alias **", At::Anywhere, Goal::Ratio(1.05))]),
    row("strided-alias | blocks/bytes/gap | the same where what is put looks like what is read next, by the low bits of \
         addresses | a loop of puts", &[]),
    row("strided-sweep | share, worst | the same for 610 layouts, 100 of them drawn | a loop of puts",
        &[("strided-sweep **", At::Anywhere, Goal::Ratio(1.0))]),
    row("regret | choice/layouts | the kernel chosen | the fastest of all",
        &[("regret auto/grid", At::Anywhere, Goal::Tail(1.10, 1.4)), ("regret auto/random", At::Anywhere, Goal::Tail(1.2, 1.7)),
        ("regret ideal12/grid", At::Anywhere, Goal::Beaten(1.3)), ("regret ideal12/random", At::Anywhere, Goal::Beaten(1.2)),
        ("regret published/grid", At::Anywhere, Goal::Beaten(1.6))]),
    row("strided-published | way/direction/block/gap | 64 MiB by Algorithm 2, by 3, and by what is chosen here; `auto-best`: \
         what is chosen here | Algorithm 1; the better one of 1 and 2", &[]),
    row("strided-exchange | algorithm/field/state | two PEs exchange the edges of a field of 128 MiB | the same by Algorithm 1",
        &[]),
];

const STRIDED: Task = Task::near("strided", strided);

/// What is measured of strided transfers.
#[derive(Args, Clone, Debug, Default)]
struct Options {
    /// How far what is chosen is from the best of all kernels. Takes some minutes.
    #[arg(long, group = "study")]
    regret: bool,
    /// The same transfers by Open MPI's MPI and OpenSHMEM, in turn with ours. What is not installed is
    /// said.
    #[arg(long, group = "study")]
    peers: bool,
    /// The published table: 64 MiB in blocks of 16 bytes to 16 KiB with gaps of 4 bytes to 4 KiB, by Algorithms 2 and 3
    /// and by what is chosen here, against Algorithm 1. Takes some minutes.
    #[arg(long, group = "study")]
    published: bool,
    /// The published assessment: the strided routines of each library against its own loop of puts or gets.
    #[arg(long, group = "study")]
    own: bool,
    /// The published halo exchange: two halves of a field of 128 MiB, whose columns go by Algorithms 2 and 3 and by what
    /// is chosen here, against Algorithm 1.
    #[arg(long, group = "study")]
    exchange: bool,
    /// Less of a study: a payload of 4 MiB, a field of 8 MiB, a few layouts.
    #[arg(long, requires = "study")]
    quick: bool,
    /// Draws the random layouts of an earlier run again; not given: new ones.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

impl Options {
    fn run(&self, runner: &mut Runner) -> Done {
        let &Self { regret, peers, published, own, exchange, quick, seed } = self;
        match (peers, own, published, exchange, regret) {
            (true, ..) => others::beside(runner),
            (_, true, ..) => others::own_loops(runner, &Peer::STRIDED),
            (_, _, true, ..) => published_table(runner, quick),
            (.., true, _) => published_exchange(runner, quick),
            (.., true) => regret_of(runner, seed, either(quick, usize::MAX, 16, 16)),
            _ => {
                orientations(runner)?;
                study::sweep(runner, seed)
            }
        }
    }
}

/// As much as is measured by a whole run, by a quick one, and by a debug build: figures of a build without optimisation are
/// nobody's, there it is shown that the measure works.
fn either<T>(quick: bool, whole: T, part: T, debug: T) -> T {
    match (cfg!(debug_assertions), quick) {
        (true, _) => debug,
        (false, true) => part,
        (false, false) => whole,
    }
}

/// The layouts of applications.
pub(crate) fn orientations(runner: &mut Runner) -> Done {
    runner.jobs(&STRIDED, 2)
}

/// One job with so much heap, of at most so many bytes or layouts of a kind.
fn once(
    runner: &mut Runner,
    task: &Task,
    heap: usize,
    most: usize,
    then: impl FnOnce(Asked) -> Asked,
) -> Done {
    let job = then(runner.job_with_heap(task, heap).told("--most", most));
    runner.several(1, |runner| runner.repeat(&job))
}

/// Room behind the last block: both sides begin anywhere in a page.
const MARGIN: usize = 2 << 12;

/// Measures with sides of so many bytes, on PE 0.
fn with_sides(
    bench: &Bench<'_>,
    room: usize,
    measure: impl for<'a> FnOnce(&dyn Fn() -> Sides<'a, shmem::World>) -> Vec<Record>,
) -> Records {
    let object = bench.world.alloc(zeroed::<u8>(room + MARGIN))?;
    let place = object.on(bench.other());
    Ok(bench.alone(|| measure(&|| Sides::new(bench.world, place))))
}

/// A layout: what it is in an application, its blocks, and where the private side begins in its page: in a halo exchange columns
/// do not start alike.
type Layout = (&'static str, Spread, usize);

/// The layouts, one behind the other those of each orientation.
///
/// Columns are of `f64`, 8 or 4 times 8 bytes wide; a pitch of 8256 is a row of 1024 with a line of pad, 8192
/// one without. `aos` is a field of 8 bytes in structs of 24; a checkerboard takes every other element.
const LAYOUTS: &[Layout] = &[
    ("contiguous/64K", Spread::even(64 << 10, 1, 64 << 10), 0),
    ("column/64", Spread::even(8, 64, 8256), 1016),
    ("column/256", Spread::even(8, 256, 8256), 1016),
    ("column/1024", Spread::even(8, 1024, 8256), 1016),
    ("column/1000/1032", Spread::even(8, 1000, 1032), 1016),
    ("column-pitch-8K/1024", Spread::even(8, 1024, 8192), 4080),
    ("column-pack/1024", Spread { block: 8, count: 1024, to: 8, from: 8256 }, 0),
    ("column-unpack/1024", Spread { block: 8, count: 1024, to: 8256, from: 8 }, 0),
    ("column4/1024", Spread::even(32, 1024, 8256), 992),
    ("column4-pitch-8K/1024", Spread::even(32, 1024, 8192), 4064),
    ("blocks/4-of-128", Spread::even(32, 250, 1024), 0),
    ("blocks/4-of-129", Spread::even(32, 250, 1032), 0),
    ("aos/24/8/1k", Spread::even(8, 1000, 24), 0),
    ("aos/24/8/100k", Spread::even(8, 100_000, 24), 0),
    ("aos/48/16/10k", Spread::even(16, 10_000, 48), 16),
    ("checkerboard-f64/1k", Spread::even(8, 1000, 16), 8),
    ("checkerboard-f64/100k", Spread::even(8, 100_000, 16), 8),
    ("checkerboard-f32/1k", Spread::even(4, 1000, 8), 4),
    ("checkerboard-f32/100k", Spread::even(4, 100_000, 8), 4),
    ("matrix/row-512", Spread::even(512, 256, 1536), 512),
    ("matrix/row-1024", Spread::even(1024, 256, 1536), 512),
    ("matrix/row-2048", Spread::even(2048, 256, 3072), 1024),
];

/// The layouts of applications.
fn strided(bench: &mut Bench<'_>) -> Records {
    let room = LAYOUTS.iter().map(|(_, spread, _)| spread.hull()).max().unwrap_or(0);
    with_sides(bench, room, |sides| {
        let mut records = Vec::new();
        for (name, spread, skew) in LAYOUTS {
            let sides = RefCell::new(sides().skewed(*skew));
            for direction in Direction::BOTH {
                let costs = costs(
                    bench.repetitions,
                    transfers(spread),
                    || sides.borrow_mut().routine(spread, direction),
                    || sides.borrow_mut().limit(spread, direction),
                    || sides.borrow_mut().loop_of_puts(spread, direction),
                );
                let compared = "blocks by iputmem and igetmem, against a load and a store for each of their lines; vs_a1: how many times faster than a loop of puts";
                records.push(of_costs(
                    bench,
                    &format!("strided {name}/{}", direction.name()),
                    compared,
                    costs,
                ));
            }
        }
        records.extend(constant::constant(bench));
        let (mut apart, mut alike) = (sides().skewed(1024), sides().followed(BEHIND));
        for blocks in &FEW {
            let compared = "a few blocks by iputmem, against a loop of puts";
            let samples = few(&mut apart, blocks, bench.repetitions);
            records.push(bench.record(&few_of("strided-few", blocks), compared, samples));
        }
        for blocks in &ALIASED {
            let compared = "a few blocks by iputmem, at places that look like those that are read next, against a loop of puts";
            let samples = few(&mut alike, blocks, bench.repetitions);
            records.push(bench.record(&few_of("strided-alias", blocks), compared, samples));
        }
        records
    })
}

/// What so many transfers in turn cost each way: the library's cost beside the limit's, and beside that of a loop of puts.
fn costs(
    repetitions: usize,
    count: usize,
    mut ours: impl FnMut(),
    mut limit: impl FnMut(),
    mut puts: impl FnMut(),
) -> (Samples, Samples) {
    let (mut beside_limit, mut beside_puts) = (Samples::new(), Samples::new());
    for round in 0..=repetitions {
        let (ours, limit, puts) =
            (timed(count, &mut ours), timed(count, &mut limit), timed(count, &mut puts));
        if round > 0 {
            beside_limit.push(ours, limit);
            beside_puts.push(ours, puts);
        }
    }
    (beside_limit, beside_puts)
}

fn of_costs(bench: &Bench<'_>, name: &str, compared: &str, (limit, puts): (Samples, Samples)) -> Record {
    bench.record(name, compared, limit).beside(puts)
}

/// Nanoseconds of one of so many transfers. What the one before left in the caches, or did not, is nobody's: one runs untimed.
fn timed(count: usize, mut transfer: impl FnMut()) -> f64 {
    transfer();
    nanoseconds_each(count, || (0..count).for_each(|_| transfer()))
}

/// A few large blocks, some KiB apart, beside which all that is asked and chosen before the first one would be felt: how many,
/// bytes of each, and bytes between two of them.
type Few = (usize, usize, usize);
const FEW: [Few; 9] = [
    (3, 256, 4096),
    (4, 24, 4096),
    (4, 128, 4096),
    (4, 256, 4096),
    (4, 512, 4096),
    (4, 1024, 4096),
    (15, 1024, 4),
    (32, 4096, 64),
    (32, 4096, 4096),
];

/// The same of blocks that begin 4 KiB apart, or follow each other there: the low bits of addresses are the same on both sides,
/// but for half a line.
const ALIASED: [Few; 5] = [(4, 64, 4032), (4, 1024, 3072), (16, 512, 3584), (64, 64, 4032), (32, 4096, 4096)];

/// Bytes by which what is written lies behind what is read, in pages.
const BEHIND: usize = 32;

fn few_of(measure: &str, (count, block, gap): &Few) -> String {
    format!("{measure} {count}/{block}/{gap}")
}

/// A few large blocks by `iputmem`, against a loop of puts.
fn few<I: Stores>(sides: &mut Sides<'_, I>, &(count, block, gap): &Few, repetitions: usize) -> Samples {
    /// Transfers in one sample, of one block.
    const TIMES: usize = if cfg!(debug_assertions) { 32 } else { 2048 };
    let (spread, times) = (Spread::even(block, count, block + gap), (TIMES / count).max(1));
    Samples::of(repetitions, || {
        let ours = timed(times, || sides.routine(&spread, Direction::Put));
        (ours, timed(times, || sides.loop_of_puts(&spread, Direction::Put)))
    })
}
