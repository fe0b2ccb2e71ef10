//! Collectives of long data, which travel between nodes in chunks through receive buffers (*windows*), and on a node through rings.

use shmem::prelude::*;

use crate::collectives::play;
use crate::flights::of_all;
use crate::together::{Call, EXACT, Form, ItemType, MOVES, Maker, Room, TOTALS, What};

const WINDOWS: usize = 2_500_000;

/// Plays histories with up to `most` bytes of each member.
fn long(world: &World, most: usize) {
    play(world, &[MOVES, TOTALS, EXACT].concat(), 2, most);
}

#[shmem::test(pes = 2)]
fn between_two(world: &mut World) {
    long(world, WINDOWS);
}

#[shmem::test(pes = 3)]
fn between_three(world: &mut World) {
    long(world, WINDOWS);
}

under! {
    between_four_nodes: 4, |world| long(world, WINDOWS), "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    between_eight_nodes: 8, |world| long(world, WINDOWS / 2), "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    between_three_nodes_of_two: 6, |world| long(world, WINDOWS / 2),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    between_eleven_nodes: 11, |world| long(world, WINDOWS / 8), "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    of_thirteen_on_seven_nodes: 13, |world| long(world, WINDOWS / 8),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    // Without memory for a window, data travel with barrier rounds.
    of_a_team_without_room: 3, |world| of_one_team(world, &[300_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1", "SHMEM_TEAM_SIZE" = "512K";
    // Rings on one node, with memory for them in the team, and without.
    of_a_team_through_rings: 3, |world| of_one_team(world, &[300_000, 2_400_000]), "SHMEM_TEAM_SIZE" = "64M";
    of_a_team_through_rings_without_room: 3, |world| of_one_team(world, &[300_000, 2_400_000]),
        "SHMEM_TEAM_SIZE" = "512K";
}

/// Calls a collective of each kind once among the members of a team, with `bytes` bytes.
fn each_way<L: ThreadLevel>(world: &World<L>, team: &Team, room: &Room, bytes: usize) {
    use What::{Alltoall, Broadcast, Fcollect, Sum};
    let (members, items) = (Vec::from_iter(team.pes().iter().map(Pe::number)), bytes / 8);
    let all = [(Broadcast, items), (Sum, items), (Fcollect, items / members.len()), (Alltoall, items)];
    for (what, len) in all {
        let call = Call { what, kind: ItemType::F64, form: Form::Slice, len, seed: bytes as u64 };
        Maker { world, team, members: &members, room, call }.make();
    }
}

fn of_one_team(world: &World, sizes: &[usize]) {
    let (team, room) = (of_all(world), Room::new(world, 0));
    sizes.iter().for_each(|bytes| each_way(world, &team, &room, *bytes));
}

/// Two threads of each PE call collectives of two teams at the same time.
#[shmem::test(pes = 4, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn of_two_teams_at_once(world: &mut World<Multiple>) {
    let config = TeamConfig::default();
    let (row, column) = world.team().split_2d(world, 2, &config, &config).unwrap();
    let (world, room) = (&*world, &Room::new(world, 0));
    std::thread::scope(|scope| {
        for team in [&row, &column] {
            let each = move |round: usize| each_way(world, team, room, 70_000 + round * 200_000);
            scope.spawn(move || (0..5).for_each(each));
        }
    });
    world.barrier_all();
}

/// The memory of the teams fits an object or a window, but not both.
#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1", "SHMEM_TEAM_SIZE" = "2M"))]
fn of_teams_that_give_their_windows_back(world: &mut World) {
    let room = Room::new(world, 0);
    for round in 0..3 {
        let (one, other) = (of_all(world), of_all(world));
        each_way(world, &one, &room, 300_000);
        let fits = || other.alloc(world, zeroed::<u8>(3 << 19)).is_ok();
        assert!(!fits(), "round {round}: its windows are taken");
        drop(one);
        // The windows of dropped teams are freed when a team is made.
        drop(of_all(world));
        assert!(fits(), "round {round}: its windows are given back");
    }
}
