//! Examples beside one process alone, and what the machine gains by several processes.

use std::error::Error;

use shmem_perf::applications::{Application, Extent};
use shmem_perf::processes::{self, Work};
use shmem_perf::{Record, Site};

use crate::Measure;
use crate::bench::{Bench, Records};
use crate::runner::Runner;

/// The measure of the examples.
pub(crate) const MEASURE: &str = "application";

/// The measure of what the machine gains.
pub(crate) const PROCESSES: &str = "processes";

/// Bytes that caches hold, and bytes that they do not.
const SIZES: [usize; 2] = if cfg!(debug_assertions) { [1 << 10, 1 << 12] } else { [1 << 22, 1 << 27] };

/// More PEs say how an example scales, not what it costs.
const MOST_PES: usize = 4;

/// As many PEs as have a core each.
fn pes() -> std::io::Result<usize> {
    Ok(std::thread::available_parallelism()?.get().min(MOST_PES))
}

/// The case of what the machine gains that stands beside that of an example.
pub(crate) fn beside(example: &str, pes: usize) -> Option<String> {
    let (application, problem) = Application::of(example, pes)?;
    let work = if application == Application::Gups { Work::SharedUpdate } else { Work::Copy };
    let nearest =
        SIZES.into_iter().min_by_key(|bytes| bytes.ilog2().abs_diff(problem.bytes.max(1).ilog2()))?;
    Some(case(work, nearest))
}

fn case(work: Work, bytes: usize) -> String {
    format!("{}/{bytes}", work.name())
}

impl Runner {
    /// All that the examples and the machine gain.
    pub(crate) fn applications(&mut self) -> Result<(), Box<dyn Error>> {
        self.processes()?;
        let mut all = Application::ALL.into_iter();
        all.try_for_each(|application| self.application(application, Extent::Whole))
    }

    /// Measures an example.
    pub(crate) fn application(
        &mut self,
        application: Application,
        extent: Extent,
    ) -> Result<(), Box<dyn Error>> {
        // Figures of a build without optimisation are nobody's: there it is shown that the measure works.
        let extent = if cfg!(debug_assertions) { Extent::Least } else { extent };
        let pes = pes()?;
        let site = Site { pes, transport: "shm".into(), shared_cores: false };
        for problem in application.problems(extent, pes) {
            let samples = application.measure(&problem, pes, self.repetitions)?;
            let case = format!("{}/{}", application.name(), problem.name);
            let compared = "an example by all PEs, against plain code of one process alone";
            self.show(vec![Record::new(&site, MEASURE, case, "ms", compared, samples)]);
        }
        Ok(())
    }

    /// Measures what the machine gains by as many processes.
    pub(crate) fn processes(&mut self) -> Result<(), Box<dyn Error>> {
        // Behind the statics of this program.
        let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (SIZES[1] + (4 << 20)).to_string());
        let job = self.job(Measure::Processes, pes()?, 1, &[heap]);
        self.repeat(&job)
    }
}

impl Bench<'_> {
    pub(crate) fn processes(&self) -> Records {
        let shared = self.world.alloc(shmem::zeroed(SIZES[1] / size_of::<u64>() / self.world.n_pes()))?;
        let mut records = Vec::new();
        for (work, bytes) in Work::ALL.into_iter().flat_map(|work| SIZES.map(|bytes| (work, bytes))) {
            let samples = processes::against_one(self.world, work, bytes, &shared, self.repetitions);
            let compared = work.compared();
            records.push(Record::new(&self.site, PROCESSES, case(work, bytes), "ms", compared, samples));
        }
        Ok(records)
    }
}
