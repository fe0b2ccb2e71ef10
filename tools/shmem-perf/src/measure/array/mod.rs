//! What arrays on NUMA nodes cost, against plain slices and plain allocations.
//!
//! ```text
//! loops       as a program would write them
//! parallel    the same on all CPUs of a PE; one PE with an array, and a PE for each CPU (feature `rayon`)
//! ```
//!
//! Loops are of `u64`, since what is asked is the cost of finding elements. Arrays are larger than caches:
//! those that are not are not worth placing. What the same loops cost in a cache is shown beside, without
//! a goal.

/// What a function measures of each storage, by the name that cases have for it; `chosen`: and where nobody has named one.
macro_rules! of_storages {
    ($of:ident, $world:expr, $number:expr) => {{
        (|| {
            let mut all = $of($world, $number, "single", Single)?;
            all.extend($of($world, $number, "separate", Separate)?);
            all.extend($of($world, $number, "cyclic", Cyclic { block: 0 })?);
            all.extend($of($world, $number, "multi", Multi)?);
            Ok::<_, shmem::Error>(all)
        })()
    }};
    ($of:ident, $world:expr, $number:expr, chosen) => {{
        of_storages!($of, $world, $number).and_then(|mut all: Vec<Measured>| {
            all.extend($of($world, $number, "chosen", Chosen)?);
            Ok(all)
        })
    }};
}

mod loops;
#[cfg(feature = "rayon")]
mod parallel;

use std::hint::black_box;

use clap::ArgMatches;
use shmem::prelude::*;
use shmem::thread::Single as OneThread;
use shmem_core::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};

use self::loops::{
    chunks, each, index, index_2, index_2_of_slice, index_3, index_3_of_slice, index_of_slice, iter,
    iter_of_slice, read, read_slice, zip, zip_of_slice,
};
use super::{At, Cases, Measure, row};
use crate::affinity;
use crate::bench::print;
use crate::case::{Record, Site};
use crate::check::{Bound, Guard, held};
use crate::fabric::over;
use crate::goal::Goal;
use crate::runner::Runner;
use crate::samples::{FEWEST, Samples, nanoseconds_each};
use crate::task::{Done, Task};

pub(crate) const MEASURE: Measure = Measure {
    name: "array",
    about: "Loops over arrays on NUMA nodes, against loops over slices; arrays made and freed in a loop, against objects in the \
            heap. With the feature `rayon`, parallel loops, too",
    run: measure,
    tasks: &[ARRAY, ARRAY_BRIEF, ARRAY_PARALLEL, ARRAY_APART, ARRAY_LAYER],
    rows: ROWS,
    guards: &[Guard {
        jobs: 1,
        // As fast as memory, which neighbours use, too: up to 2.3 where they do.
        ..Guard::of(
            "array",
            |runner| loops(runner, &ARRAY),
            || {
                let all = [
                    "single/index",
                    "separate/index",
                    "cyclic/index",
                    "multi/index",
                    "multi/iter",
                    "multi/chunks",
                ];
                all.map(|case| held(&format!("array {case}"), Bound::Eased(4.0))).into()
            },
        )
    }],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("array | storage/loop | loops over arrays on NUMA nodes by index, element and chunk, and zipped; in parallel with \
         feature `rayon` | the same loop over a slice",
        &[("array single|separate|cyclic/index|par-index", At::Anywhere, Goal::Ratio(1.05)),
        ("array single|separate|cyclic/index/2|3", At::Anywhere, Goal::Ratio(1.05)),
        ("array multi/index|par-index", At::Anywhere, Goal::Ratio(1.5)),
        ("array multi/iter|each|par-iter", At::Anywhere, Goal::Ratio(1.05)),
        ("array multi/chunks|par-chunks", At::Anywhere, Goal::Ratio(1.02))]),
    row("array | next-layer/storage/bytes/PEs | an array made, filled and freed in a loop; in the report between two nodes, \
         too | an object in the heap", &[]),
    row("array | technique | a loop by threads over one array, or by PEs over their own | memory of one process touched first \
         by its threads", &[]),
];

/// Loops by one thread.
pub(crate) const ARRAY: Task = Task::own("array", |_, repetitions| {
    on_a_core(repetitions, |world, repetitions| of_storages!(of_shapes, world, repetitions, chosen))
});
/// Fewer of them: those of one dimension that are larger than caches, of the four storages.
pub(crate) const ARRAY_BRIEF: Task = Task::own("array-brief", |_, repetitions| {
    on_a_core(repetitions, |world, repetitions| of_storages!(in_a_line, world, repetitions))
});
const ARRAY_PARALLEL: Task = Task::own("array-parallel", |_, repetitions| in_parallel(repetitions));
const ARRAY_APART: Task = Task::own("array-apart", |_, repetitions| apart(repetitions));
const ARRAY_LAYER: Task = Task::own("array-layer", |given, _| of_layers(&given.sizes));

/// Bytes of a layer. A debug build is for tests of the tool.
pub(crate) const SIZES: [usize; 5] = if cfg!(debug_assertions) {
    [1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10]
} else {
    [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]
};

fn measure(runner: &mut Runner, _: &ArgMatches) -> Done {
    loops(runner, &ARRAY)?;
    loops_by_all_threads(runner)?;
    [2, 4, 8].into_iter().try_for_each(|pes| layers(runner, pes, &SIZES))
}

/// Room for the arrays.
fn heap() -> (&'static str, String) {
    ("SHMEM_SYMMETRIC_SIZE", "256M".to_owned())
}

/// Loops by one thread: [`ARRAY`], or [`ARRAY_BRIEF`].
pub(crate) fn loops(runner: &mut Runner, task: &Task) -> Done {
    runner.repeat(&runner.job(task, 1, &[heap()]))
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
    runner.repeat(&runner.job(&ARRAY_PARALLEL, 1, &[heap()]))?;
    let cpus = std::thread::available_parallelism()?.get();
    runner.repeat(&runner.job(&ARRAY_APART, cpus, &[heap()]))
}

/// Arrays made and freed in a loop.
pub(crate) fn layers(runner: &mut Runner, pes: usize, bytes: &[usize]) -> Done {
    runner.repeat(&runner.job(&ARRAY_LAYER, pes, &[heap()]).told_all("--sizes", bytes))
}

/// The same by two PEs that reach each other through a provider, which registers what is made.
pub(crate) fn far_layers(runner: &mut Runner, provider: &str) -> Done {
    runner.repeat(
        &over(runner, &ARRAY_LAYER, provider).with(&[heap()]).told_all("--sizes", &[1 << 20, 4 << 20]),
    )
}

const LOOPS: &str =
    "a loop over an array, against the same loop over a slice in the heap; time for each element";

/// A case, and its samples.
type Measured = (String, Samples);

/// Where a job runs, before its PEs take cores.
fn site(world: &World) -> std::result::Result<Site, Box<dyn std::error::Error>> {
    Ok(Site::of(world, std::thread::available_parallelism()?.get()))
}

/// What a PE has measured, in a unit.
fn show(site: &Site, world: &World, (unit, compared): (&str, &str), measured: Vec<Measured>) -> Done {
    let record =
        |(case, samples): Measured| Record::new(site, &format!("array {case}"), unit, compared, samples);
    print(world, &measured.into_iter().map(record).collect::<Vec<_>>())
}

fn on_a_core(repetitions: usize, measure: fn(&mut World, usize) -> Result<Vec<Measured>>) -> Done {
    let world = &mut shmem::init::<OneThread>()?;
    let site = site(world)?;
    affinity::take(world.my_pe(), world.n_pes())?;
    let measured = measure(world, repetitions)?;
    show(&site, world, ("ns", LOOPS), measured)
}

/// Elements of the arrays: 64 MiB, not a multiple of anything. A debug build is for tests of the tool.
const ELEMENTS: usize = if cfg!(debug_assertions) { 4099 } else { (8 << 20) - 15 };

/// Elements that fit into the second cache.
const FEW: usize = if cfg!(debug_assertions) { 1021 } else { (32 << 10) - 19 };

/// Shapes of as many elements, about.
const PLANE: [usize; 2] = if cfg!(debug_assertions) { [31, 67] } else { [1031, 8123] };
const SPACE: [usize; 3] = if cfg!(debug_assertions) { [7, 11, 31] } else { [101, 103, 797] };

/// Chunks of the arrays, however many nodes there are.
const CHUNKS: usize = 4;

/// Both in turn, with as many elements in each sample, about.
fn pair(repetitions: usize, elements: usize, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()) -> Samples {
    let passes = ELEMENTS.div_ceil(elements);
    let time =
        |body: &mut dyn FnMut()| nanoseconds_each(passes * elements, || (0..passes).for_each(|_| body()));
    Samples::alternate(repetitions, || time(cost), || time(limit))
}

/// Loops over an array of a storage, against the same loops over a slice in the heap: nanoseconds for each element.
fn in_a_line<S: Storage>(
    world: &mut World,
    repetitions: usize,
    name: &str,
    storage: S,
) -> Result<Vec<Measured>> {
    of_len(world, repetitions, (name, ELEMENTS, ""), storage)
}

fn of_len<S: Storage>(
    world: &mut World,
    repetitions: usize,
    (name, elements, suffix): (&str, usize, &str),
    storage: S,
) -> Result<Vec<Measured>> {
    let plain = world.alloc(zeroed::<u64>(elements))?;
    let line = world.array([elements]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    let measured = world.local((&line, &plain), |(mut a, plain)| {
        let of = |way: &str, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
            (format!("{name}/{way}{suffix}"), pair(repetitions, elements, cost, limit))
        };
        vec![
            of("index", &mut || index(black_box(a.view_mut())), &mut || index_of_slice(black_box(plain))),
            of("iter", &mut || iter(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain))),
            of("each", &mut || each(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain))),
            of("zip", &mut || zip(black_box(a.view_mut())), &mut || zip_of_slice(black_box(plain))),
            of("chunks", &mut || chunks(black_box(a.view_mut())), &mut || index_of_slice(black_box(plain))),
            of("read", &mut || _ = black_box(read(black_box(a.view()))), &mut || {
                _ = black_box(read_slice(black_box(plain)))
            }),
        ]
    });
    world.free(line)?;
    world.free(plain)?;
    Ok(measured)
}

/// Those of all shapes and sizes.
fn of_shapes<S: Storage>(
    world: &mut World,
    repetitions: usize,
    name: &str,
    storage: S,
) -> Result<Vec<Measured>> {
    let mut measured = in_a_line(world, repetitions, name, storage)?;
    measured.extend(of_len(world, repetitions, (name, FEW, "/cache"), storage)?);
    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;
    /// A loop by index and one by element over a shape.
    macro_rules! shaped {
        ($shape:ident, $index:ident, $index_of_slice:ident) => {{
            let elements = $shape.iter().product();
            let array = world.array($shape).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
            measured.extend(world.local((&array, &plain), |(mut a, plain)| {
                let plain = &mut plain[..elements];
                let by_index =
                    pair(repetitions, elements, &mut || $index(black_box(a.view_mut())), &mut || {
                        $index_of_slice(black_box(plain), black_box($shape))
                    });
                let by_element =
                    pair(repetitions, elements, &mut || iter(black_box(a.view_mut())), &mut || {
                        iter_of_slice(black_box(plain))
                    });
                let of = |way| format!("{name}/{way}/{}", $shape.len());
                [(of("index"), by_index), (of("iter"), by_element)]
            }));
            world.free(array)?;
        }};
    }
    shaped!(PLANE, index_2, index_2_of_slice);
    shaped!(SPACE, index_3, index_3_of_slice);
    world.free(plain)?;
    Ok(measured)
}

/// Arrays made and freed in a loop. The only program that the source's authors found to be sensitive to the cost of registration
/// makes an array for each layer of a network, fills it, and frees it:
///
/// ```text
/// for layer in 1..numLayers { var curLayer = nextLayer; resize(nextLayer, n); .. }
/// ```
///
/// Making an array is to allocate it, place its chunks, register it and tell all PEs.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".
fn of_layers(sizes: &[usize]) -> Done {
    let world = &mut shmem::init::<OneThread>()?;
    let site = site(world)?;
    // Threads that do what has come from another node need cores, too.
    if world.endpoint().transport_name().is_none() {
        affinity::take(world.my_pe(), world.n_pes())?;
    }
    let compared = "arrays made and freed in a loop, against objects in the heap; time for each";
    let mut measured = Vec::new();
    for &bytes in sizes {
        measured.extend(of_storages!(layer, world, bytes)?);
    }
    show(&site, world, ("us", compared), measured)
}

/// Making and freeing a zeroed array, against a zeroed object in the heap: microseconds for each. The one before is freed when
/// the next one is there, as the loop does. All PEs call it. Each sample is of many arrays, or of many bytes.
fn layer<S: Storage>(world: &mut World, bytes: usize, name: &str, storage: S) -> Result<Vec<Measured>> {
    // Fewer, the larger they are.
    let count = if cfg!(debug_assertions) { 2 } else { ((4 << 20) / bytes).clamp(2, 64) };
    let array = || {
        let mut current = world.array([bytes]).storage(storage).zeroed::<u8>()?;
        for _ in 1..count {
            let next = world.array([bytes]).storage(storage).zeroed::<u8>()?;
            world.free(std::mem::replace(&mut current, next))?;
        }
        world.free(current)
    };
    let object = || {
        let mut current = world.alloc(zeroed::<u8>(bytes))?;
        for _ in 1..count {
            let next = world.alloc(zeroed::<u8>(bytes))?;
            world.free(std::mem::replace(&mut current, next))?;
        }
        world.free(current)
    };
    // Says on all PEs whether there is room, so that the samples need not.
    array()?;
    object()?;
    let samples = Samples::tried(FEWEST, || {
        let time = |one: &dyn Fn() -> Result<()>| {
            let mut done = Ok(());
            let nanoseconds = nanoseconds_each(count, || done = one());
            done.map(|()| nanoseconds / 1e3)
        };
        Ok((time(&array)?, time(&object)?))
    });
    samples.map(|samples: Samples| vec![(format!("next-layer/{name}/{bytes}/{}", world.n_pes()), samples)])
}

#[cfg(feature = "rayon")]
use self::parallel::{apart, in_parallel};

#[cfg(not(feature = "rayon"))]
fn apart(_: usize) -> Done {
    Err("parallel loops need the feature rayon".into())
}

#[cfg(not(feature = "rayon"))]
fn in_parallel(_: usize) -> Done {
    Err("parallel loops need the feature rayon".into())
}
