//! The same buffers at the same distances, in many partitions and in one.

use std::cell::RefCell;
use std::hint::black_box;

use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::{Amo, Order, Raw, Rma};
use shmem_core::data::{PlainData, SymmetricData};
use shmem_core::object::{AtomicWord, SymAddr, SymBox};
use shmem_core::pe::Pe;

use super::buffers::addresses;
use super::{Buffers, Transfer, operations};
use crate::samples::{Samples, nanoseconds_each};
use crate::sequence::random_indices;

/// Random typed puts to [`Buffers`] of one element: apart, with together as the limit; nanoseconds for each.
pub fn typed<L: ThreadLevel, T: PlainData>(
    world: &World<L>,
    buffers: &mut Buffers<T>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    let value = T::zeroed();
    in_turn(world, buffers, repetitions, |boxes, sequence| typed_pass(world, boxes, sequence, pe, &value))
}

/// Random fetch-adds on [`Buffers`] of one word: apart, with together as the limit; nanoseconds for each.
pub fn fetch_add<L: ThreadLevel, W: AtomicWord<Value: From<u8>>>(
    world: &World<L>,
    buffers: &mut Buffers<W>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    in_turn(world, buffers, repetitions, |boxes, sequence| word_pass(world, boxes, sequence, pe))
}

/// Random untyped transfers to or from the whole of [`Buffers`]: apart, with together as the limit; nanoseconds
/// for each.
pub fn raw<L: ThreadLevel>(
    world: &World<L>,
    transfer: Transfer,
    buffers: &Buffers<u8>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    let bytes = buffers.apart[0].len();
    let count = operations(world, bytes);
    let sequence = random_indices(count, buffers.apart.len());
    let own = RefCell::new(vec![0_u8; bytes]);
    let (apart, together) = (addresses(world, &buffers.apart), addresses(world, &buffers.together));
    // Addresses are read where they lie: both layouts take turns at one place.
    let current = RefCell::new(apart.clone());
    let pass = |addresses: &[SymAddr]| {
        current.borrow_mut().copy_from_slice(addresses);
        let (current, own) = (current.borrow(), &mut *own.borrow_mut());
        nanoseconds_each(count, || raw_pass(world, transfer, &current, &sequence, pe, own))
    };
    Samples::alternate(repetitions, || pass(&apart), || pass(&together))
}

/// Passes over the handles of buffers, which lie at one place for both layouts.
fn in_turn<L: ThreadLevel, T: SymmetricData>(
    world: &World<L>,
    buffers: &mut Buffers<T>,
    repetitions: usize,
    pass: impl Fn(&[SymBox<[T]>], &[u8]),
) -> Samples {
    let count = operations(world, size_of::<T>());
    let sequence = random_indices(count, buffers.apart.len());
    let buffers = RefCell::new(buffers);
    let timed = || {
        let boxes = &buffers.borrow().apart;
        nanoseconds_each(count, || pass(boxes, &sequence))
    };
    let limit = || {
        buffers.borrow_mut().exchange();
        let time = timed();
        buffers.borrow_mut().exchange();
        time
    };
    Samples::alternate(repetitions, timed, limit)
}

// One function for both layouts: the same instructions at the same addresses.
#[inline(never)]
fn typed_pass<L: ThreadLevel, T: PlainData>(
    world: &World<L>,
    boxes: &[SymBox<[T]>],
    sequence: &[u8],
    pe: Pe,
    value: &T,
) {
    for &i in sequence {
        world.put(boxes[usize::from(i)].on(pe).index(0), black_box(value));
    }
    world.quiet();
}

#[inline(never)]
pub(super) fn word_pass<L: ThreadLevel, W: AtomicWord<Value: From<u8>>>(
    world: &World<L>,
    boxes: &[SymBox<[W]>],
    sequence: &[u8],
    pe: Pe,
) {
    for &i in sequence {
        black_box(world.fetch_add(boxes[usize::from(i)].on(pe).index(0), 1.into()));
    }
    world.quiet();
}

#[inline(never)]
pub(super) fn raw_pass<L: ThreadLevel>(
    world: &World<L>,
    transfer: Transfer,
    addresses: &[SymAddr],
    sequence: &[u8],
    pe: Pe,
    own: &mut [u8],
) {
    let addresses = sequence.iter().map(|&i| addresses[usize::from(i)]);
    match transfer {
        Transfer::Put => addresses.for_each(|to| world.putmem(to, black_box(own), pe)),
        Transfer::Get => addresses.for_each(|from| world.getmem(black_box(own), from, pe)),
    }
    world.quiet();
}
