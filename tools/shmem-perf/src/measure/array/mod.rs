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

/// Measures something of each storage, by the name that cases have for it.
macro_rules! of_storages {
    ($of:ident, $world:expr, $book:expr, $number:expr) => {
        $of($world, $book, $number, "single", Single)
            .and_then(|()| $of($world, $book, $number, "separate", Separate))
            .and_then(|()| $of($world, $book, $number, "cyclic", Cyclic { block: 0 }))
            .and_then(|()| $of($world, $book, $number, "multi", Multi))
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
    chunks, each, index, index_2, index_3, index_3_of_slice, index_of_slice, iter, iter_of_slice, read,
    read_slice, zip, zip_of_slice,
};

use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "array",
    about: "Loops over arrays on NUMA nodes, against loops over slices; arrays made and freed in a loop, against objects in the \
            heap. With the feature `rayon`, parallel loops, too",
    run: |runner, _| run(runner),
    tasks: &[ARRAY, PARALLEL, APART, LAYER],
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
    // As fast as memory, which neighbours use, too: up to 2.3 where they do.
    guards: &[(
        "array --quick --jobs 1",
        &[
            "array {single,separate,cyclic,multi}/index | 1 | goal x4",
            "array multi/{iter,chunks} | 1 | goal x4",
        ],
    )],
    ..Measure::PLAIN
};

const ARRAY: Task = Task::own("array", by_one_thread);
const PARALLEL: Task = Task::own("array-parallel", in_parallel);
const APART: Task = Task::own("array-apart", apart);
const LAYER: Task = Task::own("array-layer", of_layers);

/// Bytes of a layer. A debug build is for tests of the tool.
const SIZES: [usize; 5] = if cfg!(debug_assertions) {
    [1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10]
} else {
    [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]
};

/// Loops, and arrays made and freed; `quick`: loops by one thread over one dimension, and arrays of two PEs. Over a provider of
/// libfabric, which registers what is made: arrays made and freed alone.
fn run(runner: &mut Runner) -> Done {
    let quick = runner.quick;
    // With room for the arrays.
    let repeat = |runner: &mut Runner, job: Asked| runner.repeat(&job.heap(256 << 20));
    if !runner.providers.is_empty() {
        let given = Given { sizes: vec![1 << 20, 4 << 20], ..Given::default() };
        return repeat(runner, over(runner, &LAYER, given));
    }
    repeat(runner, runner.job(&ARRAY, 1, Given::default()))?;
    if !quick && cfg!(feature = "rayon") {
        repeat(runner, runner.job(&PARALLEL, 1, Given::default()))?;
        let cpus = std::thread::available_parallelism()?.get();
        repeat(runner, runner.job(&APART, cpus, Given::default()))?;
    } else if !quick {
        runner.remark(
                "shmem-perf: without the feature rayon, parallel loops and first touches are left out (build it with \
                 --features rayon)",
            );
    }
    let sizes = if quick { vec![SIZES[0], SIZES[2], SIZES[3]] } else { SIZES.to_vec() };
    for pes in if quick { &[2][..] } else { &[2, 4, 8] } {
        repeat(runner, runner.job(&LAYER, *pes, Given { sizes: sizes.clone(), ..Given::default() }))?;
    }
    Ok(())
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

/// Loops by one thread; `quick`: those over one dimension that are larger than caches, of the four storages.
fn by_one_thread(given: &Given) -> Done {
    let world = &mut shmem::init::<OneThread>()?;
    let cores = take_core(world.my_pe(), world.n_pes())?;
    let book = &Book::new(Site::of(world, cores), given);
    of_storages!(of_shapes, world, book, given.quick)?;
    if !given.quick {
        of_shapes(world, book, false, "chosen", Chosen)?;
    }
    book.print(world.my_pe())
}

/// Both in turn, with as many elements in each sample, about.
fn pair(book: &Book<'_>, case: &str, elements: usize, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()) {
    let passes = ELEMENTS.div_ceil(elements);
    let time =
        |body: &mut dyn FnMut()| nanoseconds_each(passes * elements, || (0..passes).for_each(|_| body()));
    book.pairs(format!("array {case}"), || time(cost), || time(limit));
}

/// Loops over an array of a storage, against the same loops over a slice in the heap: nanoseconds for each element.
fn of_len<S: Storage>(
    world: &mut World,
    book: &Book<'_>,
    (name, elements, suffix): (&str, usize, &str),
    storage: S,
) -> Result<()> {
    let plain = world.alloc(zeroed::<u64>(elements))?;
    let line = world.array([elements]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    world.local((&line, &plain), |(mut a, plain)| {
        let of = |way: &str, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
            pair(book, &format!("{name}/{way}{suffix}"), elements, cost, limit);
        };
        of("index", &mut || index(black_box(a.view_mut())), &mut || index_of_slice(black_box(plain)));
        of("iter", &mut || iter(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain)));
        of("each", &mut || each(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain)));
        of("zip", &mut || zip(black_box(a.view_mut())), &mut || zip_of_slice(black_box(plain)));
        of("chunks", &mut || chunks(black_box(a.view_mut())), &mut || index_of_slice(black_box(plain)));
        of("read", &mut || _ = black_box(read(black_box(a.view()))), &mut || {
            _ = black_box(read_slice(black_box(plain)))
        });
    });
    world.free(line)?;
    world.free(plain)
}

/// Those of all shapes and sizes; `quick`: of one.
fn of_shapes<S: Storage>(
    world: &mut World,
    book: &Book<'_>,
    quick: bool,
    name: &str,
    storage: S,
) -> Result<()> {
    of_len(world, book, (name, ELEMENTS, ""), storage)?;
    if quick {
        return Ok(());
    }
    of_len(world, book, (name, FEW, "/cache"), storage)?;
    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;
    /// A loop by index and one by element over a shape, which has so many planes, rows and columns.
    macro_rules! shaped {
        ($shape:ident, $planes:expr, $index:ident) => {{
            let elements = $shape.iter().product();
            let array = world.array($shape).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
            world.local((&array, &plain), |(mut a, plain)| {
                let plain = &mut plain[..elements];
                let of = |way: &str, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
                    pair(book, &format!("{name}/{way}/{}", $shape.len()), elements, cost, limit);
                };
                of("index", &mut || $index(black_box(a.view_mut())), &mut || {
                    index_3_of_slice(black_box(plain), black_box($planes))
                });
                of("iter", &mut || iter(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain)));
            });
            world.free(array)?;
        }};
    }
    shaped!(PLANE, [1, PLANE[0], PLANE[1]], index_2);
    shaped!(SPACE, SPACE, index_3);
    world.free(plain)
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
    let book = &Book::new(Site::of(world, cores), given);
    for &bytes in &given.sizes {
        of_storages!(layer, world, book, bytes)?;
    }
    book.print(world.my_pe())
}

/// Making and freeing a zeroed array, against a zeroed object in the heap: microseconds for each. The one before is freed when
/// the next one is there, as the loop does. All PEs call it. Each sample is of many arrays, or of many bytes.
fn layer<S: Storage>(world: &World, book: &Book<'_>, bytes: usize, name: &str, storage: S) -> Result<()> {
    let name = format!("array next-layer/{name}/{bytes}/{}", world.n_pes());
    if !book.given.wants(&name) {
        return Ok(());
    }
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
    let time = |one: &dyn Fn() -> Result<()>| {
        let mut done = Ok(());
        let nanoseconds = nanoseconds_each(count, || done = one());
        done.map(|()| nanoseconds / 1e3)
    };
    let pair = || Ok::<_, shmem::Error>((time(&array)?, time(&object)?));
    book.add(name, Samples::tried(FEWEST, pair)?);
    Ok(())
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
