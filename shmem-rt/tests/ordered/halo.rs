//! Halos: which neighbours wait for each other, refused uses, and grids. (Any cells: random programs. Stencils: examples.)

use std::time::Duration;

use shmem::prelude::*;
use shmem::{HaloExchange, HaloToken};

use crate::panics::{refused, said};
use crate::pes;

const WEST: usize = 0;
const EAST: usize = 1;

/// Makes a halo of a ring: one edge to the west and one to the east, with `cells` cells each.
fn ring(world: &World, cells: usize) -> Halo<u64> {
    let (west, east) = world.ring_neighbours();
    world.halo(&[Edge::new(west, EAST, cells), Edge::new(east, WEST, cells)]).unwrap()
}

/// Begins an exchange in a ring, and sends cells west and east.
fn sent<'h, I: HaloToken + ?Sized>(
    halo: &'h mut Halo<u64>,
    token: &'h I,
    west: &[u64],
    east: &[u64],
) -> HaloExchange<'h, u64, I> {
    let mut flight = halo.begin(token);
    flight.send(WEST, west);
    flight.send(EAST, east);
    flight
}

/// Finishes an exchange. Returns the cells from the west and from the east.
fn come(flight: HaloExchange<'_, u64, impl HaloToken + ?Sized>) -> [Vec<u64>; 2] {
    let ghosts = flight.finish();
    [ghosts[WEST].to_vec(), ghosts[EAST].to_vec()]
}

#[symmetric]
static AHEAD: Signal;
#[symmetric]
static FINISHED: Signal;

#[shmem::test(pes = 2)]
fn a_pe_may_be_one_exchange_ahead_and_no_more(world: &mut World) {
    let mut halo = ring(world, 1);
    let (_, other) = world.ring_neighbours();
    for exchange in 0..2 {
        let flight = sent(&mut halo, world, &[exchange], &[exchange]);
        match (world.my_pe(), exchange) {
            // Meanwhile PE 1 finishes the first exchange, and begins the second.
            (0, 0) => _ = AHEAD.wait_until(world, eq(1)),
            (1, 1) => {
                assert!(!flight.is_ready(), "PE 0 has not begun the second");
                world.signal_set(AHEAD.on(other), 1);
            }
            _ => {}
        }
        assert_eq!(come(flight), [[exchange], [exchange]]);
    }
}

/// Sent cells wake a neighbour that sleeps in `finish`, even if their sender makes no further call.
#[shmem::test(pes = 2)]
fn who_sleeps_is_woken_by_what_was_sent(world: &mut World) {
    let (_, other) = world.ring_neighbours();
    for looks in [false, true] {
        let mut halo = ring(world, 1);
        if world.my_pe() == 0 {
            pes::wait_for(world, other);
            let flight = sent(&mut halo, world, &[1], &[2]);
            // Waits for a signal that the neighbour sends after its exchange.
            match looks {
                false => _ = FINISHED.wait_until(world, eq(1)),
                true => {
                    while !FINISHED.test(world, eq(2)) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            }
            _ = flight.finish();
        } else {
            let flight = sent(&mut halo, world, &[1], &[2]);
            pes::go(world, other);
            _ = flight.finish();
            world.signal_add(FINISHED.on(other), 1);
        }
    }
}

#[shmem::test(pes = 2)]
fn dropped_halos_give_their_memory_back(world: &mut World) {
    // More rounds than there are slots for segments.
    for round in 0..200 {
        let mut halo = ring(world, 3);
        // A message that nobody waits for must not reach the next halo.
        let flight = sent(&mut halo, world, &[round; 3], &[round; 3]);
        if round % 2 == 0 {
            _ = flight.finish();
        } else {
            std::mem::forget(flight);
        }
    }
    let many: Vec<_> = (0..10).map(|cells| ring(world, cells)).collect();
    drop(many);
}

/// If a panic unwinds between sends and `finish`, the cells are delivered, and the halo refuses further exchanges.
#[shmem::test(pes = 2)]
fn an_exchange_that_is_given_up_is_the_last(world: &mut World) {
    let me = world.my_pe() as u64;
    let mut halo = ring(world, 1);
    let (begun, mut flight) = (line!(), halo.begin(world));
    flight.send(WEST, &[me]);
    flight.send(EAST, &[me]);
    if me == 1 {
        return assert_eq!(come(flight), [[0], [0]]);
    }
    let unwinds = said(move || {
        let _given_up = flight;
        panic!("given up");
    });
    assert_eq!(unwinds, "given up");
    let said = said(|| drop(halo.begin(world)));
    assert!(
        said.starts_with(&format!("the exchange begun at shmem-rt/tests/ordered/halo.rs:{begun}:")),
        "{said}"
    );
    assert!(said.ends_with("call `finish` on every exchange"), "{said}");
}

#[shmem::test(pes = 3)]
fn edges_that_do_not_fit_are_one_error_on_all_pes(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    // PE 2 swaps east and west.
    let wrong = world.my_pe() == 2;
    let edges = [Edge::new(west, if wrong { WEST } else { EAST }, 1), Edge::new(east, WEST, 1)];
    refused! {
        world.halo::<u64>(&edges).unwrap()
            => "edge 1 of PE 1 leads to edge 0 of PE 2, and that one leads to edge 0 of PE 1: halos are exchanged both \
                ways, so the two ends of an edge must name each other";
        world.halo::<u64>(&[Edge::new(east, 1, 1)]).unwrap()
            => "edge 0 of PE 0 leads to edge 1 of PE 1, which has 1 (0..1): ";
        world.halo::<u64>(&[Edge::new(world.me(), 0, usize::MAX)]).unwrap()
            => "halo at shmem-rt/tests/ordered/halo.rs";
    }
    // The refused halos have no effect.
    let mut halo = ring(world, 1);
    assert_eq!(come(sent(&mut halo, world, &[4], &[4])), [[4], [4]]);
    refused! {
        halo.begin(world).send(EAST, &[1, 2]) => format!(
            "edge 1 of PE {} leads to PE {east}, whose edge there takes 1 cell, not 2", world.my_pe()
        );
    }
}

#[shmem::test(pes = 1)]
fn mistakes_are_told(world: &mut World) {
    // A ring of one PE, with three cells over each edge.
    let flight = |act: fn(HaloExchange<'_, u64, World>)| {
        let mut halo = ring(world, 3);
        act(halo.begin(world));
        _ = halo.begin(world);
    };
    // The largest number of cells, which have no bytes.
    let mut many = world.halo::<[u64; 0]>(&[Edge::new(world.me(), 0, usize::MAX)]).unwrap();
    // Regions of a border are checked as well.
    let border = || world.halo::<f64>(&[Edge::BORDER]).unwrap();
    refused! {
        flight(|mut it| it.send(WEST, &[1, 2, 3]))
            => "ends with edges that were not sent: edge 1 to PE 0; send each edge of an exchange, and then call `finish` on it";
        flight(|mut it| {
            it.send(WEST, &[1, 2, 3]);
            _ = it.finish();
        }) => "not sent: edge 1 to PE 0; each edge is sent once before `finish`";
        flight(|mut it| (0..2).for_each(|_| it.send_iter(WEST, [1, 2, 3])))
            => "edge 0 was sent already, and its cells are PE 0's now";
        flight(|mut it| {
            (0..2).for_each(|edge| it.send(edge, &[1, 2, 3]));
            it.finish().unpack(EAST, &mut [0; 9], [3, 3], [0..2, 1..3]);
        }) => "3 cells came over edge 1, and the region [0..2, 1..3] takes 4: give one of as many as this PE's `Edge::new` says";
        flight(|mut it| it.send_region(WEST, &[0; 9], [3, 3], [0..2, 1..3]))
            => "edge 0 of PE 0 leads to PE 0, whose edge there takes 3 cells, not 4";
        flight(|mut it| it.send_iter(EAST, [1, 2]))
            => "edge 1 of PE 0 leads to PE 0, whose edge there takes 3 cells, not 2";
        flight(|mut it| it.send(2, &[1, 2, 3])) => "there is no edge 2: the halo has 2 (0..2)";
        flight(|it| std::mem::forget(it)) => "the exchange begun at shmem-rt/tests/ordered/halo.rs:";
        many.begin(world).send_iter(0, [[]; 3]) => "whose edge there takes 18446744073709551615 cells, not 3";
        border().begin(world).send_region(0, &[0.0; 64], [4; 3], [1..3, 1..3, 4..5]) => "the region ends at 5";
        border().begin(world).finish().unpack(0, &mut [0.0; 64], [4; 3], [1..3, 1..3, 9..10])
            => "the region ends at 10";
    }
}

/// In grids of all PEs, and of a team with reversed ranks. (Arithmetic: `grid` of the library.)
#[shmem::test(pes = 6)]
fn edges_of_a_grid_lead_to_neighbours(world: &mut World) {
    let team = world.team().split_by(world, Some(0), -(world.my_pe() as i64), &TeamConfig::default());
    let team = team.unwrap().unwrap();
    for (grid, is_reversed, is_periodic) in [
        (world.cubic_grid(), false, false),
        (team.grid([3, 2]).unwrap(), true, false),
        (world.cubic_grid().periodic([true; 2]), false, true),
    ] {
        let ([row, column], me) = (grid.coordinates(), world.my_pe());
        let rank = if is_reversed { 5 - me } else { me };
        assert_eq!((grid.shape(), row * 2 + column, grid.pes()[rank]), ([3, 2], rank, world.me()));
        let mut halo = world.halo(&grid.edges([1, 1])).unwrap();
        let mut flight = halo.begin(world);
        (0..4).for_each(|edge| flight.send(edge, &[rank]));
        let ghosts = flight.finish();
        let expected = [(0, -1), (0, 1), (1, -1), (1, 1)].map(|(axis, step): (usize, isize)| {
            let (mut there, length) = ([row as isize, column as isize], [3, 2][axis]);
            there[axis] += step;
            let is_inside = (0..length).contains(&there[axis]);
            there[axis] = there[axis].rem_euclid(length);
            Vec::from_iter((is_inside || is_periodic).then_some((2 * there[0] + there[1]) as usize))
        });
        assert_eq!(std::array::from_fn(|edge| ghosts[edge].to_vec()), expected);
    }
}

#[shmem::test(pes = 2)]
fn what_is_no_place_in_a_grid_is_refused(world: &mut World) {
    let grid = world.grid([2, 1]).unwrap().periodic([true, true]);
    refused! {
        world.grid([2, 3]).unwrap()
            => "a grid of 2 x 3 PEs cannot be made of 2: the product of its lengths is to be 2; choose lengths by the \
                number of PEs, or let `cubic_grid` choose them";
        world.pe(9).unwrap() => "there is no PE 9: the job has 2 PEs, whose numbers run from 0 to 1";
        world.pes()[world.n_pes()] => "no PE has the index 2: the indices of 2 PEs run from 0 to 1";
        grid.pe([0, 1]) => "no PE is at [0, 1]: the grid has 2 x 1 PEs, counted from 0";
        grid.coordinates_of(2) => "no PE has rank 2: the grid has 2 (2 x 1), counted from 0";
        grid.neighbour(2, 1) => "the grid has no dimension 2: it has 2, counted from 0";
    }
}
