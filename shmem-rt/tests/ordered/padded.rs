//! Arrays with padded rows, as symmetric objects. (How far apart rows lie: `padded::tests` of the core.)

use shmem::Padded;
use shmem::prelude::*;

const ROWS: usize = 5;
const COLUMNS: usize = 128;

/// Rows of 17 lines.
#[symmetric]
static FIELD: padded![u64; ROWS; COLUMNS];

#[symmetric]
static CUBE: padded![u16; 2; 32; 256] = [Padded::filled(Padded::filled(7)); 2];

/// A cell of this PE before anything comes.
fn cell(pe: usize, row: usize, column: usize) -> u64 {
    (100_000 * pe + 1000 * row + column) as u64
}

#[shmem::test(pes = 2)]
fn regions_leave_the_elements_behind_rows_alone(world: &mut World) {
    let (me, (west, east)) = (world.my_pe(), world.ring_neighbours());
    world.local((&FIELD, &CUBE), |(field, cube)| {
        for (number, row) in field.iter_mut().enumerate() {
            // What lies behind a row is not moved, and not overwritten.
            bytemuck::cast_slice_mut::<_, u64>(core::slice::from_mut(row)).fill(1000 + me as u64);
            row.copy_from_slice(&core::array::from_fn::<_, COLUMNS, _>(|column| cell(me, number, column)));
        }
        cube[1][31] = Padded::filled(9);
    });
    strided!(world, FIELD@east[1..=3, 0] = FIELD[1..=3, COLUMNS - 1]);
    strided!(world, FIELD@east[0, ..] = FIELD[ROWS - 1, ..]);
    let (mut face, mut corner) = ([[0_u16; 32]; 2], [[0_u16; 2]; 2]);
    strided!(world, face[.., ..] = CUBE@west[.., .., 255]);
    strided!(world, corner[.., ..] = CUBE@west[0..2, 30..32, 255]);
    assert_eq!(corner, [[7, 7], [7, 9]]);
    assert_eq!(face.as_flattened().iter().position(|cell| *cell != 7), Some(63));
    world.local(&FIELD, |field| {
        for (number, row) in field.iter().enumerate() {
            let behind = &bytemuck::cast_slice::<_, u64>(core::slice::from_ref(row))[COLUMNS..];
            assert_eq!(behind, [1000 + me as u64; 8]);
            let expected = |column| match (number, column) {
                (0, _) => cell(1 - me, ROWS - 1, column),
                (1..=3, 0) => cell(1 - me, number, COLUMNS - 1),
                _ => cell(me, number, column),
            };
            assert_eq!(**row, core::array::from_fn(expected), "row {number}");
        }
    });
}
