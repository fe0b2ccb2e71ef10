//! PEs in an order, and grids of them: whose arithmetic is tested in `grid/shape.rs`, here it meets a job and its teams.

use shmem::prelude::*;

use crate::panics::refused;

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

/// Each PE sends its coordinates over all edges, and gets those of its neighbours, in a grid of all PEs and in one of a team in
/// another order.
#[shmem::test(pes = 6)]
fn edges_of_a_grid_lead_to_neighbours(world: &mut World) {
    let team = world.team().split_by(world, Some(0), -(world.my_pe() as i64), &TeamConfig::default());
    let team = team.unwrap().unwrap();
    assert!(team.pes().iter().map(Pe::number).eq((0..6).rev()));
    for periodic in [[false, false], [true, false], [true, true]] {
        for grid in [world.cubic_grid(), team.grid([3, 2]).unwrap()].map(|grid| grid.periodic(periodic)) {
            assert_eq!((grid.shape(), grid.pes()[grid.rank()]), ([3, 2], world.me()));
            assert_eq!(
                (grid.pe(grid.coordinates()), grid.coordinates_of(grid.rank())),
                (world.me(), grid.coordinates())
            );
            let mut halo = world.halo(&grid.edges([2, 3])).unwrap();
            let [row, column] = grid.coordinates().map(|at| at as u64);
            let mut flight = halo.begin(world);
            for edge in 0..4 {
                flight.send(edge, &[row, column, edge as u64][..if edge < 2 { 2 } else { 3 }]);
            }
            let ghosts = flight.finish();
            for edge in 0..4 {
                let step = if edge % 2 == 0 { -1 } else { 1 };
                let rank = |pe: Pe| grid.pes().iter().position(|other| other == pe).unwrap();
                let there = grid.neighbour(edge / 2, step).map(|pe| grid.coordinates_of(rank(pe)));
                let expected = there.map(|[row, column]| [row as u64, column as u64, edge as u64 ^ 1]);
                let cells = if edge < 2 { 2 } else { 3 };
                assert_eq!(
                    &ghosts[edge],
                    expected.as_ref().map_or(&[][..], |all| &all[..cells]),
                    "edge {edge}"
                );
            }
        }
    }
}

#[shmem::test(pes = 2)]
fn what_is_no_place_in_a_grid_is_refused(world: &mut World) {
    let grid = world.grid([2, 1]).unwrap().periodic([true, true]);
    refused! {
        world.grid([2, 3]).unwrap()
            => "a grid of 2 x 3 PEs cannot be made of 2: the product of its lengths is to be 2; choose lengths by the \
                number of PEs, or let `cubic_grid` choose them";
        world.pe(9).unwrap() => "there is no PE 9: the job has 2, whose numbers run from 0 to 1";
        world.pes()[world.n_pes()] => "no PE has the index 2: there are 2, whose indices run from 0 to 1";
        grid.pe([0, 1]) => "no PE is at [0, 1]: the grid has 2 x 1 PEs, counted from 0";
        grid.coordinates_of(2) => "no PE has rank 2: the grid has 2 (2 x 1), counted from 0";
        grid.neighbour(2, 1) => "the grid has no dimension 2: it has 2, counted from 0";
    }
}
