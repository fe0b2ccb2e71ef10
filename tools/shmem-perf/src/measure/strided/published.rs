//! The published table ([`PUBLISHED`]), measured again: are equal blocks at equal distances moved faster block by block (Algorithm
//! 1) or column by column (Algorithm 2)?
//!
//! If the payload with its gaps is too large or takes too long, a sample moves a part of it. This part with its gaps is at least
//! twice as large as the last-level cache, so that no sample, and no column, finds its data in the cache.
//!
//! And a halo exchange from the same literature. Each of two PEs has one half of a periodic field. Each PE puts its first and last
//! column into the border of the other half, and copies its first and last row, which are contiguous, into its own border.

use shmem::padded::pitch;
use shmem_core::memory::Machine;
use shmem_core::strided::{Algorithm, GAPS, PUBLISHED, TransferPlan, settings};

use super::*;

/// Bytes of the heap that transfers do not use: for statics, and a margin.
const SPARE: usize = 4 << 20;

pub(super) fn measure_table(runner: &mut Runner) -> Done {
    let job = runner.job("strided-published", 2, PeArguments::default());
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

pub(super) fn cells() -> impl Iterator<Item = (usize, usize)> {
    PUBLISHED.iter().flat_map(|&(block, _)| GAPS.map(|gap| (block, gap)))
}

/// Returns the bytes of each side of transfers (the other PE's memory, and private memory): enough for all cells of the table, but
/// at most a sixteenth of the free memory, or eight last-level caches if that is more, and never more than a quarter of the free
/// memory.
fn room(payload: usize) -> usize {
    let left = Machine::default().available().bytes;
    let wanted = (left / 16).max(8 * last_level_cache());
    let widest = cells().map(|(block, gap)| payload / block * (block + gap)).max().unwrap_or(0) as u64;
    wanted.min(left / 4).min(widest) as usize
}

fn last_level_cache() -> u64 {
    let size = |index: usize| {
        let text =
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    (0..8).filter_map(size).max().map_or(32 << 20, |kibibytes| kibibytes << 10)
}

/// Measures the milliseconds of a payload by Algorithm 1, Algorithm 2 and the library's choice, in turn. Algorithm 3 chooses one of
/// the first two, so its time is that of the chosen one.
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
        // The alignment in bytes is 64, because source and destination begin on cache lines.
        .map(|algorithm| {
            TransferPlan::of(even(block, all, stride), 64, algorithm, &settings().thresholds).method()
        });
    let fit = all.min(sides.room() / stride);
    let mut round = |blocks: usize| {
        let plans = methods.map(|method| TransferPlan::by(even(block, blocks, stride), method));
        plans.map(|plan| each(1, || sides.planned(&plan, direction)) / 1e6)
    };
    let expected = bench.repetitions as f64 * round(fit).iter().sum::<f64>();
    // The blocks of a sample, with their gaps, span at least twice the bytes of the last-level cache, if as many fit.
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

/// Measures exchanges of edges that are in the cache, and of edges that were evicted by a visit of every cell.
pub(super) fn exchanges(world: &mut World, bench: &Bench<'_>) -> Done {
    let world = &*world;
    for [rows, columns] in shapes(bench.quick) {
        let pitch = pitch_of(columns);
        let cells = world.alloc(zeroed::<f64>((rows + 2) * pitch))?;
        // Touches every page now, so that no sample pays for page faults.
        (0..(rows + 2) * pitch).for_each(|at| cells.here(world).index(at).store(1.0));
        world.barrier_all();
        let half = Half { world, cells, rows, columns: columns / 2, pitch };
        for edges in ["cached", "evicted"] {
            // Microseconds of the slower PE, for each algorithm.
            let round =
                |_| world.max(Algorithm::ALL.map(|algorithm| half.time(algorithm, edges == "evicted")));
            let rounds: Vec<_> = (0..bench.repetitions).map(round).collect();
            for (way, algorithm) in Algorithm::ALL.iter().enumerate().skip(1) {
                let samples: Samples = rounds.iter().map(|times| (times[way], times[0])).collect();
                bench.add(format!("strided-exchange {}/{rows}x{columns}/{edges}", algorithm.name()), samples);
            }
        }
        world.free(half.cells)?;
    }
    Ok(())
}

pub(super) fn measure_exchange(runner: &mut Runner) -> Done {
    let cells = shapes(runner.asked.quick).map(|[rows, columns]| (rows + 2) * pitch_of(columns));
    let bytes = cells.into_iter().max().unwrap_or(0) * size_of::<f64>();
    runner.times(1, &runner.job("strided-exchange", 2, PeArguments::default()).heap(bytes + (1 << 20)))
}

/// Returns (rows, columns) of fields, from the widest to the tallest. Their size is the published 128 MiB, or less in a quick run.
fn shapes(quick: bool) -> [[usize; 2]; 5] {
    let bytes: usize = either(quick, 128 << 20, 8 << 20, 128 << 10);
    let side = (bytes / size_of::<f64>()).isqrt();
    [[side / 16, side * 16], [side / 4, side * 4], [side, side], [side * 4, side / 4], [side * 16, side / 16]]
}

/// Returns the number of cells from one row to the next, padded. At a power of two, the cells of a column would share cache sets.
fn pitch_of(columns: usize) -> usize {
    pitch::<f64>(columns / 2 + 2)
}

struct Half<'w> {
    world: &'w World,
    cells: SymBox<[f64]>,
    rows: usize,
    columns: usize,
    pitch: usize,
}

/// Performs the transfers of an exchange. `strided!` needs the algorithm for columns as a constant, so this is a macro.
macro_rules! exchange {
    ($half:ident, algorithm = $algorithm:tt) => {{
        let Half { world, ref cells, rows, columns, pitch } = *$half;
        let (here, there) = (world.me(), other(world));
        for (edge, into) in [(1, rows + 1), (rows, 0)] {
            let [from, into] = [edge, into].map(|row| row * pitch + 1..row * pitch + 1 + columns);
            strided!(world, cells@here[dyn into.start..into.end] = cells[dyn from.start..from.end]);
        }
        for (edge, into) in [(1, columns + 1), (columns, 0)] {
            let [from, into] = [edge, into].map(|column| pitch + column..(rows + 1) * pitch);
            strided!(world, algorithm = $algorithm;
                cells@there[dyn into.start..into.end; dyn pitch] = cells[dyn from.start..from.end; dyn pitch]);
        }
    }};
}

impl Half<'_> {
    fn time(&self, algorithm: Algorithm, is_evicted: bool) -> f64 {
        let mut spent = 0.0;
        // Without eviction, a sample has several exchanges.
        let exchanges = if is_evicted { 1 } else { 5 };
        for _ in 0..exchanges {
            if is_evicted {
                // Visits every cache line of the half, which evicts the edges.
                self.world.barrier_all();
                for at in (0..(self.rows + 2) * self.pitch).step_by(8) {
                    let cell = self.cells.here(self.world).index(at);
                    cell.store(cell.load());
                }
            }
            self.world.barrier_all();
            let start = Instant::now();
            match algorithm {
                Algorithm::One => exchange!(self, algorithm = 1),
                Algorithm::Two => exchange!(self, algorithm = 2),
                Algorithm::Three => exchange!(self, algorithm = 3),
                Algorithm::Auto => exchange!(self, algorithm = auto),
            }
            self.world.quiet();
            spent += start.elapsed().as_secs_f64();
        }
        spent * 1e6 / exchanges as f64
    }
}
