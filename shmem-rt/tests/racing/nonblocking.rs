//! Transfers that go on: in scopes, with buffers of their own, from symmetric memory, and while nothing is called.

use shmem::array::Multi;
use shmem::prelude::*;
use shmem::thread::Private;
use shmem::{Pending, zeroed};

use crate::panics::{refused, said};

const N: usize = 1000;

#[symmetric]
static ROW: [u64; N];
#[symmetric(partition = "fast")]
static GRID: [[u32; 16]; 12];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static ARRIVED: Signal;
#[symmetric]
static LANDED: Signal;
#[symmetric]
static SEEN: u64;

#[shmem::test(pes = 3)]
fn what_a_scope_starts_is_complete_behind_it(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    let (me, from) = (world.my_pe() as u64, west.number() as u64);
    let source: Vec<u64> = (0..N as u64).map(|i| me * 10_000 + i).collect();
    let value = me + 7;
    world.scope(|s| {
        s.put(ROW.on(east).index(..500), &source[..500]);
        s.put(ROW.on(east).index(500), &value);
        s.p(ROW.on(east).index(501), me + 8);
        s.iput(ROW.on(east).index(502..), &source[502..], 2, 3, 10);
    });
    world.barrier_all();
    let (mut all, mut one, mut third) = ([0; N], 0, [0; 3]);
    world.scope(|s| {
        s.get(&mut all, ROW.on(world.me()));
        s.get(&mut one, ROW.on(east).index(500));
        s.iget(&mut third, ROW.on(west).index(..), 1, 100, 3);
    });
    for (i, found) in all.iter().enumerate() {
        let expected = match i {
            0..500 => from * 10_000 + i as u64,
            500 => from + 7,
            501 => from + 8,
            502..522 if i % 2 == 0 => from * 10_000 + 502 + (i as u64 - 502) / 2 * 3,
            _ => 0,
        };
        assert_eq!(*found, expected, "element {i}");
    }
    assert_eq!(one, me + 7);
    let beyond_west = (from + 2) % 3;
    assert_eq!(third, [0, 100, 200].map(|i| beyond_west * 10_000 + i));
}

#[shmem::test(pes = 2)]
fn a_signal_in_a_scope_follows_its_data(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let array = world.array([N]).storage(Multi).chunks(3).zeroed::<u64>().unwrap();
    for round in 1..=100 {
        let (row, more) = ([round; N], vec![round + 1; N]);
        world.scope(|s| {
            s.put_signal(ROW.on(other), &row, ARRIVED.on(other), SignalOp::Add(1));
            if round % 2 == 0 {
                s.put_signal(array.on(other), &more[..], ARRIVED.on(other), SignalOp::Add(1));
            }
        });
        if round % 2 == 1 {
            world.put_signal(array.on(other), &more[..], ARRIVED.on(other), SignalOp::Add(1));
        }
        ARRIVED.wait_until(world, eq(2 * round));
        let mut arrived = vec![0; N];
        world.get(&mut arrived[..], array.on(world.me()));
        assert!(ROW.here(world).load().iter().all(|found| *found == round) && arrived == more);
        world.scope(|s| {
            s.signal_add(ARRIVED.on(other), 0);
            if round == 100 {
                s.signal_set(ARRIVED.on(world.me()), 0);
            }
        });
        world.barrier_all();
    }
}

/// Who has put may be elsewhere: nobody but the library gets the signal on its way.
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

#[shmem::test(pes = 2)]
fn owned_buffers_come_back(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let me = world.my_pe() as u64;
    let mut source = Vec::with_capacity(2 * N);
    source.extend(std::iter::repeat_n(me + 1, N));
    let at = source.as_ptr();
    let put = world.put_owned(ROW.on(other).index(..), source);
    let source = put.wait();
    assert!((source.as_ptr(), source.len(), source.capacity()) == (at, N, 2 * N));
    world.barrier_all();
    let first = world.get_owned(vec![0_u64; 10].into_boxed_slice(), ROW.on(other).index(..10));
    let second = world.get_owned(vec![0_u64; 5], ROW.on(world.me()).index(N - 5..));
    assert_eq!((&first.wait()[..], second.wait()), (&[me + 1; 10][..], vec![2 - me; 5]));
    world.barrier_all();
    // Nobody waits: dropped, it is complete; forgotten, its buffer stays.
    drop(world.put_owned(ROW.on(other).index(..3), vec![70; 3]));
    std::mem::forget(world.put_owned(ROW.on(other).index(3..6), vec![80; 3]));
    world.barrier_all();
    assert_eq!(ROW.here(world).load()[..7], [70, 70, 70, 80, 80, 80, 2 - me]);
    refused! {
        drop::<Pending<'_, Vec<u64>>>(world.put_owned(ROW.on(other).index(..), vec![0; 999]))
            => "the place at ROW has 1000 elements, the local slice 999";
    }
    world.barrier_all();
}

/// The quiet of a scope happens when its body panics, too; the rest of the program goes on.
#[shmem::test(pes = 2)]
fn a_scope_that_panics_is_complete(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let mut into = [9; N];
    let source = [4; N];
    let message = said(|| {
        world.scope(|s| {
            s.put(ROW.on(other), &source);
            s.get(&mut into[..1], ROW.on(world.me()).index(..1));
            panic!("in the middle of a scope");
        })
    });
    assert_eq!(message, "in the middle of a scope");
    assert_ne!(into[0], 9, "the get is complete");
    let mut there = [0; N];
    world.get(&mut there, ROW.on(other));
    assert_eq!(there, source, "the put is complete");
    world.barrier_all();
}

/// What an exit destroys.
#[derive(Default)]
struct Lent {
    got: Vec<u64>,
    picked: Vec<u64>,
    strided: Vec<u64>,
    column: Vec<u32>,
    fetched: u64,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Self { got, picked, strided, column, fetched } = self;
        let all =
            (got[N - 1], picked[..] == [9, 0], strided[..] == [0, 3, 6], column[..] == [5; 12], *fetched);
        std::panic::catch_unwind(|| panic!("an exit has left {all:?}")).unwrap_err();
        // SAFETY: of this process nothing is needed any more.
        unsafe { libc::_exit(101) };
    }
}

#[shmem::test(pes = 2)]
#[should_panic(expected = "an exit has left (999, true, true, true, 77)")]
fn an_exit_inside_a_scope_completes_it_before_it_destroys(world: &mut World) {
    thread_local!(static LENT: std::cell::RefCell<Lent> = std::cell::RefCell::default());
    let other = world.pe(1 - world.my_pe()).unwrap();
    for k in 0..N {
        ROW.here(world).index(k).store(k as u64);
    }
    for row in 0..12 {
        GRID.here(world).index(row).index(3).store(5);
    }
    world.set(COUNT.on(world.me()), 77);
    world.barrier_all();
    if world.my_pe() == 0 {
        // Another scope was there before the thread-local was.
        world.scope(|_| ());
        LENT.with_borrow_mut(|lent| {
            let Lent { got, picked, strided, column, fetched } = lent;
            (*got, *picked, *strided, *column) = (vec![0; N], vec![0; 2], vec![0; 3], vec![0; 12]);
            world.scope(|s| {
                s.get(&mut got[..], ROW.on(other).index(..));
                s.gather(picked, ROW.on(other).at(&[9_u32, 0]));
                s.iget(strided, ROW.on(other).index(..), 1, 3, 3);
                strided!(s, column[..] = GRID@other[.., 3]);
                s.fetch(fetched, COUNT.on(other));
                std::process::exit(0)
            })
        })
    }
    world.barrier_all();
}
