//! Arrays on NUMA nodes.

use std::error::Error;

use shmem::prelude::*;
use shmem::thread::Single;
use shmem_perf::array::{self, Measured, variables};
use shmem_perf::{FEWEST, Record, Site, affinity};

use crate::Measure;
use crate::bench::print;
use crate::runner::Runner;

/// What its PEs are started for.
pub(crate) const MEASURES: [Measure; 5] =
    [Measure::Array, Measure::ArrayBrief, Measure::ArrayParallel, Measure::ArrayApart, Measure::ArrayLayer];

/// Bytes of arrays that are made and freed over a network.
pub(crate) const FAR_SIZES: [usize; 2] = [1 << 20, 4 << 20];

impl Runner {
    pub(crate) fn array(&mut self) -> Result<(), Box<dyn Error>> {
        self.array_loops(Measure::Array)?;
        self.array_in_parallel()?;
        array::PES.into_iter().try_for_each(|pes| self.array_layers(pes, array::SIZES))
    }

    /// Loops by one thread: [`Measure::Array`], or [`Measure::ArrayBrief`].
    pub(crate) fn array_loops(&mut self, measure: Measure) -> Result<(), Box<dyn Error>> {
        self.repeat(&self.job(measure, 1, 1, &variables()))
    }

    /// Loops by all threads, and other ways to use all CPUs.
    pub(crate) fn array_in_parallel(&mut self) -> Result<(), Box<dyn Error>> {
        if !cfg!(feature = "rayon") {
            self.remark(
                "shmem-perf: without the feature rayon, parallel loops and first touches are left out (build it with \
                 --features rayon)",
            );
            return Ok(());
        }
        self.repeat(&self.job(Measure::ArrayParallel, 1, 1, &variables()))?;
        let cpus = std::thread::available_parallelism()?.get();
        self.repeat(&self.job(Measure::ArrayApart, cpus, 1, &variables()))
    }

    /// Arrays made and freed in a loop.
    pub(crate) fn array_layers(&mut self, pes: usize, bytes: &[usize]) -> Result<(), Box<dyn Error>> {
        let mut job = self.job(Measure::ArrayLayer, pes, 1, &variables());
        job.args.extend(sizes(bytes));
        self.repeat(&job)
    }

    /// The same by two PEs that reach each other through a provider, which registers what is made.
    pub(crate) fn far_layers(&mut self, provider: &str) -> Result<(), Box<dyn Error>> {
        let mut job = self.over(Measure::ArrayLayer, provider);
        job.variables.extend(variables());
        job.args.extend(sizes(&FAR_SIZES));
        self.repeat(&job)
    }
}

fn sizes(bytes: &[usize]) -> [String; 2] {
    let list: Vec<_> = bytes.iter().map(usize::to_string).collect();
    ["--sizes".to_owned(), list.join(",")]
}

const LOOPS: &str =
    "a loop over an array, against the same loop over a slice in the heap; time for each element";

/// One PE of a job.
pub(crate) fn pe(measure: Measure, sizes: &[usize], repetitions: usize) -> Result<(), Box<dyn Error>> {
    let world = &mut shmem::init::<Single>()?;
    let cores = std::thread::available_parallelism()?.get();
    let (unit, compared, measured) = match measure {
        Measure::Array | Measure::ArrayBrief => {
            affinity::take(world.my_pe(), world.n_pes())?;
            let brief = measure == Measure::ArrayBrief;
            let access = if brief { array::access_in_brief } else { array::access };
            ("ns", LOOPS, access(world, repetitions)?)
        }
        Measure::ArrayLayer => {
            // Threads that do what has come from another node need cores, too.
            if world.endpoint().far_if_any().is_none() {
                affinity::take(world.my_pe(), world.n_pes())?;
            }
            let compared = "arrays made and freed in a loop, against objects in the heap; time for each";
            // Each sample is of many arrays, or of many bytes.
            let sizes = sizes.iter().map(|&bytes| array::layer(world, bytes, FEWEST));
            let measured = sizes.collect::<Result<Vec<_>>>()?;
            ("us", compared, measured.into_iter().flatten().collect())
        }
        _ => parallel(world, measure, repetitions)?,
    };
    let site = Site::of(world, cores);
    let record = |(case, samples): Measured| Record::new(&site, "array", case, unit, compared, samples);
    print(world, &measured.into_iter().map(record).collect::<Vec<_>>())
}

type Parallel = Result<(&'static str, &'static str, Vec<Measured>), Box<dyn Error>>;

#[cfg(feature = "rayon")]
fn parallel(world: &mut World, measure: Measure, repetitions: usize) -> Parallel {
    use shmem::array::{Cyclic, Multi, Separate};

    if measure == Measure::ArrayApart {
        let compared = "a part of memory for each PE, against memory of one process touched first by its threads; time for each element";
        return Ok(("ns", compared, vec![array::apart(world, repetitions)?]));
    }
    let mut measured = array::parallel(world, repetitions)?;
    measured.push(array::together(world, "single", shmem::array::Single, repetitions)?);
    measured.push(array::together(world, "separate", Separate, repetitions)?);
    measured.push(array::together(world, "cyclic", Cyclic { block: 0 }, repetitions)?);
    measured.push(array::together(world, "multi", Multi, repetitions)?);
    Ok(("ns", LOOPS, measured))
}

#[cfg(not(feature = "rayon"))]
fn parallel(_: &mut World, _: Measure, _: usize) -> Parallel {
    Err("parallel loops need the feature rayon".into())
}
