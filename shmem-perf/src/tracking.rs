//! What it costs to know that operations are complete.
//!
//! On a provider without a network, which does what the processor does for an operation and nothing of
//! what an interface does: it writes a descriptor, and copies what is too large for one. What is left is
//! the cost of the designs themselves.

use std::hint::black_box;
use std::sync::Arc;

use shmem_core::context::mapping::Design;
use shmem_core::context::tracking::{Descriptor, NullProvider, Stream, Unit};

use super::samples::{Samples, nanoseconds_each};

/// Sizes of operations, in bytes.
pub const SIZES: [usize; 6] = [8, 64, 512, 4 << 10, 64 << 10, 1 << 20];

/// The designs. The last one is what they are compared with.
pub const DESIGNS: [Design; 4] = [Design::Events, Design::Hybrid, Design::Domain, Design::Context];

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
    let streams = [design, Design::Context].map(|design| contexts(design, memory, bytes));
    let [cost, limit] = &streams;
    Samples::alternate(repetitions, || one(cost), || one(limit))
}

/// The contexts of one domain.
fn contexts(design: Design, memory: *mut u8, bytes: usize) -> Vec<Stream<NullProvider>> {
    let unit = || {
        // SAFETY: `measure` keeps the memory for longer and does not look at it.
        let provider = unsafe { NullProvider::new(memory, bytes) };
        // SAFETY: one thread measures.
        unsafe { Unit::unlocked(provider, design.tracking()) }
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
