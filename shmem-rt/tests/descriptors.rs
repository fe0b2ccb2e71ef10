//! Contexts where a process has few file descriptors.

use shmem::prelude::*;
use shmem::thread::{Multiple, Private};

/// Descriptors that are left to a PE after its start.
const LEFT: usize = 64;

#[symmetric]
static WORDS: [u64; 512];

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "ofi", "SHMEM_CONTEXT_MAPPING" = "context"))]
fn contexts_end_where_descriptors_do(world: &mut World<Multiple>) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    world.p(WORDS.on(other).index(0), 1);
    world.barrier_all();
    let limit = (descriptors() + LEFT) as u64;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: a limit that is readable.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    let mut contexts = Vec::new();
    let error = loop {
        let before = descriptors();
        match world.create_ctx::<Private>() {
            Ok(context) => contexts.push(context),
            Err(error) => break error,
        }
        let made = descriptors();
        let number = contexts.len();
        let ctx = contexts[number - 1].bind(world);
        ctx.p(WORDS.on(other).index(number), number as u64);
        ctx.quiet();
        println!("PE {} {number}: {before} {made} {}", world.my_pe(), descriptors());
        assert!(number < 256, "descriptors do not run out");
    };
    println!("PE {}: {error}", world.my_pe());
    let error = error.to_string();
    assert!(error.contains("ulimit -n"), "{error}");
    world.barrier_all();
    // What is there goes on.
    for (number, context) in contexts.iter().enumerate() {
        let ctx = context.bind(world);
        ctx.p(WORDS.on(other).index(number + 1), 7 * number as u64);
        ctx.quiet();
        assert_eq!(ctx.g(WORDS.on(other).index(number + 1)), 7 * number as u64);
    }
    world.barrier_all();
}
