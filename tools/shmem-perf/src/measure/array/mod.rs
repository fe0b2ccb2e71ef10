//! What arrays on NUMA nodes cost, against plain slices and plain allocations.
//!
//! `parallel` has the same on all CPUs of a PE; one PE with an array, and a PE for each CPU (feature `rayon`).
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

#[cfg(feature = "rayon")]
mod parallel;

use shmem::thread::Single as OneThread;
use shmem_core::array::{ArrayMut, Chosen, Cyclic, Multi, Separate, Single, Storage};

use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "array",
    about: "Loops over arrays on NUMA nodes, against loops over slices; arrays made and freed in a loop, against objects in the \
            heap. With the feature `rayon`, parallel loops, too",
    run: Some(run),
    tasks: &[
        ("array", Task::Own(by_one_thread)),
        ("array-parallel", Task::Own(in_parallel)),
        ("array-apart", Task::Own(apart)),
        ("array-layer", Task::Own(of_layers)),
    ],
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
        return repeat(runner, over(runner, "array-layer", given));
    }
    repeat(runner, runner.job("array", 1, Given::default()))?;
    if !quick && cfg!(feature = "rayon") {
        repeat(runner, runner.job("array-parallel", 1, Given::default()))?;
        let cpus = std::thread::available_parallelism()?.get();
        repeat(runner, runner.job("array-apart", cpus, Given::default()))?;
    } else if !quick {
        runner.remark(
            "shmem-perf: without the feature rayon, parallel loops and first touches are left out (build it with \
             --features rayon)",
        );
    }
    let sizes = if quick { vec![SIZES[0], SIZES[2], SIZES[3]] } else { SIZES.to_vec() };
    for pes in if quick { &[2][..] } else { &[2, 4, 8] } {
        repeat(runner, runner.job("array-layer", *pes, Given { sizes: sizes.clone(), ..Given::default() }))?;
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

/// A loop over an array and one over a slice in turn, with as many elements in each sample, about: nanoseconds for each element.
fn pair(book: &Book<'_>, case: &str, elements: usize, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()) {
    let passes = ELEMENTS.div_ceil(elements);
    let time =
        |body: &mut dyn FnMut()| nanoseconds_each(passes * elements, || (0..passes).for_each(|_| body()));
    book.pairs(format!("array {case}"), || time(cost), || time(limit));
}

// Loops over slices.

#[expect(clippy::needless_range_loop, reason = "access by index is what is measured")]
fn by_index(a: &mut [u64]) {
    for i in 0..a.len() {
        a[i] = i as u64;
    }
}

#[expect(clippy::needless_range_loop, reason = "access by index is what is measured")]
fn read(a: &mut [u64]) {
    let mut sum = 0_u64;
    for i in 0..a.len() {
        sum = sum.wrapping_add(a[i]);
    }
    black_box(sum);
}

/// Of two dimensions: one plane.
fn by_index_3(a: &mut [u64], [planes, rows, columns]: [usize; 3]) {
    for i in 0..planes {
        for j in 0..rows {
            for k in 0..columns {
                a[(i * rows + j) * columns + k] = (i + j + k) as u64;
            }
        }
    }
}

fn by_element(a: &mut [u64]) {
    for value in a.iter_mut() {
        *value = value.wrapping_mul(3);
    }
}

/// The same over an array.
fn iter<const D: usize, S: Storage>(mut a: ArrayMut<'_, u64, D, S>) {
    for value in a.iter_mut() {
        *value = value.wrapping_mul(3);
    }
}

/// Loops over an array of a storage, against the same loops over a slice in the heap.
fn of_len<S: Storage>(
    world: &mut World,
    book: &Book<'_>,
    (name, elements, suffix): (&str, usize, &str),
    storage: S,
) -> Result<()> {
    let plain = world.alloc(zeroed::<u64>(elements))?;
    let line = world.array([elements]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    world.local((&line, &plain), |(mut a, plain)| {
        // As a program would write them. A view comes as from a phase: unknown to the compiler.
        let mut of = |way: &str, array: fn(ArrayMut<'_, u64, 1, S>), slice: fn(&mut [u64])| {
            let ((array, slice), case) = (black_box((array, slice)), format!("{name}/{way}{suffix}"));
            pair(book, &case, elements, &mut || array(a.view_mut()), &mut || slice(plain));
        };
        of("index", |mut a| a.indices().for_each(|i| a[i] = i as u64), by_index);
        of("iter", iter, by_element);
        // Driven by the iterator, and not by the loop.
        of("each", |mut a| a.iter_mut().for_each(|value| *value = value.wrapping_mul(3)), by_element);
        // `forall (a, i) in zip(A, A.domain) do a = i`, by one thread.
        let zip = |mut a: ArrayMut<'_, u64, 1, S>| {
            let indices = a.indices();
            a.iter_mut().zip(indices).for_each(|(value, i)| *value = i as u64);
        };
        of("zip", zip, |a| a.iter_mut().enumerate().for_each(|(i, value)| *value = i as u64));
        let chunks = |mut a: ArrayMut<'_, u64, 1, S>| {
            for mut chunk in a.chunks_mut() {
                chunk.indices().for_each(|i| chunk[i] = i as u64);
            }
        };
        of("chunks", chunks, by_index);
        of("read", |a| _ = black_box(a.indices().fold(0, |sum, i| a[i].wrapping_add(sum))), read);
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
    of_shape(world, book, (name, PLANE, [1, PLANE[0], PLANE[1]]), storage, |mut a| {
        a.indices().for_each(|[i, j]| a[[i, j]] = (i + j) as u64);
    })?;
    of_shape(world, book, (name, SPACE, SPACE), storage, |mut a| {
        a.indices().for_each(|[i, j, k]| a[[i, j, k]] = (i + j + k) as u64);
    })
}

/// A loop by index and one by element over a shape, which has so many planes, rows and columns.
fn of_shape<const D: usize, S: Storage>(
    world: &mut World,
    book: &Book<'_>,
    (name, shape, planes): (&str, [usize; D], [usize; 3]),
    storage: S,
    index: fn(ArrayMut<'_, u64, D, S>),
) -> Result<()> {
    let elements = shape.iter().product();
    let plain = world.alloc(zeroed::<u64>(elements))?;
    let array = world.array(shape).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    world.local((&array, &plain), |(mut a, plain)| {
        let mut of = |way: &str, array: fn(ArrayMut<'_, u64, D, S>), slice: fn(&mut [u64], [usize; 3])| {
            let ((array, slice, planes), case) =
                (black_box((array, slice, planes)), format!("{name}/{way}/{D}"));
            pair(book, &case, elements, &mut || array(a.view_mut()), &mut || slice(plain, planes));
        };
        of("index", index, by_index_3);
        of("iter", iter, |a, _| by_element(a));
    });
    world.free(array)?;
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
        let make = || world.array([bytes]).storage(storage).zeroed::<u8>();
        let last = (1..count).try_fold(make()?, |before, _| {
            let next = make()?;
            world.free(before).map(|()| next)
        });
        world.free(last?)
    };
    let object = || {
        let make = || world.alloc(zeroed::<u8>(bytes));
        let last = (1..count).try_fold(make()?, |before, _| {
            let next = make()?;
            world.free(before).map(|()| next)
        });
        world.free(last?)
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
