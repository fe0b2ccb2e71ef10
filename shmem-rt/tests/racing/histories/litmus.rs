//! Litmus tests of fence, quiet and signals: small programs that run many times, and fail in a forbidden outcome.
//!
//! On a node, the hardware orders much (x86-64 does not reorder stores). The loopback transport delivers in any order that the
//! rules allow. There, each test fails without its fence, its quiet or the order of its signal (`ci/mutants.sh`).

use shmem::prelude::*;
use shmem::thread::Private;
use shmem::{Ctx, Stores};
use shmem_core::system_area::monotonic_now;

use crate::held::is_loopback;

const N: usize = 64;

#[symmetric]
static DATA: [u64; N];
#[symmetric]
static MORE: [u64; N];
#[symmetric]
static FLAG: Signal;
#[symmetric]
static ACKNOWLEDGED: Signal;
#[symmetric]
static WORDS: [[u64; 8]; 20_000];

/// Returns whether operations are loads and stores. Over other transports, each takes some microseconds.
fn is_in_memory() -> bool {
    std::env::var("SHMEM_TRANSPORT").map_or(true, |transport| transport == "shm")
}

fn rounds() -> u64 {
    if is_in_memory() { 5000 } else { 300 }
}

/// In each round, PE 0 sends data and a flag through the world and a context. If PE 1 sees the flag, it must see all data.
fn message(world: &World, send: impl Fn(&World, &Ctx<'_, Private>, Pe, u64)) {
    let (sender, receiver) = (world.pe(0).unwrap(), world.pe(1).unwrap());
    let context = world.create_ctx::<Private>().unwrap();
    let ctx = context.bind(world);
    for round in 1..=rounds() {
        if world.my_pe() == 0 {
            send(world, &ctx, receiver, round);
            ACKNOWLEDGED.wait_until(world, eq(round));
        } else {
            FLAG.wait_until(world, eq(round));
            for object in [&DATA, &MORE] {
                let seen = object.here(world).load();
                assert_eq!(seen, [round; N], "the flag has overtaken the data");
            }
            world.signal_set(ACKNOWLEDGED.on(sender), round);
        }
    }
    world.barrier_all();
}

/// Puts all data of a round.
fn put_both(token: &dyn Stores, to: Pe, round: u64) {
    token.put(DATA.on(to), &[round; N]);
    token.put(MORE.on(to), &[round; N]);
}

/// Defines tests by [`message`]. Each has the operations of a round.
macro_rules! messages {
    ($(fn $name:ident($($given:pat_param),*) $send:block)*) => {$(
        #[shmem::test(pes = 2)]
        fn $name(world: &mut World) {
            message(world, |$($given),*| $send);
        }
    )*};
}
messages! {
    fn put_fence_flag(world, _, to, round) {
        put_both(world, to, round);
        world.fence();
        world.signal_set(FLAG.on(to), round);
    }
    fn put_fence_flag_in_a_scope(world, _, to, round) {
        let row = [round; N];
        world.scope(|s| {
            s.put(DATA.on(to), &row);
            strided!(s, MORE@to[..; 2] = row[..; 2]);
            strided!(s, MORE@to[1..; 2] = row[1..; 2]);
            world.fence();
            world.signal_set(FLAG.on(to), round);
            // Without this wait, the end of the scope would deliver the put.
            ACKNOWLEDGED.wait_until(world, eq(round));
        });
    }
    fn put_fence_put_with_signal(world, _, to, round) {
        world.put(MORE.on(to), &[round; N]);
        world.fence();
        world.put_signal(DATA.on(to), &[round; N], FLAG.on(to), SignalOp::Set(round));
    }
    fn put_fence_put_with_signal_in_a_scope(world, _, to, round) {
        let row = [round; N];
        world.scope(|s| {
            s.put(MORE.on(to), &row);
            world.fence();
            s.put_signal(DATA.on(to), &row, FLAG.on(to), SignalOp::Add(1));
            ACKNOWLEDGED.wait_until(world, eq(round));
        });
    }
    // The flag is sent through another stream than the data are.
    fn put_quiet_flag_across_contexts(world, ctx, to, round) {
        put_both(ctx, to, round);
        ctx.quiet();
        world.signal_set(FLAG.on(to), round);
    }
    fn put_quiet_of_one_pe_flag_across_contexts(world, ctx, to, round) {
        put_both(ctx, to, round);
        ctx.quiet_pe(to);
        world.signal_set(FLAG.on(to), round);
    }
    fn scope_flag_across_contexts(world, ctx, to, round) {
        let row = [round; N];
        ctx.scope(|s| {
            s.put(DATA.on(to), &row);
            s.put(MORE.on(to), &row);
        });
        world.signal_set(FLAG.on(to), round);
    }
}

/// A PE sets a signal while another PE adds to it. Each addition is part of the final value, or was overwritten.
#[shmem::test(pes = 2)]
fn a_signal_is_set_while_somebody_adds_to_it(world: &mut World) {
    const ADDITIONS: u64 = 20;
    let word = FLAG.on(world.pe(0).unwrap());
    for round in 1..=rounds() / 10 {
        let base = round * 1000;
        if world.my_pe() == 0 {
            world.signal_set(word, base);
        } else {
            let mut last = None;
            for _ in 0..ADDITIONS {
                world.signal_add(word, 1);
                world.quiet();
                let seen = world.signal_fetch(word);
                let expected = last.map_or(base..=base + ADDITIONS, |last| last + 1..=last + 1);
                assert!(
                    seen < base && last.is_none() || expected.contains(&seen),
                    "{seen} in {round}, behind {last:?}"
                );
                last = last.or((seen >= base).then_some(seen)).map(|_| seen);
            }
        }
        world.barrier_all();
        let all = base..=base + ADDITIONS;
        assert!(all.contains(&world.signal_fetch(word)), "what was set in {round} is lost");
        world.barrier_all();
    }
}

/// PE 0 sends data, then a signal to PE 1. PE 1 sends a signal to PE 2. PE 2 must see the data.
#[shmem::test(pes = 3)]
fn quiet_is_visible_to_third_parties(world: &mut World) {
    let [first, second, third] = [0, 1, 2].map(|pe| world.pe(pe).unwrap());
    for round in 1..=rounds() / 3 {
        match world.my_pe() {
            0 => {
                world.put(DATA.on(third), &[round; N]);
                world.quiet();
                world.signal_set(FLAG.on(second), round);
                ACKNOWLEDGED.wait_until(world, eq(round));
            }
            1 => {
                FLAG.wait_until(world, eq(round));
                world.signal_set(FLAG.on(third), round);
            }
            _ => {
                FLAG.wait_until(world, eq(round));
                assert_eq!(DATA.here(world).load(), [round; N]);
                world.signal_set(ACKNOWLEDGED.on(first), round);
            }
        }
    }
    world.barrier_all();
}

/// One word counts puts of this node and of another node. When it has counted all, all data have arrived.
#[shmem::test(pes = 4, env("SHMRUN_HOSTS_AS" = "2x2"))]
fn puts_of_two_nodes_counted_in_one_word(world: &mut World) {
    let receiver = world.pe(0).unwrap();
    let me = world.my_pe();
    let senders = world.n_pes() as u64 - 1;
    for round in 1..=rounds() / 3 {
        if me > 0 {
            world.put(WORDS.on(receiver).index(me), &[round; 8]);
            world.fence();
            match me % 2 {
                0 => world.signal_add(FLAG.on(receiver), 1),
                _ => world.put_signal(MORE.on(receiver), &[round; N], FLAG.on(receiver), SignalOp::Add(1)),
            }
            ACKNOWLEDGED.wait_until(world, eq(round));
        } else {
            FLAG.wait_until(world, eq(round * senders));
            for sender in 1..world.n_pes() {
                let seen = WORDS.here(world).index(sender).load();
                assert_eq!(seen, [round; 8], "the count has overtaken the data of PE {sender}");
            }
            assert_eq!(MORE.here(world).load(), [round; N]);
            world.pes().iter().skip(1).for_each(|pe| world.signal_set(ACKNOWLEDGED.on(pe), round));
        }
    }
    world.barrier_all();
}

/// A stream neither orders nor completes operations of another stream. On a node, puts are complete when they return. Over
/// loopback, both effects occur.
#[shmem::test(pes = 2)]
fn streams_are_independent(world: &mut World) {
    let context = world.create_ctx::<Private>().unwrap();
    let ctx = context.bind(world);
    let (mut incomplete, mut overtaken) = (0, 0);
    let to = world.pe(1).unwrap();
    for round in 1..=rounds() {
        if world.my_pe() == 0 {
            // The quiet of another stream does not complete this put.
            world.put(DATA.on(to), &[round; N]);
            ctx.quiet();
            let mut seen = [0; N];
            ctx.get(&mut seen, DATA.on(to));
            incomplete += u32::from(seen != [round; N]);
            world.quiet();
            // The fences of both streams do not order this put before the flag.
            world.put(MORE.on(to), &[round; N]);
            world.fence();
            ctx.fence();
            ctx.signal_set(FLAG.on(to), round);
            ctx.quiet();
            world.get(&mut seen, MORE.on(to));
            overtaken += u32::from(seen != [round; N]);
            world.quiet();
        }
    }
    if world.my_pe() == 0 {
        let seen = (incomplete > 0, overtaken > 0);
        match to.on_node() {
            Some(_) => assert_eq!(seen, (false, false), "{incomplete}, {overtaken}"),
            None => assert!(seen == (true, true) || !is_loopback(), "{incomplete}, {overtaken}"),
        }
    }
    world.barrier_all();
}

/// Two PEs write, call quiet, and read each other's word. At least one must see the other's write (Dekker). Without the fence in
/// quiet, x86-64 may execute the load first, though seldom.
#[shmem::test(pes = 2)]
fn put_quiet_get_on_both_sides(world: &mut World) {
    let me = world.my_pe();
    let other = world.pe(1 - me).unwrap();
    let (rounds, slot) = if is_in_memory() { (20_000, 2000) } else { (300, 100_000) };
    let mut start = [if me == 0 { monotonic_now() + 5_000_000 } else { 0 }];
    world.max(&mut start);
    let mut found = vec![0; rounds];
    for (round, found) in found.iter_mut().enumerate() {
        let there = WORDS.on(other).index(round).index(me);
        let mine = WORDS.here(world).index(round).index(1 - me);
        // Loads the word into this core's cache, so that the other PE's store takes longer than the load.
        _ = mine.load();
        // Both PEs start by the clock, because a barrier would order them.
        while monotonic_now() < start[0] + round as u64 * slot {
            std::hint::spin_loop();
        }
        world.p(there, 1);
        world.quiet();
        *found = mine.load();
    }
    if let Some(both) = world.collect_to(&found, world.pe(0).unwrap()) {
        let (mine, others) = both.split_at(rounds);
        let neither = mine.iter().zip(others).filter(|pair| pair == &(&0, &0)).count();
        assert_eq!(neither, 0, "of {rounds} times, both have found nothing");
    }
    world.barrier_all();
}
