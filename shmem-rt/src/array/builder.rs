//! The builder of arrays: the program's requests, the choice of the storage, and the checks that all PEs request the same array.

use std::panic::Location;
use std::sync::Arc;

use shmem_core::array::{Chosen, Chunking, NumaArray, Storage, StorageKind, array_bytes};
use shmem_core::context::Initiator as _;
use shmem_core::heap::{HeapError, MAX_ALIGN};
use shmem_core::partition::{Declaration, Pages, Partition, default, show_size};
use shmem_core::symmetric_data::{PlainData, SymmetricData};

use super::construction::{Homes, Maker, Memory, is_elsewhere, strictness};
use super::first_elements::{self, Written, from_indices};
use crate::caller::at;
use crate::collective::Agreed;
use crate::error::Result;
use crate::group::{CallSignature, words_of};
use crate::nearest_memory::{memory_near, several};
use crate::thread::ThreadLevel;
use crate::world::World;

/// The description of an array, from [`World::array`]. [`zeroed`](Self::zeroed), [`filled`](Self::filled) and
/// [`from_fn`](Self::from_fn) make the array.
#[must_use = "an array is made by `zeroed`, `filled` or `from_fn`"]
pub struct ArrayBuilder<'w, L: ThreadLevel, const D: usize, S: Storage = Chosen> {
    world: &'w World<L>,
    shape: [usize; D],
    storage: S,
    kind: Option<StorageKind>,
    chunks: Option<usize>,
    partition: PartitionChoice,
}

/// The partition in which the array is allocated.
#[derive(Clone, Copy)]
enum PartitionChoice {
    Named(Declaration),
    Numbered(u32),
}

impl<L: ThreadLevel> World<L> {
    /// Begins an array of 1 to 3 dimensions. Each PE's copy is divided into chunks, which are on the PE's NUMA nodes.
    ///
    /// The default [storage](ArrayBuilder::storage) is the value of `SHMEM_ARRAY_STORAGE`. If this is not set, it is
    /// [`Single`](crate::array::Single) for an array in a file, or with less than a page per chunk; else
    /// [`Multi`](crate::array::Multi) on huge pages; else `Single` if the heap has enough free memory, and
    /// [`Separate`](crate::array::Separate) if not. The default number of [chunks](ArrayBuilder::chunks) is the number of NUMA
    /// nodes on which a PE has CPUs (the largest number of any PE), but at most the length of the longest dimension.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// use shmem::array::Multi;
    ///
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let a = world.array([1 << 20]).zeroed::<f64>()?;
    /// let b = world.array([1000, 500]).storage(Multi).chunks(4).filled(1.0)?;
    /// let c = world.array([1000]).partition::<fast>().from_fn(|[i]| i as f64)?;
    /// world.free(a)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: "NUMA-Aware Array Storage" (Chapel).
    pub fn array<const D: usize>(&self, shape: [usize; D]) -> ArrayBuilder<'_, L, D> {
        let partition = PartitionChoice::Named(default::DECLARATION);
        ArrayBuilder { world: self, shape, storage: Chosen, kind: None, chunks: None, partition }
    }
}

impl<'w, L: ThreadLevel, const D: usize, S: Storage> ArrayBuilder<'w, L, D, S> {
    /// Sets the storage, which becomes part of the array's type: [`Single`](crate::array::Single),
    /// [`Separate`](crate::array::Separate), [`Cyclic`](crate::array::Cyclic) or [`Multi`](crate::array::Multi).
    pub fn storage<N: Storage>(self, storage: N) -> ArrayBuilder<'w, L, D, N> {
        let Self { world, shape, kind, chunks, partition, .. } = self;
        ArrayBuilder { world, shape, storage, kind, chunks, partition }
    }

    /// Sets the number of chunks (at most 65536), which are placed on the nodes in turn.
    pub fn chunks(mut self, chunks: usize) -> Self {
        self.chunks = Some(chunks);
        self
    }

    /// Allocates memory of the partition's kind, policy and page size. With storage `Single`, it is in the partition's heap.
    pub fn partition<P: Partition>(mut self) -> Self {
        self.partition = PartitionChoice::Named(P::DECLARATION);
        self
    }

    /// As [`partition`](Self::partition), by the partition's ID.
    pub fn partition_id(mut self, id: u32) -> Self {
        self.partition = PartitionChoice::Numbered(id);
        self
    }

    /// Makes the array, zero-filled. Collective.
    ///
    /// # Errors
    ///
    /// If the shape has no elements, there are too many chunks, the block of a cyclic storage is not a multiple of the
    /// page size, the partition does not exist, or memory is short. The error is the same on every PE.
    #[track_caller]
    pub fn zeroed<T: SymmetricData>(self) -> Result<NumaArray<T, D, S>> {
        self.build(None)
    }

    /// Makes the array with `value` in each element. Collective.
    ///
    /// # Errors
    ///
    /// As [`zeroed`](Self::zeroed).
    #[track_caller]
    pub fn filled<T: PlainData>(self, value: T) -> Result<NumaArray<T, D, S>> {
        self.build(Some(&|run, _| run.write_each(|| value)))
    }

    /// Makes the array with `element(index)` in each element. Collective.
    ///
    /// # Errors
    ///
    /// As [`zeroed`](Self::zeroed).
    ///
    /// # Panics
    ///
    /// A panic inside `element` ends the job.
    #[track_caller]
    pub fn from_fn<T: SymmetricData>(self, element: impl Fn([usize; D]) -> T) -> Result<NumaArray<T, D, S>> {
        let written = from_indices(self.shape, element);
        self.build(Some(&written))
    }

    #[track_caller]
    fn build<T: SymmetricData>(self, contents: Option<&Written<'_, T>>) -> Result<NumaArray<T, D, S>> {
        let Self { world, shape, chunks, .. } = self;
        let (job, location) = (world.job(), Location::caller());
        let named = self.storage.kind().or(self.kind);
        let (element, align) = (size_of::<T>(), align_of::<T>());
        let dimensions = shape.map(|length| length.to_string()).join("x");
        let words: Vec<u64> = shape
            .iter()
            .chain([&element, &align, &chunks.map_or(0, |chunks| chunks.saturating_add(1))])
            .map(|&word| word as u64)
            .chain(words_of(&format!("{named:?} {}", self.partition)))
            .collect();
        let subject = || format!("{dimensions} x {}", show_size(element as u64));
        let signature = CallSignature::of_memory("array", &words, &subject);
        let agreed = world.team().agree_on(world.endpoint(), &signature);
        world.reclaim_for(&agreed);

        let homes = world.homes(&agreed);
        let bytes = array_bytes(&shape, element)?;
        let chunking = match chunks {
            Some(chunks) => Chunking::exactly(shape, chunks),
            None => Chunking::at_most(shape, homes.most),
        }?;
        if align > MAX_ALIGN {
            return Err(HeapError::Alignment { align }.into());
        }
        let (spec, segment, grant, page, huge) = {
            let partitions = job.memory.partitions.read();
            let at = match self.partition {
                PartitionChoice::Named(declaration) => {
                    partitions.table().position_of_name(declaration.name.as_str())?
                }
                PartitionChoice::Numbered(id) => partitions.table().position_of(id)?,
            };
            let each = partitions.grants()[at].values();
            let page = each.iter().map(|grant| grant.pgsize).max().unwrap_or(0);
            let huge = each.iter().any(|grant| grant.pages != Pages::Base);
            let grant = partitions.granted(at, world.my_pe()).clone();
            (partitions.table().specs()[at].clone(), partitions.segments()[at], grant, page, huge)
        };
        let named = named.or(job.settings.array_storage);
        let kind = named.unwrap_or_else(|| match spec.is_in_file() {
            true => StorageKind::Single,
            false => {
                let room = job.memory.ledger.lock().usage(segment).map_or(0, |usage| usage.largest_free);
                default_storage(bytes, chunking.chunks(), page as usize, huge, room)
            }
        });
        let nodes = homes.of_chunks(chunking.chunks());
        let placed = several(job.site.topology()) && !is_elsewhere(&spec);
        let kind_of_memory = spec.traits.kind.and(grant.kind);
        let from = nodes.iter().map_while(|home| memory_near(job.site.topology(), *home, kind_of_memory));
        let fill = |parts: &[_], zero| {
            if zero && contents.is_none() {
                return;
            }
            let writing = AbortOnPanic { world, location };
            // SAFETY: `fill`'s caller has just made `parts` in this PE's slot, aligned for elements, and unknown to other PEs.
            unsafe { first_elements::write(world.endpoint().mine(0), &chunking, kind, parts, contents) };
            std::mem::forget(writing);
        };
        let maker = Maker {
            job,
            agreed: &agreed,
            chunking: &chunking,
            element,
            align,
            homes: &homes,
            spec: &spec,
            segment,
            grant: &grant,
            page,
            huge,
            too_small: named.is_none() && is_small(bytes, chunking.chunks(), page as usize),
            what: format!("array of {dimensions} at {}", at(location)),
            location,
            nodes: if placed { from.collect() } else { Vec::new() },
            spread: strictness(&spec),
            kind: kind_of_memory,
            fill: &fill,
        };
        let memory = maker.make(kind)?;
        job.describe(&memory.ids, "array", true, location);
        let (Memory { kind, parts, ids }, released) = (memory, Arc::clone(&job.memory.released));
        // SAFETY: on every PE the ledger has reserved the parts under `ids`, until the handle queues `ids` in `released`. All PEs
        // have agreed that their parts are written. `kind` is the kind of `S`, or was chosen because `S` is `Chosen`.
        Ok(unsafe { NumaArray::__new(chunking, kind, parts, nodes, ids, released) })
    }
}

impl<L: ThreadLevel, const D: usize> ArrayBuilder<'_, L, D, Chosen> {
    /// Sets the storage at run time: the type of the array does not depend on it.
    pub fn storage_kind(mut self, kind: StorageKind) -> Self {
        self.kind = Some(kind);
        self
    }
}

impl std::fmt::Display for PartitionChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(declaration) => write!(f, "{}", declaration.name),
            Self::Numbered(id) => write!(f, "{id}"),
        }
    }
}

impl<L: ThreadLevel> World<L> {
    /// Returns the nodes of this PE, and the number of nodes for which arrays are laid out. The number is the same on all PEs.
    fn homes(&self, agreed: &Agreed<'_>) -> Homes {
        let job = self.job();
        let own = job.site.topology().homes();
        let most = *job.site.most_homes.get_or_init(|| {
            let mut most = (own.len() as u64).to_ne_bytes();
            agreed.reduce(&mut most, u64::max);
            u64::from_ne_bytes(most) as usize
        });
        Homes::new(own, most)
    }
}

/// A guard that ends the job when it is dropped by a panic of the program while first elements are written.
struct AbortOnPanic<'w, L: ThreadLevel> {
    world: &'w World<L>,
    location: &'static Location<'static>,
}

impl<L: ThreadLevel> Drop for AbortOnPanic<'_, L> {
    fn drop(&mut self) {
        let text = format!(
            "a panic in the first elements of the array at {} ends the job: other PEs make the same array",
            at(self.location)
        );
        self.world.job().abort(101, &text);
    }
}

fn is_small(bytes: usize, chunks: usize, page: usize) -> bool {
    bytes < chunks.saturating_mul(page)
}

/// Returns the default storage for `bytes` bytes in `chunks` chunks, if `room` contiguous bytes of the heap are free.
///
/// An array is in the heap if it fits, because making and freeing a segment costs ten to twenty times as much as a heap block. An
/// array of less than a page for each chunk is always in the heap, because it cannot be placed by pages. A larger array on huge
/// pages has a block of its own for each chunk (`Multi`), because huge pages cannot be split.
fn default_storage(bytes: usize, chunks: usize, page: usize, huge: bool, room: usize) -> StorageKind {
    // Up to a page each: alignment, the shift inside the first page (`page_owners::slide`), and rounding.
    let whole = bytes.saturating_add(3 * page);
    match () {
        () if is_small(bytes, chunks, page) => StorageKind::Single,
        () if huge => StorageKind::Multi,
        () if whole <= room => StorageKind::Single,
        () => StorageKind::Separate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_in_the_heap_where_it_has_room() {
        const M: usize = 1 << 20;
        assert_eq!(default_storage(2 * 4096 - 1, 2, 4096, false, 0), StorageKind::Single);
        assert_eq!(default_storage(64 * M - 12_288, 2, 4096, false, 64 * M), StorageKind::Single);
        assert_eq!(default_storage(64 * M - 12_287, 2, 4096, false, 64 * M), StorageKind::Separate);
        assert_eq!(default_storage(usize::MAX, 2, 4096, false, 64 * M), StorageKind::Separate);
        assert_eq!(default_storage(64 * M, 4, 2 * M, true, 256 * M), StorageKind::Multi);
        assert_eq!(default_storage(4 * M, 4, 2 * M, true, 256 * M), StorageKind::Single);
    }
}
