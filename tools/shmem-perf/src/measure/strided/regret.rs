//! Many layouts, some of them random: where is the library slower than a loop of puts, and how good is its choice of a method? Its
//! *regret* is the median time of the chosen method, divided by that of the fastest method.

use shmem_core::strided::{Algorithm, Kernel, Level, Method, Thresholds, TransferPlan, settings};

use super::*;
use crate::measure::indexed::random;

type Point = (Pattern, Direction);

/// Bytes of each side (source and destination). Jobs for regret use [`REGRET_ROOM`] instead, as many as the published table needs.
const ROOM: usize = 16 << 20;
const REGRET_ROOM: usize = (64 << 20) + (64 << 10);

/// Number of random layouts. For regret, a quick run measures at most [`QUICK`] fixed and as many random layouts.
const DRAWN: usize = 100;
const QUICK: usize = if cfg!(debug_assertions) { 16 } else { 32 };

/// Ratio to a loop of puts above which a layout is slow. At most [`FEW`] percent may be slow, and none slower than [`TOO_SLOW`].
const SLOW: f64 = 1.1;
const FEW: f64 = 2.0;
const TOO_SLOW: f64 = 1.5;

pub(super) fn swept_layouts(world: &mut World, bench: &Bench<'_>) -> Done {
    with_sides(world, ROOM, |sides| {
        sides.skewed(1024);
        let points = swept(bench.seed);
        let (mut slow, mut worst) = (0, 0.0_f64);
        for (pattern, direction) in &points {
            let mut over_puts = || {
                let pair = || sides.beside_puts(transfers(pattern), pattern, *direction);
                Samples::of(FEWEST, pair).ratio()[1]
            };
            // A slow layout is measured again, because other load may have caused the result.
            let mut ratio = over_puts();
            (0..3).for_each(|_| {
                if ratio > SLOW {
                    ratio = ratio.min(over_puts())
                }
            });
            if ratio > SLOW {
                slow += 1;
                let (block, [_, Level { count, to, from }]) = (pattern.block(), pattern.inner());
                let layout = format!("{direction:?} {block}x{count}/{to}<-{from}");
                eprintln!("shmem-perf: {layout} takes {ratio:.2} times a loop of puts");
            }
            worst = worst.max(ratio);
        }
        let n = points.len();
        let share = (100.0 * f64::from(slow) / n as f64, FEW);
        for (of, pair) in [("share", share), ("worst", (worst, TOO_SLOW))] {
            bench.add(format!("strided-sweep {of}/{n}"), Samples(vec![pair]));
        }
    })
}

pub(super) fn regret_of_all(world: &mut World, bench: &Bench<'_>) -> Done {
    with_sides(world, REGRET_ROOM, |sides| {
        sides.skewed(1024);
        for (name, mut points) in [("grid", regret_grid()), ("random", drawn(DRAWN, bench.seed))] {
            if !CHOICES.iter().any(|(choice, _)| bench.wants(&format!("regret {choice}/{name}"))) {
                continue;
            }
            if cfg!(debug_assertions) {
                points.retain(|(pattern, _)| hull(pattern) <= 64 << 10);
            }
            let step = if bench.quick { points.len().div_ceil(QUICK) } else { 1 };
            let all: Vec<_> = points.iter().step_by(step).map(|point| regrets(sides, point)).collect();
            for (at, (choice, _)) in CHOICES.iter().enumerate() {
                let limit = |regrets: &[f64; 5]| if at == 0 { 1.0 } else { regrets[0] };
                let samples = all.iter().map(|regrets| (regrets[at], limit(regrets))).collect();
                let record = bench.record(format!("regret {choice}/{name}"), samples);
                bench.push(Record { geometric: true, ..record });
            }
        }
    })
}

/// Runs a job that measures layouts. Random layouts use the given seed, or a new seed, which is printed.
pub(super) fn job(runner: &mut Runner, is_regret: bool) -> Done {
    let n = swept(0).len();
    if !is_regret && !["share", "worst"].iter().any(|of| runner.wants(&format!("strided-sweep {of}/{n}"))) {
        return Ok(());
    }
    let now = || std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.subsec_nanos().into());
    let seed = runner.numbers("seed").first().map_or_else(now, |seed| *seed as u64);
    runner.remark(&format!("shmem-perf: random layouts are drawn with --seed {seed}"));
    let (task, room) = if is_regret { ("strided-regret", REGRET_ROOM) } else { ("strided-sweep", ROOM) };
    runner.times(1, &runner.job(task, 2, PeArguments { seed, ..PeArguments::default() }).heap(2 * room))
}

/// Returns the number of transfers in a sample, which takes some ten microseconds. A debug build only tests the tool.
pub(crate) fn transfers(pattern: &Pattern) -> usize {
    const BYTES: usize = if cfg!(debug_assertions) { 16 << 10 } else { 256 << 10 };
    (BYTES / (pattern.count() * (pattern.block() + 32))).clamp(1, 10_000)
}

fn swept(seed: u64) -> Vec<Point> {
    [grid(), drawn(DRAWN, seed)].concat()
}

/// Returns fixed layouts: combinations of block size, gap and span, with equal strides or one side packed; and power-of-two
/// strides.
fn grid() -> Vec<Point> {
    let mut points = Vec::new();
    for span in [16 << 10, 256 << 10, 4 << 20] {
        for block in [4, 8, 16, 24, 32, 64, 128, 256, 512, 1024, 4096] {
            for gap in [4, 16, 64, 256, 1024, 4096] {
                let stride = block + gap;
                points.push((within(block, stride, stride, span), Direction::Put));
                if gap <= 256 {
                    points.push((within(block, block, stride, span), Direction::Get));
                    points.push((within(block, stride, block, span), Direction::Put));
                }
            }
        }
    }
    for span in [256 << 10, 4 << 20] {
        for block in [8, 32, 64, 256, 1024] {
            for stride in [64, 256, 1024, 2048, 4096, 8192].into_iter().filter(|stride| *stride > block) {
                points.push((within(block, stride, stride, span), Direction::Put));
            }
        }
    }
    points.retain(|(pattern, _)| pattern.count() > 1);
    points
}

/// Returns layouts with the published blocks and gaps. Their spans reach from a first-level cache to the published 64 MiB.
fn regret_grid() -> Vec<Point> {
    let spans = [16 << 10, 256 << 10, 4 << 20, 64 << 20].into_iter();
    let cells = spans.flat_map(|span| published::cells().map(move |(block, gap)| (block, block + gap, span)));
    let patterns = cells.map(|(block, stride, span)| within(block, stride, stride, span));
    patterns.filter(|pattern| pattern.count() > 1).map(|pattern| (pattern, Direction::Put)).collect()
}

/// Returns `count` random layouts, which depend on the seed only.
fn drawn(count: usize, seed: u64) -> Vec<Point> {
    let mut numbers = random(100 * count, 1 << 32, seed).into_iter().cycle();
    let mut below = |end: usize| numbers.next().map_or(0, |number| number as usize % end);
    let mut points = Vec::new();
    while points.len() < count {
        let block = match below(3) {
            0 => 1 << below(13),
            1 => 4 * (1 + below(64)),
            _ => 1 + below(600),
        };
        let mut stride = || {
            let gap = match below(4) {
                0 => 0,
                1 => 8 * below(16),
                2 => (1_usize << below(14)).saturating_sub(block),
                _ => below(9000),
            };
            block + gap
        };
        let (to, from) = (stride(), stride());
        let from = if below(2) == 0 { to } else { from };
        let span = (16 << 10) << (2 * below(5));
        let direction = if below(3) == 0 { Direction::Get } else { Direction::Put };
        let pattern = within(block, to, from, span);
        if pattern.count() > 1 {
            points.push((pattern, direction));
        }
    }
    points
}

/// Choices of an algorithm, by their names in cases: the library's, with which the others are compared; the published table; the
/// faster of Algorithms 1 and 2, which no table can beat; always Algorithm 1, or always 2.
const CHOICES: [(&str, &[Algorithm]); 5] = [
    ("auto", &[Algorithm::Auto]),
    ("published", &[Algorithm::Three]),
    ("ideal12", &[Algorithm::One, Algorithm::Two]),
    ("always1", &[Algorithm::One]),
    ("always2", &[Algorithm::Two]),
];

/// Returns the regret of each choice at a layout, relative to the fastest of all methods.
fn regrets(sides: &mut Sides<'_>, (pattern, direction): &Point) -> [f64; 5] {
    let ([_, Level { to, from, .. }], thresholds): (_, &Thresholds) =
        (pattern.inner(), &settings().thresholds);
    let alignment = 1 << (to | from).trailing_zeros().min(6);
    let by = |algorithm| TransferPlan::of(*pattern, alignment, algorithm, thresholds);
    let kernels = [Kernel::Rows, Kernel::Stream, Kernel::Span, Kernel::Shuffle];
    let kernels = kernels.into_iter().chain([1, 2, 4, 8, 16].map(Kernel::Throttled)).map(Method::Kernel);
    let methods =
        [Method::Putmem].into_iter().chain(kernels).map(|method| TransferPlan::by(*pattern, method));
    let mut plans: Vec<_> =
        [Algorithm::Auto, Algorithm::One, Algorithm::Two].map(by).into_iter().chain(methods).collect();
    plans.dedup();
    let rounds = sides.race(&plans, transfers(pattern), *direction, 7);
    // A plan can occur several times in `plans`; its samples are joined.
    let time = |wanted: &TransferPlan| {
        let of = |times: &Vec<f64>| plans.iter().zip(times.clone()).collect::<Vec<_>>();
        let all = rounds.iter().flat_map(of).filter(|(plan, _)| *plan == wanted);
        median(all.map(|(_, time)| time).collect())
    };
    let least = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
    let best = least(&mut plans.iter().map(&time));
    CHOICES.map(|(_, of)| least(&mut of.iter().map(|&algorithm| time(&by(algorithm)))) / best)
}
