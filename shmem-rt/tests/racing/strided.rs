//! `strided!` between PEs, compared with loops over elements: each form of the grammar, blocking and in scopes; and refused strided
//! routines. (Blocks of any length at any stride by each algorithm: random programs, and `strided::tests` of the core.)

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use shmem::PlainData;
use shmem::prelude::*;

use crate::panics::refused;

const LEN: usize = 240;
const ROWS: usize = 20;
const COLUMNS: usize = 24;

type Cells = [[Cell; COLUMNS]; ROWS];
type Plane = [[f32; COLUMNS]; ROWS];
type Cube = [[[u16; 8]; 6]; 5];
type Waves = [[[f64; 2]; 8]; 6];

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Velocity {
    x: f32,
    y: f32,
}

/// A structure with fields of several sizes and alignments.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: Velocity,
    spin: [u16; 3],
    kind: u8,
    level: u8,
}

#[symmetric]
static WORDS: [f32; LEN];
#[symmetric]
static ROW: [f64; LEN];
#[symmetric]
static FIELD: Plane;
#[symmetric]
static CELLS: [Cell; LEN];
#[symmetric]
static GRID: Cells;
#[symmetric]
static CUBE: Cube;
#[symmetric]
static ONE: Cell;
#[symmetric]
static WAVES: Waves;

/// Returns the initial bytes of a PE.
fn initial(pe: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i * 7 + pe * 101) % 251) as u8).collect()
}

/// Returns pairs of offsets: of a byte in the object, and of the corresponding byte in private memory. `elements` returns
/// references to the `count` elements.
fn moved<A: PlainData, B: Pod, E>(
    count: usize,
    elements: impl for<'e> Fn(&'e mut A, &'e mut B, usize) -> (&'e mut E, &'e mut E),
) -> Vec<[usize; 2]> {
    let (mut object, mut memory) = (vec![A::zeroed()], vec![B::zeroed()]);
    let [first, other] = [object.as_ptr().addr(), memory.as_ptr().addr()];
    let of_element = (0..count).flat_map(|n| {
        let (there, here) = elements(&mut object[0], &mut memory[0], n);
        let [there, here] = [(&raw const *there).addr() - first, (&raw const *here).addr() - other];
        (0..size_of::<E>()).map(move |byte| [there + byte, here + byte])
    });
    of_element.collect()
}

/// The direction of a transfer, and whether it is in a scope.
#[derive(Clone, Copy, Debug)]
struct How {
    put: bool,
    scoped: bool,
}

/// Puts and gets between both PEs at the same time, and compares them with a loop over bytes.
fn compare<A: PlainData, B: Pod>(
    world: &World,
    object: &'static Symmetric<A>,
    moved: &[[usize; 2]],
    region: &str,
    transfer: impl Fn(&World, Pe, &mut B, How),
) {
    let (me, (_, other)) = (world.my_pe(), world.ring_neighbours());
    let symmetric = |pe: usize| initial(pe, size_of::<A>());
    let private = |pe: usize| initial(pe + 50, size_of::<B>());
    for how in [true, false].into_iter().flat_map(|put| [false, true].map(|scoped| How { put, scoped })) {
        let (mut own, mut local) = (vec![A::zeroed()], vec![B::zeroed()]);
        cast_slice_mut(&mut own).copy_from_slice(&symmetric(me));
        cast_slice_mut(&mut local).copy_from_slice(&private(me));
        world.put(object.on(world.me()), &own[0]);
        world.barrier_all();
        transfer(world, other, &mut local[0], how);
        let (mut expected_own, mut expected_local) = (symmetric(me), private(me));
        let (theirs, their_local) = (symmetric(other.number()), private(other.number()));
        for [there, here] in moved {
            match how.put {
                true => expected_own[*there] = their_local[*here],
                false => expected_local[*here] = theirs[*there],
            }
        }
        world.barrier_all();
        world.get(&mut own[0], object.on(world.me()));
        assert_eq!(cast_slice::<A, u8>(&own), &expected_own, "the symmetric side of {region}, {how:?}");
        assert_eq!(cast_slice::<B, u8>(&local), &expected_local, "the local side of {region}, {how:?}");
        world.barrier_all();
    }
}

/// Issues a call by the world or by a scope.
macro_rules! issued {
    ($world:ident, $how:ident, |$by:ident| $call:expr) => {
        if $how.scoped {
            $world.scope(|$by| $call)
        } else {
            let $by = $world;
            $call
        }
    };
}

/// Lists pairs of regions, of an object and of a private array, with the number of elements and references to each.
macro_rules! regions {
    ($world:ident: $($object:ident[$($there:tt)*] $(. $of:tt)* = $local:ty, [$($here:tt)*] $(. $by:tt)*;
        $count:expr => $elements:expr;)*) => {$(
        let bytes = moved::<_, $local, _>($count, $elements);
        compare::<_, $local>($world, &$object, &bytes, stringify!($object[$($there)*]), |world, pe, local, how| {
            if how.put {
                let local = &*local;
                issued!(world, how, |by| strided!(by,
                    $object@pe[$($there)*] $(. $of)* = local[$($here)*] $(. $by)*));
            } else {
                issued!(world, how, |by| strided!(by,
                    local[$($here)*] $(. $by)* = $object@pe[$($there)*] $(. $of)*));
            }
        });
    )*};
}

/// Returns one of the last two fields.
fn last(cell: &mut Cell, n: usize) -> &mut u8 {
    if n.is_multiple_of(2) { &mut cell.kind } else { &mut cell.level }
}

/// Each form of regions.
#[shmem::test(pes = 2)]
fn regions_are_those_of_loops(world: &mut World) {
    let (one, two, i, ten, j) = (1, 2, 4, 10, 7);
    regions! { world:
        // One field, also of a single struct.
        CELLS[..].mass = [f64; LEN], [..]; LEN => |there: &mut [Cell; LEN], here, n| (&mut there[n].mass, &mut here[n]);
        ONE[..].spin = [u16; 3], [..]; 3 => |there: &mut Cell, here, n| (&mut there.spin[n], &mut here[n]);
        // Several fields; a column of structs.
        GRID[.., 2].{kind, level} = Cells, [.., 5].{kind, level};
            2 * ROWS => |there: &mut Cells, here, n| (last(&mut there[n / 2][2], n), last(&mut here[n / 2][5], n));
        FIELD[dyn one..ROWS - 1, dyn j] = [f32; ROWS - 2], [..];
            ROWS - 2 => |there: &mut Plane, here, n| (&mut there[n + 1][7], &mut here[n]);
        FIELD[dyn one..ROWS - 1, dyn two..=5] = [[f32; 4]; ROWS - 2], [..];
            4 * (ROWS - 2) => |there: &mut Plane, here, n| (&mut there[n / 4 + 1][n % 4 + 2], &mut here[n / 4][n % 4]);
        FIELD[dyn ten.., 19] = [f32; ROWS - 10], [..];
            ROWS - 10 => |there: &mut Plane, here, n| (&mut there[n + 10][19], &mut here[n]);
        // Dimensions that are not named are whole: elements may be arrays.
        WAVES[.., 3] = [[f64; 2]; 6], [..]; 6 => |there: &mut Waves, here, n| (&mut there[n][3], &mut here[n]);
        WAVES[dyn i] = [[f64; 2]; 8], [..]; 8 => |there: &mut Waves, here, n| (&mut there[4][n], &mut here[n]);
        WAVES[1..3, ..6; 2] = [[f64; 2]; 6], [..];
            6 => |there: &mut Waves, here, n| (&mut there[1 + n / 3][n % 3 * 2], &mut here[n]);
        // A line has the elements of the region in row-major order.
        CUBE[1..5, 2, 1..4] = [u16; 20], [3..15];
            12 => |there: &mut Cube, here, n| (&mut there[1 + n / 3][2][1 + n % 3], &mut here[n + 3]);
        WORDS[..12] = [[f32; 4]; 5], [1..4, ..];
            12 => |there: &mut [f32; LEN], here, n| (&mut there[n], &mut here[1 + n / 4][n % 4]);
        // With strides and blocks.
        CUBE[..; 2, ..; 3, ..4; 2; 2] = [u16; 24], [..];
            24 => |there: &mut Cube, here, n| (&mut there[n / 8 * 2][n / 4 % 2 * 3][n % 4], &mut here[n]);
        ROW[14..20] = [f64; 10], [..; 4; 2];
            6 => |there: &mut [f64; LEN], here, n| (&mut there[14 + n], &mut here[n / 2 * 4 + n % 2]);
        // Regions of two dimensions on both sides: a row, columns, blocks, and a chequerboard.
        FIELD[3, 4..20; 3] = Plane, [..6, 1];
            6 => |there: &mut Plane, here, n| (&mut there[3][4 + 3 * n], &mut here[n][1]);
        FIELD[.., 3..=6] = Plane, [.., 20..];
            4 * ROWS => |there: &mut Plane, here, n| (&mut there[n / 4][3 + n % 4], &mut here[n / 4][20 + n % 4]);
        FIELD[3..7, 5] = Plane, [..8; 6; 2, 6];
            4 => |there: &mut Plane, here, n| (&mut there[3 + n][5], &mut here[n / 2 * 6 + n % 2][6]);
        FIELD[..; 2, 1..; 2] = Plane, [1..; 2, ..; 2]; 120 => |there: &mut Plane, here, n|
            (&mut there[n / 12 * 2][1 + n % 12 * 2], &mut here[1 + n / 12 * 2][n % 12 * 2]);
    }
}

#[shmem::test]
fn what_does_not_fit_is_refused_before_anything_moves(world: &mut World) {
    let me = world.me();
    let row = ROW.on(me).index(..100);
    let ones = [1.0; 100];
    let (most, address) = (usize::MAX, ROW.here(world).addr());
    refused! {
        world.iput(row, &ones, 20, 1, 6)
            => "the place has 100 elements, but 6 blocks of 1 at a stride of 20 end at 101";
        world.ibput(row, &ones[..10], 8, 4, 4, 3)
            => "the source has 10 elements, but 3 blocks of 4 at a stride of 4 end at 12";
        world.iget(&mut [0.0; 4], row, 0, 1, 4)
            => "the stride of the destination is 0; a stride must be at least 1";
        world.ibget(&mut [0.0; 20], row, 4, 3, 4, 2)
            => "blocks of 4 elements overlap at a stride of 3 in the place; the stride must be at least the block";
        world.iputmem(address, &[1; 8], 1 << 40, 1, 1, 2, me) => "`iputmem`: the 1099511627777 bytes at";
    }
    // With no blocks nothing else is checked. With one block, strides are not checked.
    world.ibput(row, &ones, 0, 0, most, 0);
    world.ibget(&mut [0.0; 1], row, most, 3, most, 0);
    world.ibget(&mut [0.0; 2], row, most, most, 2, 1);
    world.iput(row, &[0.0; 3], most / 8 + 2, most - 1, 1);
    assert_eq!(ROW.here(world).load(), [0.0; LEN], "something was written");
}
