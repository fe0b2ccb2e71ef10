//! Loops of one thread.

use std::hint::black_box;

use shmem::thread::ThreadLevel;
use shmem::{Result, World, zeroed};
use shmem_core::array::{Chosen, Cyclic, Multi, Separate, Single, Storage};

use super::loops::{
    chunks, each, index, index_2, index_2_of_slice, index_3, index_3_of_slice, index_of_slice, iter,
    iter_of_slice, read, read_slice, zip, zip_of_slice,
};
use super::{CHUNKS, ELEMENTS, FEW, Measured, PLANE, SPACE};
use crate::array::name::{Name, StorageName, Way};
use crate::samples::{Samples, nanoseconds_each};

/// Loops over arrays of each storage, against the same loops over a slice in the heap: nanoseconds for each
/// element. Cases are `single/index`, `multi/iter/2`: storage, way, dimensions if not 1.
///
/// # Errors
///
/// If there is no room for the arrays.
pub fn access<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Vec<Measured>> {
    let mut measured = of_storage(world, StorageName::Single, Single, repetitions)?;
    measured.extend(of_storage(world, StorageName::Separate, Separate, repetitions)?);
    measured.extend(of_storage(world, StorageName::Cyclic, Cyclic { block: 0 }, repetitions)?);
    measured.extend(of_storage(world, StorageName::Multi, Multi, repetitions)?);
    measured.extend(of_storage(world, StorageName::Chosen, Chosen, repetitions)?);
    Ok(measured)
}

/// Those of one dimension that are larger than caches, of the four storages.
///
/// # Errors
///
/// As [`access`].
pub fn access_in_brief<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Vec<Measured>> {
    let mut measured = in_a_line(world, StorageName::Single, Single, ELEMENTS, Name::Loop, repetitions)?;
    measured.extend(in_a_line(world, StorageName::Separate, Separate, ELEMENTS, Name::Loop, repetitions)?);
    measured.extend(in_a_line(
        world,
        StorageName::Cyclic,
        Cyclic { block: 0 },
        ELEMENTS,
        Name::Loop,
        repetitions,
    )?);
    measured.extend(in_a_line(world, StorageName::Multi, Multi, ELEMENTS, Name::Loop, repetitions)?);
    Ok(measured)
}

/// Both in turn, with as many elements in each sample, about.
fn pair(repetitions: usize, elements: usize, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()) -> Samples {
    let passes = ELEMENTS.div_ceil(elements);
    let time =
        |body: &mut dyn FnMut()| nanoseconds_each(passes * elements, || (0..passes).for_each(|_| body()));
    Samples::alternate(repetitions, || time(cost), || time(limit))
}

fn in_a_line<L: ThreadLevel, S: Storage>(
    world: &mut World<L>,
    name: StorageName,
    storage: S,
    elements: usize,
    named: fn(StorageName, Way) -> Name,
    repetitions: usize,
) -> Result<Vec<Measured>> {
    let plain = world.alloc(zeroed::<u64>(elements))?;
    let line = world.array([elements]).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    let measured = world.local((&line, &plain), |(mut a, plain)| {
        let of = |way: Way, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| {
            (named(name, way), pair(repetitions, elements, cost, limit))
        };
        vec![
            of(Way::Index, &mut || index(black_box(a.view_mut())), &mut || index_of_slice(black_box(plain))),
            of(Way::Iter, &mut || iter(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain))),
            of(Way::Each, &mut || each(black_box(a.view_mut())), &mut || iter_of_slice(black_box(plain))),
            of(Way::Zip, &mut || zip(black_box(a.view_mut())), &mut || zip_of_slice(black_box(plain))),
            of(Way::Chunks, &mut || chunks(black_box(a.view_mut())), &mut || {
                index_of_slice(black_box(plain))
            }),
            of(Way::Read, &mut || _ = black_box(read(black_box(a.view()))), &mut || {
                _ = black_box(read_slice(black_box(plain)))
            }),
        ]
    });
    world.free(line)?;
    world.free(plain)?;
    Ok(measured)
}

fn of_storage<L: ThreadLevel, S: Storage>(
    world: &mut World<L>,
    name: StorageName,
    storage: S,
    repetitions: usize,
) -> Result<Vec<Measured>> {
    let mut measured = in_a_line(world, name, storage, ELEMENTS, Name::Loop, repetitions)?;
    measured.extend(in_a_line(world, name, storage, FEW, Name::Cached, repetitions)?);
    let case = |(way, dimensions), samples| (Name::Shaped(name, way, dimensions), samples);
    let pair =
        |elements, cost: &mut dyn FnMut(), limit: &mut dyn FnMut()| pair(repetitions, elements, cost, limit);
    let plain = world.alloc(zeroed::<u64>(ELEMENTS))?;

    let elements = PLANE.iter().product();
    let plane = world.array(PLANE).storage(storage).chunks(CHUNKS).zeroed::<u64>()?;
    measured.extend(world.local((&plane, &plain), |(mut a, plain)| {
        let plain = &mut plain[..elements];
        vec![
            case(
                (Way::Index, 2),
                pair(elements, &mut || index_2(black_box(a.view_mut())), &mut || {
                    index_2_of_slice(black_box(plain), black_box(PLANE))
                }),
            ),
            case(
                (Way::Iter, 2),
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
                (Way::Index, 3),
                pair(elements, &mut || index_3(black_box(a.view_mut())), &mut || {
                    index_3_of_slice(black_box(plain), black_box(SPACE))
                }),
            ),
            case(
                (Way::Iter, 3),
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
