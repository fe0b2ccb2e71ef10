//! Arrays with padded rows, as symmetric objects. (How far apart rows lie: `padded::tests` of the core.)

use shmem::Padded;
use shmem::prelude::*;

use crate::panics::refused;

const ROWS: usize = 5;
const COLUMNS: usize = 128;

/// Rows of 17 lines.
#[symmetric]
static FIELD: padded![u64; ROWS; COLUMNS];

#[symmetric]
static CUBE: padded![u16; 2; 32; 256] = [Padded::filled(Padded::filled(7)); 2];

#[symmetric]
static COUNTS: padded![Atomic<u64>; 2; 64];

#[shmem::test(pes = 2)]
fn regions_leave_the_elements_behind_rows_alone(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    let me = world.my_pe() as u64;
    world.local((&FIELD, &CUBE), |(field, cube)| {
        for (number, row) in field.iter_mut().enumerate() {
            // What lies behind a row is not moved, and not overwritten.
            bytemuck::cast_slice_mut::<_, u64>(core::slice::from_mut(row)).fill(1000 + me);
            for (column, cell) in row.iter_mut().enumerate() {
                *cell = 100_000 * me + 1000 * number as u64 + column as u64;
            }
        }
        cube[1][31] = Padded::filled(9);
    });
    strided!(world, FIELD@east[1..=3, 0] = FIELD[1..=3, COLUMNS - 1]);
    strided!(world, FIELD@east[0, ..] = FIELD[ROWS - 1, ..]);
    let mut face = [[0_u16; 32]; 2];
    strided!(world, face[.., ..] = CUBE@west[.., .., 255]);
    let mut corner = [[0_u16; 2]; 2];
    strided!(world, corner[.., ..] = CUBE@west[0..2, 30..32, 255]);
    assert_eq!(corner, [[7, 7], [7, 9]]);
    assert_eq!(face.as_flattened().iter().position(|cell| *cell != 7), Some(63));
    let other = 100_000 * (1 - me);
    world.local(&FIELD, |field| {
        for (number, row) in field.iter().enumerate() {
            let behind = &bytemuck::cast_slice::<_, u64>(core::slice::from_ref(row))[COLUMNS..];
            assert!(behind.iter().all(|cell| *cell == 1000 + me) && behind.len() == 8);
            let column = |column: usize| 100_000 * me + 1000 * number as u64 + column as u64;
            let expected: [u64; COLUMNS] = match number {
                0 => core::array::from_fn(|column| other + 1000 * (ROWS as u64 - 1) + column as u64),
                1..=3 => core::array::from_fn(|at| match at {
                    0 => other + 1000 * number as u64 + COLUMNS as u64 - 1,
                    at => column(at),
                }),
                _ => core::array::from_fn(column),
            };
            assert_eq!(**row, expected, "row {number}");
        }
    });
}

#[shmem::test(pes = 2)]
fn rows_may_be_as_many_as_the_run_says(world: &mut World) {
    let (me, (west, east)) = (world.my_pe(), world.ring_neighbours());
    let rows = 3 + world.n_pes();
    let field: SymBox<[padded![f64; 1024]]> = world.alloc(shmem::zeroed(rows)).unwrap();
    world.p(field.on(east).index(rows - 1).index(1023), 1.5);
    world.put(field.on(east).index(0).index(1..3), &[me as f64; 2][..]);
    // A whole row, the elements behind it included.
    world.put(field.on(east).index(1), &Padded::filled(me as f64));
    world.local((&field, &COUNTS), |(field, counts)| {
        assert_eq!((field.len(), field[rows - 1][1023]), (rows, 1.5));
        assert_eq!(field[0][..4], [0.0, west.number() as f64, west.number() as f64, 0.0]);
        assert_eq!(field[1], Padded::filled(west.number() as f64));
        *counts[1][63].value_mut() = me as u64;
    });
    assert_eq!(world.fetch(COUNTS.on(west).index(1).index(63)), west.number() as u64);
    let row = FIELD.on(east).index(0);
    refused! {
        world.p(row.index(COLUMNS), 1) => "index 128 is beyond the end: the place at FIELD has 128 elements";
        world.get(&mut [0; 129][..], row.index(0..129))
            => "range 0..129 does not fit: the place at FIELD has 128 elements";
    }
}
