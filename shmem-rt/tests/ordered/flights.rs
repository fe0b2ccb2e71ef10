//! Started (non-blocking) collectives.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::prelude::*;

use crate::collectives::play;
use crate::together::{BITS, EVENTS, EXACT, MOST, MOVES, TOTALS, What};

/// The collectives that can be started, and `sync`.
const STARTED: [&[What]; 5] = [EVENTS, MOVES, TOTALS, EXACT, BITS];

/// More bytes than the slots of started collectives have.
const LONG: usize = 3 * MOST;

#[symmetric]
static TABLE: [u64; 100];
#[symmetric]
static GO: Atomic<u64>;

#[shmem::test(pes = [1, 2, 3, 5])]
fn histories(world: &mut World) {
    play(world, &STARTED.concat(), 14 - 2 * world.n_pes() as u64, LONG);
}

fn histories_of_nodes(world: &World) {
    play(world, &STARTED.concat(), 5, LONG);
}

under! {
    histories_of_four_nodes: 4, histories_of_nodes, "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    histories_of_three_nodes_of_two: 6, histories_of_nodes,
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    who_waits_for_something_else_goes_on: 4, needed_while_it_waits, "SHMEM_STANDSTILL" = "1";
    // Without standstill detection, because that also wakes sleepers.
    who_is_counted_in_a_barrier_goes_on: 4, needed_while_it_waits,
        "SHMEM_BARRIER_ALGORITHM" = "counter", "SHMEM_STANDSTILL" = "0";
    // Loopback delivers puts late.
    a_barrier_of_two_nodes_orders_it_too: 4, barriers_order_what_was_done_before,
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
}

#[shmem::test(pes = 3)]
fn everything_that_blocking_ones_take_is_taken(world: &mut World) {
    let (me, last) = (world.my_pe(), world.pe(2).unwrap());
    let (mut array, mut list) = ([me as u32, 7], [me as i64; 3]);
    TABLE.here(world).store([me as u64; 100]);
    {
        let sum = world.start_sum(&mut array);
        let most = world.start_max(&mut list[1..]);
        let table = world.start_broadcast(&TABLE, last);
        let part = world.start_sum(TABLE.here(world).index(..10));
        // Results are written by `wait`.
        while !table.is_complete() || !part.is_complete() {}
        assert_eq!(TABLE.here(world).load(), [me as u64; 100]);
        table.wait();
        assert_eq!(TABLE.here(world).load(), [2; 100]);
        // Dropping a started collective also writes its result.
        drop((sum, most));
        part.wait();
    }
    assert_eq!((array, list), ([3, 21], [me as i64, 2, 2]));
    let table: [u64; 100] = TABLE.here(world).load();
    assert!(table[..10] == [3; 10] && table[10..] == [2; 90]);
    assert!(world.team().start_or(world, me == 1).wait() && !world.start_and(me == 1).wait());
    let both: [[u8; 2]; 2] = world.start_min([[me as u8, 9], [3, 4]]).wait();
    assert_eq!(both, [[0, 9], [3, 4]]);
    let (mut all, mut came) = (vec![0; 3], [0; 3]);
    world.start_fcollect(&me, &mut all).wait();
    world.start_alltoall(&[10 * me, 10 * me + 1, 10 * me + 2], &mut came).wait();
    assert_eq!((all, came), (vec![0, 1, 2], [me, 10 + me, 20 + me]));
}

pub(crate) fn of_all(world: &World) -> Team {
    world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap()
}

#[shmem::test(pes = 3)]
fn what_is_forgotten_goes_on(world: &mut World) {
    let me = world.my_pe();
    for round in 0..20_u64 {
        // PE 0 starts in place, PE 1 by value, and both forget the request. PE 2 waits.
        let mut mine = vec![round; 3000];
        match me {
            0 => std::mem::forget(world.start_sum(&mut mine[..])),
            1 => std::mem::forget(world.start_sum(mine.clone())),
            _ => assert_eq!(world.start_sum(mine.clone()).wait(), [3 * round; 3000]),
        }
        assert_eq!(mine, [round; 3000]);
        drop(mine);
        world.local(&TABLE, |table| table.fill(round));
    }
    // Started collectives of a team outlive the team.
    for round in 0..100 {
        let team = of_all(world);
        std::mem::forget(team.start_sum(world, vec![1_u32; 2000]));
        assert_eq!(team.start_sum(world, 1).wait(), 3);
        if round % 2 == 0 {
            team.destroy(world).unwrap();
        }
    }
    // The program ends while this collective is in flight.
    std::mem::forget(world.start_sum(vec![1_u32; 20_000]));
}

#[shmem::test(pes = 3)]
fn a_panic_that_unwinds_waits_for_nobody(world: &mut World) {
    let me = world.my_pe();
    let world = &*world;
    for round in 1..=20 {
        // The other PEs start the collective after PE 1 has unwound.
        if me != 1 {
            GO.wait_until(world, eq(round));
        }
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _sum = world.start_sum(vec![me; 1000]);
            let _met = world.start_barrier();
            if me == 1 {
                std::panic::resume_unwind(Box::new(()));
            }
        }));
        assert_eq!(unwound.is_err(), me == 1);
        if me == 1 {
            world.pes().iter().for_each(|pe| world.set(GO.on(pe), round));
        }
        assert_eq!(world.start_sum(1).wait(), 3);
    }
}

#[shmem::test(pes = 2)]
fn no_start_waits_for_the_first_of_another_team(world: &mut World) {
    let (one, other) = (of_all(world), of_all(world));
    // PEs start in different orders.
    let mut in_order = [(&one, 1), (&other, 2)];
    in_order.rotate_left(world.my_pe());
    let both = in_order.map(|(team, number)| team.start_sum(world, number));
    assert_eq!(both.map(|sum| sum.wait()).into_iter().sum::<i32>(), 6);
}

/// PEs make progress on started collectives while they sleep in another wait.
fn needed_while_it_waits(world: &World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let pair = world.team().split_by(world, Some(u64::from(me == 0)), 0, &TeamConfig::default());
    let pair = pair.unwrap().unwrap();
    for round in 1..=10_u64 {
        let sum = world.start_sum(vec![round; 50_000]);
        if me == 0 {
            assert_eq!(sum.wait(), [round * pes as u64; 50_000]);
            for pe in world.pes().iter().skip(1) {
                world.set(GO.on(pe), round);
            }
        } else {
            // Some PEs wait for a word, the others in a barrier.
            if round % 2 == 0 || me == pes - 1 {
                GO.wait_until(world, eq(round));
            }
            pair.barrier(world);
            assert_eq!(sum.wait(), [round * pes as u64; 50_000]);
        }
    }
    world.barrier_all();
}

#[shmem::test(pes = 3)]
fn a_fifth_waits_for_the_first(world: &mut World) {
    let many: Vec<_> = (0..40_u64).map(|k| world.start_sum(vec![k; 100])).collect();
    // At most four are in flight at a time, so the first 36 are complete.
    assert!(many.iter().take(36).all(|one| one.is_complete()));
    for (k, one) in many.into_iter().enumerate().rev() {
        assert_eq!(one.wait(), [3 * k as u64; 100]);
    }
}

/// Puts before the start of a barrier are visible when it is complete.
fn barriers_order_what_was_done_before(world: &World) {
    let (west, east) = world.ring_neighbours();
    for round in 1..=100 {
        world.put(TABLE.on(east), &[round + world.my_pe() as u64; 100]);
        world.start_barrier().wait();
        assert_eq!(TABLE.here(world).load(), [round + west.number() as u64; 100]);
        world.start_barrier().wait();
    }
}

#[shmem::test(pes = 4)]
fn a_barrier_orders_what_was_done_before(world: &mut World) {
    barriers_order_what_was_done_before(world);
}
