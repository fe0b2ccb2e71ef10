//! `strided!` between PEs.

use shmem::prelude::*;

const N: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: [f32; 3],
    kind: u32,
}

#[symmetric]
static FIELD: [[f64; N]; N];
#[symmetric]
static ROW: [f64; N];
#[symmetric]
static CELLS: [Cell; N];

struct Solver<'a> {
    row: SymBox<[f64]>,
    west: Pe,
    buffer: &'a mut [f64],
}

#[shmem::test(pes = 2)]
fn first(world: &mut World) {
    let (west, _) = world.ring_neighbours();
    let me = world.my_pe();
    let source: Vec<f64> = (0..N).map(|i| (i + 100 * me) as f64).collect();
    strided!(world, FIELD@west[.., 3] = source[..]);
    strided!(world, ROW@west[..] = source[..]);
    world.barrier_all();
    let from = 100 * (1 - me);
    for i in 0..N {
        assert_eq!(FIELD.here(world).index(i).index(3).load(), (from + i) as f64);
        assert_eq!(FIELD.here(world).index(i).index(2).load(), 0.0);
    }
    let mut into = [0.0; 4];
    strided!(world, into[..] = FIELD@west[0..; 4, 3]);
    assert_eq!(into, [0, 4, 8, 12].map(|i| (100 * me + i) as f64));
    for i in 0..N {
        strided!(world, FIELD@west[dyn i, 5] = FIELD[3, 3]);
    }
    let n = 3;
    strided!(world, into[dyn 0..n] = FIELD@west[dyn 1..=n; dyn 1, 3]);
    world.barrier_all();
    let mut a = [0.0; 8];
    let b = &mut a[..];
    let solver = Solver { row: world.alloc([1.0; N]).unwrap(), west, buffer: b };
    strided!(world, solver.row@solver.west[0..8; 4; 2] = solver.buffer[..4]);
    strided!(world, solver.buffer[0..4] = solver.row@solver.west[0..8; 4; 2]);
    strided!(world, solver.row@(west)[..8] = solver.buffer[..]);
    strided!(world, algorithm = 2; solver.row[..8] = solver.row@(west)[0..8]);
    strided!(world, CELLS@west[..].mass = ROW[..]);
    strided!(world, CELLS@west[..].velocity = CELLS[..].velocity);
    strided!(world, CELLS@west[..].{velocity, kind} = CELLS[..].{velocity, kind});
    let v = vec![[1.0_f32; 3]; N];
    strided!(world, CELLS@west[..].velocity = v[..]);
}
