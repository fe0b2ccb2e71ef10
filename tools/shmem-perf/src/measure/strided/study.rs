//! Many layouts, some of them random: where is the library slower than a loop of puts, and how far is what is chosen from the
//! best of all there is?
//!
//! For every layout all methods are timed in turn, each the median of its samples; the regret of a choice
//! is the time of the method it chooses over that of the fastest.

use shmem_core::strided::{Algorithm, GAPS, Kernel, Method, PUBLISHED, Plan, Thresholds, settings};

use super::*;
use crate::measure::indexed::random;

/// Layouts against a loop of puts.
pub(super) fn swept_layouts(world: &mut World, bench: &Bench<'_>) -> Done {
    with_sides(world, ROOM, |sides| {
        sides.skewed(1024);
        let points = swept(bench.seed);
        let (mut slow, mut worst) = (0, 0.0_f64);
        for (spread, direction) in &points {
            let mut over_puts = || {
                let pair = || sides.beside_puts(transfers(spread), spread, *direction);
                Samples::of(FEWEST, pair).ratio()[1]
            };
            let mut ratio = over_puts();
            // One that came out slow is measured again, alone.
            for _ in 0..3 {
                if ratio > SLOW {
                    ratio = ratio.min(over_puts());
                }
            }
            if ratio > SLOW {
                slow += 1;
                let Spread { block, count, to, from } = spread;
                let layout = format!("{direction:?} {block}x{count}/{to}<-{from}");
                eprintln!("shmem-perf: {layout} takes {ratio:.2} times a loop of puts");
            }
            worst = worst.max(ratio);
        }
        let n = points.len();
        let share = vec![(100.0 * f64::from(slow) / n as f64, FEW)];
        bench.add(format!("strided-sweep share/{n}"), Samples(share));
        bench.add(format!("strided-sweep worst/{n}"), Samples(vec![(worst, TOO_SLOW)]));
    })
}

/// Layouts by all kernels.
pub(super) fn regret_of_all(world: &mut World, bench: &Bench<'_>) -> Done {
    with_sides(world, REGRET_ROOM, |sides| {
        sides.skewed(1024);
        for (name, mut points) in [("grid", regret_grid()), ("random", drawn(DRAWN, bench.seed))] {
            if !CHOICES.iter().any(|(choice, _)| bench.wants(&format!("regret {choice}/{name}"))) {
                continue;
            }
            if cfg!(debug_assertions) {
                points.retain(|(spread, _)| spread.hull() <= 64 << 10);
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

const ROOM: usize = 16 << 20;

/// The same for regret: the published table was measured with 64 MiB.
const REGRET_ROOM: usize = (64 << 20) + (64 << 10);

/// Layouts that are drawn at random; and those of each kind that are taken, evenly from all of them, where little is asked.
const DRAWN: usize = 100;
const QUICK: usize = if cfg!(debug_assertions) { 16 } else { 32 };

/// Slower than a loop of puts; that may be a share of layouts, in percent. So slow that none may be.
const SLOW: f64 = 1.1;
const FEW: f64 = 2.0;
const TOO_SLOW: f64 = 1.5;

/// Layouts against a loop of puts, drawn by a seed.
pub(super) fn sweep(runner: &mut Runner) -> Done {
    let n = swept(0).len();
    if !["share", "worst"].iter().any(|of| runner.wants(&format!("strided-sweep {of}/{n}"))) {
        return Ok(());
    }
    let seed = seed(runner);
    runner.times(1, &runner.job("strided-sweep", 2, Given { seed, ..Given::default() }).heap(2 * ROOM))
}

pub(super) fn regret(runner: &mut Runner) -> Done {
    let seed = seed(runner);
    runner
        .times(1, &runner.job("strided-regret", 2, Given { seed, ..Given::default() }).heap(2 * REGRET_ROOM))
}

/// The seed that was asked for, or a new one, which is said.
fn seed(runner: &mut Runner) -> u64 {
    let now = || std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.subsec_nanos().into());
    let seed = runner.numbers("seed").first().map_or_else(now, |seed| *seed as u64);
    runner.remark(&format!("shmem-perf: random layouts are drawn with --seed {seed}"));
    seed
}

/// Transfers of `spread` in one sample: some ten microseconds. A debug build is for tests of the tool.
pub(crate) fn transfers(spread: &Spread) -> usize {
    const BYTES: usize = if cfg!(debug_assertions) { 16 << 10 } else { 256 << 10 };
    (BYTES / (spread.count * (spread.block + 32))).clamp(1, 10_000)
}

type Point = (Spread, Direction);

/// What is held against a loop of puts: a grid, and layouts drawn by a seed.
fn swept(seed: u64) -> Vec<Point> {
    let every = if cfg!(debug_assertions) { 10 } else { 1 };
    [grid(), drawn(DRAWN, seed)].concat().into_iter().step_by(every).collect()
}

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

/// The published blocks and gaps, in spans from a first-level cache to the published 64 MiB.
fn regret_grid() -> Vec<Point> {
    let of = |span| PUBLISHED.iter().flat_map(move |(block, _)| GAPS.map(|gap| (*block, block + gap, span)));
    let all = [16 << 10, 256 << 10, 4 << 20, 64 << 20].into_iter().flat_map(of);
    let spreads = all.map(|(block, stride, span)| Spread::within(block, stride, stride, span));
    spreads.filter(|spread| spread.count > 1).map(|spread| (spread, Direction::Put)).collect()
}

/// `count` layouts drawn at random: the same for the same seed.
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
            block
                + match below(4) {
                    0 => 0,
                    1 => 8 * below(16),
                    2 => (1_usize << below(14)).saturating_sub(block),
                    _ => below(9000),
                }
        };
        let (to, from) = (stride(), stride());
        let from = if below(2) == 0 { to } else { from };
        let span = (16 << 10) << (2 * below(5));
        let direction = if below(3) == 0 { Direction::Get } else { Direction::Put };
        let spread = Spread::within(block, to, from, span);
        if spread.count > 1 && (to > block || from > block) {
            points.push((spread, direction));
        }
    }
    points
}

/// Choices, as cases name them, and what makes them: what is chosen here, which the others are held against; the published table;
/// the better of Algorithms 1 and 2, which no table can beat; and each of these always.
const CHOICES: [(&str, &[Algorithm]); 5] = [
    ("auto", &[Algorithm::Auto]),
    ("published", &[Algorithm::Three]),
    ("ideal12", &[Algorithm::One, Algorithm::Two]),
    ("always1", &[Algorithm::One]),
    ("always2", &[Algorithm::Two]),
];

/// Every way to move a pattern, whatever would be chosen.
fn methods() -> Vec<Method> {
    let kernels = [Kernel::Rows, Kernel::Stream, Kernel::Span, Kernel::Shuffle];
    let kernels = kernels.into_iter().chain([1, 2, 4, 8, 16].map(Kernel::Throttled));
    [Method::Putmem].into_iter().chain(kernels.map(Method::Kernel)).collect()
}

/// Regret of each choice at a layout.
fn regrets(sides: &mut Sides<'_>, (spread, direction): &Point) -> [f64; 5] {
    let (pattern, thresholds): (_, &Thresholds) = (spread.pattern(), &settings().thresholds);
    let alignment = 1 << (spread.to | spread.from).trailing_zeros().min(6);
    let by = |algorithm| Plan::of(pattern, alignment, algorithm, thresholds);
    let mut plans = [Algorithm::Auto, Algorithm::One, Algorithm::Two].map(by).to_vec();
    plans.extend(methods().into_iter().map(|method| Plan::by(pattern, method)));
    plans.dedup();
    let rounds = sides.race(&plans, transfers(spread), *direction, 7);
    // One plan that stands there twice counts with all its samples.
    let time = |wanted: &Plan| {
        let of = |times: &Vec<f64>| plans.iter().zip(times.clone()).collect::<Vec<_>>();
        let all = rounds.iter().flat_map(of).filter(|(plan, _)| *plan == wanted);
        median(all.map(|(_, time)| time).collect())
    };
    let least = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
    let best = least(&mut plans.iter().map(&time));
    CHOICES.map(|(_, of)| least(&mut of.iter().map(|&algorithm| time(&by(algorithm)))) / best)
}
