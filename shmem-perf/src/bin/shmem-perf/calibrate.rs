//! `shmem-perf calibrate`: thresholds of this machine, and what operations of its providers cost, into a file.

use std::error::Error;
use std::path::PathBuf;

use shmem::calibration::{self, Table};
use shmem::info::Root;
use shmem::strided::Thresholds;
use shmem::zeroed;
use shmem_core::transport::ofi::strided::{Row, Way};
use shmem_perf::fabric::Costs;
use shmem_perf::strided::{Sides, calibrate};

use crate::Measure;
use crate::bench::Bench;
use crate::runner::Runner;

/// Names the file of the table; a job that measures follows none.
const VARIABLE: &str = "SHMEM_STRIDED_TABLE";

impl Runner {
    /// Measures, shows, and leaves a table.
    pub(crate) fn calibrate(
        &mut self,
        table: Option<PathBuf>,
        providers: &[String],
        dry_run: bool,
    ) -> Result<(), Box<dyn Error>> {
        let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (2 * calibrate::ROOM).to_string());
        let job = self.job(Measure::Calibrate, 2, 1, &[heap, (VARIABLE.to_owned(), "none".to_owned())]);
        let printed = self.run(&job)?;
        let mut measured = Thresholds::DEFAULT;
        for line in printed.lines() {
            let (name, value): (String, u64) = serde_json::from_str(line)?;
            measured = measured.with(&name, value).ok_or_else(|| format!("{name} cannot be {value}"))?;
        }
        let machine = calibration::machine(&Root::default());
        println!("thresholds of strided plans on {machine}");
        for ((name, default), (_, value)) in Thresholds::DEFAULT.fields().zip(measured.fields()) {
            let show = |value: u64| if value == u64::MAX { "never".into() } else { value.to_string() };
            println!("  {name:17} {:>10}  (compiled in: {})", show(value), show(default));
        }
        let mut measured = Table::new(machine.clone(), measured);
        for provider in providers {
            let row = self.costs(&machine, provider)?;
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
        let file = table.or_else(named).or_else(|| calibration::path(&machine)).ok_or(
            "there is neither XDG_CACHE_HOME nor HOME to leave a table in; name a file with --table",
        )?;
        measured.write(&file).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
        println!("left in {}; jobs on this machine follow it from now on", file.display());
        Ok(())
    }

    /// What operations of a provider cost, by jobs whose tables leave strided transfers one way.
    fn costs(&mut self, machine: &str, provider: &str) -> Result<Row, Box<dyn Error>> {
        let mut row = Row::of(provider);
        for (measure, way) in [(Measure::OfiCosts, Way::Messages), (Measure::OfiPieces, Way::Lists)] {
            let file = std::env::temp_dir().join(format!("shmem-perf-{}.json", std::process::id()));
            Table::new(machine.to_owned(), Thresholds::DEFAULT)
                .with_row(provider, &Costs::forcing(way))
                .write(&file)?;
            let mut job = self.over(measure, provider);
            job.variables.push((VARIABLE.to_owned(), file.display().to_string()));
            let printed = self.run(&job);
            std::fs::remove_file(&file)?;
            for line in printed?.lines() {
                let (name, value): (String, u64) = serde_json::from_str(line)?;
                // Nothing is said of lists where blocks go in messages.
                if name != "piece" || way == Way::Lists {
                    row = row.with(&name, value).ok_or_else(|| format!("there is no cost {name}"))?;
                }
            }
        }
        Ok(row)
    }
}

impl Bench<'_> {
    /// Prints each threshold as a line of JSON.
    pub(crate) fn calibrate(&self) -> Result<(), Box<dyn Error>> {
        let object = self.world.alloc(zeroed::<u8>(calibrate::ROOM))?;
        let place = object.on(self.other());
        let mut measured = None;
        self.alone(|| {
            let mut sides = Sides::new(self.world, place).skewed(1024);
            measured = Some(calibrate::calibrate(&mut sides));
            Vec::new()
        });
        for field in measured.iter().flat_map(Thresholds::fields) {
            println!("{}", serde_json::to_string(&field)?);
        }
        Ok(())
    }
}
