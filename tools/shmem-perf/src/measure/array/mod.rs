//! Arrays on NUMA nodes, against slices and objects of the heap. `parallel` has loops on all CPUs of a PE (feature `rayon`).
//!
//! Elements are `u64`, so that loops measure the cost of finding elements. Arrays exceed the caches, except those of [`FEW`]
//! elements, whose loops have no goal.

/// Calls a function with each of the storages `Single`, `Separate`, `Cyclic` and `Multi`, and with its name in cases.
macro_rules! of_storages {
    ($of:ident, $world:expr, $bench:expr $(, $number:expr)?) => {
        $of($world, $bench, $($number,)? "single", Single)
            .and_then(|()| $of($world, $bench, $($number,)? "separate", Separate))
            .and_then(|()| $of($world, $bench, $($number,)? "cyclic", Cyclic { block: 0 }))
            .and_then(|()| $of($world, $bench, $($number,)? "multi", Multi))
    };
}

#[cfg(feature = "rayon")]
mod parallel;

use shmem::Free;
use shmem_core::array::{ArrayMut, Chosen, Cyclic, Multi, Separate, Single, Storage};

use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "array",
    run: Some(run),
    tasks: &[
        // Loops of one thread. With `quick`, only loops over one dimension of large arrays, and not the storage `Chosen`.
        (
            "array",
            Task::Near(|world, bench| {
                of_storages!(of_shapes, world, bench)?;
                if bench.quick { Ok(()) } else { Ok(of_shapes(world, bench, "chosen", Chosen)?) }
            }),
        ),
        #[cfg(feature = "rayon")]
        ("array-parallel", Task::Free(parallel::in_parallel)),
        (
            "array-layer",
            Task::Near(|world, bench| {
                let of_bytes = |&bytes| of_storages!(layer, world, bench, bytes);
                Ok(bench.sizes.iter().try_for_each(of_bytes)?)
            }),
        ),
    ],
    ..Measure::PLAIN
};

/// Bytes of an array in [`layer`]. A debug build only tests the tool, with small arrays.
const SIZES: [usize; 5] = if cfg!(debug_assertions) {
    [1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10]
} else {
    [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]
};

/// Measures loops, and the time to make and free arrays; fewer cases with `quick`. Over libfabric, which registers the memory of
/// arrays, only the time to make and free them.
fn run(runner: &mut Runner) -> Done {
    let quick = runner.asked.quick;
    let repeat = |runner: &mut Runner, job: Asked| runner.repeat(&job.heap(256 << 20));
    if !runner.asked.provider.is_empty() {
        let given = PeArguments { sizes: vec![1 << 20, 4 << 20], ..PeArguments::default() };
        return repeat(runner, over(runner, "array-layer", given));
    }
    repeat(runner, runner.job("array", 1, PeArguments::default()))?;
    if !quick && cfg!(feature = "rayon") {
        repeat(runner, runner.job("array-parallel", 1, PeArguments::default()))?;
    } else if !quick {
        runner.remark(
            "shmem-perf: without the feature rayon, parallel loops are left out (build it with --features rayon)",
        );
    }
    let sizes = if quick { vec![SIZES[0], SIZES[2], SIZES[3]] } else { SIZES.to_vec() };
    for pes in if quick { &[2][..] } else { &[2, 4, 8] } {
        repeat(
            runner,
            runner.job("array-layer", *pes, PeArguments { sizes: sizes.clone(), ..PeArguments::default() }),
        )?;
    }
    Ok(())
}

/// Number of elements of an array (64 MiB). It is odd, so that chunks differ in length. A debug build only tests the tool.
const ELEMENTS: usize = if cfg!(debug_assertions) { 4099 } else { (8 << 20) - 15 };

const FEW: usize = (32 << 10) - 19;

const PLANE: [usize; 2] = [1031, 8123];
const SPACE: [usize; 3] = [101, 103, 797];

const CHUNKS: usize = 4;

// Sizes (planes, rows, columns), for loops over slices.

type Dimensions = [usize; 3];

#[expect(clippy::needless_range_loop, reason = "access by index is what is measured")]
fn by_index(a: &mut [u64], _: Dimensions) {
    for i in 0..a.len() {
        a[i] = i as u64;
    }
}

#[expect(clippy::needless_range_loop, reason = "access by index is what is measured")]
fn read(a: &mut [u64], _: Dimensions) {
    let mut sum = 0_u64;
    for i in 0..a.len() {
        sum = sum.wrapping_add(a[i]);
    }
    black_box(sum);
}

/// Visits elements by three indices. An array of two dimensions has one plane.
fn by_index_3(a: &mut [u64], [planes, rows, columns]: Dimensions) {
    for i in 0..planes {
        for j in 0..rows {
            for k in 0..columns {
                a[(i * rows + j) * columns + k] = (i + j + k) as u64;
            }
        }
    }
}

fn by_element(a: &mut [u64], _: Dimensions) {
    for value in a.iter_mut() {
        *value = value.wrapping_mul(3);
    }
}

fn iter<const D: usize, S: Storage>(mut a: ArrayMut<'_, u64, D, S>) {
    for value in a.iter_mut() {
        *value = value.wrapping_mul(3);
    }
}

/// A loop: its name, the function for an array, and the function for a slice.
type Way<const D: usize, S> = (&'static str, fn(ArrayMut<'_, u64, D, S>), fn(&mut [u64], Dimensions));

/// Measures loops over an array in turn with loops over a slice of the heap, in nanoseconds for each element.
fn loops<const D: usize, S: Storage>(
    world: &mut World,
    bench: &Bench<'_>,
    (storage, name, suffix): (S, &str, &str),
    (shape, planes): ([usize; D], Dimensions),
    ways: &[Way<D, S>],
) -> Result<()> {
    let elements = shape.iter().product();
    let plain = world.alloc(zeroed::<u64>(elements))?;
    let array = world.array(shape).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    let passes = ELEMENTS.div_ceil(elements);
    world.local((&array, &plain), |(mut a, plain)| {
        // `black_box` hides functions and shape from the compiler, because it does not know them in a program's `World::local`
        // either.
        for &(way, array, slice) in ways {
            let (array, slice, planes) = black_box((array, slice, planes));
            let time = |pass: &mut dyn FnMut()| {
                nanoseconds_each(passes * elements, || (0..passes).for_each(|_| pass()))
            };
            let cost = || time(&mut || array(a.view_mut()));
            bench.pairs(format!("array {name}/{way}{suffix}"), cost, || time(&mut || slice(plain, planes)));
        }
    });
    world.free(array)?;
    world.free(plain)
}

fn of_shapes<S: Storage>(world: &mut World, bench: &Bench<'_>, name: &str, storage: S) -> Result<()> {
    let line: [Way<1, S>; 6] = [
        ("index", |mut a| a.indices().for_each(|i| a[i] = i as u64), by_index),
        ("iter", iter, by_element),
        // `for_each`, which the iterator itself implements, instead of a `for` loop.
        ("each", |mut a| a.iter_mut().for_each(|value| *value = value.wrapping_mul(3)), by_element),
        // The Chapel loop `forall (a, i) in zip(A, A.domain) do a = i`, by one thread.
        (
            "zip",
            |mut a| {
                let indices = a.indices();
                a.iter_mut().zip(indices).for_each(|(value, i)| *value = i as u64);
            },
            |a, _| a.iter_mut().enumerate().for_each(|(i, value)| *value = i as u64),
        ),
        (
            "chunks",
            |mut a| {
                for mut chunk in a.chunks_mut() {
                    chunk.indices().for_each(|i| chunk[i] = i as u64);
                }
            },
            by_index,
        ),
        ("read", |a| _ = black_box(a.indices().fold(0, |sum, i| a[i].wrapping_add(sum))), read),
    ];
    loops(world, bench, (storage, name, ""), ([ELEMENTS], [1, 1, ELEMENTS]), &line)?;
    if bench.quick {
        return Ok(());
    }
    loops(world, bench, (storage, name, "/cache"), ([FEW], [1, 1, FEW]), &line)?;
    let plane: [Way<2, S>; 2] = [
        ("index", |mut a| a.indices().for_each(|[i, j]| a[[i, j]] = (i + j) as u64), by_index_3),
        ("iter", iter, by_element),
    ];
    loops(world, bench, (storage, name, "/2"), (PLANE, [1, PLANE[0], PLANE[1]]), &plane)?;
    let space: [Way<3, S>; 2] = [
        ("index", |mut a| a.indices().for_each(|[i, j, k]| a[[i, j, k]] = (i + j + k) as u64), by_index_3),
        ("iter", iter, by_element),
    ];
    loops(world, bench, (storage, name, "/3"), (SPACE, SPACE), &space)
}

/// Measures the time to make and free a zeroed array, against a zeroed object of the heap, in microseconds. All PEs call it. A
/// program for neural networks makes, fills and frees an array for each layer, so it depends on the cost of registration.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".
fn layer<S: Storage>(world: &World, bench: &Bench<'_>, bytes: usize, name: &str, storage: S) -> Result<()> {
    let name = format!("array next-layer/{name}/{bytes}/{}", world.n_pes());
    if !bench.wants(&name) {
        return Ok(());
    }
    let array = || in_a_loop(world, bytes, || world.array([bytes]).storage(storage).zeroed::<u8>());
    let object = || in_a_loop(world, bytes, || world.alloc(zeroed::<u8>(bytes)));
    // A first try, before any sample is taken: it fails on all PEs if the heap is too small.
    array()?;
    object()?;
    bench.add(name, Samples::tried(FEWEST, || Ok::<_, shmem::Error>((array()?, object()?)))?);
    Ok(())
}

/// Returns the mean microseconds to make and free one of several objects. Each is freed after the next one is made.
fn in_a_loop<T: Free>(world: &World, bytes: usize, make: impl Fn() -> Result<T>) -> Result<f64> {
    let count = if cfg!(debug_assertions) { 2 } else { ((4 << 20) / bytes).clamp(2, 64) };
    let start = Instant::now();
    let mut last = make()?;
    for _ in 1..count {
        world.free(std::mem::replace(&mut last, make()?))?;
    }
    world.free(last)?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / count as f64)
}
