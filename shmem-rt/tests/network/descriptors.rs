//! Contexts where a process has few file descriptors.

use shmem::prelude::*;
use shmem::thread::{Multiple, Private};

/// Descriptors that are left to a PE after its start.
const LEFT: usize = 48;

#[symmetric]
static WORDS: [u64; LEFT];

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[shmem::test(
    pes = 2,
    env("SHMEM_TRANSPORT" = "ofi", "SHMEM_OFI_PROVIDER" = "tcp;ofi_rxm", "SHMEM_CONTEXT_MAPPING" = "context")
)]
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
        match world.create_ctx::<Private>() {
            Ok(context) => contexts.push(context),
            Err(error) => break error.to_string(),
        }
        assert!(contexts.len() < LEFT, "descriptors do not run out");
    };
    assert!(error.contains("raise the limit of open descriptors (ulimit -n)"), "{error}");
    assert!(contexts.len() > 1, "a context has no {LEFT} descriptors");
    world.barrier_all();
    // Those that are there have what their connections need, on both sides.
    for (number, context) in contexts.iter().enumerate() {
        let (ctx, word) = (context.bind(world), WORDS.on(other).index(number));
        ctx.p(word, 7 * number as u64);
        ctx.quiet();
        assert_eq!(ctx.g(word), 7 * number as u64);
    }
    world.barrier_all();
}
