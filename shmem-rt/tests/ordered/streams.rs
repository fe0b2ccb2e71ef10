//! Collectives of more data than a meeting brings: between nodes, they come in chunks.

use shmem::prelude::*;

use crate::together::{Call, Form, Kind, Room, What, make};

/// Bytes around those from which data comes in chunks, and around those of a window.
const SIZES: [usize; 7] = [32 << 10, (32 << 10) + 8, 65_544, 100_000, 1 << 20, (1 << 20) + 8, 2_500_000];

/// What is given: private data, and parts of objects, which are written where they lie.
const FORMS: [Form; 2] = [Form::Slice, Form::Object];

/// All families once among the members of a team, of so many bytes in each of these forms.
fn all_families<L: ThreadLevel>(world: &World<L>, team: &Team, room: &Room, bytes: usize, forms: &[Form]) {
    let members: Vec<usize> = team.pes().iter().map(|pe| pe.number()).collect();
    let (items, each) = (bytes / 8, bytes / 8 / members.len());
    for form in forms {
        let call = |what, kind, len, root: u64| {
            make(
                world,
                team,
                &members,
                room,
                &Call { what, kind, form: *form, len, seed: 128 * root + bytes as u64 % 97 },
            );
        };
        for root in 0..members.len() as u64 {
            call(What::Broadcast, Kind::U64, items, root);
        }
        call(What::Sum, Kind::U64, items, 0);
        // The order shows, and bytes end anywhere.
        call(What::Sum, Kind::F64, items, 0);
        call(What::Max, Kind::U8, bytes.min(40_000) - 3, 0);
        call(What::Fcollect, Kind::U64, each, 0);
        call(What::Alltoall, Kind::U64, each * members.len(), 0);
    }
}

/// Among all PEs, of so many bytes. What is small in between finds nothing of what has gone by.
fn all_sizes(world: &World, sizes: &[usize]) {
    let room = Room::new(world, 2 * sizes.iter().max().unwrap());
    for bytes in sizes {
        all_families(world, world.team(), &room, *bytes, &FORMS);
        assert_eq!(world.sum(1), world.n_pes());
    }
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn between_two(world: &mut World) {
    all_sizes(world, &SIZES);
}

#[shmem::test(pes = 3)]
fn between_three(world: &mut World) {
    all_sizes(world, &SIZES);
}

under! {
    between_four_nodes: 4, |world| all_sizes(world, &SIZES),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    between_six_nodes: 6, |world| all_sizes(world, &[300_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    between_eight_nodes: 8, |world| all_sizes(world, &[1_200_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    between_three_nodes_of_two: 6, |world| all_sizes(world, &[240_000, 1_200_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    between_eleven_nodes: 11, |world| all_sizes(world, &[300_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    of_thirteen_on_seven_nodes: 13, |world| all_sizes(world, &[65_544, 160_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    of_teams_on_six_nodes: 6, of_teams_of_any_order, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    of_teams_on_three_nodes: 6, of_teams_of_any_order, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    // Windows of this many bytes and more find no room: data go with meetings.
    of_a_team_without_room: 3, |world| of_one_team(world, &[300_000]),
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1", "SHMEM_TEAM_SIZE" = "512K";
    // On one node chunks go through rings: in windows, or where those find no room in less.
    of_a_team_through_rings: 3, |world| of_one_team(world, &[300_000, 2_400_000]), "SHMEM_TEAM_SIZE" = "64M";
    of_a_team_through_rings_without_room: 3, |world| of_one_team(world, &[300_000, 2_400_000]),
        "SHMEM_TEAM_SIZE" = "512K";
}

/// What lies around a part of an object is nobody's to change.
#[shmem::test(pes = 3)]
fn parts_of_objects_are_written_and_nothing_around_them(world: &mut World) {
    let (me, pes, items) = (world.my_pe(), world.n_pes(), 150_000);
    let all = world.alloc(filled(7_u64, items + 7)).unwrap();
    let mine = world.alloc(filled(me as u64, items)).unwrap();
    let part = all.here(world).index(3..3 + items);
    let is_around = |what: &str| {
        let found = all.here(world).to_vec();
        assert!(found[..3].iter().chain(&found[3 + items..]).all(|word| *word == 7), "{what}");
        let is_mine =
            |each: &[u64]| each.chunks(items / pes).zip(0..).all(|(of, pe)| of.iter().all(|x| *x == pe));
        assert!(!what.ends_with("all") || is_mine(&found[3..3 + items]), "{what}");
    };
    world.fcollect(&mine.here(world).index(..items / pes), part);
    is_around("fcollect brings all");
    part.fill(8);
    world.alltoall(&mine, part);
    is_around("alltoall brings all");
    world.sum(part);
    is_around("sum");
    world.broadcast(part, world.pes()[1]);
    is_around("broadcast");
}

fn of_teams_of_any_order(world: &World) {
    let room = Room::new(world, 2_400_000);
    for (start, stride, size) in [(0, 2, 3), (5, -1, 6), (4, -2, 3), (1, 1, 5), (5, -3, 2), (2, 1, 1)] {
        let team = world.team().split_strided(world, start, stride, size, &TeamConfig::default()).unwrap();
        if let Some(team) = team {
            all_families(world, &team, &room, 200_000, &FORMS[..1]);
            all_families(world, &team, &room, 1_200_000, &FORMS[..1]);
            team.destroy(world).unwrap();
        }
        all_families(world, world.team(), &room, 100_000, &FORMS[..1]);
    }
}

fn of_one_team(world: &World, sizes: &[usize]) {
    let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    let room = Room::new(world, 0);
    sizes.iter().for_each(|bytes| all_families(world, &team, &room, *bytes, &FORMS[..1]));
}

/// Each thread is in a team of its own, and so are those that it meets there.
#[shmem::test(pes = 4, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn of_two_teams_at_once(world: &mut World<Multiple>) {
    let config = TeamConfig::default();
    let (row, column) = world.team().split_2d(world, 2, &config, &config).unwrap();
    let (world, room) = (&*world, &Room::new(world, 0));
    std::thread::scope(|scope| {
        for team in [&row, &column] {
            scope.spawn(move || {
                (0..5)
                    .for_each(|round| all_families(world, team, room, 70_000 + round * 200_000, &FORMS[..1]));
            });
        }
    });
    world.barrier_all();
}

/// There is room for an object or for a window, and not for both.
#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1", "SHMEM_TEAM_SIZE" = "2M"))]
fn of_teams_that_give_their_windows_back(world: &mut World) {
    let team = || world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    let room = Room::new(world, 0);
    for round in 0..3 {
        let (one, other) = (team(), team());
        all_families(world, &one, &room, 300_000, &FORMS[..1]);
        let fits = || other.alloc(world, zeroed::<u8>(3 << 19)).is_ok();
        assert!(!fits(), "round {round}: its windows are taken");
        drop(one);
        // What is left of teams that are gone is given back when another one is made.
        drop(team());
        assert!(fits(), "round {round}: its windows are given back");
    }
}
