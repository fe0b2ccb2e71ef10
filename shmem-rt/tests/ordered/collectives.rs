//! Random sequences (*histories*) of collectives. Random teams are made and dropped. Their members call or start collectives in all
//! forms and lengths, each at its own pace. Results are compared with a loop over the members.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use shmem::prelude::*;
use shmem::{Family, Team, TeamConfig};

use crate::dawdle;
use crate::dice::Dice;
use crate::together::make::UnderWay;
use crate::together::{
    ALL, Call, EXACT, LISTS, MOST, MOVES, Maker, OPERATIONS, PARTIALS, Room, TOTALS, What,
};

/// Number of parts of a history. Between parts, some teams are replaced.
const CHAPTERS: usize = 3;

const STEPS: usize = 13;

/// Number of teams at a time, besides that of all PEs.
const TEAMS: usize = 4;

/// The teams of a split: the members of each team in the order of ranks, and the team of this PE.
struct Made {
    groups: Vec<Vec<usize>>,
    mine: Option<Team>,
}

#[shmem::test(pes = [1, 2, 3, 4, 5])]
fn histories(world: &mut World) {
    play(world, ALL, 3, MOST);
}

#[shmem::test(pes = 4)]
fn sums_are_those_of_the_tree(world: &mut World) {
    play(world, &[TOTALS, PARTIALS, OPERATIONS].concat(), 5, MOST);
}

#[shmem::test(pes = 5)]
fn items_of_any_size_are_combined_and_dealt_out(world: &mut World) {
    play(world, &[OPERATIONS, OPERATIONS, MOVES, LISTS].concat(), 8, MOST);
}

// Each algorithm that a user can select, with all lengths, also 0 and a few bytes.
under! {
    barriers_on_a_node: 4, ways, "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x4",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:barriers,reduce:barriers,fcollect:barriers,alltoall:barriers";
    rings: 4, ways, "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x4",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:rings,reduce:rings,fcollect:rings,alltoall:rings";
    direct_forms: 4, ways, "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x4",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:direct,reduce:direct,fcollect:direct,alltoall:direct";
    barriers_of_nodes: 4, ways, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:barriers,reduce:barriers,fcollect:barriers,alltoall:barriers";
    barriers_of_nodes_of_two: 4, ways, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:barriers,reduce:barriers,fcollect:barriers,alltoall:barriers";
    windows: 4, ways, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows";
    windows_of_nodes_of_two: 4, ways, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows";
    one_way_each: 4, ways, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2",
        "SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:windows,reduce:barriers,fcollect:rings,alltoall:direct";
}

/// Plays histories of collectives that have a choice of algorithms, and of reductions that depend on the order.
fn ways(world: &World) {
    play(world, &[MOVES, TOTALS, EXACT, PARTIALS, OPERATIONS].concat(), 10, MOST);
}

#[shmem::test(pes = 2, env("SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:direct", "SHMEM_STATS" = "1",
    "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x2"))]
fn a_few_bytes_are_read_where_they_lie_where_that_is_asked_for(world: &mut World) {
    let object = world.alloc(shmem::value(world.my_pe() + 7)).unwrap();
    world.broadcast(&object, world.pe(0).unwrap());
    let statistics = world.statistics().expect("SHMEM_STATS counts");
    // Only another algorithm would load and store this PE's own copy.
    let bytes = [Family::HereLoad, Family::HereStore].map(|family| statistics.of(family).bytes);
    assert_eq!(bytes, if world.my_pe() == 0 { [8, 0] } else { [0, 8] });
    assert_eq!(world.g(object.on(world.me())), 7);
}

/// Plays `count` histories of the collectives `of`, with up to `most` bytes of each PE.
pub(crate) fn play(world: &World, of: &[What], count: u64, most: usize) {
    let room = Room::new(world, most);
    for seed in 0..count {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ world.n_pes() as u64);
        // Decides this PE's own pauses, and the order in which it waits.
        let mut pace = Dice(seed << 8 ^ world.my_pe() as u64);
        (0..8).for_each(|_| _ = (dice.below(2), pace.below(2)));
        let mut teams: [Option<Made>; TEAMS] = Default::default();
        for chapter in 0..CHAPTERS {
            for made in &mut teams {
                if made.is_none() || dice.below(3) == 0 {
                    *made = Some(split(world, &mut dice));
                }
            }
            let title = format!("history {seed} of {} PEs, chapter {chapter}", world.n_pes());
            let draw = |dice: &mut Dice| Call::draw(dice, of, most);
            self::chapter(world, (&teams, &room), (&mut dice, &mut pace), draw, &title);
        }
        drop(teams);
        world.barrier_all();
    }
}

fn chapter(
    world: &World,
    (teams, room): (&[Option<Made>; TEAMS], &Room),
    (dice, pace): (&mut Dice, &mut Dice),
    draw: impl Fn(&mut Dice) -> Call,
    title: &str,
) {
    let me = world.my_pe();
    let everybody: Vec<usize> = (0..world.n_pes()).collect();
    let mut under_way: Vec<(Box<dyn UnderWay + '_>, String)> = Vec::new();
    for step in 0..=STEPS {
        // At the end, waits for all started collectives.
        while !under_way.is_empty() && (step == STEPS || pace.below(3) == 0) {
            let (started, what) = under_way.remove(pace.below(under_way.len()));
            match pace.below(4) {
                0 => while !started.is_complete() {},
                1 => _ = started.is_complete(),
                _ => {}
            }
            telling(me, &what, || started.wait());
        }
        let (slot, call, starts) = (dice.below(TEAMS as u64 + 1) as usize, draw(dice), dice.below(2) == 0);
        let (team, members) = match teams.get(slot) {
            _ if step == STEPS => return,
            None => (world.team(), &everybody),
            Some(made) => {
                let Some(Made { groups, mine: Some(mine) }) = made else { continue };
                (mine, groups.iter().find(|group| group.contains(&me)).expect("who has a team is in it"))
            }
        };
        let told = format!("{title}, step {step}: {call:?} among {members:?}, started {starts}");
        dawdle(pace);
        let maker = Maker { world, team, members, room, call };
        match starts.then(|| maker.start()).flatten() {
            Some(started) => under_way.push((started, told)),
            None => telling(me, &told, || maker.make()),
        }
    }
}

/// Runs `act`. If it panics, prints the call.
fn telling(me: usize, what: &str, act: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
        eprintln!("PE {me} fails in {what}");
        resume_unwind(panic);
    }
}

/// Splits the team of all PEs by colours and keys, or at equal distances.
fn split(world: &World, dice: &mut Dice) -> Made {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let plain = TeamConfig::default();
    let (groups, mine) = if dice.below(3) == 0 {
        let (start, stride) = (dice.below(pes), [-2, -1, 1, 2][dice.below(4) as usize]);
        let next = |pe: &usize| pe.checked_add_signed(stride).filter(|pe| *pe < pes);
        let mut group: Vec<usize> = std::iter::successors(Some(start), next).collect();
        group.truncate(1 + dice.below(group.len()));
        let mine = world.team().split_strided(world, start, stride, group.len(), &plain).unwrap();
        (vec![group], mine)
    } else {
        let colours: Vec<Option<u64>> = (0..pes).map(|_| dice.below(3_u64).checked_sub(1)).collect();
        let keys: Vec<i64> = (0..pes).map(|_| dice.below(9) as i64).collect();
        let group = |colour: u64| -> Vec<usize> {
            let mut group: Vec<usize> = (0..pes).filter(|pe| colours[*pe] == Some(colour)).collect();
            group.sort_by_key(|pe| keys[*pe]);
            group
        };
        let mine = world.team().split_by(world, colours[me], keys[me], &plain).unwrap();
        ((0..2).map(group).filter(|group| !group.is_empty()).collect(), mine)
    };
    let members = mine.as_ref().map(|team| team.pes().iter().map(|pe| pe.number()).collect::<Vec<_>>());
    assert_eq!(members.as_ref(), groups.iter().find(|group: &&Vec<usize>| group.contains(&me)));
    if let (Some(mine), Some(members)) = (&mine, &members) {
        let ranks = |pe| (world.team().translate(pe, mine), members.iter().position(|other| *other == pe));
        assert!((0..pes).map(ranks).all(|(translated, rank)| translated == rank));
        assert_eq!(mine.translate(members.len(), world.team()), None);
    }
    Made { groups, mine }
}
