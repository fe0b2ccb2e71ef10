//! Transfers by `strided!`, which are checked while they are written.

use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];
#[symmetric]
static FIELD: [[f64; 64]; 32];
#[symmetric]
static ROWS: [[f64; 1024]; 64];
#[symmetric]
static CUBE: [[[f64; 4]; 16]; 16];
#[symmetric]
static ROW: [f64; 31];
#[symmetric]
static HITS: [Atomic<u64>; 8];
#[symmetric]
static CELLS: [Cell; 8];
#[symmetric]
static PRIVATE: [cells::Hidden; 8];

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    x: f32,
    y: f32,
    kind: u64,
}

fn sides(world: &World, pe: Pe, pes: &[Pe], row: &[f64], into: &mut [f64]) {
    strided!(GRID@pe[..] = row[..]); //~
    strided!(world, GRID@pe[..] row[..]); //~
    strided!(world, GRID@pe[..] = row[..] = row[..]); //~
    strided!(world, GRID@pe[..] = GRID@pe[..]); //~
    strided!(world, GRID[..] = row[..]); //~
    strided!(world, GRID@[..] = row[..]); //~
    strided!(world, [..] = row[..]); //~
    strided!(world, GRID@pes[0][..] = row[..]); //~
    strided!(world, GRID[..]@pe = row[..]); //~
    strided!(world, GRID.on(pe)[..] = row[..]); //~
    strided!(world, GRID@pe[..] = row); //~
    strided!(world, GRID@pe[] = row[..]); //~
    strided!(world, algorithm = 2, GRID@pe[..] = row[..]); //~
    strided!(world, algorithm = 4; GRID@pe[..] = row[..]); //~
    strided!(world, algoritm = 2; GRID@pe[..] = row[..]); //~
}

fn axes(world: &World, pe: Pe, row: &[f64], n: usize, i: usize) {
    strided!(world, FIELD@pe[1, ; 2] = row[..]); //~
    strided!(world, FIELD@pe[3; 2, ..] = row[..]); //~
    strided!(world, GRID@pe[..; 1; 2; 3] = row[..]); //~
    strided!(world, GRID@pe[dyn] = row[..]); //~
    strided!(world, GRID@pe[-1..8] = row[..]); //~
    strided!(world, GRID@pe[..; -1] = row[..]); //~
    strided!(world, GRID@pe[..2 * n] = row[..]); //~
    strided!(world, GRID@pe[..; n] = row[..]); //~
    strided!(world, FIELD@pe[i, ..] = row[..]); //~
}

fn fields(world: &World, pe: Pe, row: &[f64], singles: &[f32], into: &mut [f64]) {
    strided!(world, CELLS@pe[..].{} = CELLS[..].{x, y}); //~
    strided!(world, CELLS@pe[..].{x, x} = CELLS[..].{x, y}); //~
    strided!(world, CELLS@pe[..].{a, b, c, d, e, f, g, h, i} = CELLS[..].{x, y}); //~
    strided!(world, CELLS@pe[..].{mass, y} = CELLS[..].{mass, y}); //~
    strided!(world, CELLS@pe[..].{x, y} = CELLS[..].{mass}); //~
    strided!(world, CELLS@pe[..].z = singles[..]); //~
    strided!(world, GRID@pe[..].x = row[..]); //~
    strided!(world, into[..] = PRIVATE@pe[..].mass); //~
}

mod cells {
    use shmem::prelude::*;

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Hidden {
        mass: u64,
    }

    pub struct Other {
        pub mass: f64,
    }

    // A field of the target of `Deref` is not taken in place of a private one.
    impl std::ops::Deref for Hidden {
        type Target = Other;

        fn deref(&self) -> &Other {
            &Other { mass: 1.0 }
        }
    }
}

fn objects(world: &World, pe: Pe, row: &[f64], singles: &[f32], text: &str) {
    strided!(world, HITS@pe[..] = HITS[..]); //~
    strided!(world, GRID@pe[..] = singles[..]); //~
    strided!(world, GRID@pe[..] = text[..]); //~
    strided!(world, row[..] = GRID@pe[..]); //~
    strided!(world, row@pe[..] = GRID[..]); //~
    strided!(world, GIRD@pe[..] = row[..]); //~
    strided!(world, GRID@(1)[..] = row[..]); //~
    strided!(row, GRID@pe[..] = row[..]); //~
}

fn regions(world: &World, pe: Pe, row: &[f64]) {
    strided!(world, ROWS@pe[1..=62, 1024] = ROWS[1..=62, 1]); //~
    strided!(world, FIELD@pe[.., 64] = row[..]); //~
    strided!(world, FIELD@pe[0..3, 0, 0] = row[..]); //~
    strided!(world, GRID@pe[0..65] = FIELD[0, ..]); //~
    strided!(world, ROW[..] = CUBE@pe[1..9, 3, 0..4]); //~
    strided!(world, GRID@pe[9..3] = row[..]); //~
    strided!(world, GRID@pe[8..1032; 16] = row[..]); //~
    strided!(world, GRID@pe[..; 0] = row[..]); //~
    strided!(world, GRID@pe[..1000; 3; 4] = row[..]); //~
    strided!(world, GRID@pe[..1010; 16; 4] = row[..]); //~
}

fn variable(world: &World, pe: Pe) {
    let into = [0.0; 1024];
    strided!(world, into[..] = GRID@pe[..]); //~
}

fn inside_local(world: &mut World, pe: Pe) {
    world.local(&FIELD, |field| strided!(world, GRID@pe[0..64] = (field[0])[..])); //~
}

fn main() {}
