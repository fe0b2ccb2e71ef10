//! Objects, PEs, axes and fields of transfers in the forms that no test of the library uses, without a warning. (Which elements are
//! moved is compared by `racing::strided` of shmem-rt.)
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::prelude::*;

mod elsewhere {
    pub mod statics {
        use shmem::prelude::*;

        #[symmetric]
        pub static ROW: [f64; 8];
    }
}
use elsewhere::statics;

const N: usize = 8;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Velocity {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: Velocity,
    spin: [f32; 4],
    pair: Pair,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Pair(u32, u32);

#[symmetric]
static FIELD: [[f64; N]; N];
#[symmetric]
static CELLS: [Cell; N];
#[symmetric]
static ONE: Cell;

struct Solver<'w> {
    world: &'w World,
    edges: (SymBox<[f64]>, Box<SymBox<[f64; N]>>),
    west: Pe,
    column: Vec<f64>,
    rows: [[f64; N]; 2],
}

impl Solver<'_> {
    fn exchange(&mut self, into: &mut [f64], from: &[f64]) {
        strided!(self.world, self.edges.0@self.west[..] = self.column[..]);
        strided!(self.world, self.edges.1@self.west[..] = from[..]);
        strided!(self.world, into[..] = self.edges.0@self.west[..]);
        strided!(self.world, self.column[0..N] = FIELD@self.west[.., N - 1]);
        strided!(self.world, self.rows[1, ..] = FIELD@self.west[0, ..]);
        strided!(self.world, (&mut self.rows[0])[..] = FIELD@self.west[0, ..]);
    }
}

fn lengths<const M: usize>(world: &World, pe: Pe, from: &[f64; M]) {
    strided!(world, FIELD@pe[0, dyn ..M] = from[..]);
    strided!(world, FIELD@pe[0, dyn ..M] = (*from)[..]);
}

trait Tile {
    const LEN: usize;

    fn fill(world: &World, pe: Pe, from: &[f64]);
}

struct Row;

impl Tile for Row {
    const LEN: usize = 4;

    fn fill(world: &World, pe: Pe, from: &[f64]) {
        strided!(world, FIELD@pe[0, ..Self::LEN] = from[..]);
    }
}

fn parameters<T: Tile, const M: usize>(world: &World, pe: Pe, into: &mut [f64]) {
    strided!(world, into[..] = FIELD@pe[0, ..T::LEN]);
    strided!(world, FIELD@pe[1..M, dyn M] = FIELD[1..M, 2]);
    strided!(world, FIELD@pe[0..const { M / 2 }, 1] = FIELD[0..size_of::<[u8; M]>() / 2, 2]);
}

fn elements<T: shmem::PlainData + shmem::strided::Shaped<Element = T>>(
    world: &World,
    row: &SymBox<[T]>,
    pe: Pe,
    into: &mut [T],
) {
    strided!(world, row@pe[0..4] = row[4..8]);
    strided!(world, into[..] = row@pe[0..4]);
}

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    strided!(world, FIELD@(world.pe(0)?)[1..=3, ..; 2] = FIELD[4..7, 1..; 2],);
    strided!(world, algorithm = auto; statics::ROW@pe[..] = FIELD[0, ..]);
    strided!(&*world, crate = ::shmem, algorithm = 3; FIELD@pe[0, ..] = self::elsewhere::statics::ROW[..]);
    strided!(world, CELLS@pe[..].velocity.x = CELLS[..].velocity.y);
    strided!(world, CELLS@pe[..].{mass, velocity} = CELLS[..].{mass, velocity});
    strided!(world, CELLS@pe[..].pair.1 = CELLS[..].pair.0);
    strided!(world, ONE@pe[..].spin = CELLS[3].spin);
    macro_rules! written {
        ($object:ident, $pe:expr, $axis:expr, $from:expr, $field:ident) => {
            strided!(world, $object@($pe)[$axis].$field = ($from)[$axis])
        };
    }
    written!(CELLS, pe, 0..4, [0.0; 8], mass);
    strided!(world, CELLS@pe[..4].pair.{0, 1} = CELLS[4..].pair.{0, 1});
    let mut solver = Solver {
        world,
        edges: (world.alloc([0.0; N])?, Box::new(world.alloc(shmem::value([0.0; N]))?)),
        west: pe,
        column: vec![0.0; N],
        rows: [[0.0; N]; 2],
    };
    solver.exchange(&mut [0.0; N], &[1.0; N]);
    lengths(world, pe, &[1.0; 4]);
    Row::fill(world, pe, &[1.0, 2.0, 3.0, 4.0]);
    let mut into = [0.0; 4];
    parameters::<Row, 4>(world, pe, &mut into);
    assert_eq!(into, [1.0, 2.0, 3.0, 4.0]);
    elements(world, &solver.edges.0, pe, &mut [0.0; 4]);
    Ok(())
}
