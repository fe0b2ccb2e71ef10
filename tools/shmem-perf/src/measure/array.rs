//! Arrays on NUMA nodes.

use clap::ArgMatches;
use shmem::prelude::*;
use shmem::thread::Single;

use crate::affinity;
use crate::array::name::{Name, StorageName, Way};
use crate::array::{self, Measured, variables};
use crate::bench::print;
use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::ofi;
use crate::runner::Runner;
use crate::samples::FEWEST;
use crate::task::{Done, Task};

/// What arrays on NUMA nodes cost.
pub const MEASURE: Measure = Measure {
    name: "array",
    about: "Loops over arrays on NUMA nodes, against loops over slices; arrays made and freed in a loop, against objects in the \
            heap. With the feature `rayon`, parallel loops, too",
    run: measure,
    tasks: &[ARRAY, ARRAY_BRIEF, ARRAY_PARALLEL, ARRAY_APART, ARRAY_LAYER],
    cases: &[
        cases(
            &["array"],
            "storage/loop",
            "loops over arrays on NUMA nodes by index, element and chunk, and zipped; in parallel with feature `rayon`",
            "the same loop over a slice",
        ),
        cases(
            &["array"],
            "next-layer/storage/bytes/PEs",
            "an array made, filled and freed in a loop; with `ofi --partitions` between two nodes",
            "an object in the heap",
        ),
        cases(
            &["array"],
            "technique",
            "a loop by threads over one array, or by PEs over their own",
            "memory of one process touched first by its threads",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Loop(storage, way) => of_loop(storage, way),
            Name::Shaped(storage, Way::Index, 2 | 3) if storage.is_one_range() => Some(Goal::Ratio(1.05)),
            _ => None,
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        jobs: 1,
        // As fast as memory, which neighbours use, too: up to 2.3 where they do.
        cases: || {
            use StorageName::{Cyclic, Multi, Separate, Single};
            let index = [Single, Separate, Cyclic, Multi].map(|storage| (storage, Way::Index));
            let all = index.into_iter().chain([(Multi, Way::Iter), (Multi, Way::Chunks)]);
            all.map(|(storage, way)| Guarded::new(Name::Loop(storage, way), Bound::Eased(4.0))).collect()
        },
        ..Guard::of("array", |runner| loops(runner, &ARRAY))
    }],
    ..Measure::PLAIN
};

/// Loops by one thread.
pub(crate) const ARRAY: Task =
    Task { name: "array", pe: |_, repetitions| of_loops(repetitions, array::access) };
/// Fewer of them.
pub(crate) const ARRAY_BRIEF: Task =
    Task { name: "array-brief", pe: |_, repetitions| of_loops(repetitions, array::access_in_brief) };
const ARRAY_PARALLEL: Task = Task { name: "array-parallel", pe: |_, repetitions| in_parallel(repetitions) };
const ARRAY_APART: Task = Task { name: "array-apart", pe: |_, repetitions| apart(repetitions) };
const ARRAY_LAYER: Task = Task { name: "array-layer", pe: |given, _| of_layers(&given.sizes) };

fn of_loop(storage: StorageName, way: Way) -> Option<Goal> {
    match way {
        Way::Index | Way::ParIndex if storage.is_one_range() => Some(Goal::Ratio(1.05)),
        _ if storage != StorageName::Multi => None,
        Way::Index | Way::ParIndex => Some(Goal::Ratio(1.5)),
        Way::Iter | Way::Each | Way::ParIter => Some(Goal::Ratio(1.05)),
        Way::Chunks | Way::ParChunks => Some(Goal::Ratio(1.02)),
        Way::Zip | Way::Read | Way::ParRead => None,
    }
}

/// Bytes of arrays that are made and freed over a network.
pub(crate) const FAR_SIZES: [usize; 2] = [1 << 20, 4 << 20];

fn measure(runner: &mut Runner, _: &ArgMatches) -> Done {
    loops(runner, &ARRAY)?;
    loops_by_all_threads(runner)?;
    array::PES.into_iter().try_for_each(|pes| layers(runner, pes, array::SIZES))
}

/// Loops by one thread: [`ARRAY`], or [`ARRAY_BRIEF`].
pub(crate) fn loops(runner: &mut Runner, task: &Task) -> Done {
    runner.repeat(&runner.job(task, 1, &variables()))
}

/// Loops by all threads, and other ways to use all CPUs.
pub(crate) fn loops_by_all_threads(runner: &mut Runner) -> Done {
    if !cfg!(feature = "rayon") {
        runner.remark(
            "shmem-perf: without the feature rayon, parallel loops and first touches are left out (build it with \
             --features rayon)",
        );
        return Ok(());
    }
    runner.repeat(&runner.job(&ARRAY_PARALLEL, 1, &variables()))?;
    let cpus = std::thread::available_parallelism()?.get();
    runner.repeat(&runner.job(&ARRAY_APART, cpus, &variables()))
}

/// Arrays made and freed in a loop.
pub(crate) fn layers(runner: &mut Runner, pes: usize, bytes: &[usize]) -> Done {
    runner.repeat(&runner.job(&ARRAY_LAYER, pes, &variables()).sizes(bytes))
}

/// The same by two PEs that reach each other through a provider, which registers what is made.
pub(crate) fn far_layers(runner: &mut Runner, provider: &str) -> Done {
    let mut job = ofi::over(runner, &ARRAY_LAYER, provider).sizes(&FAR_SIZES);
    job.variables.extend(variables());
    runner.repeat(&job)
}

const LOOPS: &str =
    "a loop over an array, against the same loop over a slice in the heap; time for each element";

/// Where a job runs, before its PEs take cores.
fn site(world: &World) -> std::result::Result<Site, Box<dyn std::error::Error>> {
    Ok(Site::of(world, std::thread::available_parallelism()?.get()))
}

/// What a PE has measured, in a unit.
fn show(site: &Site, world: &World, (unit, compared): (&str, &str), measured: Vec<Measured>) -> Done {
    let record = |(name, samples): Measured| Record::new(site, &name, unit, compared, samples);
    print(world, &measured.into_iter().map(record).collect::<Vec<_>>())
}

fn of_loops(repetitions: usize, access: fn(&mut World, usize) -> Result<Vec<Measured>>) -> Done {
    let world = &mut shmem::init::<Single>()?;
    let site = site(world)?;
    affinity::take(world.my_pe(), world.n_pes())?;
    let measured = access(world, repetitions)?;
    show(&site, world, ("ns", LOOPS), measured)
}

fn of_layers(sizes: &[usize]) -> Done {
    let world = &shmem::init::<Single>()?;
    let site = site(world)?;
    // Threads that do what has come from another node need cores, too.
    if world.endpoint().transport_name().is_none() {
        affinity::take(world.my_pe(), world.n_pes())?;
    }
    let compared = "arrays made and freed in a loop, against objects in the heap; time for each";
    // Each sample is of many arrays, or of many bytes.
    let sizes = sizes.iter().map(|&bytes| array::layer(world, bytes, FEWEST));
    let measured = sizes.collect::<Result<Vec<_>>>()?;
    show(&site, world, ("us", compared), measured.into_iter().flatten().collect())
}

#[cfg(feature = "rayon")]
fn apart(repetitions: usize) -> Done {
    let world = &mut shmem::init::<Single>()?;
    let compared = "a part of memory for each PE, against memory of one process touched first by its threads; time for each element";
    let site = site(world)?;
    let measured = vec![array::apart(world, repetitions)?];
    show(&site, world, ("ns", compared), measured)
}

#[cfg(feature = "rayon")]
fn in_parallel(repetitions: usize) -> Done {
    use StorageName as Of;
    use shmem::array::{Cyclic, Multi, Separate, Single as OneRange};

    let world = &mut shmem::init::<Single>()?;
    let site = site(world)?;
    let mut measured = array::parallel(world, repetitions)?;
    measured.push(array::together(world, Of::Single, OneRange, repetitions)?);
    measured.push(array::together(world, Of::Separate, Separate, repetitions)?);
    measured.push(array::together(world, Of::Cyclic, Cyclic { block: 0 }, repetitions)?);
    measured.push(array::together(world, Of::Multi, Multi, repetitions)?);
    show(&site, world, ("ns", LOOPS), measured)
}

#[cfg(not(feature = "rayon"))]
fn apart(_: usize) -> Done {
    Err("parallel loops need the feature rayon".into())
}

#[cfg(not(feature = "rayon"))]
fn in_parallel(_: usize) -> Done {
    Err("parallel loops need the feature rayon".into())
}
