//! A context does not wait for what another one has started, though that is not to be had: between hosts of which
//! two cannot hear each other for a while (`ci/faults.sh`).

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shmem::prelude::*;
use shmem::thread::{Multiple, Private};

/// Variable with the directory of the network's switch.
const NETWORK: &str = "NETWORK";

/// Quiets of the context whose PE is within reach.
const QUIETS: u64 = 10;

/// How long the network is cut at least.
const CUT: Duration = Duration::from_millis(1500);

#[symmetric]
static WORDS: [u64; 2];

fn quiet_does_not_wait_for_another_context(world: &mut World<Multiple>) {
    let Some(network) = std::env::var_os(NETWORK) else {
        return println!("skipped: no network to cut ({NETWORK} is not set; see ci/faults.sh)");
    };
    if world.my_pe() == 0 {
        let (near, far) = (world.pe(1).unwrap(), world.pe(2).unwrap());
        let order = |order: &str| crate::switch::order(network.as_ref(), order);
        let (world, meet, is_over) = (&*world, &Barrier::new(2), &AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let context = world.create_ctx::<Private>().unwrap();
                let ctx = context.bind(world);
                // The connection is made by the first operation.
                ctx.p(WORDS.on(far).index(0), 1);
                ctx.quiet();
                meet.wait();
                meet.wait();
                ctx.p(WORDS.on(far).index(0), 2);
                ctx.quiet();
                is_over.store(true, Ordering::SeqCst);
            });
            let context = world.create_ctx::<Private>().unwrap();
            let ctx = context.bind(world);
            ctx.p(WORDS.on(near).index(1), 1);
            ctx.quiet();
            meet.wait();
            order("cut 1 3");
            meet.wait();
            // Would one of them wait for the other thread, it would wait for the network, which is there again only
            // behind all of them.
            for value in 2..2 + QUIETS {
                ctx.p(WORDS.on(near).index(1), value);
                ctx.quiet();
            }
            std::thread::sleep(CUT);
            let was_over = is_over.load(Ordering::SeqCst);
            // Before anything fails: the other thread must come to its end.
            order("heal");
            assert!(!was_over, "the network was not cut");
        });
        assert!(is_over.load(Ordering::SeqCst));
        assert_eq!(world.g(WORDS.on(far).index(0)), 2, "what was held up has come");
        assert_eq!(world.g(WORDS.on(near).index(1)), 1 + QUIETS);
    }
    world.barrier_all();
}

macro_rules! mappings {
    ($($name:ident: $mapping:literal;)*) => {$(
        #[shmem::test(pes = 3, env("SHMEM_CONTEXT_MAPPING" = $mapping))]
        fn $name(world: &mut World<Multiple>) {
            quiet_does_not_wait_for_another_context(world);
        }
    )*};
}
mappings! {
    an_endpoint_for_each: "context";
    events_of_each: "events";
    chosen: "auto";
}
