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

/// What a function measures of each storage, by the name that cases have for it.
macro_rules! of_storages {
    ($of:ident, $world:expr, $number:expr) => {
        $of($world, $number, "single", Single)
            .and_then(|all| Ok([all, $of($world, $number, "separate", Separate)?].concat()))
            .and_then(|all| Ok([all, $of($world, $number, "cyclic", Cyclic { block: 0 })?].concat()))
            .and_then(|all| Ok([all, $of($world, $number, "multi", Multi)?].concat()))
    };
}

mod loops;
#[cfg(feature = "rayon")]
mod parallel;

use std::hint::black_box;

use shmem::prelude::*;
use shmem::thread::Single as OneThread;
use shmem_core::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};

use self::loops::{
    chunks, each, index, index_2, index_2_of_slice, index_3, index_3_of_slice, index_of_slice, iter,
    iter_of_slice, read, read_slice, zip, zip_of_slice,
};
use super::Measure;
use crate::bench::{Bench, Done, Given, Task, take_core};
use crate::check::Guard;
use crate::fabric::over;
use crate::jobs::Asked;
use crate::runner::Runner;
use crate::samples::{FEWEST, Samples, nanoseconds_each};

pub(crate) const MEASURE: Measure = Measure {
    name: "array",
    about: "Loops over arrays on NUMA nodes, against loops over slices; arrays made and freed in a loop, against objects in the \
            heap. With the feature `rayon`, parallel loops, too",
    run: |runner, _| {
        loops(runner, &ARRAY)?;
        loops_by_all_threads(runner)?;
        [2, 4, 8].into_iter().try_for_each(|pes| layers(runner, pes, &SIZES))
    },
    tasks: &[ARRAY, ARRAY_BRIEF, ARRAY_PARALLEL, ARRAY_APART, ARRAY_LAYER],
    rows: &[
        "array ** | storage/loop | loops over arrays on NUMA nodes by index, element and chunk, and zipped; in parallel with \
         feature `rayon`; time for each element | the same loop over a slice | \
         single|separate|cyclic/index|par-index 1.05; single|separate|cyclic/index/2|3 1.05; multi/index|par-index 1.5; \
         multi/iter|each|par-iter 1.05; multi/chunks|par-chunks 1.02",
        "array next-layer/** | next-layer/storage/bytes/PEs | an array made, filled and freed in a loop; in the report between \
         two nodes, too | an object in the heap | | us",
        "array technique/** | technique | a loop by threads over one array, or by PEs over their own; time for each element | \
         memory of one process touched first by its threads",
    ],
    guards: &[Guard {
        jobs: 1,
        // As fast as memory, which neighbours use, too: up to 2.3 where they do.
        ..Guard::of(
            "array",
            |runner| loops(runner, &ARRAY),
            &[
                "array {single,separate,cyclic,multi}/index | 1 | goal x4",
                "array multi/{iter,chunks} | 1 | goal x4",
            ],
        )
    }],
    ..Measure::PLAIN
};

/// Loops by one thread.
pub(crate) const ARRAY: Task = Task::own("array", |given| {
    on_a_core(given, |world, repetitions| {
        let all = of_storages!(of_shapes, world, repetitions)?;
        Ok([all, of_shapes(world, repetitions, "chosen", Chosen)?].concat())
    })
});
/// Fewer of them: those of one dimension that are larger than caches, of the four storages.
pub(crate) const ARRAY_BRIEF: Task = Task::own("array-brief", |given| {
    on_a_core(given, |world, repetitions| of_storages!(in_a_line, world, repetitions))
});
const ARRAY_PARALLEL: Task = Task::own("array-parallel", in_parallel);
const ARRAY_APART: Task = Task::own("array-apart", apart);
const ARRAY_LAYER: Task = Task::own("array-layer", of_layers);

/// Bytes of a layer. A debug build is for tests of the tool.
pub(crate) const SIZES: [usize; 5] = if cfg!(debug_assertions) {
    [1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10]
} else {
    [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]
};

/// With room for the arrays.
fn roomy(job: Asked) -> Asked {
    job.heap(256 << 20)
}

/// Loops by one thread: [`ARRAY`], or [`ARRAY_BRIEF`].
pub(crate) fn loops(runner: &mut Runner, task: &Task) -> Done {
    runner.repeat(&roomy(runner.job(task, 1, Given::default())))
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
    loops(runner, &ARRAY_PARALLEL)?;
    let cpus = std::thread::available_parallelism()?.get();
    runner.repeat(&roomy(runner.job(&ARRAY_APART, cpus, Given::default())))
}

/// Arrays made and freed in a loop.
pub(crate) fn layers(runner: &mut Runner, pes: usize, bytes: &[usize]) -> Done {
    let given = Given { sizes: bytes.to_vec(), ..Given::default() };
    runner.repeat(&roomy(runner.job(&ARRAY_LAYER, pes, given)))
}

/// The same by two PEs that reach each other through a provider, which registers what is made.
pub(crate) fn far_layers(runner: &mut Runner, provider: &str) -> Done {
    let given = Given { sizes: vec![1 << 20, 4 << 20], ..Given::default() };
    runner.repeat(&roomy(over(runner, &ARRAY_LAYER, provider, given)))
}

/// A case, and its samples.
type Measured = (String, Samples);

/// Prints what a PE has measured, on so many cores.
fn show(world: &World, given: &Given, cores: usize, measured: Vec<Measured>) -> Done {
    let bench = Bench::new(world, given, cores);
    measured.into_iter().for_each(|(case, samples)| bench.add(format!("array {case}"), samples));
    bench.print()
}

fn on_a_core(given: &Given, measure: fn(&mut World, usize) -> Result<Vec<Measured>>) -> Done {
    let world = &mut shmem::init::<OneThread>()?;
    let cores = take_core(world.my_pe(), world.n_pes())?;
    let measured = measure(world, given.repetitions)?;
    show(world, given, cores, measured)
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
                let of = |way: &str, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
                    (format!("{name}/{way}/{}", $shape.len()), pair(repetitions, elements, cost, limit))
                };
                [
                    of("index", &mut || $index(black_box(a.view_mut())), &mut || {
                        $index_of_slice(black_box(plain), black_box($shape))
                    }),
                    of("iter", &mut || iter(black_box(a.view_mut())), &mut || {
                        iter_of_slice(black_box(plain))
                    }),
                ]
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
fn of_layers(given: &Given) -> Done {
    let world = &mut shmem::init::<OneThread>()?;
    let cores = std::thread::available_parallelism()?.get();
    // Threads that do what has come from another node need cores, too.
    if world.endpoint().transport_name().is_none() {
        take_core(world.my_pe(), world.n_pes())?;
    }
    let mut measured = Vec::new();
    for &bytes in &given.sizes {
        measured.extend(of_storages!(layer, world, bytes)?);
    }
    show(world, given, cores, measured)
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
    let samples: Samples = Samples::tried(FEWEST, || {
        let time = |one: &dyn Fn() -> Result<()>| {
            let mut done = Ok(());
            let nanoseconds = nanoseconds_each(count, || done = one());
            done.map(|()| nanoseconds / 1e3)
        };
        Ok::<_, shmem::Error>((time(&array)?, time(&object)?))
    })?;
    Ok(vec![(format!("next-layer/{name}/{bytes}/{}", world.n_pes()), samples)])
}

#[cfg(feature = "rayon")]
use self::parallel::{apart, in_parallel};

#[cfg(not(feature = "rayon"))]
fn apart(_: &Given) -> Done {
    Err("parallel loops need the feature rayon".into())
}

#[cfg(not(feature = "rayon"))]
fn in_parallel(given: &Given) -> Done {
    apart(given)
}
