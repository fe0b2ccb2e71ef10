//! Strided transfers: layouts of applications, and a few large blocks, against loads and stores of the same lines and against a loop of
//! puts. The other files have what the literature measures, and transfers beside other libraries.

mod constant;
mod exchange;
mod peers;
mod published;
mod sides;
mod study;

use shmem_core::strided::Pattern;

use self::sides::{ALIGN, hull};
pub(super) use self::sides::{Direction, Sides, even, within};
pub(super) use self::study::transfers;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "strided",
    run: Some(|runner| {
        match ["regret", "peers", "published", "own", "exchange"].into_iter().find(|option| runner.is(option))
        {
            Some("regret") => study::job(runner, true),
            Some("published") => published::measure(runner),
            Some("exchange") => exchange::measure(runner),
            Some(peers) => peers::measure(runner, &format!("strided-{peers}")),
            None => runner.jobs("strided", 2).and_then(|()| study::job(runner, false)),
        }
    }),
    tasks: &[
        ("strided", Task::Near(strided)),
        ("strided-sweep", Task::Near(study::swept_layouts)),
        ("strided-regret", Task::Near(study::regret_of_all)),
        ("strided-published", Task::Near(published::table)),
        ("strided-exchange", Task::Near(exchange::exchanges)),
        ("strided-peers", Task::Near(|world, bench| peers::with_arrays(world, bench, peers::beside_peers))),
        ("strided-own", Task::Near(|world, bench| peers::with_arrays(world, bench, peers::own))),
    ],
    ..Measure::PLAIN
};

/// As much as is measured by a whole run, by a quick one, and by a debug build: figures of a build without optimisation are
/// nobody's, there it is shown that the measure works.
fn either<T>(quick: bool, whole: T, part: T, debug: T) -> T {
    match (cfg!(debug_assertions), quick) {
        (true, _) => debug,
        (false, true) => part,
        (false, false) => whole,
    }
}

/// Room behind the last block.
const MARGIN: usize = 2 << 12;

/// Measures with a place and private memory of so many bytes, on PE 0.
pub(super) fn with_sides(world: &World, room: usize, measure: impl FnOnce(&mut Sides<'_>)) -> Done {
    let object = world.alloc(zeroed::<f64>((room + MARGIN) / size_of::<f64>()))?;
    let place = object.on(other(world));
    Ok(alone(world, || measure(&mut Sides::new(world, place, &mut vec![1; room + 2 * ALIGN])))?)
}

/// A layout: what it is in an application, its blocks, and where the private side begins in its page: in a halo exchange columns
/// do not start alike.
type Layout = (&'static str, Pattern, usize);

/// The layouts, one behind the other those of each orientation.
///
/// Columns are of `f64`, 8 or 4 times 8 bytes wide; a pitch of 8256 is a row of 1024 with a line of pad, 8192
/// one without. `aos` is a field of 8 bytes in structs of 24; a checkerboard takes every other element.
const LAYOUTS: &[Layout] = &[
    ("contiguous/64K", Pattern::contiguous(64 << 10), 0),
    ("column/64", even(8, 64, 8256), 1016),
    ("column/256", even(8, 256, 8256), 1016),
    ("column/1024", even(8, 1024, 8256), 1016),
    ("column/1000/1032", even(8, 1000, 1032), 1016),
    ("column-pitch-8K/1024", even(8, 1024, 8192), 4080),
    ("column-pack/1024", Pattern::blocks(8, 1024, 8, 8256), 0),
    ("column-unpack/1024", Pattern::blocks(8, 1024, 8256, 8), 0),
    ("column4/1024", even(32, 1024, 8256), 992),
    ("column4-pitch-8K/1024", even(32, 1024, 8192), 4064),
    ("blocks/4-of-128", even(32, 250, 1024), 0),
    ("blocks/4-of-129", even(32, 250, 1032), 0),
    ("aos/24/8/1k", even(8, 1000, 24), 0),
    ("aos/24/8/100k", even(8, 100_000, 24), 0),
    ("aos/48/16/10k", even(16, 10_000, 48), 16),
    ("checkerboard-f64/1k", even(8, 1000, 16), 8),
    ("checkerboard-f64/100k", even(8, 100_000, 16), 8),
    ("checkerboard-f32/1k", even(4, 1000, 8), 4),
    ("checkerboard-f32/100k", even(4, 100_000, 8), 4),
    ("matrix/row-512", even(512, 256, 1536), 512),
    ("matrix/row-1024", even(1024, 256, 1536), 512),
    ("matrix/row-2048", even(2048, 256, 3072), 1024),
];

fn strided(world: &mut World, bench: &Bench<'_>) -> Done {
    let room = LAYOUTS.iter().map(|(_, pattern, _)| hull(pattern)).max().unwrap_or(0);
    with_sides(world, room, |sides| {
        for (name, pattern, skew) in LAYOUTS {
            let count = transfers(pattern);
            sides.skewed(*skew);
            for (way, direction) in Direction::BOTH {
                beside_puts(bench, format!("strided {name}/{way}"), || {
                    [
                        timed(count, || sides.routine(pattern, direction)),
                        timed(count, || sides.limit(pattern, direction)),
                        timed(count, || sides.loop_of_puts(pattern, direction)),
                    ]
                });
            }
        }
        constant::constant(world, bench);
        few(bench, "strided-few", sides.skewed(1024), &FEW);
        // What is written lies half a line behind what is read, in pages.
        few(bench, "strided-alias", sides.followed(32), &ALIASED);
    })
}

/// What transfers cost each way, in turn: the library's cost beside the limit's, and beside that of a loop of puts.
fn beside_puts(bench: &Bench<'_>, name: String, mut times: impl FnMut() -> [f64; 3]) {
    if !bench.wants(&name) {
        return;
    }
    times();
    let times: Vec<_> = (0..bench.repetitions).map(|_| times()).collect();
    let beside = |other: usize| times.iter().map(|times| (times[0], times[other])).collect::<Samples>();
    bench.push(Record { loop_of_puts: Some(beside(2)), ..bench.record(name, beside(1)) });
}

/// Nanoseconds of one of so many transfers. What the one before left in the caches, or did not, is nobody's: one runs untimed.
fn timed(count: usize, mut transfer: impl FnMut()) -> f64 {
    transfer();
    each(count, transfer)
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

fn few(bench: &Bench<'_>, measure: &str, sides: &mut Sides<'_>, all: &[Few]) {
    let blocks = either(false, 2048, 2048, 32);
    for &(count, block, gap) in all {
        let (pattern, times) = (even(block, count, block + gap), (blocks / count).max(1));
        let name = format!("{measure} {count}/{block}/{gap}");
        bench.pair(name, || sides.beside_puts(times, &pattern, Direction::Put));
    }
}
