//! What the number of partitions costs.
//!
//! An implementation that looks for the segment of an address pays for every segment it has. To see
//! that and nothing else, the same buffers at the same distances are used twice: each in a
//! partition of its own, and all in one partition. Distances matter more than any lookup: buffers at
//! equal places of their pages meet in one cache set, wherever they came from.
//!
//! The published measurement compares one buffer per partition in 1, 7, 8 and 127 partitions. There
//! the number of buffers changes too, and with it what the caches do.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), section 5.

use std::cell::RefCell;
use std::hint::black_box;

use shmem_core::context::{Amo, Order, Raw, Rma};
use shmem_core::data::PlainData;
use shmem_core::object::{Atomic, SymAddr, SymBox};
use shmem_core::partition::PARTITION_VARIABLE;
use shmem_core::pe::Pe;

use super::samples::{Samples, nanoseconds_each};
use super::sequence::random_indices;
use shmem::Result;
use shmem::World;
use shmem::thread::ThreadLevel;
use shmem::zeroed;

/// Numbers of partitions that are compared with one.
pub const PARTITIONS: [usize; 3] = [7, 8, 127];

/// Sizes of the raw transfers, in bytes. The typed ones are `Typed`'s.
pub const SIZES: [usize; 5] = [1, 8, 64, 512, 4096];

/// Operations of the published measurement, before its quiet.
pub const PUBLISHED: usize = 10_000;

/// Operations in one sample of a size.
fn operations(bytes: usize) -> usize {
    if bytes > 512 { 2_000 } else { 20_000 }
}

/// Partitions start on multiples of it.
const REGION: usize = 2 << 20;

/// `T` in each of `n` partitions, and `n` times in one, at the same distances.
#[derive(Debug)]
pub struct Buffers<T: PlainData> {
    /// Each in a partition of its own.
    pub apart: Vec<SymBox<[T]>>,
    /// All in the last of these partitions.
    pub together: Vec<SymBox<[T]>>,
    between: Vec<SymAddr>,
}

/// The variables that give a job `n` partitions, with the IDs 1 to `n`, the last of which has room
/// for [`Buffers`]. Little is kept for later segments: the more there is, the further apart
/// partitions start.
pub fn variables(n: usize) -> Vec<(String, String)> {
    let size = |id| if id == n { 2 * REGION * (n + 2) } else { REGION / 2 };
    (1..=n)
        .map(|id| (format!("{PARTITION_VARIABLE}{id}"), format!("SIZE={}", size(id))))
        .chain([("SHMEM_LATER_SIZE".into(), "2M".into())])
        .collect()
}

impl<T: PlainData> Buffers<T> {
    /// Allocates them, in a job with the [`variables`] for `n`. All PEs call it.
    ///
    /// # Errors
    ///
    /// If the last partition has no room.
    ///
    /// # Panics
    ///
    /// If the buffers cannot be laid at the same distances, because the heaps are not empty.
    pub fn allocate<L: ThreadLevel>(world: &World<L>, n: usize) -> Result<Self> {
        let apart = (1..=n as u32)
            .map(|id| world.partition(id)?.alloc(zeroed::<T>(1)))
            .collect::<Result<Vec<_>>>()?;
        let heap = world.partition(n as u32)?;
        let room = size_of::<T>().next_multiple_of(shmem_core::heap::MIN_ALIGN);
        let first = apart[0].offset();
        let mut end = apart[n - 1].offset() + room;
        // The first one lies where the first one of the others does, as far as pages can tell.
        let start = end + (first.wrapping_sub(end) % REGION);
        let (mut together, mut between) = (Vec::new(), Vec::new());
        for other in &apart {
            let wanted = start + (other.offset() - first);
            if wanted > end {
                between.push(heap.malloc(wanted - end)?);
            }
            let buffer = heap.alloc(zeroed::<T>(1))?;
            assert_eq!(buffer.offset(), wanted, "the heap of the last partition was not empty");
            end = wanted + room;
            together.push(buffer);
        }
        Ok(Self { apart, together, between })
    }

    fn exchange(&mut self) {
        self.apart.swap_with_slice(&mut self.together);
    }

    /// Frees them. All PEs call it.
    ///
    /// # Errors
    ///
    /// If the job has freed one of them already.
    pub fn free<L: ThreadLevel>(self, world: &World<L>) -> Result<()> {
        self.apart.into_iter().chain(self.together).try_for_each(|buffer| world.free(buffer))?;
        self.between.into_iter().try_for_each(|block| world.free(block))
    }
}

/// Random typed puts to [`Buffers`]: apart, with together as the limit; nanoseconds for each.
pub fn typed<L: ThreadLevel, T: PlainData>(
    world: &World<L>,
    buffers: &mut Buffers<T>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    let count = operations(size_of::<T>());
    let sequence = random_indices(count, buffers.apart.len());
    let value = T::zeroed();
    let buffers = RefCell::new(buffers);
    let pass = || {
        let boxes = &buffers.borrow().apart;
        nanoseconds_each(count, || typed_pass(world, boxes, &sequence, pe, &value))
    };
    // Handles are read where they lie: both layouts take turns at one place.
    let limit = || {
        buffers.borrow_mut().exchange();
        let time = pass();
        buffers.borrow_mut().exchange();
        time
    };
    Samples::alternate(repetitions, pass, limit)
}

/// Random untyped puts to [`Buffers`]: apart, with together as the limit; nanoseconds for each.
pub fn raw<L: ThreadLevel, T: PlainData>(
    world: &World<L>,
    buffers: &Buffers<T>,
    pe: Pe,
    repetitions: usize,
) -> Samples {
    let count = operations(size_of::<T>());
    let sequence = random_indices(count, buffers.apart.len());
    let source = vec![0_u8; size_of::<T>()];
    let (apart, together) = (addresses(world, &buffers.apart), addresses(world, &buffers.together));
    // As above: both layouts take turns at one place.
    let current = RefCell::new(apart.clone());
    let pass = |addresses: &[SymAddr]| {
        current.borrow_mut().copy_from_slice(addresses);
        let current = current.borrow();
        nanoseconds_each(count, || raw_pass(world, &current, &sequence, pe, &source))
    };
    Samples::alternate(repetitions, || pass(&apart), || pass(&together))
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
}

#[inline(never)]
fn raw_pass<L: ThreadLevel>(world: &World<L>, addresses: &[SymAddr], sequence: &[u8], pe: Pe, source: &[u8]) {
    for &i in sequence {
        world.putmem(addresses[usize::from(i)], black_box(source), pe);
    }
}

/// The calling PE's addresses of objects.
fn addresses<L: ThreadLevel, T: PlainData>(world: &World<L>, boxes: &[SymBox<[T]>]) -> Vec<SymAddr> {
    boxes.iter().map(|buffer| buffer.here(world).addr()).collect()
}

/// An operation of the published measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `putmem`.
    Put,
    /// `getmem`.
    Get,
    /// `fetch_add`.
    FetchAdd,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Put, Self::Get, Self::FetchAdd];

    /// Its name in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::FetchAdd => "fetch-add",
        }
    }
}

/// The published measurement: [`PUBLISHED`] operations of 8 bytes on a buffer of a random partition
/// each, then a quiet. The limit is the same on the buffer of partition 1 alone. Nanoseconds for each
/// operation. All PEs call it; PE 0 measures.
///
/// # Errors
///
/// If a partition has no room for 8 bytes.
pub fn published<L: ThreadLevel>(
    world: &World<L>,
    partitions: usize,
    operation: Operation,
    pe: Pe,
    repetitions: usize,
) -> Result<Samples> {
    let words = (1..=partitions as u32)
        .map(|id| world.partition(id)?.alloc(zeroed::<Atomic<u64>>(1)))
        .collect::<Result<Vec<_>>>()?;
    let addresses: Vec<_> = words.iter().map(|word| word.here(world).addr()).collect();
    let pass = |n: usize| {
        let sequence = random_indices(PUBLISHED, n);
        nanoseconds_each(PUBLISHED, || published_pass(world, operation, &words, &addresses, &sequence, pe))
    };
    let samples = if world.my_pe() == 0 {
        Samples::alternate(repetitions, || pass(partitions), || pass(1))
    } else {
        Samples::new()
    };
    words.into_iter().try_for_each(|word| world.free(word))?;
    Ok(samples)
}

#[inline(never)]
fn published_pass<L: ThreadLevel>(
    world: &World<L>,
    operation: Operation,
    words: &[SymBox<[Atomic<u64>]>],
    addresses: &[SymAddr],
    sequence: &[u8],
    pe: Pe,
) {
    let mut bytes = [1; 8];
    let indices = sequence.iter().map(|&i| usize::from(i));
    match operation {
        Operation::Put => indices.for_each(|i| world.putmem(addresses[i], black_box(&bytes), pe)),
        Operation::Get => indices.for_each(|i| world.getmem(black_box(&mut bytes), addresses[i], pe)),
        Operation::FetchAdd => indices.for_each(|i| {
            black_box(world.fetch_add(words[i].on(pe).index(0), 1));
        }),
    }
    world.quiet();
}
