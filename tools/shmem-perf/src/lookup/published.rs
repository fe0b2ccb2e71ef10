//! Operations on buffers of random partitions, against those on one buffer.

use std::cell::RefCell;

use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::object::AtomicWord;
use shmem_core::pe::Pe;

use super::buffers::addresses;
use super::fair::{raw_pass, word_pass};
use super::{Buffers, Transfer, operations};
use crate::samples::{Samples, nanoseconds_each};
use crate::sequence::random_indices;

/// Transfers to or from the whole of a buffer of a random partition each, then a quiet. The limit is the same on the
/// buffer of partition 1 alone. Nanoseconds for each.
pub fn published<L: ThreadLevel>(
    world: &World<L>,
    transfer: Transfer,
    buffers: &Buffers<u8>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    let bytes = buffers.apart[0].len();
    let addresses = addresses(world, &buffers.apart);
    let own = RefCell::new(vec![1_u8; bytes]);
    against_one(operations(world, bytes), addresses.len(), repetitions, |sequence| {
        raw_pass(world, transfer, &addresses, sequence, pe, &mut own.borrow_mut());
    })
}

/// The same with fetch-adds, on buffers of one word.
pub fn published_fetch_add<L: ThreadLevel, W: AtomicWord<Value: From<u8>>>(
    world: &World<L>,
    buffers: &Buffers<W>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    let boxes = &buffers.apart;
    against_one(operations(world, size_of::<W>()), boxes.len(), repetitions, |sequence| {
        word_pass(world, boxes, sequence, pe);
    })
}

fn against_one(count: usize, n: usize, repetitions: usize, pass: impl Fn(&[u8])) -> Samples {
    let (random, one) = (random_indices(count, n), random_indices(count, 1));
    let timed = |sequence: &[u8]| nanoseconds_each(count, || pass(sequence));
    Samples::alternate(repetitions, || timed(&random), || timed(&one))
}
