//! Sessions: hints, which change neither results nor order.

use shmem::prelude::*;
use shmem::thread::{Multiple, NoStore, Private};
use shmem::{Ctx, Session, SessionOptions, Stores};
use static_assertions::{assert_impl_all, assert_not_impl_any};

const WORDS: usize = 64;

#[symmetric]
static TABLE: [Atomic<u64>; WORDS];
#[symmetric]
static CELL: [u64; WORDS];
#[symmetric]
static READY: Signal;

// Who may not share a token may not share its session.
assert_not_impl_any!(Session<'static, Ctx<'static, Private>>: Send, Sync);
assert_not_impl_any!(Session<'static, World>: Send, Sync);
assert_impl_all!(Session<'static, World<Multiple>>: Send, Sync);
// Who may not write may not write in a session.
assert_impl_all!(Session<'static, Ctx<'static, Private>>: Stores);
assert_not_impl_any!(Session<'static, Ctx<'static, NoStore<Private>>>: Stores);

/// The example of the specification: random updates of a table, in a batch.
#[shmem::test(pes = 3)]
fn a_batch_of_updates_loses_none(world: &mut World) {
    const UPDATES: usize = 600;
    let context = world.create_ctx::<Private>().unwrap();
    let ctx = context.bind(world);
    {
        let batch = ctx.session(SessionOptions::batch().total_ops(UPDATES));
        for i in 0..UPDATES {
            let pe = world.pe(i % world.n_pes()).unwrap();
            batch.add(TABLE.on(pe).index(i * 7 % WORDS), 1);
        }
        batch.quiet();
    }
    world.barrier_all();
    let mut mine = 0;
    for word in 0..WORDS {
        mine += world.fetch(TABLE.on(world.me()).index(word));
    }
    world.sum(&mut mine);
    assert_eq!(mine, (UPDATES * world.n_pes()) as u64);
}

#[shmem::test(pes = 2)]
fn order_is_kept_inside_sessions_and_across_their_ends(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    for round in 1..=200 {
        {
            let outer = world.session(SessionOptions::batch());
            outer.put(CELL.on(east).index(..32), &[round; 32][..]);
            let inner = outer.session(SessionOptions::default().total_ops(1));
            inner.put(CELL.on(east).index(32..), &[round; 32][..]);
            inner.fence();
        }
        world.signal_set(READY.on(east), round);
        READY.wait_until(world, ge(round));
        assert_eq!(CELL.here(world).load(), [round; WORDS], "PE {}", world.my_pe());
        world.barrier_all();
    }
}

#[shmem::test(pes = 2)]
fn a_phase_begins_when_sessions_are_over(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    for round in 1..=20 {
        world.session(SessionOptions::batch()).put(CELL.on(east), &[round; WORDS]);
        world.local(&CELL, |cell| assert_eq!(*cell, [round; WORDS]));
    }
}
