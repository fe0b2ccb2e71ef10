//! A token goes round the ring, three times. Data first, then a signal that wakes its receiver:
//! what was put before the fence is there when the signal is.

use shmem::prelude::*;

const ROUNDS: u64 = 3;

/// How many PEs the token has passed.
#[symmetric]
static TOKEN: u64;

/// Counts the arrivals of the token at this PE.
#[symmetric]
static ARRIVED: Signal;

#[shmem::main]
fn main(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let pass_on = |token: u64| {
        world.p(TOKEN.on(east), token);
        world.fence();
        world.signal_add(ARRIVED.on(east), 1);
    };
    if world.my_pe() == 0 {
        pass_on(1);
    }
    for round in 1..=ROUNDS {
        ARRIVED.wait_until(world, ge(round));
        let token = TOKEN.here(world).load();
        if world.my_pe() != 0 || round != ROUNDS {
            pass_on(token + 1);
        } else {
            println!("the token passed {token} PEs");
        }
    }
}
