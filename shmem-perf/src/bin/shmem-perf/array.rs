//! Arrays on NUMA nodes.

use std::error::Error;

use shmem::prelude::*;
use shmem_perf::array::{self, Measured, variables};
use shmem_perf::{FEWEST, Record, Site, affinity};

use crate::Measure;
use crate::bench::print;
use crate::runner::Runner;

impl Runner {
    pub(crate) fn array(&mut self) -> Result<(), Box<dyn Error>> {
        self.repeat(&self.job(Measure::Array, 1, 1, &variables()))?;
        if cfg!(feature = "rayon") {
            self.repeat(&self.job(Measure::ArrayParallel, 1, 1, &variables()))?;
            let cpus = std::thread::available_parallelism()?.get();
            self.repeat(&self.job(Measure::ArrayApart, cpus, 1, &variables()))?;
        } else {
            self.remark("shmem-perf: without the feature rayon, parallel loops are left out");
        }
        for pes in array::PES {
            self.repeat(&self.job(Measure::ArrayLayer, pes, 1, &variables()))?;
        }
        Ok(())
    }
}

const LOOPS: &str =
    "a loop over an array, against the same loop over a slice in the heap; time for each element";

/// One PE of a job.
pub(crate) fn pe(world: &mut World, measure: Measure, repetitions: usize) -> Result<(), Box<dyn Error>> {
    let cores = std::thread::available_parallelism()?.get();
    let (unit, compared, measured) = match measure {
        Measure::Array => {
            affinity::take(world.my_pe(), world.n_pes())?;
            ("ns", LOOPS, array::access(world, repetitions)?)
        }
        Measure::ArrayLayer => {
            affinity::take(world.my_pe(), world.n_pes())?;
            let compared = "arrays made and freed in a loop, against objects in the heap; time for each";
            // Each sample is of many arrays, or of many bytes.
            let sizes = array::SIZES.iter().map(|&bytes| array::layer(world, bytes, FEWEST));
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
    use shmem::array::{Multi, Separate};

    if measure == Measure::ArrayApart {
        let compared = "a part of memory for each PE, against memory of one process touched first by its threads; time for each element";
        return Ok(("ns", compared, vec![array::apart(world, repetitions)?]));
    }
    let mut measured = array::parallel(world, repetitions)?;
    measured.push(array::together(world, "separate", Separate, repetitions)?);
    measured.push(array::together(world, "multi", Multi, repetitions)?);
    Ok(("ns", LOOPS, measured))
}

#[cfg(not(feature = "rayon"))]
fn parallel(_: &mut World, _: Measure, _: usize) -> Parallel {
    Err("parallel loops need the feature rayon".into())
}
