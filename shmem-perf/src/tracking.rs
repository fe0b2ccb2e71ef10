//! What it costs to know that operations are complete.
//!
//! On a provider without a network, which does what the processor does for an operation and nothing of
//! what an interface does: it writes a descriptor, and copies what is too large for one. What is left is
//! the cost of the designs themselves.

use std::hint::black_box;
use std::sync::Arc;

use shmem_core::context::mapping::Design;
use shmem_core::context::tracking::{Descriptor, NullProvider, Stream, Unit};

use super::baseline;
use super::rounds;
use super::samples::{Samples, nanoseconds_each};

/// Sizes of operations, in bytes.
pub const SIZES: [usize; 6] = [8, 64, 512, 4 << 10, 64 << 10, 1 << 20];

/// The designs. The last one is what they are compared with.
pub const DESIGNS: [Design; 4] = [Design::Events, Design::Hybrid, Design::Domain, Design::Context];

/// Numbers of domains that threads have, one each.
pub const DOMAINS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Sizes of their operations, in bytes.
pub const DOMAIN_SIZES: [usize; 3] = [8, 4 << 10, 64 << 10];

/// Bytes that a thread with a domain moves in one sample, at least, and batches of words.
const DOMAIN_BYTES: usize = if cfg!(debug_assertions) { 1 } else { 4 << 20 };
const DOMAIN_PASSES: usize = if cfg!(debug_assertions) { 1 } else { 64 };

/// Contexts of a domain, which are used in turn.
const CONTEXTS: usize = 4;

/// Operations of a context between two quiets.
const BATCH: usize = 64;

/// Operations of `bytes` bytes, each batch with the quiet of its context, against the same with a unit for each
/// context: nanoseconds for each operation.
pub fn operations(design: Design, bytes: usize, repetitions: usize) -> Samples {
    measure(design, bytes, BATCH, repetitions)
}

/// An operation of 8 bytes and the quiet of its context, against the same with a unit for each context:
/// nanoseconds for both.
pub fn quiet(design: Design, repetitions: usize) -> Samples {
    measure(design, 8, 1, repetitions)
}

fn measure(design: Design, bytes: usize, batch: usize, repetitions: usize) -> Samples {
    let mut memory = vec![1_u8; bytes];
    let source = vec![2_u8; bytes];
    let descriptor = Descriptor { pe: 1, segment: 1, offset: 0, source: source.as_ptr(), bytes };
    // Not more than some megabytes in one sample.
    let batch = batch.min(((1 << 23) / bytes / CONTEXTS).max(1));
    let rounds = ((1 << 22) / (bytes * batch * CONTEXTS)).clamp(1, 16_384 / batch / CONTEXTS);
    let one = |streams: &[Stream<NullProvider>]| {
        nanoseconds_each(rounds * CONTEXTS * batch, || {
            for _ in 0..rounds {
                for stream in streams {
                    for _ in 0..batch {
                        // SAFETY: the source lives longer than the streams, and the target is `memory`.
                        unsafe { stream.put(black_box(&descriptor)) };
                    }
                    stream.quiet();
                }
            }
        })
    };
    let memory = memory.as_mut_ptr();
    let streams = [design, Design::Context].map(|design| contexts(design, Lock::None, memory, bytes));
    let [cost, limit] = &streams;
    Samples::alternate(repetitions, || one(cost), || one(limit))
}

/// Operations of `bytes` bytes by as many threads as there are domains, each with a domain of its own whose
/// contexts any thread may use, and so with a lock. The limit is as many threads that store the same bytes to the
/// same memory: nanoseconds for each operation of a thread.
pub fn domains(design: Design, (domains, bytes): (usize, usize), repetitions: usize) -> Samples {
    let batch = BATCH.min(((1 << 20) / bytes / CONTEXTS).max(1));
    let operations = batch * CONTEXTS;
    let passes = (DOMAIN_BYTES / (bytes * operations)).clamp(1, DOMAIN_PASSES) as u64;
    rounds::in_turn(domains, (passes, operations), repetitions, |_, rounds| {
        let mut memory = vec![1_u64; bytes.div_ceil(8)];
        let source = vec![2_u8; bytes];
        let descriptor = Descriptor { pe: 1, segment: 1, offset: 0, source: source.as_ptr(), bytes };
        let memory = memory.as_mut_ptr();
        let streams = contexts(design, Lock::Held, memory.cast(), bytes);
        let cost = |_| {
            for stream in &streams {
                for _ in 0..batch {
                    // SAFETY: the source lives longer than the streams, and the target is `memory`.
                    unsafe { stream.put(black_box(&descriptor)) };
                }
                stream.quiet();
            }
        };
        let limit = |pass| {
            for _ in 0..operations {
                if bytes == 8 {
                    // SAFETY: aligned, and the thread's own; it lives for as long as the thread.
                    unsafe { memory.write_volatile(pass) };
                } else {
                    // SAFETY: as many bytes as the source, and no part of it.
                    unsafe { baseline::memcpy(black_box(memory).cast(), source.as_ptr(), bytes) };
                }
            }
        };
        rounds.run(cost, limit);
    })
}

/// Whether units have a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    Held,
    None,
}

/// The contexts of one domain.
fn contexts(design: Design, lock: Lock, memory: *mut u8, bytes: usize) -> Vec<Stream<NullProvider>> {
    let unit = || {
        // SAFETY: the callers keep the memory for longer, and use it in turn with this.
        let provider = unsafe { NullProvider::new(memory, bytes) };
        match lock {
            Lock::Held => Unit::locked(provider, design.tracking()),
            // SAFETY: one thread measures.
            Lock::None => unsafe { Unit::unlocked(provider, design.tracking()) },
        }
    };
    let open = |unit: &Arc<Unit<_>>| unit.open().unwrap_or_else(|| unreachable!("a unit has more streams"));
    match design {
        Design::Context | Design::Auto => (0..CONTEXTS).map(|_| open(&unit())).collect(),
        Design::Events | Design::Hybrid | Design::Domain => {
            let unit = unit();
            (0..CONTEXTS).map(|_| open(&unit)).collect()
        }
    }
}
