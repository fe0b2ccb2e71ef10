//! Thresholds of this machine, and what operations of its providers cost, into a file. It is no measure, and has no cases.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, FromArgMatches};
use shmem::calibration::Root;
use shmem::calibration::{self, Table};
use shmem::strided::Thresholds;
use shmem::zeroed;
use shmem_core::transport::ofi::strided::{Row, Way};

use crate::bench::{self, Bench, Records};
use crate::fabric::Costs;
use crate::measure::form::Measure;
use crate::measure::ofi::{OFI_COSTS, OFI_PIECES, over};
use crate::runner::Runner;
use crate::scratch::Scratch;
use crate::strided::{Sides, calibrate as machine};
use crate::task::{Done, Task};

/// What fits strided plans to this machine.
pub const MEASURE: Measure = Measure {
    name: "calibrate",
    about: "Measures the thresholds of strided plans on this machine, in about a second, and leaves them in a file that jobs read \
            at their start",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { table, provider, dry_run } = Options::from_arg_matches(options)?;
        calibrate(runner, table, &provider, dry_run)
    },
    usual: false,
    tasks: &[CALIBRATE],
    ..Measure::PLAIN
};

const CALIBRATE: Task = Task { name: "calibrate", pe: |_, repetitions| bench::run(repetitions, thresholds) };

#[derive(Args, Clone, Debug)]
struct Options {
    /// The file; not given: `SHMEM_STRIDED_TABLE`, or else the one of this machine in the user's cache
    /// directory.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Measures what operations of this provider of libfabric cost, too, by which strided transfers to other
    /// nodes choose their way; may be given several times.
    #[arg(long, value_name = "PROVIDER")]
    provider: Vec<String>,
    /// Show what was measured, and leave no file.
    #[arg(long)]
    dry_run: bool,
}

/// Names the file of the table; a job that measures follows none.
const VARIABLE: &str = "SHMEM_STRIDED_TABLE";

/// Measures, shows, and leaves a table.
fn calibrate(runner: &mut Runner, table: Option<PathBuf>, providers: &[String], dry_run: bool) -> Done {
    let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (2 * machine::ROOM).to_string());
    let job = runner.job(&CALIBRATE, 2, &[heap, (VARIABLE.to_owned(), "none".to_owned())]);
    let printed = runner.run(&job)?;
    let mut measured = Thresholds::default();
    for line in printed.lines() {
        let (name, value): (String, u64) = serde_json::from_str(line)?;
        measured = measured.with(&name, value).ok_or_else(|| format!("{name} cannot be {value}"))?;
    }
    let this = calibration::machine(&Root::default());
    println!("thresholds of strided plans on {this}");
    for ((name, default), (_, value)) in Thresholds::default().fields().zip(measured.fields()) {
        let show = |value: u64| if value == u64::MAX { "never".into() } else { value.to_string() };
        println!("  {name:17} {:>10}  (compiled in: {})", show(value), show(default));
    }
    let mut measured = Table::new(this.clone(), measured);
    for provider in providers {
        let row = costs(runner, &this, provider)?;
        println!("costs of operations of {provider}, in picoseconds");
        for ((name, default), (_, value)) in Row::of(provider).fields().zip(row.fields()) {
            println!("  {name:17} {value:>10}  (compiled in: {default})");
        }
        measured = measured.with_row(provider, &row);
    }
    if dry_run {
        return Ok(());
    }
    let named = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let file = table
        .or_else(named)
        .or_else(|| calibration::path(&this))
        .ok_or("there is neither XDG_CACHE_HOME nor HOME to leave a table in; name a file with --table")?;
    measured.write(&file).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    println!("left in {}; jobs on this machine follow it from now on", file.display());
    Ok(())
}

/// What operations of a provider cost, by jobs whose tables leave strided transfers one way.
fn costs(runner: &mut Runner, machine: &str, provider: &str) -> Result<Row, Box<dyn Error>> {
    let mut row = Row::of(provider);
    for (task, way) in [(OFI_COSTS, Way::Messages), (OFI_PIECES, Way::Lists)] {
        let directory = Scratch::new()?;
        let file = directory.path().join("table.json");
        Table::new(machine.to_owned(), Thresholds::default())
            .with_row(provider, &Costs::forcing(way))
            .write(&file)?;
        let mut job = over(runner, &task, provider);
        job.variables.push((VARIABLE.to_owned(), file.display().to_string()));
        for line in runner.run(&job)?.lines() {
            let (name, value): (String, u64) = serde_json::from_str(line)?;
            // Nothing is said of lists where blocks go in messages.
            if name != "piece" || way == Way::Lists {
                row = row.with(&name, value).ok_or_else(|| format!("there is no cost {name}"))?;
            }
        }
    }
    Ok(row)
}

/// One PE: prints each threshold as a line of JSON, and has no records.
fn thresholds(bench: &Bench<'_>) -> Records {
    let object = bench.world.alloc(zeroed::<u8>(machine::ROOM))?;
    let place = object.on(bench.other());
    let mut measured = None;
    bench.alone(|| {
        let mut sides = Sides::new(bench.world, place).skewed(1024);
        measured = Some(machine::calibrate(&mut sides));
        Vec::new()
    });
    for field in measured.iter().flat_map(Thresholds::fields) {
        println!("{}", serde_json::to_string(&field)?);
    }
    Ok(Vec::new())
}
