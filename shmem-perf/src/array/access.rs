//! Loops of one thread.

use std::hint::black_box;

use shmem_core::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};

use super::loops::{
    chunks, each, index, index_2, index_2_of_slice, index_3, index_3_of_slice, index_of_slice, iter,
    iter_of_slice, read, read_slice,
};
use super::{CHUNKS, ELEMENTS, FEW, Measured, PLANE, SPACE};
use crate::samples::{Samples, nanoseconds_each};
use shmem::Result;
use shmem::World;
use shmem::thread::ThreadLevel;
use shmem::zeroed;

/// Loops over arrays of each storage, against the same loops over a slice in the heap: nanoseconds for each
/// element. Cases are `single/index`, `multi/iter/2`: storage, way, dimensions if not 1.
///
/// # Errors
///
/// If there is no room for the arrays.
pub fn access<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Vec<Measured>> {
    let mut measured = of_storage(world, "single", Single, repetitions)?;
    measured.extend(of_storage(world, "separate", Separate, repetitions)?);
    measured.extend(of_storage(world, "cyclic", Cyclic { block: 0 }, repetitions)?);
    measured.extend(of_storage(world, "multi", Multi, repetitions)?);
    measured.extend(of_storage(world, "chosen", Chosen, repetitions)?);
    Ok(measured)
}

fn of_storage<L: ThreadLevel, S: Storage>(
    world: &mut World<L>,
    name: &str,
    storage: S,
    repetitions: usize,
) -> Result<Vec<Measured>> {
    let case = |way: &str, samples| (format!("{name}/{way}"), samples);
    let pair = |elements, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
        // As many elements in each sample, about.
        let passes = ELEMENTS.div_ceil(elements);
        let time =
            |body: &mut dyn FnMut()| nanoseconds_each(passes * elements, || (0..passes).for_each(|_| body()));
        Samples::alternate(repetitions, || time(cost), || time(limit))
    };
    let mut measured = Vec::new();

    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;
    for (elements, suffix) in [(ELEMENTS, ""), (FEW, "/cache")] {
        let line = world.array([elements]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
        measured.extend(world.local((&line, &plain), |(mut a, plain)| {
            let plain = &mut plain[..elements];
            let of = |way: &str, samples| case(&format!("{way}{suffix}"), samples);
            vec![
                of(
                    "index",
                    pair(elements, &mut || index(black_box(a.view_mut())), &mut || {
                        index_of_slice(black_box(plain))
                    }),
                ),
                of(
                    "iter",
                    pair(elements, &mut || iter(black_box(a.view_mut())), &mut || {
                        iter_of_slice(black_box(plain))
                    }),
                ),
                of(
                    "each",
                    pair(elements, &mut || each(black_box(a.view_mut())), &mut || {
                        iter_of_slice(black_box(plain))
                    }),
                ),
                of(
                    "chunks",
                    pair(elements, &mut || chunks(black_box(a.view_mut())), &mut || {
                        index_of_slice(black_box(plain))
                    }),
                ),
                of(
                    "read",
                    pair(elements, &mut || _ = black_box(read(black_box(a.view()))), &mut || {
                        _ = black_box(read_slice(black_box(plain)))
                    }),
                ),
            ]
        }));
        world.free(line)?;
    }

    let elements = PLANE.iter().product();
    let plane = world.array(PLANE).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    measured.extend(world.local((&plane, &plain), |(mut a, plain)| {
        let plain = &mut plain[..elements];
        vec![
            case(
                "index/2",
                pair(elements, &mut || index_2(black_box(a.view_mut())), &mut || {
                    index_2_of_slice(black_box(plain), black_box(PLANE))
                }),
            ),
            case(
                "iter/2",
                pair(elements, &mut || iter(black_box(a.view_mut())), &mut || {
                    iter_of_slice(black_box(plain))
                }),
            ),
        ]
    }));
    world.free(plane)?;

    let elements = SPACE.iter().product();
    let space = world.array(SPACE).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    measured.extend(world.local((&space, &plain), |(mut a, plain)| {
        let plain = &mut plain[..elements];
        vec![
            case(
                "index/3",
                pair(elements, &mut || index_3(black_box(a.view_mut())), &mut || {
                    index_3_of_slice(black_box(plain), black_box(SPACE))
                }),
            ),
            case(
                "iter/3",
                pair(elements, &mut || iter(black_box(a.view_mut())), &mut || {
                    iter_of_slice(black_box(plain))
                }),
            ),
        ]
    }));
    world.free(space)?;
    world.free(plain)?;
    Ok(measured)
}
