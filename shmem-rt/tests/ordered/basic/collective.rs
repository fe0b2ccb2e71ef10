//! Collectives, on the world and on teams, against what a loop over all members gives.

use shmem::PlainData;
use shmem::prelude::*;

use crate::collectives::{SUMS, play};
use crate::panics::said;
use crate::together::ALL;

#[symmetric]
static TURN: [u64; 64];
#[symmetric]
static COUNT: Atomic<u64>;

#[shmem::test(pes = 5)]
fn nobody_passes_a_barrier_early(world: &mut World) {
    let n = world.n_pes() as u64;
    for round in 1..=200 {
        world.add(COUNT.on(world.pe(0).unwrap()), 1);
        world.barrier_all();
        let count = world.fetch(COUNT.on(world.pe(0).unwrap()));
        assert_eq!(count, round * n, "in round {round}");
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn a_barrier_makes_puts_visible(world: &mut World) {
    let me = world.my_pe();
    for round in 1..100 {
        for pe in world.pes() {
            world.p(TURN.on(pe).index(me), round * 10 + me as u64);
        }
        world.barrier_all();
        for from in 0..world.n_pes() {
            assert_eq!(TURN.here(world).index(from).load(), round * 10 + from as u64);
        }
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn the_team_of_the_world_is_the_world(world: &mut World) {
    let team = world.team();
    assert_eq!((team.size(), team.rank()), (world.n_pes(), world.my_pe()));
    assert_eq!((team.pe(2), team.pe(4)), (world.pe(2).ok(), None));
    assert_eq!(team.rank_of(world.me()), Some(world.my_pe()));
    assert_eq!(
        world.pe(4).unwrap_err().to_string(),
        "there is no PE 4: the job has 4, whose numbers run from 0 to 3; ask for one of these, or start more with \
         `shmrun -n`"
    );
}

/// Teams whose members meet in some way, or are on hosts that do or do not follow each other.
macro_rules! teams {
    ($($name:ident: $pes:tt, $collectives:ident, $variable:literal = $value:literal;)*) => {$(
        #[shmem::test(pes = $pes, env($variable = $value))]
        fn $name(world: &mut World) {
            play(world, $collectives, 4);
        }
    )*};
}
teams! {
    teams_that_meet_in_lines: 5, ALL, "SHMEM_BARRIER_ALGORITHM" = "lines";
    teams_that_are_counted: 5, ALL, "SHMEM_BARRIER_ALGORITHM" = "counter";
    teams_of_two_nodes: 5, ALL, "SHMRUN_HOSTS_AS" = "7,2,2,2,7";
    teams_of_three_nodes: 5, ALL, "SHMRUN_HOSTS_AS" = "0,1,0,2,1";
    sums_of_three_nodes_whose_members_follow_each_other: 7, SUMS, "SHMRUN_HOSTS_AS" = "0,0,0,1,1,1,2";
    sums_of_three_nodes_that_take_turns: 7, SUMS, "SHMRUN_HOSTS_AS" = "0,1,2,0,1,2,0";
    sums_of_nodes_of_one: 6, SUMS, "SHMRUN_HOSTS_AS" = "6x1";
    sums_of_five_nodes: 10, SUMS, "SHMRUN_HOSTS_AS" = "5x2";
}

#[shmem::test(pes = 5)]
fn teams_of_the_default(world: &mut World) {
    play(world, ALL, 4);
}

#[shmem::test(pes = 2)]
fn small_values_travel_with_the_meeting(world: &mut World) {
    // Enough for a race in memory; through a network, each is some messages.
    let rounds = if world.node_team().size() == 2 { 20_000 } else { 1_000 };
    for round in 0..rounds {
        let mut sum = round + world.my_pe() as u64;
        world.sum(&mut sum);
        assert_eq!(sum, 2 * round + 1);
        let mut value = [round * 3 + world.my_pe() as u64; 7];
        let root = world.pe(round as usize % 2).unwrap();
        world.broadcast(&mut value, root);
        assert_eq!(value, [round * 3 + round % 2; 7]);
    }
}

#[shmem::test(pes = 3)]
fn what_does_not_fit_is_refused_before_anybody_waits(world: &mut World) {
    let refused = [
        said(|| world.fcollect(&[1_u8; 2][..], &mut [0; 5])),
        said(|| world.alltoall(&[1_u8; 4], &mut [0; 4])),
        said(|| world.alltoall(&[1_u8; 3], &mut [0; 6])),
        said(|| world.alltoalls(&[1_u8; 6], 2, &mut [0; 6], 1, 2)),
        said(|| world.alltoalls(&[1_u8; 6], 1, &mut [0; 6], 0, 2)),
    ];
    let expected = [
        "3 members have 2 elements each, the destination has 5",
        "4 elements cannot be divided among 3 members",
        "the source has 3 elements, the destination 6",
        "6 elements at stride 2 do not fit the source, which has 6",
        "the stride of the destination is 0: elements would lie on each other",
    ];
    assert_eq!(refused, expected);
    let pair = world.team().split_strided(world, 0, 1, 2, &TeamConfig::default()).unwrap();
    if let Some(pair) = &pair {
        let refused = said(|| pair.broadcast(world, &mut 1, world.pes()[2]));
        assert_eq!(refused, "the root of a broadcast, PE 2, is not a member of the team");
    }
    world.barrier_all();
}

/// What items of a kind come to in all collectives that move them: `item` makes the k-th of a PE.
fn move_all<T: PlainData + PartialEq + std::fmt::Debug>(world: &World, item: impl Fn(usize, usize) -> T) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let of = |pe: usize, len: usize| (0..len).map(|k| item(pe, k)).collect::<Vec<T>>();
    for len in 0..4 {
        // Of all PEs, one behind the other.
        let all = |of: &dyn Fn(usize) -> Vec<T>| (0..n).flat_map(of).collect::<Vec<T>>();
        let some = |pe: usize| of(pe, (pe + len) % 4);
        assert_eq!(world.collect(&some(me)[..]), all(&some));
        let mut into = of(9, len * n);
        world.fcollect(&of(me, len)[..], &mut into);
        assert_eq!(into, all(&|pe| of(pe, len)));
        assert_eq!(world.broadcast(of(me, len), world.pes()[len]), of(len, len));
        world.alltoall(&of(me, len * n), &mut into);
        assert_eq!(into, all(&|pe| of(pe, len * n)[me * len..][..len].to_vec()));
        world.alltoalls(&of(me, len * n * 2), 2, &mut into, 1, len);
        assert_eq!(
            into,
            all(&|pe| of(pe, len * n * 2).into_iter().step_by(2).skip(me * len).take(len).collect())
        );
    }
}

#[shmem::test(pes = 4)]
fn items_of_no_bytes_and_slices_of_no_items_count_as_others(world: &mut World) {
    move_all(world, |_, _| [0_u64; 0]);
    move_all(world, |pe, k| [pe as u64, k as u64, 1 << 50]);
    // Numbers of which there are none.
    let (mut none, mut rows) = ([0.5_f64; 0], [[0_u32; 0]; 3]);
    world.sum(&mut none);
    world.max(&mut rows);
    world.sum_inscan(none.as_mut_slice());
    world.sum_exscan(rows.as_mut_slice());
    assert_eq!(world.sum(world.my_pe()), 6, "all have met as often");
}

#[shmem::test(pes = 1)]
fn items_of_no_bytes_may_be_as_many_as_there_are_numbers(world: &mut World) {
    /// The standard library makes vectors of numbers, and of arrays of numbers, at once, and no others.
    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    struct Nothing([u64; 0]);

    let source = vec![[0_u64; 0]; usize::MAX];
    let mut into = source.clone();
    world.alltoalls(&source, 1, &mut into, 1, usize::MAX);
    world.alltoall(&source, &mut into);
    world.fcollect(&source[..], &mut into);
    world.broadcast(&mut into[..], world.me());
    let many: &[Nothing] = bytemuck::cast_slice(&source);
    assert_eq!(world.collect(many).len(), usize::MAX);
}
