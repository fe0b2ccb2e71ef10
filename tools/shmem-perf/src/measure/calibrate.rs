//! Thresholds of strided plans on this machine, and what operations of its providers cost, into a file. A measure without cases.
//!
//! Each threshold is found by itself, the others as compiled in: two ways to move the same blocks are timed in turn, and it is the size
//! from which on the one that it switches to stays faster. A way that is never clearly faster is switched off.

use shmem::calibration::{self, Root, Table};
use shmem::strided::Thresholds;
use shmem_core::strided::{Kernel, Method, Pattern, Plan, choose};
use shmem_core::transport::ofi::strided::Row;

use super::ofi::PACKING;
use super::strided::{Direction, Sides, even, transfers, with_sides, within};
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "calibrate",
    run: Some(calibrate),
    tasks: &[("calibrate", Task::Near(thresholds))],
    ..Measure::PLAIN
};

/// Names the file of the table; a job that measures follows none.
const VARIABLE: &str = "SHMEM_STRIDED_TABLE";

fn calibrate(runner: &mut Runner) -> Done {
    let job = runner.job("calibrate", 2, Given::default()).heap(2 * ROOM);
    let job = job.with([(VARIABLE, "none")]);
    let mut measured = Thresholds::default();
    for (name, value) in runner.lines::<(String, u64)>(&job)? {
        measured = measured.with(&name, value).ok_or_else(|| format!("{name} cannot be {value}"))?;
    }
    let this = calibration::machine(&Root::default());
    println!("thresholds of strided plans on {this}");
    let show = |value: u64| if value == u64::MAX { "never".into() } else { value.to_string() };
    let line = |(name, value): (&str, u64), (_, default): (_, u64)| {
        println!("  {name:17} {:>10}  (compiled in: {})", show(value), show(default));
    };
    measured.fields().zip(Thresholds::default().fields()).for_each(|(one, default)| line(one, default));
    let mut measured = Table::new(this.clone(), measured);
    for provider in &runner.asked.provider.clone() {
        let row = costs(runner, &this, provider)?;
        println!("costs of operations of {provider}, in picoseconds");
        row.fields().zip(Row::of(provider).fields()).for_each(|(one, default)| line(one, default));
        measured = measured.with_row(provider, &row);
    }
    if runner.is("dry-run") {
        return Ok(());
    }
    let named = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let table = runner.words("table").pop().map(Into::into);
    let file =
        table.or_else(named).map(PathBuf::from).or_else(|| calibration::path(&this)).ok_or(
            "there is neither XDG_CACHE_HOME nor HOME to leave a table in; name a file with --table",
        )?;
    measured.write(&file).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    println!("left in {}; jobs on this machine follow it from now on", file.display());
    Ok(())
}

/// What operations of a provider cost, by a job whose table leaves strided transfers one way.
fn costs(runner: &mut Runner, machine: &str, provider: &str) -> Result<Row, Box<dyn Error>> {
    let mut row = Row::of(provider);
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("table.json");
    Table::new(machine.to_owned(), Thresholds::default()).with_row(provider, &PACKING).write(&file)?;
    let job = runner.job("ofi-costs", 2, Given::default()).with(fabric::variables(provider));
    let job = job.with([(VARIABLE, file.display().to_string())]);
    for (name, value) in runner.lines::<(String, u64)>(&job)? {
        row = row.with(&name, value).ok_or_else(|| format!("there is no cost {name}"))?;
    }
    Ok(row)
}

/// One PE: prints each threshold as a line of JSON; they are no records.
fn thresholds(world: &mut World, _: &Bench<'_>) -> Done {
    let mut said = Ok(());
    with_sides(world, ROOM, |sides| {
        said = found(sides.skewed(1024)).fields().try_for_each(|field| say(&field));
    })?;
    said
}

const ROOM: usize = 26 << 20;

const NEVER: usize = usize::MAX;

fn found(sides: &mut Sides<'_>) -> Thresholds {
    let default = Thresholds::default();
    let mut ratio = |pattern: Pattern, way| time_over(sides, &pattern, way);

    let dense = from_size(&[256, 512, 1024, 2048, 4096, 16384], |row| {
        let wide = ratio(even(8, row / 16, 16), Kernel::Span);
        wide.max(ratio(even(4, row / 8, 8), Kernel::Span))
    });
    // A row of 1024 doubles with two more of a frame.
    let far = best(|stores| match stores {
        0 => 0.0,
        _ => ratio(even(8, 3072, 8208), Kernel::Throttled(stores)).ln(),
    });
    let pages = from_size(&[1024, 2048, 3072, 4096, 6144], |pages| {
        ratio(even(8, pages / 2, 8208), Kernel::Throttled(far.max(1)))
    });
    // Each block adds 512 bytes of lines to both sides. Below the first of these the lines are still in a
    // cache when their owner reads them, which is worth more than the put gains.
    let cache = from_size(&[8 << 20, 16 << 20, 32 << 20], |footprint| {
        ratio(even(512, footprint / 1024, 576), Kernel::Stream)
    });
    let last_level_cache = if cache == NEVER { default.last_level_cache } else { 2 * cache };
    let stream = from_size(&[128, 256, 512, 1024, 2048, 4096], |block| {
        let unaligned = within(block, block + 72, block + 72, ROOM - (64 << 10));
        ratio(unaligned, Kernel::Stream)
    });
    Thresholds { last_level_cache, stream, throttle: throttle(sides), pages, far, dense }
}

/// Layouts whose blocks fall into few sets.
const CROWDED: [Pattern; 4] =
    [even(8, 1024, 8192), even(8, 1000, 1024), Pattern::blocks(8, 1024, 8192, 8), even(32, 250, 1024)];

/// How many idle stores make crowded blocks fastest, over all layouts.
fn throttle(sides: &mut Sides<'_>) -> u8 {
    best(|stores| {
        let ratios = CROWDED.iter().map(|pattern| {
            let thresholds = Thresholds { throttle: stores, ..Thresholds::DEFAULT };
            match choose(pattern, &thresholds) {
                Kernel::Rows => 0.0,
                braked => time_over(sides, pattern, braked).ln(),
            }
        });
        ratios.sum::<f64>()
    })
}

fn best(cost: impl FnMut(u8) -> f64) -> u8 {
    let stores = [0, 2, 4, 8, 12, 16, 24];
    let costs = stores.map(cost);
    let least = (0..stores.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
    least.map_or(0, |least| stores[least])
}

/// The smallest size from which on a way is clearly faster: it takes less than this part of the other's time. [`NEVER`], if it is
/// not at the largest one.
fn from_size(sizes: &[usize], mut ratio: impl FnMut(usize) -> f64) -> usize {
    let slower = sizes.iter().rposition(|size| ratio(*size) >= 0.97);
    slower.map_or(sizes[0], |last| sizes.get(last + 1).copied().unwrap_or(NEVER))
}

fn time_over(sides: &mut Sides<'_>, pattern: &Pattern, way: Kernel) -> f64 {
    let plans = [way, Kernel::Rows].map(|kernel| Plan::by(*pattern, Method::Kernel(kernel)));
    let rounds = sides.race(&plans, transfers(pattern), Direction::Put, 15);
    median(rounds.iter().map(|times| times[0] / times[1]).collect())
}
