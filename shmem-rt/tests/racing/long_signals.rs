//! Puts of long data with a signal, by a PE that calls nothing of the library behind them.

use shmem::prelude::*;
use shmem::thread::Private;
use shmem::zeroed;

const BYTES: usize = 200 << 10;

#[symmetric]
static LANDED: Signal;
#[symmetric]
static SEEN: u64;

/// Who has put may be elsewhere: nobody but the library gets the signal on its way.
#[shmem::test(pes = 2)]
fn the_signal_leaves_without_a_call(world: &mut World) {
    let room = world.alloc(zeroed::<u8>(BYTES)).unwrap();
    let context = world.create_ctx::<Private>().unwrap();
    let other = world.pe(1 - world.my_pe()).unwrap();
    for round in 1..=4_u64 {
        let sent: Vec<u8> = (0..BYTES - 1).map(|i| (i ^ (i >> 7) ^ (round as usize * 29)) as u8).collect();
        let place = room.on(other).index(1..);
        if world.my_pe() == 0 {
            match round % 2 {
                0 => world.put_signal(place, &sent[..], LANDED.on(other), SignalOp::Set(round)),
                _ => context.bind(world).put_signal(place, &sent[..], LANDED.on(other), SignalOp::Set(round)),
            }
            // A load of this PE's own memory.
            while SEEN.here(world).load() != round {
                std::thread::yield_now();
            }
        } else {
            LANDED.wait_until(world, eq(round));
            let mut found = vec![0; BYTES - 1];
            room.here(world).index(1..).copy_to(&mut found);
            assert!(found == sent, "round {round}");
            world.p(SEEN.on(other), round);
            world.quiet();
        }
    }
    world.barrier_all();
}
