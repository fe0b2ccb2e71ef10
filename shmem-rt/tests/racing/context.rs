//! Contexts: limits, and threads in collectives. (Contexts with a common endpoint: random programs.)

use std::sync::mpsc::channel;

use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};
use shmem::{ContextError, ErrorKind};

use crate::panics::said;

#[symmetric]
static READY: Signal;

#[shmem::test(pes = 1, env("SHMEM_MAX_RESOURCES" = "2"))]
fn a_limit_is_a_value_and_not_an_abort(world: &mut World<Multiple>) {
    // The world itself uses one endpoint.
    let second = world.create_ctx::<Serialized>().unwrap();
    let error = world.create_ctx::<Private>().unwrap_err();
    let text = error.to_string();
    let expected = "a context of level Private cannot be created: 2 of 2 endpoints of this PE are in use; destroy one, raise \
                    SHMEM_MAX_RESOURCES, or share one with a lock by SHMEM_CONTEXT_SHARING=efficient";
    assert_eq!(text, expected);
    assert!(matches!(error.kind(), ErrorKind::Context(ContextError::Exhausted { used: 2, .. })));
    // Contexts for many threads share the world's endpoint, which has a lock.
    let shared = world.create_ctx::<Multiple>().unwrap();
    let grant = shared.grant();
    assert_eq!((grant.unit, grant.locked, grant.shared_with), (0, true, 1), "{grant}");
    drop(second);
    let third = world.create_ctx::<Private>().unwrap();
    assert_eq!((third.grant().unit, third.grant().locked), (1, false));
}

#[shmem::test(pes = 2)]
fn a_second_thread_in_a_collective_is_refused(world: &mut World<Multiple>) {
    // The first thread of PE 0 is inside a collective, which PE 1 joins later.
    let (world, me) = (&*world, world.my_pe());
    std::thread::scope(|scope| {
        if me == 1 {
            READY.wait_until(world, eq(1));
        }
        let (tells, told) = channel();
        let first = scope.spawn(move || {
            tells.send(crate::asleep::Thread::current()).unwrap();
            drop(world.alloc([0_u64; 8]).unwrap());
        });
        let first_thread = told.recv().unwrap();
        if me == 0 {
            first_thread.wait_until_asleep();
            let said = said(|| world.sum(&mut [1_u64; 8]));
            let parts = ["two threads of PE 0 are in collectives of one team", "mutex", "split_by"];
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
            assert_eq!(said.matches("context.rs:").count(), 2, "{said}");
            world.signal_set(READY.on(world.pe(1).unwrap()), 1);
        }
        first.join().unwrap();
    });
    let mut sum = 1;
    world.sum(&mut sum);
    assert_eq!(sum, 2, "scratch and its steps are in order");
}
