//! First elements of arrays, written from the CPUs of each chunk's node.

use shmem_core::array::{ArrayRange, Chunking, StorageKind};
use shmem_core::shared;
use shmem_core::topology::Topology;
use shmem_launch::cpus;

/// Least bytes for which threads are started: starting a thread takes as long as writing these.
const ALONE: usize = 256 << 10;

/// Writes contiguous elements, given the number of the first in row-major order.
pub(super) type Written<'f, T> = dyn Fn(Slots<T>, usize) + Sync + 'f;

/// Contiguous elements to write. Other PEs could reach them by address, so there is no reference to them.
pub(super) struct Slots<T> {
    start: *mut T,
    count: usize,
}

impl<T> Slots<T> {
    pub(super) fn write_each(self, mut next: impl FnMut() -> T) {
        for i in 0..self.count {
            // SAFETY: `write_chunk` has made `self` of `count` aligned, writable slots.
            unsafe { shared::write(self.start.wrapping_add(i), next()) };
        }
    }
}

/// The memory of a new array on the calling PE, before any handle exists.
pub(super) struct Fresh<'a, const D: usize> {
    pub(super) chunking: &'a Chunking<D>,
    pub(super) kind: StorageKind,
    pub(super) parts: &'a [ArrayRange],
    /// The node of each chunk; empty: not known.
    pub(super) nodes: &'a [u32],
    /// Whether the memory is zero already.
    pub(super) zero: bool,
}

/// The start of the calling PE's slot.
#[derive(Clone, Copy)]
struct Mine(*mut u8);

// SAFETY: an address; the threads that get it write disjoint chunks (`write`).
unsafe impl Send for Mine {}
// SAFETY: an address; the threads that share it write disjoint chunks (`write`).
unsafe impl Sync for Mine {}

impl<const D: usize> Fresh<'_, D> {
    /// Writes the elements: `contents`, or zero bytes. If the array is large, one thread for each node writes its
    /// chunks, on the CPUs of the node.
    ///
    /// # Safety
    ///
    /// `mine` must be the start of the calling PE's slot, and the parts mapped there, aligned for `T`, of their sizes,
    /// and in no other use.
    pub(super) unsafe fn write<T>(
        &self,
        mine: *mut u8,
        contents: Option<&Written<'_, T>>,
        topology: &Topology,
    ) {
        if self.zero && contents.is_none() {
            return;
        }
        let mine = Mine(mine);
        let chunks = || 0..self.chunking.chunks();
        let mut homes = self.nodes.to_vec();
        homes.sort_unstable();
        homes.dedup();
        if homes.len() < 2 || self.chunking.len() * size_of::<T>() < ALONE {
            // SAFETY: the caller's promise, for each chunk once.
            chunks().for_each(|chunk| unsafe { self.write_chunk(mine, chunk, contents) });
            return;
        }
        std::thread::scope(|scope| {
            for home in homes {
                let own_cpus = topology.cpus_of(home);
                let own = chunks().filter(move |chunk| self.nodes[*chunk] == home);
                let again = own.clone();
                // SAFETY: the caller's promise, for each chunk once: it has one home.
                let work = move |chunk| unsafe { self.write_chunk(mine, chunk, contents) };
                let on_node = move || {
                    // Unbound, the thread runs anywhere: its pages are placed already.
                    _ = cpus::bind(&own_cpus);
                    own.for_each(work);
                };
                if std::thread::Builder::new().spawn_scoped(scope, on_node).is_err() {
                    // No thread: the calling one writes the chunks.
                    again.for_each(work);
                }
            }
        });
    }

    /// # Safety
    ///
    /// As [`write`](Self::write), for the elements of this chunk.
    unsafe fn write_chunk<T>(&self, mine: Mine, chunk: usize, contents: Option<&Written<'_, T>>) {
        let chunking = self.chunking;
        for (number, run) in chunking.runs(chunk).enumerate() {
            let (part, first) = match self.kind {
                StorageKind::Multi => (self.parts[chunk], number * run.len()),
                _ => (self.parts[0], run.start),
            };
            let to = mine.0.wrapping_add(part.offset).cast::<T>().wrapping_add(first);
            match contents {
                // SAFETY: the run is in the part (caller).
                None => unsafe { shared::zero(to.cast(), run.len() * size_of::<T>()) },
                Some(write) => write(Slots { start: to, count: run.len() }, run.start),
            }
        }
    }
}

/// The [`Written`] of a function of indices.
pub(super) fn from_indices<T, const D: usize>(
    shape: [usize; D],
    element: impl Fn([usize; D]) -> T + Sync,
) -> impl Fn(Slots<T>, usize) + Sync {
    move |run, first| {
        let mut index = position(shape, first);
        run.write_each(|| {
            let value = element(index);
            for d in (0..D).rev() {
                index[d] += 1;
                if index[d] < shape[d] {
                    break;
                }
                index[d] = 0;
            }
            value
        });
    }
}

/// The index of an element, by its number in row-major order.
#[inline(always)]
pub(super) fn position<const D: usize>(shape: [usize; D], mut number: usize) -> [usize; D] {
    let mut index = [0; D];
    for d in (1..D).rev() {
        (index[d], number) = (number % shape[d], number / shape[d]);
    }
    index[0] = number;
    index
}
