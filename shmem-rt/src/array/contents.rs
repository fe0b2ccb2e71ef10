//! What an array begins as, written chunk by chunk from the CPUs of each chunk's node.

use shmem_core::array::{ArrayRange, Chunking, StorageKind};
use shmem_core::shared;
use shmem_core::topology::Topology;
use shmem_launch::cpus;

/// Bytes below which no threads are started: starting one takes about as long as writing these.
const ALONE: usize = 256 << 10;

/// Writes initial elements into neighbours in row-major order, given the number of the first.
pub(super) type Written<'f, T> = dyn Fn(Slots<T>, usize) + Sync + 'f;

/// Neighbours that are to be written. Other PEs could reach them by their addresses, so there is no
/// reference to them.
pub(super) struct Slots<T> {
    start: *mut T,
    count: usize,
}

impl<T> Slots<T> {
    pub(super) fn write_each(self, mut next: impl FnMut() -> T) {
        for i in 0..self.count {
            // SAFETY: `write_chunk` made it of as many slots that are aligned and writable.
            unsafe { shared::write(self.start.wrapping_add(i), next()) };
        }
    }
}

/// An array's memory on the calling PE, before anybody knows of it.
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
    /// Writes the elements, zero bytes where nothing writes others. Chunks of different nodes are written by different threads, each on
    /// the CPUs of its node, if the array is worth it.
    ///
    /// # Safety
    ///
    /// `mine` must be the start of the calling PE's slot, and the parts be mapped there, aligned for `T`,
    /// as large as they say, and known to nobody else.
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
                    // Where that is not allowed it runs where it is: what it writes has its place already.
                    _ = cpus::bind(&own_cpus);
                    own.for_each(work);
                };
                if std::thread::Builder::new().spawn_scoped(scope, on_node).is_err() {
                    // No thread is to be had: this one does it.
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
                // SAFETY: the run lies in the part (caller).
                None => unsafe { shared::zero(to.cast(), run.len() * size_of::<T>()) },
                Some(write) => write(Slots { start: to, count: run.len() }, run.start),
            }
        }
    }
}

/// [`Written`] for an array whose elements follow from their indices.
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
