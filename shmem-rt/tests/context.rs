//! Contexts: streams of their own, for threads of their own.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use shmem::Context;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};

#[symmetric]
static CELLS: [[u64; 64]; 4];
#[symmetric]
static READY: Signal;

#[shmem::test(pes = 2)]
fn a_context_lives_across_phases(world: &mut World) {
    let context = world.create_ctx::<Private>().unwrap();
    for round in 1..=5 {
        let (_, east) = world.ring_neighbours();
        let ctx = context.bind(world);
        ctx.put(CELLS.on(east).index(0), &[round; 64]);
        ctx.quiet();
        world.local(&CELLS, |cells| assert_eq!(cells[0], [round; 64]));
    }
}

#[shmem::test(pes = 2)]
fn a_forgotten_context_is_quieted_by_a_phase(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    for round in 1..=50 {
        let context = world.create_ctx::<Private>().unwrap();
        context.bind(world).put(CELLS.on(east).index(1), &[round; 64]);
        std::mem::forget(context);
        world.local(&CELLS, |cells| assert_eq!(cells[1], [round; 64]));
    }
}

#[shmem::test(pes = 2)]
fn threads_with_their_own_contexts(world: &mut World<Multiple>) {
    let (west, east) = world.ring_neighbours();
    let world_ref = &*world;
    std::thread::scope(|scope| {
        for row in 0..4 {
            scope.spawn(move || {
                let context = world_ref.create_ctx::<Private>().unwrap();
                let ctx = context.bind(world_ref);
                for i in 0..64 {
                    ctx.p(
                        CELLS.on(east).index(row).index(i),
                        (row * 100 + i + 1000 * world_ref.my_pe()) as u64,
                    );
                }
            });
        }
    });
    world.barrier_all();
    for row in 0..4 {
        for i in 0..64 {
            let expected = (row * 100 + i + 1000 * west.number()) as u64;
            assert_eq!(CELLS.here(world).index(row).index(i).load(), expected);
        }
    }
}

#[shmem::test(pes = 1, env("SHMEM_MAX_RESOURCES" = "2"))]
fn a_limit_is_a_value_and_not_an_abort(world: &mut World<Multiple>) {
    // The world itself has one.
    let second = world.create_ctx::<Serialized>().unwrap();
    let error = world.create_ctx::<Multiple>().map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("2 of 2 endpoints are in use"), "{error}");
    drop(second);
    assert!(world.create_ctx::<Multiple>().is_ok());
}

#[shmem::test(pes = 1, env("SHMEM_TRANSPORT" = "loopback", "SHMEM_NPES" = "2"))]
fn a_context_serves_its_own_pe_only(world: &mut World<Multiple>) {
    // Each PE is a thread here, so a context can come to another PE, whose phases do not quiet it.
    static GIVEN: Mutex<Option<Context<Multiple>>> = Mutex::new(None);
    let (west, east) = world.ring_neighbours();
    assert_eq!((world.n_pes(), west), (2, east), "two threads");
    if world.my_pe() == 0 {
        *GIVEN.lock().unwrap() = Some(world.create_ctx().unwrap());
    }
    world.barrier_all();
    if world.my_pe() == 1 {
        let context = GIVEN.lock().unwrap().take().unwrap();
        let bound = std::panic::catch_unwind(AssertUnwindSafe(|| {
            context.bind(world).put(CELLS.on(east).index(0), &[9; 64]);
        }));
        let message = *bound.unwrap_err().downcast::<&str>().unwrap();
        assert!(message.contains("a context of another PE"), "{message}");
    }
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn a_second_thread_in_a_collective_is_refused(world: &mut World<Multiple>) {
    // The first thread is inside: PE 1 comes later. Whatever it does between its meetings is its own.
    let (world, me) = (&*world, world.my_pe());
    std::thread::scope(|scope| {
        if me == 1 {
            READY.wait_until(world, eq(1));
        }
        let first = scope.spawn(|| drop(world.alloc([0_u64; 8]).unwrap()));
        if me == 0 {
            std::thread::sleep(std::time::Duration::from_millis(200));
            let second = std::panic::catch_unwind(AssertUnwindSafe(|| world.sum(&mut [1_u64; 8])));
            let message = *second.unwrap_err().downcast::<String>().unwrap();
            assert!(message.contains("two threads of PE 0 are in collectives"), "{message}");
            world.signal_set(READY.on(world.pe(1).unwrap()), 1);
        }
        first.join().unwrap();
    });
    let mut sum = 1;
    world.sum(&mut sum);
    assert_eq!(sum, 2, "scratch and its steps are in order");
}
