//! The published table: is a payload in blocks of one size at one distance moved faster block by block
//! (Algorithm 1) or column by column (Algorithm 2)?
//!
//! Both sides of a transfer have the same distance from block to block. Where a payload with its gaps is larger than
//! the sides, or takes long, a sample moves a part of it. That is several times as large as the last cache, so that neither the
//! next sample nor the next column finds there what was moved before.

use shmem_core::memory::Machine;
use shmem_core::strided::{Algorithm, GAPS, PUBLISHED, Plan, settings};

use super::*;

/// Bytes of a heap beside the sides: statics, and the margin.
const SPARE: usize = 4 << 20;

pub(super) fn measure(runner: &mut Runner) -> Done {
    let job = runner.job("strided-published", 2, Given::default());
    runner.times(1, &job.heap(room(payload(runner.asked.quick)) + SPARE))
}

pub(super) fn table(world: &mut World, bench: &Bench<'_>) -> Done {
    let heap = world.partitions().first().map_or(0, |heap| heap.spec.size as usize);
    with_sides(world, heap.saturating_sub(SPARE), |sides| {
        for way in Direction::BOTH {
            cells().for_each(|cell| times(bench, sides, cell, way));
        }
    })
}

fn payload(quick: bool) -> usize {
    either(quick, 64 << 20, 4 << 20, 64 << 10)
}

/// Bytes of a block, and between two of them: row by row.
pub(super) fn cells() -> impl Iterator<Item = (usize, usize)> {
    PUBLISHED.iter().flat_map(|&(block, _)| GAPS.map(|gap| (block, gap)))
}

/// Bytes of sides that hold every cell of a payload as far as memory allows: a sixteenth of what is left, but eight times a
/// last-level cache.
fn room(payload: usize) -> usize {
    let left = Machine::default().available().bytes;
    let wanted = (left / 16).max(8 * last_level_cache());
    let widest = cells().map(|(block, gap)| payload / block * (block + gap)).max().unwrap_or(0) as u64;
    wanted.min(left / 4).min(widest) as usize
}

/// Bytes of the largest cache of this machine, as the system says; if it does not, more than most have.
fn last_level_cache() -> u64 {
    let size = |index: usize| {
        let text =
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    (0..8).filter_map(size).max().map_or(32 << 20, |kibibytes| kibibytes << 10)
}

/// Moves a payload by Algorithms 1 and 2 and by what is chosen here, in turn: milliseconds for the whole payload. The times of
/// Algorithm 3 are those of the one it chooses.
fn times(
    bench: &Bench<'_>,
    sides: &mut Sides<'_>,
    (block, gap): (usize, usize),
    (name, direction): (&str, Direction),
) {
    const ENOUGH: f64 = 900.0;
    let (payload, stride) = (payload(bench.quick), block + gap);
    let all = payload / block;
    let methods = [Algorithm::One, Algorithm::Two, Algorithm::Auto]
        // A line is what both sides are aligned to.
        .map(|algorithm| Plan::of(even(block, all, stride), 64, algorithm, &settings().thresholds).method());
    let fit = all.min(sides.room() / stride);
    let mut round = |blocks: usize| {
        let plans = methods.map(|method| Plan::by(even(block, blocks, stride), method));
        plans.map(|plan| each(1, || sides.planned(&plan, direction)) / 1e6)
    };
    let expected = bench.repetitions as f64 * round(fit).iter().sum::<f64>();
    // What the last-level cache does not hold.
    let least = 2 * last_level_cache() as usize / stride;
    let blocks = ((fit as f64 * ENOUGH / expected) as usize).max(least).clamp(1, fit);
    let rounds: Vec<_> = (0..bench.repetitions).map(|_| round(blocks)).collect();
    let whole = all as f64 / blocks as f64;
    let pairs = |cost: usize, limit: usize| -> Samples {
        rounds.iter().map(|times| (times[cost] * whole, times[limit] * whole)).collect()
    };
    let two = pairs(1, 0);
    let chosen = usize::from(shmem_core::strided::published(stride, stride, block));
    let better = usize::from(two.ratio()[1] < 1.0);
    let part = (blocks < all).then(|| format!(", of which a sample moves {blocks} blocks"));
    let note = format!("; time for {} KiB{}", payload >> 10, part.unwrap_or_default());
    for (way, samples) in
        [("2", two), ("3", pairs(chosen, 0)), ("auto", pairs(2, 0)), ("auto-best", pairs(2, better))]
    {
        let record = bench.record(format!("strided-published {way}/{name}/{block}/{gap}"), samples);
        bench.push(Record { note: note.clone(), ..record });
    }
}
