//! Teams: refused calls, their memory, their phases, and their end. (Members and translation of ranks: conformance programs in C,
//! and random programs.)

use std::sync::Mutex;

use crate::panics::refused;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Context, ErrorKind, Team, TeamBox, TeamConfig};

fn plain() -> TeamConfig {
    TeamConfig::default()
}

fn numbers(team: &Team) -> Vec<usize> {
    team.pes().iter().map(|pe| pe.number()).collect()
}

/// Checks that collectives of a team involve its members only.
fn check(world: &World, team: &Team) {
    assert_eq!(team.pe(team.rank()), Some(world.me()));
    assert_eq!(team.pe(team.size()), None);
    let mut ranks = vec![0; team.size()];
    team.fcollect(world, &(team.rank(), world.my_pe()).0, &mut ranks);
    assert_eq!(ranks, (0..team.size()).collect::<Vec<_>>());
    let mut sum = world.my_pe();
    team.sum(world, &mut sum);
    assert_eq!(sum, numbers(team).iter().sum::<usize>());
}

#[shmem::test(pes = 3)]
fn what_is_no_team_is_the_same_error_on_all(world: &mut World) {
    let team = world.team();
    // (Which ranks make a team: `members::team` of the library.)
    let split = |start, stride, size| team.split_strided(world, start, stride, size, &plain());
    assert!(matches!(split(0, 1, 4).unwrap_err().kind(), ErrorKind::Team(_)));
    refused! {
        split(1, 1, 3).unwrap()
            => "no team can have 3 members, from rank 1 on every 1: the team that is split has ranks 0..3; all";
        split(0, isize::MIN, 2).unwrap() => "ranks 0..3";
        split(usize::MAX, 1, 1).unwrap() => "ranks 0..3";
        split(0, 1, 0).unwrap() => "a team has at least one member; a team of size 0 has none";
        split(0, 0, 2).unwrap() => "cannot have stride 0";
        team.split_2d(world, 0, &plain(), &plain()).unwrap()
            => "a team has at least one member; a row of a grid of width 0 has none";
    }
    check(world, team);
}

/// Makes teams of PEs 0 and 1 until an error occurs. Returns teams and error.
fn fill(world: &World) -> (Vec<Option<Team>>, String) {
    let mut teams = Vec::new();
    loop {
        match world.team().split_strided(world, 0, 1, 2, &plain()) {
            Ok(team) => teams.push(team),
            Err(error) => return (teams, error.to_string()),
        }
    }
}

#[shmem::test(pes = 3)]
fn indexes_run_out_on_all_and_come_back_when_all_have_dropped(world: &mut World) {
    let (mut teams, error) = fill(world);
    // The world and the node have a team each.
    assert_eq!(teams.len(), 62);
    assert!(error.starts_with("no team can be made: PE 0 is in 64 of 64 teams; destroy one"), "{error}");
    // PE 2 is in none of the teams, and gets the same error.
    assert_eq!(teams.iter().flatten().count(), if world.my_pe() == 2 { 0 } else { 62 });
    let last = world.team().split_strided(world, 2, 1, 1, &plain()).unwrap();
    assert_eq!(last.is_some(), world.my_pe() == 2, "PE 2 has indexes left");
    // A team that one member has dropped keeps its index, for all members.
    let first = teams.remove(0);
    let kept = (world.my_pe() == 1).then_some(first);
    assert_eq!(fill(world).0.len(), 0);
    let error = world.team().split_strided(world, 0, 2, 2, &plain()).unwrap_err().to_string();
    assert!(error.contains("PE 0 is in 64 of 64 teams"), "{error}");
    drop(kept);
    let (again, _) = fill(world);
    assert_eq!(again.len(), 1);
    again.iter().flatten().for_each(|team| check(world, team));
    // Indices of destroyed teams can be used again, in any order. Those of forgotten teams cannot.
    teams.pop().unwrap().into_iter().for_each(|team| team.destroy(world).unwrap());
    std::mem::forget(teams.pop());
    drop((again, teams, last));
    let (teams, _) = fill(world);
    assert_eq!(teams.len(), 61);
    teams.iter().flatten().for_each(|team| check(world, team));
}

#[shmem::test(pes = 3)]
fn a_team_in_use_is_not_destroyed(world: &mut World) {
    let team = world.team().split_strided(world, 0, 1, 3, &plain()).unwrap().unwrap();
    let kept = team.alloc(world, [1_u64, 2]).unwrap();
    // A phase of the world opens an object of a team.
    world.local(&kept, |kept| kept[0] += 6);
    assert_eq!(team.frozen(world, &kept, |kept| kept[0]), 7);
    let kept = (world.my_pe() == 1).then_some(kept);
    let error = team.destroy(world).unwrap_err().to_string();
    assert!(
        error.starts_with("the team cannot be destroyed: PE 1 uses 0 of its contexts and 1 of its obje"),
        "{error}"
    );
    // The object of the team can still be used.
    if let Some(kept) = &kept {
        assert_eq!(world.g(kept.on(world.me()).index(1)), 2);
    }
    drop(kept);
    let team = world.team().split_strided(world, 0, 1, 3, &plain()).unwrap().unwrap();
    check(world, &team);
    team.destroy(world).unwrap();
}

/// (Objects of a single team: random programs.)
#[shmem::test(pes = 5, env("SHMEM_TEAM_SIZE" = "64K"))]
fn teams_that_overlap_share_out_their_memory(world: &mut World) {
    let me = world.my_pe();
    let [low, high] = [0..3, 2..5].map(|members: std::ops::Range<usize>| {
        let colour = members.contains(&me).then_some(0);
        world.team().split_by(world, colour, 0, &plain()).unwrap()
    });
    for stamp in 0..3 {
        let mark = |pe: usize| stamp << 8 | pe as u64;
        let mut held = Vec::new();
        if let Some(team) = &low {
            while let Ok(object) = team.alloc(world, shmem::filled(mark(me), 100)) {
                held.push(object);
            }
            assert!(held.len() > 60, "{} objects of 800 bytes in 64K", held.len());
            for (object, pe) in held.iter().flat_map(|object| team.pes().iter().map(move |pe| (object, pe))) {
                assert_eq!(world.g(object.on(pe).index(99)), mark(pe.number()));
            }
        }
        world.barrier_all();
        // PE 2 has no memory left for either team.
        if let Some(team) = &high {
            let error = team.alloc(world, [0_u64; 100]).unwrap_err().to_string();
            assert!(error.contains("raise SHMEM_TEAM_SIZE"), "{error}");
        }
        assert!(held.iter().all(|object| object.here(world).to_vec() == [mark(me); 100]));
        // The memory is one block again, when all members have dropped all objects.
        drop(held);
        if let Some(team) = &low {
            (0..2).for_each(|_| drop(team.alloc(world, [0_u8]).unwrap()));
        }
        world.barrier_all();
        if let Some(team) = &high {
            assert_eq!(team.alloc(world, shmem::zeroed::<u8>(60 << 10)).unwrap().len(), 60 << 10);
            (0..2).for_each(|_| drop(team.alloc(world, [0_u8]).unwrap()));
        }
        world.barrier_all();
    }
}

#[shmem::test(pes = 3)]
fn objects_of_a_team_are_the_members(world: &mut World) {
    let pair = world.team().split_strided(world, 0, 1, 2, &plain()).unwrap();
    let other = world.team().split_strided(world, 0, 1, 2, &plain()).unwrap();
    if let (Some(pair), Some(other)) = (&pair, &other) {
        let object = pair.alloc(world, [5_u64; 4]).unwrap();
        let list = [pair.alloc(world, [6_u64; 2]).unwrap(), pair.alloc(world, [7_u64; 3]).unwrap()];
        let sum = pair.local(world, (&list[..], [&object]), |(mut list, [object])| {
            list[1][2] += list[0][1];
            list.iter().flat_map(|items| items.iter()).chain(&object[..]).sum::<u64>()
        });
        assert_eq!(sum, 2 * 6 + 3 * 7 + 6 + 4 * 5);
        pair.frozen(world, &list, |[_, second]| assert_eq!(second, [7, 7, 13]));
        pair.frozen(world, &list.iter().collect::<Vec<_>>(), |list| assert_eq!(list[0], [6, 6]));
        let of_another = "an object that this team has not allocated cannot be opened by its mem";
        refused! {
            object.on(world.pe(2).unwrap()).len()
                => "PE 2 is not a member of the team that has allocated this object, and has none";
            other.local(world, &object, |_| ()) => of_another;
            other.local(world, &list[1..], |_| ()) => of_another;
            pair.local(world, (&object, &object), |_| ()) => "is named twice in one `local`";
            world.putmem(object.here(world).addr(), &[0; 8], world.me()) => "not symmetric memory of this PE";
        }
        // The refused calls have no effect.
        pair.barrier(world);
        assert_eq!(world.g(object.on(world.me()).index(3)), 5);
    }
    world.barrier_all();
}

/// Handles that PE 0 passes to PE 2: PEs, a team, an object of it, and a context.
type Given = ([Pe; 2], Team, TeamBox<[u64]>, Context<Multiple>);
static GIVEN: Mutex<Option<Given>> = Mutex::new(None);
#[symmetric]
static WORDS: [u64; 4];
#[symmetric]
static COUNTS: [Atomic<u64>; 4];

/// Two nodes of two PEs, which are threads of one process. Teams have equal slots on both nodes.
#[shmem::test(pes = 1, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2", "SHMEM_NPES" = "4"))]
fn what_another_pe_of_the_process_has_is_refused(world: &mut World<Multiple>) {
    let node = world.my_pe() as u64 / 2;
    let team = world.team().split_by(world, Some(node), 0, &TeamConfig::default()).unwrap().unwrap();
    let object = team.alloc(world, [7_u64; 4]).unwrap();
    if world.my_pe() == 0 {
        let [near, far] = [1, 3].map(|number| world.pe(number).unwrap());
        assert_eq!((near.on_node().is_some(), far.on_node().is_some()), (true, false));
        object.on(near);
        *GIVEN.lock().unwrap() = Some(([near, far], team, object, world.create_ctx().unwrap()));
        world.barrier_all();
        world.barrier_all();
        return;
    }
    world.barrier_all();
    if world.my_pe() == 2 {
        let ([near, far], team, object, context) = GIVEN.lock().unwrap().take().unwrap();
        let address = WORDS.here(world).addr();
        for pe in [near, far] {
            let stranger = &format!("PE 2 was given PE {pe} by another PE of this process");
            refused! {
                world.put(WORDS.on(pe), &[1; 4]) => stranger;
                world.get(&mut [0; 4], WORDS.on(pe)) => stranger;
                world.p(WORDS.on(pe).index(0), 1) => stranger;
                world.g(WORDS.on(pe).index(0)) => stranger;
                world.putmem(address, &[1; 8], pe) => stranger;
                world.inc(COUNTS.on(pe).index(0)) => stranger;
                world.fetch(COUNTS.on(pe).index(0)) => stranger;
                strided!(world, WORDS@pe[..2] = WORDS[1..3]) => stranger;
                world.iput(WORDS.on(pe).index(..), &[1; 2], 2, 1, 2) => stranger;
                WORDS.on(pe).ptr(world) => stranger;
            }
        }
        refused! {
            world.put(object.on(near), &[1; 4]) => "PE 2 was given PE 1";
            object.on(world.pe(1).unwrap()).len() => "is not a member";
            team.barrier(world) => "this is a team of another PE";
            world.local(&object, |_| ()) => "this object of a team is another PE's handle";
            context.bind(world).put(WORDS.on(world.pe(1).unwrap()), &[9; 4]) => "a context of another PE";
        }
    }
    world.barrier_all();
    // The objects of PEs 1 and 3 are unchanged.
    assert_eq!(WORDS.here(world).load(), [0; 4]);
    assert!(COUNTS.here(world).index(0).test(eq(0)));
    let mut there = [0; 4];
    object.here(world).copy_to(&mut there);
    assert_eq!(there, [7; 4]);
}
