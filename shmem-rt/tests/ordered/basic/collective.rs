//! Barriers, and random sequences of collectives on the world and on teams.

use shmem::prelude::*;

use crate::collectives::play;
use crate::together::{ALL, MOST, OPERATIONS, PARTIALS, TOTALS};

#[symmetric]
static TURN: [u64; 5];
#[symmetric]
static COUNT: Atomic<u64>;

/// No PE passes a barrier early, and puts before it are visible after it.
#[shmem::test(pes = 5)]
fn nobody_passes_a_barrier_early(world: &mut World) {
    let (me, n, first) = (world.my_pe(), world.n_pes() as u64, world.pe(0).unwrap());
    for round in 1..=100 {
        world.add(COUNT.on(first), 1);
        for pe in world.pes() {
            world.p(TURN.on(pe).index(me), round * 10 + me as u64);
        }
        world.barrier_all();
        assert_eq!(world.fetch(COUNT.on(first)), round * n, "in round {round}");
        assert_eq!(TURN.here(world).load(), std::array::from_fn(|from| round * 10 + from as u64));
        world.barrier_all();
    }
}

fn teams(world: &World) {
    play(world, ALL, 4, MOST);
}

fn sums(world: &World) {
    play(world, &[TOTALS, PARTIALS, OPERATIONS].concat(), 4, MOST);
}

// Barrier algorithms of a node; nodes whose PEs are consecutive, or not.
under! {
    teams_that_meet_in_lines: 5, teams, "SHMEM_BARRIER_ALGORITHM" = "lines";
    teams_that_are_counted: 5, teams, "SHMEM_BARRIER_ALGORITHM" = "counter";
    teams_of_two_nodes: 5, teams, "SHMRUN_HOSTS_AS" = "7,2,2,2,7";
    teams_of_three_nodes: 5, teams, "SHMRUN_HOSTS_AS" = "0,1,0,2,1";
    sums_of_three_nodes_whose_members_follow_each_other: 7, sums, "SHMRUN_HOSTS_AS" = "0,0,0,1,1,1,2";
    sums_of_three_nodes_that_take_turns: 7, sums, "SHMRUN_HOSTS_AS" = "0,1,2,0,1,2,0";
    sums_of_nodes_of_one: 6, sums, "SHMRUN_HOSTS_AS" = "6x1";
    sums_of_five_nodes: 10, sums, "SHMRUN_HOSTS_AS" = "5x2";
}
