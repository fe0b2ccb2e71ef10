//! Transfers of several parts, without further calls, and at an exit. (In scopes, and with owned buffers: random programs, and
//! `histories::litmus`.)

use shmem::array::Multi;
use shmem::prelude::*;
use shmem::thread::Private;
use shmem::zeroed;

const N: usize = 1000;

#[symmetric]
static ROW: [u64; N];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static ARRIVED: Signal;
#[symmetric]
static LANDED: Signal;
#[symmetric]
static SEEN: u64;

/// A put with a signal to an array in several parts, in a scope and outside.
#[shmem::test(pes = 2)]
fn a_signal_follows_all_pieces(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let array = world.array([N]).storage(Multi).chunks(3).zeroed::<u64>().unwrap();
    for round in 1..=100 {
        let (row, signal) = (vec![round; N], ARRIVED.on(other));
        match round % 2 {
            0 => world.scope(|s| s.put_signal(array.on(other), &row[..], signal, SignalOp::Add(1))),
            _ => world.put_signal(array.on(other), &row[..], signal, SignalOp::Add(1)),
        }
        ARRIVED.wait_until(world, eq(round));
        let mut arrived = vec![0; N];
        world.get(&mut arrived[..], array.on(world.me()));
        assert_eq!(arrived, row);
        world.barrier_all();
    }
}

/// The library sends the signal of a put although its PE makes no further call.
#[shmem::test(pes = 2)]
fn the_signal_leaves_without_a_call(world: &mut World) {
    const BYTES: usize = 200 << 10;
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
            // A load of this PE's own memory makes no progress.
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

/// Buffers that the exit of the process destroys.
#[derive(Default)]
struct Lent {
    got: Vec<u64>,
    strided: Vec<u64>,
    fetched: u64,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Self { got, strided, fetched } = self;
        let all = (got[N - 1], strided[..] == [0, 3, 6], *fetched);
        std::panic::catch_unwind(|| panic!("an exit has left {all:?}")).unwrap_err();
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(101) };
    }
}

#[shmem::test(pes = 2)]
#[should_panic(expected = "an exit has left (999, true, 77)")]
fn an_exit_inside_a_scope_completes_it_before_it_destroys(world: &mut World) {
    thread_local!(static LENT: std::cell::RefCell<Lent> = std::cell::RefCell::default());
    let other = world.pe(1 - world.my_pe()).unwrap();
    for k in 0..N {
        ROW.here(world).index(k).store(k as u64);
    }
    world.set(COUNT.on(world.me()), 77);
    world.barrier_all();
    if world.my_pe() == 0 {
        // A scope before the thread-local exists.
        world.scope(|_| ());
        LENT.with_borrow_mut(|lent| {
            let Lent { got, strided, fetched } = lent;
            (*got, *strided) = (vec![0; N], vec![0; 3]);
            world.scope(|s| {
                s.get(&mut got[..], ROW.on(other).index(..));
                strided!(s, strided[..] = ROW@other[..9; 3]);
                s.fetch(fetched, COUNT.on(other));
                std::process::exit(0)
            })
        })
    }
    world.barrier_all();
}
