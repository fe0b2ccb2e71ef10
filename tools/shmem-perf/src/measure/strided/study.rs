//! Many layouts, some of them random: where is the library slower than a loop of puts, and how far is what is chosen from the
//! best of all there is?
//!
//! For every layout all methods are timed in turn, each the median of its samples; the regret of a choice
//! is the time of the method it chooses over that of the fastest.

use shmem_core::context::Stores;
use shmem_core::strided::{Algorithm, Kernel, Method, Plan, Thresholds, settings};

use super::{once, timed, with_sides};
use crate::bench::{Bench, Done, Given, Task};
use crate::case::Record;
use crate::runner::Runner;
use crate::samples::{FEWEST, Samples, median};
use crate::strided::{Direction, Sides, Spread};

pub(super) const SWEEP: Task = Task::near("strided-sweep", sweep_of);
pub(super) const REGRET: Task = Task::near("strided-regret", |bench| {
    let layouts = [("grid", regret_grid()), ("random", drawn(DRAWN, bench.given.seed))];
    let layouts = layouts.map(|(name, mut points)| {
        if cfg!(debug_assertions) {
            eprintln!("shmem-perf: a debug build measures small layouts");
            points.retain(|(spread, _)| spread.hull() <= 64 << 10);
        }
        (name, thinned(points, bench.given.most.unwrap_or(usize::MAX)))
    });
    regret(bench, REGRET_ROOM, &layouts)
});
// Every seventh of those that fit into caches, where choices differ most.
pub(super) const REGRET_SAMPLE: Task = Task::near("regret-sample", |bench| {
    let fits = |(spread, _): &Point| spread.hull() <= 256 << 10;
    regret(bench, ROOM, &[("sample", regret_grid().into_iter().filter(fits).step_by(7).collect())])
});

/// Bytes of each side.
const ROOM: usize = 16 << 20;

/// The same for regret: the published table was measured with 64 MiB.
const REGRET_ROOM: usize = (64 << 20) + (64 << 10);

/// Layouts that are drawn at random.
const DRAWN: usize = 100;

/// Layouts against a loop of puts, drawn by a seed.
pub(super) fn sweep(runner: &mut Runner, seed: Option<u64>) -> Done {
    let seed = drawn_by(runner, seed);
    once(runner, &SWEEP, 2 * ROOM, Given { seed, ..Given::default() })
}

/// Measures regret of predicates, for at most so many layouts of each kind.
pub(crate) fn regret_of(runner: &mut Runner, seed: Option<u64>, most: usize) -> Done {
    let seed = drawn_by(runner, seed);
    once(runner, &REGRET, 2 * REGRET_ROOM, Given { seed, most: Some(most), ..Given::default() })
}

/// The same at a few published layouts.
pub(crate) fn regret_of_a_few(runner: &mut Runner) -> Done {
    once(runner, &REGRET_SAMPLE, 2 * ROOM, Given::default())
}

/// The seed that was asked for, or a new one, which is said.
fn drawn_by(runner: &mut Runner, asked: Option<u64>) -> u64 {
    let now = || std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.subsec_nanos().into());
    let seed = asked.unwrap_or_else(now);
    runner.remark(&format!("shmem-perf: random layouts are drawn with --seed {seed}"));
    seed
}

/// Transfers of `spread` in one sample: some ten microseconds. A debug build is for tests of the tool.
pub(crate) fn transfers(spread: &Spread) -> usize {
    const BYTES: usize = if cfg!(debug_assertions) { 16 << 10 } else { 256 << 10 };
    (BYTES / (spread.bytes() + 32 * spread.count)).clamp(1, 10_000)
}

/// A layout and its direction.
type Point = (Spread, Direction);

/// The layouts that are the same on every run: block sizes by gaps by spans, the same distance on both
/// sides, packed and unpacked, and powers of two.
fn grid() -> Vec<Point> {
    let mut points = Vec::new();
    for span in [16 << 10, 256 << 10, 4 << 20] {
        for block in [4, 8, 16, 24, 32, 64, 128, 256, 512, 1024, 4096] {
            for gap in [4, 16, 64, 256, 1024, 4096] {
                let stride = block + gap;
                points.push((Spread::within(block, stride, stride, span), Direction::Put));
                if gap <= 256 {
                    points.push((Spread::within(block, block, stride, span), Direction::Get));
                    points.push((Spread::within(block, stride, block, span), Direction::Put));
                }
            }
        }
    }
    for span in [256 << 10, 4 << 20] {
        for block in [8, 32, 64, 256, 1024] {
            for stride in [64, 256, 1024, 2048, 4096, 8192].into_iter().filter(|stride| *stride > block) {
                points.push((Spread::within(block, stride, stride, span), Direction::Put));
            }
        }
    }
    points.retain(|(spread, _)| spread.count > 1);
    points
}

/// `count` layouts drawn at random: the same for the same seed.
fn drawn(count: usize, seed: u64) -> Vec<Point> {
    let mut dice = Dice(seed);
    let mut points = Vec::new();
    while points.len() < count {
        let block = match dice.below(3) {
            0 => 1 << dice.below(13),
            1 => 4 * (1 + dice.below(64)),
            _ => 1 + dice.below(600),
        };
        let gap = |dice: &mut Dice| match dice.below(4) {
            0 => 0,
            1 => 8 * dice.below(16),
            2 => (1_usize << dice.below(14)).saturating_sub(block),
            _ => dice.below(9000),
        };
        let (to, from) = (block + gap(&mut dice), block + gap(&mut dice));
        let from = if dice.below(2) == 0 { to } else { from };
        let span = (16 << 10) << (2 * dice.below(5));
        let direction = if dice.below(3) == 0 { Direction::Get } else { Direction::Put };
        let spread = Spread::within(block, to, from, span);
        if spread.count > 1 && (to > block || from > block) {
            points.push((spread, direction));
        }
    }
    points
}

/// A share of layouts, in percent, that may be slower than a loop of puts by more than [`SLOW`].
const FEW: f64 = 2.0;

/// Slower than a loop of puts, and so slow that no layout may be.
const SLOW: f64 = 1.1;
const TOO_SLOW: f64 = 1.5;

/// How often a layout that came out slow is measured again, alone.
const AGAIN: usize = 3;

/// Many layouts against a loop of puts.
fn sweep_of(bench: &mut Bench<'_>) -> Done {
    with_sides(bench, ROOM, |sides| {
        let mut sides = sides().skewed(1024);
        let mut points = grid();
        points.extend(drawn(DRAWN, bench.given.seed));
        if cfg!(debug_assertions) {
            eprintln!("shmem-perf: a debug build measures every tenth layout");
            points = points.into_iter().step_by(10).collect();
        }
        let (mut slow, mut worst) = (0, 0.0_f64);
        for (spread, direction) in &points {
            let count = transfers(spread);
            let mut over_puts = || {
                let pair = || {
                    let ours = timed(count, || sides.routine(spread, *direction));
                    (ours, timed(count, || sides.loop_of_puts(spread, *direction)))
                };
                Samples::of(FEWEST, pair).ratio()[1]
            };
            let mut ratio = over_puts();
            for _ in 0..AGAIN {
                if ratio > SLOW {
                    ratio = ratio.min(over_puts());
                }
            }
            if ratio > SLOW {
                slow += 1;
                eprintln!("shmem-perf: {direction:?} {spread} takes {ratio:.2} times a loop of puts");
            }
            worst = worst.max(ratio);
        }
        let n = points.len();
        let share = vec![(100.0 * f64::from(slow) / n as f64, FEW)];
        bench.add(format!("strided-sweep share/{n}"), Samples(share));
        bench.add(format!("strided-sweep worst/{n}"), Samples(vec![(worst, TOO_SLOW)]));
    })
}

/// How far what is chosen is from the best.
fn regret(bench: &Bench<'_>, room: usize, layouts: &[(&str, Vec<Point>)]) -> Done {
    with_sides(bench, room, |sides| {
        let mut sides = sides().skewed(1024);
        let thresholds = settings().thresholds;
        for (name, points) in layouts {
            let all: Vec<_> = points.iter().map(|point| regrets(&mut sides, point, &thresholds, 7)).collect();
            let choices: [Choice; 5] = [
                ("auto", |r| (r.auto, 1.0)),
                ("published", |r| (r.published, r.auto)),
                ("ideal12", |r| (r.ideal, r.auto)),
                ("always1", |r| (r.one, r.auto)),
                ("always2", |r| (r.two, r.auto)),
            ];
            for (choice, pair) in choices {
                let samples = all.iter().map(pair).collect();
                bench.push(Record {
                    geometric: true,
                    ..bench.record(format!("regret {choice}/{name}"), samples)
                });
            }
        }
    })
}

/// A choice, as cases name it, and its regret beside what that is held against.
type Choice = (&'static str, fn(&Regrets) -> (f64, f64));

/// Every way to move a pattern, whatever would be chosen.
const METHODS: [Method; 10] = [
    Method::Putmem,
    Method::Kernel(Kernel::Rows),
    Method::Kernel(Kernel::Throttled(1)),
    Method::Kernel(Kernel::Throttled(2)),
    Method::Kernel(Kernel::Throttled(4)),
    Method::Kernel(Kernel::Throttled(8)),
    Method::Kernel(Kernel::Throttled(16)),
    Method::Kernel(Kernel::Stream),
    Method::Kernel(Kernel::Span),
    Method::Kernel(Kernel::Shuffle),
];

/// The published blocks and gaps, in spans from a first-level cache to the published 64 MiB.
fn regret_grid() -> Vec<Point> {
    let mut points = Vec::new();
    for span in [16 << 10, 256 << 10, 4 << 20, 64 << 20] {
        for (block, _) in shmem_core::strided::PUBLISHED {
            for gap in shmem_core::strided::GAPS {
                let stride = block + gap;
                points.push((Spread::within(block, stride, stride, span), Direction::Put));
            }
        }
    }
    points.retain(|(spread, _)| spread.count > 1);
    points
}

/// At most so many of some layouts, taken evenly from all of them.
fn thinned(points: Vec<Point>, most: usize) -> Vec<Point> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.into_iter().step_by(step).collect()
}

/// Regret of each policy at one layout.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Regrets {
    /// Of what is chosen here.
    auto: f64,
    /// Of Algorithm 1, always.
    one: f64,
    /// Of Algorithm 2, always.
    two: f64,
    /// Of the published table.
    published: f64,
    /// Of the better of Algorithms 1 and 2, which no table can beat.
    ideal: f64,
}

/// Times all methods at a layout.
fn regrets<I: Stores>(
    sides: &mut Sides<'_, I>,
    (spread, direction): &Point,
    thresholds: &Thresholds,
    repetitions: usize,
) -> Regrets {
    let pattern = spread.pattern();
    let by = |algorithm| {
        Plan::of(pattern, 1 << (spread.to | spread.from).trailing_zeros().min(6), algorithm, thresholds)
    };
    let (auto, two, three) = (by(Algorithm::Auto), by(Algorithm::Two), by(Algorithm::Three));
    let mut plans = vec![auto, by(Algorithm::One), two];
    plans.extend(METHODS.map(|method| Plan::by(pattern, method)));
    plans.dedup();
    let count = transfers(spread);
    let mut times = vec![Vec::new(); plans.len()];
    for round in 0..=repetitions {
        for (plan, times) in plans.iter().zip(&mut times) {
            let time = timed(count, || sides.planned(0, plan, *direction));
            if round > 0 {
                times.push(time);
            }
        }
    }
    // One plan that stands there twice counts with all its samples.
    let time = |wanted: &Plan| {
        let all = plans.iter().zip(&times).filter(|(plan, _)| *plan == wanted);
        median(all.flat_map(|(_, times)| times.iter().copied()).collect())
    };
    let best = plans.iter().map(&time).fold(f64::INFINITY, f64::min);
    let over_best = |plan: &Plan| time(plan) / best;
    let (one, two) = (over_best(&by(Algorithm::One)), over_best(&two));
    Regrets { auto: over_best(&auto), one, two, published: over_best(&three), ideal: one.min(two) }
}

/// Numbers that look random: SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_layouts_and_all_fit() {
        let all: Vec<Point> = grid().into_iter().chain(drawn(DRAWN, 7)).collect();
        assert!(all.len() >= 500, "{}", all.len());
        for (spread, _) in all {
            assert!(spread.to >= spread.block && spread.from >= spread.block, "{spread}");
            assert!(spread.hull() <= ROOM, "{spread}");
        }
    }

    #[test]
    fn a_seed_draws_the_same_again_and_another_others() {
        assert_eq!(drawn(20, 1), drawn(20, 1));
        assert_ne!(drawn(20, 1), drawn(20, 2));
        assert_eq!(drawn(20, 1), drawn(30, 1)[..20]);
    }

    #[test]
    fn fewer_layouts_are_taken_evenly() {
        let all = regret_grid();
        assert_eq!(thinned(all.clone(), usize::MAX), all);
        for most in [1, 7, 12, all.len()] {
            let some = thinned(all.clone(), most);
            assert!(!some.is_empty() && some.len() <= most && 2 * some.len() > most.min(all.len()), "{most}");
        }
        let spans = thinned(all, 12).iter().map(|(spread, _)| spread.hull()).max();
        assert!(spans > Some(32 << 20), "large ones, too: {spans:?}");
    }
}
