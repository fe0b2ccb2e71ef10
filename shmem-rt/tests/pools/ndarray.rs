//! Views inside phases.

use ndarray::{Array2, ArrayView2, s};
use shmem::ndarray::AsNdarray;
use shmem::prelude::*;

#[symmetric]
static FIELD: padded![f64; 6; 256];

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    charge: f64,
}

impl shmem::ndarray::Element for Cell {}

#[symmetric]
static CELLS: [[Cell; 4]; 3];

#[shmem::test(pes = 2)]
fn what_a_neighbour_has_put_is_seen_through_a_view(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    let number = world.my_pe() as f64;
    for row in 0..6 {
        world.p(FIELD.on(east).index(row).index(255), 10.0 * number + row as f64);
    }
    let column = world.local(&FIELD, |field| {
        let mut view = field.view_mut();
        let last = view.column(255).to_vec();
        view.column_mut(0).fill(1.0);
        view.slice_mut(s![1..5, 1..255]).fill(2.0);
        last
    });
    let expected: Vec<f64> = (0..6).map(|row| 10.0 * west.number() as f64 + f64::from(row)).collect();
    assert_eq!(column, expected);
    world.frozen(&FIELD, |field| {
        let view: ArrayView2<'_, f64> = field.view();
        assert_eq!(view.dim(), (6, 256));
        assert_eq!(view.sum(), 6.0 + 4.0 * 254.0 * 2.0 + expected.iter().sum::<f64>());
    });
}

#[shmem::test(pes = 2)]
fn structs_and_heap_objects_have_views(world: &mut World) {
    let rows: SymBox<[padded![u32; 512]]> = world.alloc(shmem::zeroed(3)).unwrap();
    world.local((&CELLS, &rows), |(cells, rows)| {
        cells.view_mut()[[2, 3]] = Cell { mass: 1.0, charge: 2.0 };
        assert_eq!(cells[2][3], Cell { mass: 1.0, charge: 2.0 });
        assert_eq!(cells.view().map(|cell| cell.charge).sum(), 2.0);
        rows.view_mut().assign(&Array2::from_shape_fn((3, 512), |(row, column)| (row * 512 + column) as u32));
        assert_eq!((rows[0][511], rows[2][0]), (511, 1024));
    });
}
