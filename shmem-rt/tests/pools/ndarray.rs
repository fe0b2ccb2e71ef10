//! Views of arrays inside phases, and of transfers. (Of statics and of heap objects: `ndarray` of the library.)

use ndarray::{Array1, Array2, Array3, ArrayView2, s};
use shmem::array::{Cyclic, Separate, Single, StorageKind};
use shmem::ndarray::{ArrayNdarray, ArrayNdarrayMut};
use shmem::prelude::*;

#[symmetric]
static FIELD: [[f64; 256]; 6];

#[shmem::test(pes = 2)]
fn arrays_of_one_range_have_views(world: &mut World) {
    let line = world.array([90]).storage(Cyclic { block: 0 }).chunks(3).from_fn(|[i]| i as u32).unwrap();
    let plane = world.array([6, 7]).storage(Single).chunks(4).from_fn(|[i, j]| 10 * i + j).unwrap();
    let cube =
        world.array([2, 3, 4]).storage(Separate).from_fn(|[i, j, k]| [i as u8, j as u8, k as u8]).unwrap();
    world.local((&line, &plane, &cube), |(mut line, mut plane, mut cube)| {
        line.ndarray_mut().slice_mut(s![..;30]).fill(5);
        assert_eq!((line[30], line[31], line.ndarray().sum()), (5, 31, 15 + (0..90).sum::<u32>() - 90));
        plane.ndarray_mut().swap_axes(0, 1);
        plane.ndarray_mut().column_mut(6).fill(1);
        let view: ArrayView2<'_, usize> = plane.ndarray();
        assert_eq!(view, Array2::from_shape_fn((6, 7), |(i, j)| if j == 6 { 1 } else { 10 * i + j }));
        cube.ndarray_mut()[[1, 2, 3]] = [9; 3];
        assert_eq!((cube[[1, 2, 3]], cube.ndarray()[[1, 0, 3]]), ([9; 3], [1, 0, 3]));
    });
    world.frozen(&plane, |plane| assert_eq!(plane.ndarray().dim(), (6, 7)));
}

/// The local side of a transfer is an array or a view without gaps.
#[shmem::test(pes = 2)]
fn arrays_are_sides_of_transfers(world: &mut World) {
    let (me, east) = (world.my_pe(), world.ring_neighbours().1);
    let tile = Array2::from_shape_fn((6, 256), |(i, j)| (1000 * me + 10 * i + j % 10) as f64);
    strided!(world, FIELD@east[..] = tile[..]);
    world.barrier_all();
    let theirs = |i: usize, j: usize| (1000 * east.number() + 10 * i + j % 10) as f64;
    let mut column = Array1::<f64>::zeros(6);
    strided!(world, column[..] = FIELD@(world.me())[.., 7]);
    assert_eq!(column, Array1::from_shape_fn(6, |i| theirs(i, 7)));
    let (first, mut halves) = (2, Array3::<f64>::zeros((2, 2, 128)));
    strided!(world, (halves.view_mut())[.., 0, ..4] = FIELD@(world.me())[dyn first..4, ..4]);
    assert_eq!(halves[[1, 0, 3]], theirs(3, 3));
    let view = tile.slice(s![.., 1..]);
    let gaps = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        strided!(world, FIELD@east[.., 0] = view[.., 0]);
    }));
    let said = *gaps.unwrap_err().downcast::<String>().unwrap();
    assert!(said.contains("shape [6, 255] has strides [256, 1]"), "{said}");
}

/// Arrays are cut along either dimension, into chunks with one range or with several.
#[shmem::test(pes = 2)]
fn chunks_have_views(world: &mut World) {
    for kind in StorageKind::ALL {
        for shape in [[9, 4], [3, 11]] {
            let field =
                world.array(shape).storage_kind(kind).chunks(4).from_fn(|[i, j]| 100 * i + j).unwrap();
            world.local(&field, |mut field| {
                for mut chunk in field.chunks_mut() {
                    let [rows, columns] = chunk.ranges();
                    let expected = Array2::from_shape_fn((rows.len(), columns.len()), |(i, j)| {
                        100 * (rows.start + i) + columns.start + j
                    });
                    assert_eq!(chunk.ndarray(), expected, "{kind}");
                    chunk.ndarray_mut().mapv_inplace(|x| x + 1);
                }
                let whole = field.indices().all(|[i, j]| field[[i, j]] == 100 * i + j + 1);
                assert!(whole, "{kind}, {shape:?}");
                assert!(
                    field.chunks().all(|chunk| chunk.ndarray()[[0, 0]] % 100 == chunk.ranges()[1].start + 1)
                );
            });
        }
    }
}
