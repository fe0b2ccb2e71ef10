//! PEs in an order, and grids of them: whose arithmetic is tested in `grid/shape.rs`, here it meets a job and its teams.

use shmem::prelude::*;

use crate::panics::said;

#[symmetric]
static FROM: [Atomic<u64>; 6];

#[shmem::test(pes = 3)]
fn pes_are_a_list_by_number(world: &mut World) {
    let pes = world.pes();
    assert_eq!((pes.len(), pes.is_empty()), (world.n_pes(), false));
    let mut number = 0;
    for pe in pes {
        assert_eq!((pe, pe.number()), (world.pe(number).unwrap(), number));
        assert_eq!((pes[number], pes.get(number)), (pe, Some(pe)));
        number += 1;
    }
    assert_eq!((number, pes[world.my_pe()]), (world.n_pes(), world.me()));
    assert_eq!(pes.iter().rev().map(Pe::number).collect::<Vec<_>>(), [2, 1, 0]);
}

#[shmem::test(pes = 4)]
fn pes_of_a_team_are_a_list_by_rank(world: &mut World) {
    // The last PE has rank 0.
    let key = world.n_pes() - world.my_pe();
    let team = world.team().split_by(world, Some(0), key as i64, &TeamConfig::default()).unwrap().unwrap();
    let numbers: Vec<usize> = team.pes().iter().map(Pe::number).collect();
    assert_eq!(numbers, [3, 2, 1, 0]);
    assert_eq!((team.pes()[team.rank()], team.pes().len()), (world.me(), team.size()));
}

/// Every PE tells its neighbours in each dimension who it is, and they know.
#[shmem::test(pes = 6)]
fn neighbours_find_each_other(world: &mut World) {
    let team = world.team().split_by(world, Some(0), -(world.my_pe() as i64), &TeamConfig::default());
    let team = team.unwrap().unwrap();
    let shapes = [[6, 1, 1], [2, 3, 1], [1, 2, 3], [3, 1, 2]];
    let ends = [[false; 3], [true; 3], [true, false, true]];
    for (shape, periodic) in shapes.iter().flat_map(|shape| ends.map(|periodic| (*shape, periodic))) {
        for grid in
            [world.grid(shape).unwrap(), team.grid(shape).unwrap()].map(|grid| grid.periodic(periodic))
        {
            assert_eq!((grid.shape(), grid.pes()[grid.rank()]), (shape, world.me()));
            assert_eq!(grid.pe(grid.coordinates()), world.me());
            assert_eq!(grid.coordinates_of(grid.rank()), grid.coordinates());
            assert_eq!(grid.rank_of(grid.coordinates()), grid.rank());
            for dimension in 0..3 {
                let [before, behind] = [-1, 1].map(|step| grid.neighbour(dimension, step));
                let is_alone = shape[dimension] == 1;
                assert_eq!(before == Some(world.me()), is_alone && periodic[dimension]);
                let mut steps = [0; 3];
                steps[dimension] = 1;
                assert_eq!(grid.displaced(steps), behind);
                if let Some(pe) = before {
                    world.set(FROM.on(pe).index(2 * dimension + 1), 1 + world.my_pe() as u64);
                }
                if let Some(pe) = behind {
                    world.set(FROM.on(pe).index(2 * dimension), 1 + world.my_pe() as u64);
                }
            }
            world.barrier_all();
            for (at, told) in world
                .local(&FROM, |from| from.each_mut().map(|told| std::mem::take(told.value_mut())))
                .into_iter()
                .enumerate()
            {
                let neighbour = grid.neighbour(at / 2, if at % 2 == 0 { -1 } else { 1 });
                assert_eq!(told, neighbour.map_or(0, |pe| 1 + pe.number() as u64), "{grid:?}, side {at}");
            }
        }
    }
}

/// Each PE sends its coordinates over all edges, and gets those of its neighbours.
#[shmem::test(pes = 6)]
fn edges_of_a_grid_lead_to_neighbours(world: &mut World) {
    for periodic in [[false, false], [true, false], [true, true]] {
        let grid: PeGrid<2> = world.cubic_grid().periodic(periodic);
        assert_eq!(grid.shape(), [3, 2]);
        let mut halo = world.halo(&grid.edges([2, 3])).unwrap();
        let [row, column] = grid.coordinates().map(|at| at as u64);
        let mut flight = halo.begin(world);
        for edge in 0..4 {
            flight.send(edge, &[row, column, edge as u64][..if edge < 2 { 2 } else { 3 }]);
        }
        let ghosts = flight.finish();
        for edge in 0..4 {
            let step = if edge % 2 == 0 { -1 } else { 1 };
            let there = grid.neighbour(edge / 2, step).map(|pe| grid.coordinates_of(pe.number()));
            let expected = there.map(|[row, column]| [row as u64, column as u64, edge as u64 ^ 1]);
            let cells = if edge < 2 { 2 } else { 3 };
            assert_eq!(&ghosts[edge], expected.as_ref().map_or(&[][..], |all| &all[..cells]), "edge {edge}");
        }
    }
}

#[shmem::test(pes = 2)]
fn what_is_no_place_in_a_grid_is_refused(world: &mut World) {
    let refused = world.grid([2, 3]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "a grid of 2 x 3 PEs cannot be made of 2: the product of its lengths is to be 2; choose lengths by the number of \
         PEs, or let `cubic_grid` choose them"
    );
    let grid = world.grid([2, 1]).unwrap().periodic([true, true]);
    let none = said(|| world.pes()[world.n_pes()]);
    assert_eq!(none, "no PE has the index 2: there are 2, whose indices run from 0 to 1");
    assert_eq!(said(|| grid.pe([0, 1])), "no PE is at [0, 1]: the grid has 2 x 1 PEs, counted from 0");
    assert_eq!(said(|| grid.coordinates_of(2)), "no PE has rank 2: the grid has 2 (2 x 1), counted from 0");
    assert_eq!(said(|| grid.neighbour(2, 1)), "the grid has no dimension 2: it has 2, counted from 0");
}
