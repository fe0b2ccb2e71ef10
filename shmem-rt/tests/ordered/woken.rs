//! Who sleeps until something comes is woken by whatever brings it.

use shmem::prelude::*;

use crate::pes;

#[symmetric]
static COUNTS: [Atomic<u32>; 8];
#[symmetric]
static ENERGY: Atomic<f32>;
#[symmetric]
static NUMBERS: [Atomic<i32>; 64];
#[symmetric]
static TAKEN: Signal;

/// PE 1 goes to where it waits; PE 0 does what wakes it when it sleeps.
macro_rules! woken {
    ($world:ident: $($waits:expr => $does:expr;)*) => {$(
        match $world.ring_neighbours() {
            (other, _) if $world.my_pe() == 0 => {
                pes::wait_for($world, other);
                $does;
                $world.quiet();
            }
            (other, _) => {
                pes::go($world, other);
                $waits;
            }
        }
        $world.barrier_all();
    )*};
}

#[shmem::test(pes = 2)]
fn who_waits_for_words_is_woken_by_operations(world: &mut World) {
    let there = world.pes()[1];
    let (count, counts) = (COUNTS.here(world).index(5), COUNTS.over(world.team(), Block));
    let numbers: [i32; 64] = std::array::from_fn(|i| i as i32 + 1);
    woken! { world:
        count.wait_until(ge(2)) => world.add_each(counts.at(&[8_u32, 13, 13]), 1);
        count.wait_until(ge(102)) => world.add_each(COUNTS.on(there).at(&[5_usize; 100]), 1);
        count.wait_until(ge(103)) => world.fetch_add_each(&mut [0; 2], COUNTS.on(there).at(&[1_u64, 5]), 1);
        ENERGY.wait_until(world, le(-1.25)) => (0..5).for_each(|_| world.add(ENERGY.on(there), -0.25));
        assert_eq!(ENERGY.wait_until(world, lt(-1.5)), -2.5) => world.set_min(ENERGY.on(there), -2.5);
        NUMBERS.here(world).wait_until_all(ne(0)) => world.set_all(NUMBERS.on(there), &numbers);
    }
    assert!(world.my_pe() == 0 || NUMBERS.here(world).values() == numbers);
}

#[shmem::test(pes = 2)]
fn who_waits_for_messages_is_woken_by_them(world: &mut World) {
    let (me, there) = (world.my_pe() as u64, world.pes()[1]);
    // Of no bytes: the news of it is all there is.
    let mut channel = world.channel::<[u8; 0]>(3).unwrap();
    let mut queue = world.work_queue::<u64>(8).unwrap();
    for round in 1..=10 {
        let mut done = me;
        woken! { world:
            channel.recv(world) => channel.send(world, there, []);
            {
                assert!(queue.next(world).is_some());
                world.signal_set(TAKEN.on(world.pes()[0]), round);
            } => {
                (0..20).for_each(|item| queue.push(world, item));
                // With nothing but its own items it would wait here for ever.
                TAKEN.wait_until(world, ge(round));
            };
        }
        while queue.next(world).is_some() {
            done += 1;
        }
        assert_eq!(world.sum(done), 20);
    }
    assert_eq!(channel.next(world), None);
}
