//! Collectives of more data than a meeting brings: between nodes, they come in chunks.

use shmem::prelude::*;
use shmem::thread::{Multiple, ThreadLevel};
use shmem::{Team, TeamConfig, zeroed};

/// Bytes around those from which data comes in chunks, and around those of a window.
const SIZES: [usize; 7] = [32 << 10, (32 << 10) + 8, 65_544, 100_000, 1 << 20, (1 << 20) + 8, 2_500_000];

/// A number that shows whose it is, and where it belongs.
fn number(pe: usize, to: usize, k: usize) -> u64 {
    ((pe as u64) << 48 | (to as u64) << 32 | k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn numbers(pe: usize, to: usize, items: usize) -> Vec<u64> {
    (0..items).map(|k| number(pe, to, k)).collect()
}

/// All families once, of so many bytes.
fn all_families(world: &World, bytes: usize) {
    let (me, pes, items) = (world.my_pe(), world.n_pes(), bytes / 8);
    for root in 0..pes {
        let mut data = numbers(me, root, items);
        world.broadcast(&mut data[..], world.pe(root).unwrap());
        assert!(data == numbers(root, root, items), "broadcast of {bytes} from PE {root}, on PE {me}");
    }

    let mut sums = numbers(me, 0, items);
    world.sum(&mut sums[..]);
    let sum = |k| (0..pes).fold(0, |sum: u64, pe| sum.wrapping_add(number(pe, 0, k)));
    assert!((0..items).all(|k| sums[k] == sum(k)), "sum of {bytes} on PE {me}");
    let least = world.min(numbers(me, 1, items));
    assert!((0..items).all(|k| least[k] == (0..pes).map(|pe| number(pe, 1, k)).min().unwrap()));
    let mut small = vec![me as u8 + 1; bytes - 3];
    world.sum(&mut small[..]);
    assert!(small.iter().all(|sum| usize::from(*sum) == pes * (pes + 1) / 2), "bytes that end anywhere");

    let each = items / pes;
    let (mine, mut all) = (numbers(me, 0, each), vec![0; each * pes]);
    world.fcollect(&mine[..], &mut all);
    assert!(
        all == (0..pes).flat_map(|pe| numbers(pe, 0, each)).collect::<Vec<_>>(),
        "fcollect of {bytes} on PE {me}"
    );

    let source: Vec<u64> = (0..pes).flat_map(|to| numbers(me, to, each)).collect();
    let mut into = vec![0; each * pes];
    world.alltoall(&source, &mut into);
    let expected: Vec<u64> = (0..pes).flat_map(|from| numbers(from, me, each)).collect();
    assert!(into == expected, "alltoall of {bytes} on PE {me}");
}

/// What lies around a part of an object, and is nobody's to change.
const AROUND: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// The same on parts of objects, which are written where they lie.
fn all_families_on_objects(world: &World, bytes: usize) {
    let (me, pes, items) = (world.my_pe(), world.n_pes(), bytes / 8);
    let (from, to) = (world.alloc(zeroed(items + 5)).unwrap(), world.alloc(zeroed(items + 7)).unwrap());
    let (from, to) = (from.here(world), to.here(world));
    let is_around = |items: usize, what: &str| {
        for (object, first) in [(from, 2), (to, 3)] {
            let all = object.to_vec();
            let around = all[..first].iter().chain(&all[first + items..]);
            assert!(
                around.clone().all(|word| *word == AROUND),
                "{what} of {bytes} on PE {me} leaves its part"
            );
        }
    };
    let begin = || {
        from.fill(AROUND);
        to.fill(AROUND);
    };
    let part = from.index(2..2 + items);
    for root in 0..pes {
        begin();
        part.copy_from(&numbers(me, root, items));
        to.index(3..3 + items).fill(7);
        world.broadcast(part, world.pe(root).unwrap());
        assert!(
            part.to_vec() == numbers(root, root, items),
            "broadcast of {bytes} from PE {root}, on PE {me}"
        );
        is_around(items, "broadcast");
    }

    begin();
    part.copy_from(&numbers(me, 0, items));
    to.index(3..3 + items).fill(7);
    world.sum(part);
    let sum = |k| (0..pes).fold(0, |sum: u64, pe| sum.wrapping_add(number(pe, 0, k)));
    assert!(
        part.to_vec().into_iter().enumerate().all(|(k, found)| found == sum(k)),
        "sum of {bytes} on PE {me}"
    );
    is_around(items, "sum");

    let each = items / pes;
    let all = to.index(3..3 + each * pes);
    for round in 0..2 {
        begin();
        from.index(2..2 + each).copy_from(&numbers(me, round, each));
        from.index(2 + each..2 + each * pes).fill(7);
        world.fcollect(&from.index(2..2 + each), all);
        let expected: Vec<u64> = (0..pes).flat_map(|pe| numbers(pe, round, each)).collect();
        assert!(all.to_vec() == expected, "fcollect of {bytes} on PE {me}");
        is_around(each * pes, "fcollect");
    }

    begin();
    let source: Vec<u64> = (0..pes).flat_map(|to| numbers(me, to, each)).collect();
    let part = from.index(2..2 + each * pes);
    part.copy_from(&source);
    world.alltoall(&part, all);
    let expected: Vec<u64> = (0..pes).flat_map(|from| numbers(from, me, each)).collect();
    assert!(all.to_vec() == expected, "alltoall of {bytes} on PE {me}");
    assert!(part.to_vec() == source, "a source is not changed");
    is_around(each * pes, "alltoall");
}

/// Of numbers that round, on objects and privately, to the bit.
fn sums_on_objects_are_those_of_private_data(world: &World, items: usize) {
    let term = |k: usize| match (world.my_pe() + k) % 7 {
        0 => f64::NAN,
        1 => -0.0,
        kind => (k as f64 + 1.0) / kind as f64 * if kind == 2 { 1e16 } else { 1.0 },
    };
    let mine: Vec<f64> = (0..items).map(term).collect();
    let object = world.alloc(&mine[..]).unwrap();
    world.sum(&object);
    let sums = world.sum(mine);
    let found = object.here(world).to_vec();
    assert!(found.iter().zip(&sums).all(|(found, sum)| found.to_bits() == sum.to_bits()));
}

fn all_sizes(world: &World) {
    // What is small in between, and phases, find nothing of what has gone by.
    for bytes in SIZES {
        all_families(world, bytes);
        all_families_on_objects(world, bytes);
        assert_eq!(world.sum(1), world.n_pes());
    }
    sums_on_objects_are_those_of_private_data(world, 30_000);
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn between_two(world: &mut World) {
    all_sizes(world);
}

#[shmem::test(pes = 3)]
fn between_three(world: &mut World) {
    all_sizes(world);
}

#[shmem::test(pes = 4, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn between_four_nodes(world: &mut World) {
    all_sizes(world);
}

#[shmem::test(pes = 6, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn between_six_nodes(world: &mut World) {
    all_families(world, 300_000);
    all_families_on_objects(world, 300_000);
}

#[shmem::test(pes = 8, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn between_eight_nodes(world: &mut World) {
    all_families(world, 1_200_000);
    all_families_on_objects(world, 1_200_000);
}

#[shmem::test(pes = 6, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2"))]
fn between_three_nodes_of_two(world: &mut World) {
    all_families_on_objects(world, 1_200_000);
    sums_on_objects_are_those_of_private_data(world, 30_000);
}

/// What a sum is: of a power of two of ranks, cut where they end, the first half and then the second, if it has any.
fn tree(operands: &[f64]) -> f64 {
    let (left, right) = match operands {
        [only] => return *only,
        _ => operands.split_at(operands.len().next_power_of_two() / 2),
    };
    tree(left) + tree(right)
}

/// Sums that round, of which each order of adding up gives other bits.
fn sums_are_those_of_the_tree(world: &World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let operand = |pe: usize, k: usize| {
        let n = number(pe, 7, k);
        (n as i64) as f64 * 2_f64.powi((n >> 7) as i32 % 40)
    };
    for items in [8_193, 20_000, 150_001] {
        let sums = world.sum((0..items).map(|k| operand(me, k)).collect::<Vec<_>>());
        for (k, sum) in sums.iter().enumerate() {
            let operands: Vec<f64> = (0..pes).map(|pe| operand(pe, k)).collect();
            assert_eq!(sum.to_bits(), tree(&operands).to_bits(), "number {k} of {items} on PE {me} of {pes}");
        }
    }
}

#[shmem::test(pes = 11, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn between_eleven_nodes(world: &mut World) {
    all_families(world, 300_000);
    sums_are_those_of_the_tree(world);
}

#[shmem::test(pes = 13, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2"))]
fn of_thirteen_on_seven_nodes(world: &mut World) {
    sums_are_those_of_the_tree(world);
}

/// All families in a team, of so many bytes.
fn all_families_of(world: &World<impl ThreadLevel>, team: &Team, bytes: usize) {
    let (me, members, items) = (team.rank(), team.size(), bytes / 8);
    let root = members / 2;
    let data = team.broadcast(world, numbers(me, root, items), team.pe(root).unwrap());
    assert!(data == numbers(root, root, items), "broadcast of {bytes} on rank {me} of {members}");
    let sums = team.sum(world, numbers(me, 0, items));
    let sum = |k| (0..members).fold(0, |sum: u64, rank| sum.wrapping_add(number(rank, 0, k)));
    assert!((0..items).all(|k| sums[k] == sum(k)), "sum of {bytes} on rank {me} of {members}");
    let each = items / members;
    let mut all = vec![0; each * members];
    team.fcollect(world, &numbers(me, 0, each)[..], &mut all);
    assert!(all == (0..members).flat_map(|rank| numbers(rank, 0, each)).collect::<Vec<_>>());
    let source: Vec<u64> = (0..members).flat_map(|to| numbers(me, to, each)).collect();
    team.alltoall(world, &source, &mut all);
    assert!(all == (0..members).flat_map(|from| numbers(from, me, each)).collect::<Vec<_>>());
}

fn of_teams_of_any_order(world: &mut World) {
    let config = TeamConfig::default();
    for (start, stride, size) in [(0, 2, 3), (5, -1, 6), (4, -2, 3), (1, 1, 5), (5, -3, 2), (2, 1, 1)] {
        let team = world.team().split_strided(world, start, stride, size, &config).unwrap();
        if let Some(team) = team {
            all_families_of(world, &team, 200_000);
            all_families_of(world, &team, 1_200_000);
            team.destroy(world).unwrap();
        }
        all_families(world, 100_000);
    }
}

#[shmem::test(pes = 6, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn of_teams_on_six_nodes(world: &mut World) {
    of_teams_of_any_order(world);
}

#[shmem::test(pes = 6, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2"))]
fn of_teams_on_three_nodes(world: &mut World) {
    of_teams_of_any_order(world);
}

/// Each thread is in a team of its own, and so are those that it meets there.
#[shmem::test(pes = 4, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn of_two_teams_at_once(world: &mut World<Multiple>) {
    let config = TeamConfig::default();
    let (row, column) = world.team().split_2d(world, 2, &config, &config).unwrap();
    let shared = &*world;
    std::thread::scope(|scope| {
        for team in [&row, &column] {
            scope.spawn(move || {
                (0..5).for_each(|round| all_families_of(shared, team, 70_000 + round * 200_000))
            });
        }
    });
    world.barrier_all();
}

/// Windows of this many bytes and more find no room: data go with meetings.
#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1", "SHMEM_TEAM_SIZE" = "512K"))]
fn of_a_team_without_room(world: &mut World) {
    let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    all_families_of(world, &team, 300_000);
}

/// There is room for an object or for a window, and not for both.
#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1", "SHMEM_TEAM_SIZE" = "2M"))]
fn of_teams_that_give_their_windows_back(world: &mut World) {
    let team = || world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    for round in 0..3 {
        let (one, other) = (team(), team());
        all_families_of(world, &one, 300_000);
        let fits = || other.alloc(world, zeroed::<u8>(3 << 19)).is_ok();
        assert!(!fits(), "round {round}: its windows are taken");
        drop(one);
        // What is left of teams that are gone is given back when another one is made.
        drop(team());
        assert!(fits(), "round {round}: its windows are given back");
    }
}
