//! Strided transfers: layouts of applications, and transfers of a few large blocks, against loads and stores of the same cache
//! lines, and against a loop of puts. `published` and `peers` compare with the literature and with other libraries.

mod constant;
mod peers;
mod published;
mod regret;
mod sides;

use shmem_core::strided::Pattern;

pub(super) use self::regret::transfers;
use self::sides::{ALIGN, hull};
pub(super) use self::sides::{Direction, Sides, even, within};
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "strided",
    run: Some(|runner| {
        match ["regret", "peers", "published", "own", "exchange"].into_iter().find(|option| runner.is(option))
        {
            Some("regret") => regret::job(runner, true),
            Some("published") => published::measure_table(runner),
            Some("exchange") => published::measure_exchange(runner),
            Some(peers) => peers::measure(runner, &format!("strided-{peers}")),
            None => runner.jobs("strided", 2).and_then(|()| regret::job(runner, false)),
        }
    }),
    tasks: &[
        ("strided", Task::Near(strided)),
        ("strided-sweep", Task::Near(regret::swept_layouts)),
        ("strided-regret", Task::Near(regret::regret_of_all)),
        ("strided-published", Task::Near(published::table)),
        ("strided-exchange", Task::Near(published::exchanges)),
        ("strided-peers", Task::Near(|world, bench| peers::with_arrays(world, bench, peers::beside_peers))),
        ("strided-own", Task::Near(|world, bench| peers::with_arrays(world, bench, peers::own))),
    ],
    ..Measure::PLAIN
};

/// Returns `whole`; in a quick run `part`; in a debug build `debug`, because a debug build only tests the tool.
fn either<T>(quick: bool, whole: T, part: T, debug: T) -> T {
    match (cfg!(debug_assertions), quick) {
        (true, _) => debug,
        (false, true) => part,
        (false, false) => whole,
    }
}

/// Bytes behind the last block of the destination.
const MARGIN: usize = 2 << 12;

/// Runs `measure` on PE 0, with `room` bytes for the blocks of the source and as many for those of the destination.
pub(super) fn with_sides(world: &World, room: usize, measure: impl FnOnce(&mut Sides<'_>)) -> Done {
    let object = world.alloc(zeroed::<f64>((room + MARGIN) / size_of::<f64>()))?;
    let place = object.on(other(world));
    Ok(alone(world, || measure(&mut Sides::new(world, place, &mut vec![1; room + 2 * ALIGN])))?)
}

fn strided(world: &mut World, bench: &Bench<'_>) -> Done {
    let room = layouts("layouts").map(|(_, pattern, _)| hull(&pattern)).max().unwrap_or(0);
    with_sides(world, room, |sides| {
        for (name, pattern, skew) in layouts("layouts") {
            let (pattern, count) = (&pattern, transfers(&pattern));
            sides.skewed(skew);
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
        few(bench, "few", sides.skewed(1024));
        // In a page, the source begins half a cache line before the destination.
        few(bench, "alias", sides.followed(32));
    })
}

/// Adds a case. `times` returns the times of the library, the baseline, and a loop of puts.
fn beside_puts(bench: &Bench<'_>, name: String, mut times: impl FnMut() -> [f64; 3]) {
    if !bench.wants(&name) {
        return;
    }
    times();
    let times: Vec<_> = (0..bench.repetitions).map(|_| times()).collect();
    let beside = |other: usize| times.iter().map(|times| (times[0], times[other])).collect::<Samples>();
    bench.push(Record { loop_of_puts: Some(beside(2)), ..bench.record(name, beside(1)) });
}

/// Returns the mean nanoseconds of `count` transfers, after an untimed transfer that fills the caches.
fn timed(count: usize, mut transfer: impl FnMut()) -> f64 {
    transfer();
    each(count, transfer)
}

fn few(bench: &Bench<'_>, kind: &str, sides: &mut Sides<'_>) {
    let blocks = either(false, 2048, 2048, 32);
    for (name, numbers) in sizes("strided", kind) {
        let (count, block, gap) = (numbers[0], numbers[1], numbers[2]);
        let (pattern, times) = (even(block, count, block + gap), (blocks / count).max(1));
        bench.pair(format!("strided-{kind} {name}"), || sides.beside_puts(times, &pattern, Direction::Put));
    }
}

fn layouts(kind: &str) -> impl Iterator<Item = (&'static str, Pattern, usize)> {
    sizes("strided", kind).map(|(name, of)| (name, Pattern::blocks(of[0], of[1], of[2], of[3]), of[4]))
}
