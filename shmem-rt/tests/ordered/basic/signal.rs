//! Puts with a signal: a PE that sees the signal also sees the data.

use shmem::prelude::*;

use crate::panics::refused;

const ROUNDS: u64 = 2000;

#[symmetric]
static ROW: [u64; 64];
#[symmetric]
static VALUE: u64;
#[symmetric(partition = "fast")]
static ROWS: Signal;
#[symmetric]
static VALUES: Signal;
#[symmetric]
static CONSUMED: Signal;

/// Each round overwrites the data of the round before, and checks all data.
#[shmem::test(pes = 2)]
fn whoever_sees_the_signal_sees_the_data(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    for round in 1..=ROUNDS {
        let len = 1 + (round % 64) as usize;
        let sent: Vec<u64> = (0..len as u64).map(|i| round * 100 + i).collect();
        if world.my_pe() == 0 {
            world.put_signal(ROW.on(other).index(..len), &sent, ROWS.on(other), SignalOp::Add(1));
            world.put_signal(VALUE.on(other), &round, VALUES.on(other), SignalOp::Set(3 * round));
            CONSUMED.wait_until(world, eq(round));
        } else {
            assert_eq!(ROWS.wait_until(world, ge(round)), round);
            let mut row = vec![0; len];
            ROW.here(world).index(..len).copy_to(&mut row);
            assert_eq!(row, sent, "round {round}");
            VALUES.wait_until(world, eq(3 * round));
            assert_eq!(VALUE.here(world).load(), round);
            world.put_signal(ROW.on(other).index(..0), &[], CONSUMED.on(other), SignalOp::Set(round));
        }
    }
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn what_does_not_go_with_the_data_is_refused(world: &mut World) {
    let (here, other) = (world.pe(0).unwrap(), world.pe(1).unwrap());
    refused! {
        world.put_signal(VALUE.on(other), &1, ROWS.on(here), SignalOp::Set(1))
            => "the place is on PE 1 and the signal on PE 0; a signal follows data on the same PE";
        world.put_signal(ROW.on(here).index(..), &[0; 63], ROWS.on(here), SignalOp::Set(1))
            => "the place at ROW has 64 elements, the local slice 63";
    }
}
