//! Collectives that are started and go on beside the program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::Started;
use shmem::prelude::*;

use crate::dice::Dice;
use crate::futures::block_on;
use crate::panics::said;
use crate::together::make::folded;

/// Numbers of a contribution: none, few, as many as fit some slots, and many more than fit all of them.
const LENGTHS: [usize; 9] = [0, 1, 2, 7, 100, 1000, 5000, 20_000, 70_000];

/// Most numbers of a contribution to an exchange, to which each member gives as many for each.
const MOST_EXCHANGED: usize = 10_000;

#[symmetric]
static TABLE: [u64; 100];
#[symmetric]
static GO: Atomic<u64>;

/// A number that shows whose it is, of what, and where it belongs.
fn number(seed: u64, pe: usize, k: usize) -> u64 {
    (seed << 40 ^ (pe as u64) << 32 ^ k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn numbers(seed: u64, pe: usize, len: usize) -> Vec<u64> {
    (0..len).map(|k| number(seed, pe, k)).collect()
}

/// Numbers whose sum depends on the order in which they are added.
fn doubles(seed: u64, pe: usize, len: usize) -> Vec<f64> {
    (0..len).map(|k| number(seed, pe, k) as f64 * 2.0_f64.powi(number(seed, k, pe) as i32 % 40)).collect()
}

/// What is under way.
trait UnderWay {
    fn is_complete(&self) -> bool;

    /// Waits for it, and says whether what has come of it is what must.
    fn wait(self: Box<Self>) -> bool;
}

/// What was started, and what sees whether its result is right.
struct Start<'w, R, C>(Started<'w, R>, C);

impl<R, C: FnOnce(R) -> bool> UnderWay for Start<'_, R, C> {
    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn wait(self: Box<Self>) -> bool {
        let Self(started, is_right) = *self;
        is_right(started.wait())
    }
}

/// Starts something that the dice say, the same on all members.
fn start<'w>(
    world: &'w World,
    (team, members): (&'w Team, &[usize]),
    object: &'w SymBox<[u64]>,
    dice: &mut Dice,
) -> (Box<dyn UnderWay + 'w>, String) {
    let (size, rank, me) = (members.len(), team.rank(), world.my_pe());
    let (kind, seed) = (dice.below(9), dice.below(1 << 20));
    let len = LENGTHS[dice.below(LENGTHS.len() as u64) as usize];
    let root = dice.below(size as u64) as usize;
    let each = len.min(MOST_EXCHANGED) / size;
    let into = object.here(world).index(..each * size);
    let has_come = move |expected: Vec<u64>| move |()| into.to_vec() == expected;
    let started: Box<dyn UnderWay + 'w> = match kind {
        0 => Box::new(Start(team.start_barrier(world), |()| true)),
        1 => {
            let data = numbers(seed, me, len).into_boxed_slice();
            let expected = numbers(seed, members[root], len);
            let started = team.start_broadcast(world, data, team.pes()[root]);
            Box::new(Start(started, move |found: Box<[u64]>| *found == expected[..]))
        }
        2..5 => {
            let data = numbers(seed, me, len);
            let (started, of): (_, fn(u64, u64) -> u64) = match kind {
                2 => (team.start_sum(world, data), u64::wrapping_add),
                3 => (team.start_min(world, data), u64::min),
                _ => (team.start_xor(world, data), |a, b| a ^ b),
            };
            let expected = folded(members.iter().map(|pe| numbers(seed, *pe, len)).collect(), of);
            Box::new(Start(started, move |found: Vec<u64>| found == expected))
        }
        5..7 => {
            let (started, of): (_, fn(f64, f64) -> f64) = match kind {
                5 => (team.start_sum(world, doubles(seed, me, len)), |a, b| a + b),
                _ => (team.start_prod(world, doubles(seed, me, len)), |a, b| a * b),
            };
            let expected = folded(members.iter().map(|pe| doubles(seed, *pe, len)).collect(), of);
            let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits);
            Box::new(Start(started, move |found| bits(found).eq(bits(expected))))
        }
        7 => {
            let source: Vec<u64> =
                members.iter().flat_map(|to| numbers(seed ^ *to as u64, me, each)).collect();
            let expected = members.iter().flat_map(|from| numbers(seed ^ me as u64, *from, each));
            let expected = has_come(expected.collect());
            Box::new(Start(team.start_alltoall(world, &source, into), expected))
        }
        _ => {
            let expected = has_come(members.iter().flat_map(|pe| numbers(seed, *pe, each)).collect());
            Box::new(Start(team.start_fcollect(world, &numbers(seed, me, each)[..], into), expected))
        }
    };
    (started, format!("kind {kind}, {len} numbers, rank {rank} of {size}, root {root}"))
}

/// Random starts on random teams, in the same order on all members, and waits in an order of each PE's own.
fn history(world: &World, seed: u64, steps: u64) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let config = TeamConfig::default();
    let split = |colour: usize, key: i64| {
        let team = world.team().split_by(world, Some(colour as u64), key, &config).unwrap().unwrap();
        let members: Vec<usize> = team.pes().iter().map(|pe| pe.number()).collect();
        (team, members)
    };
    let everyone = (0..pes).collect::<Vec<_>>();
    let others = [split(me % 2, 0), split(0, -(me as i64)), split(me / 2, (me * 7 % 5) as i64)];
    let object: SymBox<[u64]> = world.alloc(shmem::zeroed(MOST_EXCHANGED)).unwrap();
    // The order of waits is each PE's own.
    let (mut dice, mut own) = (Dice(seed), Dice(seed + 1 + me as u64));
    let mut under_way: Vec<(Box<dyn UnderWay + '_>, String)> = Vec::new();
    for step in 0..steps {
        let which = dice.below(4) as usize;
        let (team, members) = match which {
            0 => (world.team(), &everyone[..]),
            _ => (&others[which - 1].0, &others[which - 1].1[..]),
        };
        match dice.below(8) {
            0 => team.barrier(world),
            1 => {
                let (sum, bytes) = (team.sum(world, 1_u32), dice.below(100_000) as usize);
                assert_eq!(sum as usize, members.len());
                let most = team.max(world, vec![me as u8; bytes]);
                assert!(most.iter().all(|most| usize::from(*most) == *members.iter().max().unwrap()));
            }
            _ => {
                let mut dice = Dice(dice.0 ^ members[0] as u64);
                let (started, what) = start(world, (team, members), &object, &mut dice);
                under_way.push((started, format!("step {step} of {seed}: {what}")));
            }
        }
        while !under_way.is_empty() && own.below(3) == 0 {
            let (started, what) = under_way.remove(own.below(under_way.len() as u64) as usize);
            match own.below(4) {
                0 => while !started.is_complete() {},
                1 => _ = started.is_complete(),
                _ => {}
            }
            assert!(started.wait(), "{what}");
        }
    }
    under_way.into_iter().for_each(|(started, what)| assert!(started.wait(), "{what}"));
    world.barrier_all();
}

#[shmem::test(pes = [1, 2, 3, 5])]
fn histories(world: &mut World) {
    let pes = world.n_pes() as u64;
    (0..14 - 2 * pes).for_each(|seed| history(world, 100 * seed + pes, 40));
}

#[shmem::test(pes = 4, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn histories_of_four_nodes(world: &mut World) {
    (0..5).for_each(|seed| history(world, 19 + 100 * seed, 40));
}

#[shmem::test(pes = 6, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2"))]
fn histories_of_three_nodes_of_two(world: &mut World) {
    (0..5).for_each(|seed| history(world, 23 + 100 * seed, 40));
}

/// Groups of two, and of six, of which the last has five ranks: what is missing is dealt among these.
#[shmem::test(pes = 11)]
fn as_many_as_fill_no_groups(world: &mut World) {
    let me = world.my_pe();
    for len in [1, 300, 3000] {
        let expected = world.sum(doubles(3, me, len));
        let sum = world.start_sum(doubles(3, me, len)).wait();
        assert!(sum.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())), "{len}");
    }
}

#[shmem::test(pes = 3)]
fn everything_that_blocking_ones_take_is_taken(world: &mut World) {
    let (me, last) = (world.my_pe(), world.pe(2).unwrap());
    let mut array = [me as u32, 7];
    let mut list = [me as i64; 3];
    TABLE.here(world).store([me as u64; 100]);
    {
        let sum = world.start_sum(&mut array);
        let least = world.start_max(&mut list[1..]);
        let table = world.start_broadcast(&TABLE, last);
        let part = world.start_sum(TABLE.here(world).index(..10));
        // Nothing is written before it is waited for.
        while !table.is_complete() || !part.is_complete() {}
        assert_eq!(TABLE.here(world).load(), [me as u64; 100]);
        table.wait();
        assert_eq!(TABLE.here(world).load(), [2; 100]);
        // What is dropped is written as well.
        drop((sum, least));
        part.wait();
    }
    assert_eq!((array, &list[..]), ([3, 21], &[me as i64, 2, 2][..]));
    let table: [u64; 100] = TABLE.here(world).load();
    assert!(table[..10] == [3; 10] && table[10..] == [2; 90]);
    assert!(world.team().start_or(world, me == 1).wait());
    assert!(!world.start_and(me == 1).wait());
    let both: [[u8; 2]; 2] = world.start_min([[me as u8, 9], [3, 4]]).wait();
    assert_eq!(both, [[0, 9], [3, 4]]);
    let mut all = vec![0; 3];
    world.start_fcollect(&me, &mut all).wait();
    assert_eq!(all, [0, 1, 2]);
    let mut came = [0; 3];
    world.start_alltoall(&[10 * me, 10 * me + 1, 10 * me + 2], &mut came).wait();
    assert_eq!(came, [me, 10 + me, 20 + me]);
}

#[shmem::test(pes = 3)]
fn what_is_forgotten_goes_on(world: &mut World) {
    let me = world.my_pe();
    for round in 0..20_u64 {
        // In place, in an object, and a value, by different PEs.
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
    // Those of a team outlive it.
    for round in 0..100 {
        let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
        std::mem::forget(team.start_sum(world, vec![1_u32; 2000]));
        assert_eq!(team.start_sum(world, 1).wait(), 3);
        if round % 2 == 0 {
            team.destroy(world).unwrap();
        }
    }
    // And the last ones end with the program.
    std::mem::forget(world.start_sum(vec![1_u32; 20_000]));
}

#[shmem::test(pes = 3)]
fn a_panic_that_unwinds_waits_for_nobody(world: &mut World) {
    let me = world.my_pe();
    let world = &*world;
    for round in 1..=20 {
        // The others come to it when PE 1 has unwound.
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
    let me = world.my_pe();
    let team = || world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    let (one, other) = (team(), team());
    // Not in the same order: what is started blocks nobody.
    let both = if me == 0 {
        let first = one.start_sum(world, 1);
        (first, other.start_sum(world, 2))
    } else {
        let first = other.start_sum(world, 2);
        (one.start_sum(world, 1), first)
    };
    let (one, other) = both;
    assert_eq!(other.wait() + one.wait(), 6);
}

/// A PE is needed by others for what it has started, and waits for something else meanwhile, asleep.
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
            // For a word, and, all but the last, for the last in a barrier.
            if round % 2 == 0 || me == pes - 1 {
                GO.wait_until(world, eq(round));
            }
            pair.barrier(world);
            assert_eq!(sum.wait(), [round * pes as u64; 50_000]);
        }
    }
    world.barrier_all();
}

#[shmem::test(pes = 4)]
fn who_waits_for_something_else_goes_on(world: &mut World) {
    needed_while_it_waits(world);
}

/// Without the look at whether anybody can go on, which wakes who sleeps as well.
#[shmem::test(pes = 4, env("SHMEM_BARRIER_ALGORITHM" = "counter", "SHMEM_STANDSTILL" = "0"))]
fn who_is_counted_in_a_barrier_goes_on(world: &mut World) {
    needed_while_it_waits(world);
}

#[shmem::test(pes = 3)]
fn a_fifth_waits_for_the_first(world: &mut World) {
    let many: Vec<_> = (0..40_u64).map(|k| world.start_sum(vec![k; 100])).collect();
    // All but the last four are complete, since those behind them could be started.
    assert!(many.iter().take(36).all(|one| one.is_complete()));
    for (k, one) in many.into_iter().enumerate().rev() {
        assert_eq!(one.wait(), [3 * k as u64; 100]);
    }
}

#[shmem::test(pes = 3)]
fn results_are_awaited_by_the_least_of_executors(world: &mut World) {
    let me = world.my_pe() as u64;
    for round in 0..50 {
        let both = async {
            let (sum, most) = (world.start_sum(vec![round + me; 100]), world.start_max(me));
            world.start_barrier().await;
            (sum.await, most.await)
        };
        let ((sum, most), _) = block_on(both);
        assert_eq!((sum, most), (vec![3 * round + 3; 100], 2));
    }
}

#[shmem::test(pes = 2)]
fn a_result_is_given_once(world: &mut World) {
    let mut sum = world.start_sum(1);
    assert_eq!(block_on(&mut sum).0, 2);
    assert!(sum.is_complete());
    assert!(said(|| sum.wait()).contains("it is given once"));
}

/// What was done before a barrier was started is there when it is complete.
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

/// Where data are on their way until somebody waits for them.
#[shmem::test(pes = 4, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2"))]
fn a_barrier_of_two_nodes_orders_it_too(world: &mut World) {
    barriers_order_what_was_done_before(world);
}
