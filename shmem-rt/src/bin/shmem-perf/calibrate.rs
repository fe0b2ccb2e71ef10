//! `shmem-perf calibrate`: thresholds of this machine, into a file.

use std::error::Error;
use std::path::PathBuf;

use shmem::calibration::{self, Table};
use shmem::info::Root;
use shmem::perf::strided::{Sides, calibrate};
use shmem::strided::Thresholds;
use shmem::zeroed;

use crate::Measure;
use crate::bench::Bench;
use crate::report::Report;

/// Names the file of the table; a job that measures follows none.
const VARIABLE: &str = "SHMEM_STRIDED_TABLE";

impl Report {
    /// Measures, shows, and leaves a table.
    pub(crate) fn calibrate(&mut self, table: Option<PathBuf>, dry_run: bool) -> Result<(), Box<dyn Error>> {
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
        if dry_run {
            return Ok(());
        }
        let named = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let file = table.or_else(named).or_else(|| calibration::path(&machine)).ok_or(
            "there is neither XDG_CACHE_HOME nor HOME to leave a table in; name a file with --table",
        )?;
        Table::new(machine, measured)
            .write(&file)
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
        println!("left in {}; jobs on this machine follow it from now on", file.display());
        Ok(())
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
