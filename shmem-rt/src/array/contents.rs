//! What an array begins as, written chunk by chunk from the CPUs of each chunk's node.

use shmem_core::array::{Chunking, Indices, Part, StorageKind};
use shmem_core::shared;
use shmem_core::topology::Topology;
use shmem_launch::cpus;

/// Bytes below which no threads are started: starting one takes about as long as writing these.
const ALONE: usize = 256 << 10;

/// The initial elements.
pub(super) enum Contents<'f, T> {
    /// Zero bytes.
    Zeroed,
    /// What this writes into neighbours in row-major order, given the number of the first.
    Written(&'f (dyn Fn(Slots<T>, usize) + Sync)),
}

/// Neighbours that are to be written. Other PEs could reach them by their addresses, so there is no
/// reference to them.
pub(super) struct Slots<T> {
    start: *mut T,
    count: usize,
}

impl<T> Slots<T> {
    /// Writes all, in order.
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
    pub(super) parts: &'a [Part],
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
    /// Writes the elements. Chunks of different nodes are written by different threads, each on the CPUs
    /// of its node, if the array is worth it.
    ///
    /// # Safety
    ///
    /// `mine` must be the start of the calling PE's slot, and the parts be mapped there, aligned for `T`,
    /// as large as they say, and known to nobody else.
    pub(super) unsafe fn write<T>(&self, mine: *mut u8, contents: &Contents<'_, T>, topology: &Topology) {
        if self.zero && matches!(contents, Contents::Zeroed) {
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
    unsafe fn write_chunk<T>(&self, mine: Mine, chunk: usize, contents: &Contents<'_, T>) {
        let chunking = self.chunking;
        for (number, run) in chunking.runs(chunk).enumerate() {
            let (part, first) = match self.kind {
                StorageKind::Multi => (self.parts[chunk], number * run.len()),
                _ => (self.parts[0], run.start),
            };
            let to = mine.0.wrapping_add(part.offset).cast::<T>().wrapping_add(first);
            match contents {
                // SAFETY: the run lies in the part (caller).
                Contents::Zeroed => unsafe { shared::zero(to.cast(), run.len() * size_of::<T>()) },
                Contents::Written(write) => write(Slots { start: to, count: run.len() }, run.start),
            }
        }
    }
}

/// What [`Contents::Written`] does for an array whose elements follow from their indices.
pub(super) fn from_indices<T, const D: usize>(
    shape: [usize; D],
    element: impl Fn([usize; D]) -> T + Sync,
) -> impl Fn(Slots<T>, usize) + Sync {
    move |run, first| {
        let mut indices = Indices::new(shape.map(|length| 0..length)).split_at(first).1;
        run.write_each(|| {
            let index = indices.next();
            element(index.unwrap_or_else(|| unreachable!("a run has elements of the array")))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_written_at_its_place_whatever_the_storage() {
        let chunking = Chunking::new([3, 11], 4);
        let expected = |[i, j]: [usize; 2]| (100 * i + j) as u64;
        let topology = Topology::default();
        for nodes in [&[][..], &[0, 1, 0, 1]] {
            for kind in StorageKind::ALL {
                let mut memory = vec![u64::MAX; 33 + 4];
                let mut offset = 8;
                let lens: Vec<usize> = match kind {
                    StorageKind::Multi => (0..4).map(|chunk| chunking.elements(chunk)).collect(),
                    _ => vec![33],
                };
                let part = |elements: usize| {
                    let part = Part { segment: 1, offset, elements };
                    offset += elements * 8;
                    part
                };
                let parts: Vec<_> = lens.into_iter().map(part).collect();
                let fresh = Fresh { chunking: &chunking, kind, parts: &parts, nodes, zero: false };
                let mine = memory.as_mut_ptr().cast();
                // SAFETY: the parts lie in the vector, behind the first element.
                unsafe { fresh.write(mine, &Contents::Written(&from_indices([3, 11], expected)), &topology) };
                let found: Vec<u64> = match kind {
                    StorageKind::Multi => {
                        let runs = (0..4).flat_map(|chunk| chunking.runs(chunk));
                        let mut at: Vec<_> = runs.flatten().zip(&memory[1..34]).collect();
                        at.sort_unstable();
                        at.into_iter().map(|(_, value)| *value).collect()
                    }
                    _ => memory[1..34].to_vec(),
                };
                let all: Vec<u64> = (0..33).map(|n| expected([n / 11, n % 11])).collect();
                assert_eq!(found, all, "{kind}");
                assert_eq!((memory[0], memory[34]), (u64::MAX, u64::MAX));
            }
        }
    }
}
