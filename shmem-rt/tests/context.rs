//! Contexts: streams of their own, for threads of their own.

use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};

#[symmetric]
static CELLS: [[u64; 64]; 4];

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
    let context = world.create_ctx::<Private>().unwrap();
    context.bind(world).put(CELLS.on(east).index(1), &[7; 64]);
    std::mem::forget(context);
    world.local(&CELLS, |cells| assert_eq!(cells[1], [7; 64]));
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
