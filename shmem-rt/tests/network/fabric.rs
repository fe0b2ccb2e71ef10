//! PEs that reach each other through libfabric, on one machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::ClockId;
use shmem::Context;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private};

#[symmetric]
static WORDS: [u64; 1 << 16];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static NARROW: Atomic<u32>;
#[symmetric]
static WORD: Atomic<u64>;

fn used() -> Duration {
    rustix::time::clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap()
}

#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "ofi"))]
fn a_pe_that_is_elsewhere_serves_the_others(world: &mut World) {
    let target = world.pe(1).unwrap();
    if world.my_pe() == 1 {
        // Makes no call of the library until the other PE is done.
        while WORDS.here(world).index(50).load() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    } else {
        for k in 0..50 {
            let word = WORDS.on(target).index(k as usize);
            world.p(word, k + 1);
            world.quiet();
            assert_eq!(world.g(word), k + 1);
            assert_eq!(world.fetch_add(COUNT.on(target), 3), 3 * k);
        }
        world.p(WORDS.on(target).index(50), 1);
    }
    world.barrier_all();
}

#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "ofi"))]
fn a_pe_that_waits_uses_no_core(world: &mut World) {
    const WAITED: Duration = Duration::from_secs(2);
    if world.my_pe() == 0 {
        WORD.wait_until(world, eq(1));
        std::thread::sleep(WAITED);
        world.set(COUNT.on(world.pe(1).unwrap()), 1);
    } else {
        std::thread::sleep(Duration::from_millis(300));
        let before = (Instant::now(), used());
        world.set(WORD.on(world.pe(0).unwrap()), 1);
        COUNT.wait_until(world, ge(1));
        let (waited, used) = (before.0.elapsed(), used() - before.1);
        assert!(waited >= WAITED, "it was woken by nobody: {waited:?}");
        // Spinning would use a large part of a core. Sleeping uses less than a hundredth.
        assert!(used < waited / 20, "{used:?} of the processor in {waited:?} of waiting");
    }
    world.barrier_all();
}

/// Threads share an endpoint. A quiet must not count completions of other threads.
#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "ofi"))]
fn quiet_waits_for_the_own_operations_among_those_of_others(world: &mut World<Multiple>) {
    const ROUNDS: u64 = 200;
    let (west, east) = world.ring_neighbours();
    let world = &*world;
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                world.p(WORDS.on(east).index(0), 1);
            }
        });
        for round in 1..=ROUNDS {
            let block = vec![round; 1024];
            world.put(WORDS.on(west).index(1..=1024), &block[..]);
            world.quiet();
            assert_eq!(
                world.g(WORDS.on(west).index(1024)),
                round,
                "quiet returned before the last word was there"
            );
        }
        stop.store(true, Ordering::Release);
    });
    world.barrier_all();
}

/// Runs one program with each way to track completions. (With each provider: `ci/fabric.sh`.)
macro_rules! mapped {
    ($($name:ident: $value:literal;)*) => {$(
        #[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "ofi", "SHMEM_CONTEXT_MAPPING" = $value))]
        fn $name(world: &mut World<Multiple>) {
            exchange(world);
        }
    )*};
}

mapped! {
    events: "events";
    hybrid: "hybrid";
    a_counter_of_the_domain: "domain";
    a_counter_of_the_context: "context";
}

/// Uses contexts of several domains, each on a thread of its own.
fn exchange(world: &mut World<Multiple>) {
    assert_eq!(world.resources().mapping.name(), std::env::var("SHMEM_CONTEXT_MAPPING").unwrap());
    let (world, me, other) = (&*world, world.my_pe() as u64, world.pe(1 - world.my_pe()).unwrap());
    let domains = world.domains::<Multiple>(2).unwrap();
    let contexts: Vec<Context<Multiple>> =
        (0..3).map(|number| domains[number % 2].create_ctx().unwrap()).collect();
    std::thread::scope(|scope| {
        for (number, context) in contexts.iter().enumerate() {
            scope.spawn(move || {
                let (ctx, from) = (context.bind(world), number * 20_000);
                ctx.put(WORDS.on(other).index(from..from + 10_000), &vec![me + 1; 10_000][..]);
                ctx.p(WORDS.on(other).index(from + 10_000), me + 1);
                ctx.add(COUNT.on(other), number as u64);
                ctx.inc(NARROW.on(other));
                ctx.quiet();
                assert_eq!(ctx.g(WORDS.on(other).index(from + 10_000)), me + 1);
                while ctx.compare_swap(WORD.on(other), number as u64, number as u64 + 1) != number as u64 {}
            });
        }
    });
    world.barrier_all();
    let here = world.me();
    let found = (world.fetch(COUNT.on(here)), world.fetch(NARROW.on(here)), world.fetch(WORD.on(here)));
    assert_eq!(found, (3, 3, 3));
    let mut all = vec![0; 50_000];
    WORDS.here(world).index(..50_000).copy_to(&mut all);
    let expected = |word: usize| if word % 20_000 <= 10_000 { 2 - me } else { 0 };
    assert!((0..50_000).all(|word| all[word] == expected(word)));
    world.barrier_all();
}

/// Time in which a job is stopped does not count for `SHMEM_TIMEOUT`.
#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "ofi", "SHMEM_TIMEOUT" = "3"))]
fn a_job_that_was_stopped_goes_on(world: &mut World) {
    let (begun, other) = (Instant::now(), world.pe(1).unwrap());
    let pid = u64::from(std::process::id());
    if world.my_pe() == 1 {
        world.set(COUNT.on(world.pe(0).unwrap()), pid);
    } else {
        COUNT.wait_until(world, gt(0));
        // PE 1 is stopped first, so that operations are in flight when this PE is stopped.
        let theirs = world.fetch(COUNT.on(world.me()));
        let script =
            format!("kill -STOP {theirs}; sleep 0.2; kill -STOP {pid}; sleep 3.2; kill -CONT {pid} {theirs}");
        let mut child = std::process::Command::new("sh").args(["-c", &script]).spawn().unwrap();
        while begun.elapsed() < Duration::from_millis(3200) {
            world.p(WORDS.on(other).index(0), 1);
            world.quiet();
        }
        assert!(child.wait().unwrap().success());
    }
    world.barrier_all();
}

/// Number of descriptors that a PE may still open after its start.
const LEFT: usize = 48;

#[shmem::test(
    pes = 2,
    env("SHMEM_TRANSPORT" = "ofi", "SHMEM_OFI_PROVIDER" = "tcp;ofi_rxm", "SHMEM_CONTEXT_MAPPING" = "context")
)]
fn contexts_end_where_descriptors_do(world: &mut World<Multiple>) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    world.p(WORDS.on(other).index(0), 1);
    world.barrier_all();
    let most = Some((std::fs::read_dir("/proc/self/fd").unwrap().count() + LEFT) as u64);
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let mut contexts = Vec::new();
    let error = loop {
        match world.create_ctx::<Private>() {
            Ok(context) => contexts.push(context),
            Err(error) => break error.to_string(),
        }
        assert!(contexts.len() < LEFT, "descriptors do not run out");
    };
    assert!(error.contains("raise the limit of open descriptors (ulimit -n)"), "{error}");
    assert!(contexts.len() > 1, "a context has no {LEFT} descriptors");
    world.barrier_all();
    // Each created context has got the descriptors for its connections, on both sides.
    for (number, context) in contexts.iter().enumerate() {
        let (ctx, word) = (context.bind(world), WORDS.on(other).index(number));
        ctx.p(word, 7 * number as u64);
        ctx.quiet();
        assert_eq!(ctx.g(word), 7 * number as u64);
    }
    world.barrier_all();
}
