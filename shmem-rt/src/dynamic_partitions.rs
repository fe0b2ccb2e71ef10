//! Reports of partitions, and partitions that are made and dropped at run time: dynamic [segments](crate::dynamic_segments) with a
//! heap.

use std::panic::Location;

use shmem_core::context::Initiator as _;
use shmem_core::heap::{Allocator, statics};
use shmem_core::memory::Request;
use shmem_core::partition::{Grant, NewPartition, Origin, PartitionError, PartitionSpec, TraitError};
use shmem_core::run_length::EqualRun;
use shmem_core::segment_table::FIRST_DYNAMIC;
use shmem_core::text::{Text, counted};
use shmem_launch::codec;

use crate::dynamic_segments::{self, Wanted};
use crate::error::{Error, Result};
use crate::group::{CallSignature, words_of};
use crate::heap::Heap;
use crate::thread::ThreadLevel;
use crate::warnings;
use crate::world::World;

/// A partition of the job: its request, and the memory that each PE was granted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartitionReport {
    /// The requested traits of the partition.
    pub spec: PartitionSpec,
    /// The memory that was granted to each PE, by the PE's number.
    pub grants: Vec<Grant>,
}

impl<L: ThreadLevel> World<L> {
    /// The partitions of the job in order of their IDs.
    ///
    /// If the pages of a partition are populated at the start ([`Grant::populated`]), [`Grant::nodes`] lists their NUMA
    /// nodes. [`Heap::pages_per_node`](crate::Heap::pages_per_node) reports all pages that are populated now.
    ///
    /// ```
    /// fn largest_node(world: &shmem::World) -> Option<u32> {
    ///     let fast = world.partitions().into_iter().find(|partition| partition.spec.id == 2)?;
    ///     let nodes = &fast.grants[world.my_pe()].nodes;
    ///     nodes.iter().max_by_key(|(_, pages)| *pages).map(|(node, _)| *node)
    /// }
    /// ```
    pub fn partitions(&self) -> Vec<PartitionReport> {
        let partitions = self.job().memory.partitions.read();
        let specs = partitions.table().specs().iter().enumerate();
        specs
            .map(|(index, spec)| PartitionReport {
                spec: spec.clone(),
                grants: partitions.grants()[index].iter().cloned().collect(),
            })
            .collect()
    }

    /// Makes a partition, and returns its heap. Collective.
    ///
    /// The argument is a [`NewPartition`], or a text as in the environment. `SHMEM_DYNAMIC_SIZE` limits memory made after the
    /// start.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// use shmem::partition::{Kind, NewPartition, Policy};
    ///
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let id = world.create_partition("SIZE=64M:KIND=FASTMEM:POLICY=PREFERRED")?.id();
    /// let grid = world.partition(id)?.alloc([0.0; 1000])?;
    ///
    /// let slow = NewPartition::new(1 << 30).name("archive").kind(Kind::LargeMem).policy(Policy::Mandatory);
    /// let archive = world.create_partition(slow)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the traits are malformed or contradict each other, the ID or name is already used, memory is short, or the
    /// reserved addresses are used up. The error is the same on every PE.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), future work.
    #[track_caller]
    pub fn create_partition<N>(&self, new: N) -> Result<Heap<'_, L>>
    where
        N: TryInto<NewPartition, Error: Into<TraitError>>,
    {
        let location = Location::caller();
        let origin = Origin::Program { file: Text::tail(location.file()), line: location.line() };
        let new =
            new.try_into().map_err(|fault| PartitionError::of_request(format_args!(": {}", fault.into())));
        let text = match &new {
            Ok(new) => format!("{new:?}"),
            Err(error) => error.to_string(),
        };
        let arguments: Vec<u64> = [u64::from(new.is_ok())].into_iter().chain(words_of(&text)).collect();
        let subject = || new.as_ref().map_or_else(|_| String::new(), NewPartition::to_string);
        let signature = CallSignature::of_memory("create_partition", &arguments, &subject);
        let job = self.job();
        let agreed = self.team().agree_on(self.endpoint(), &signature);
        self.reclaim_for(&agreed);
        let new = new.as_ref().map_err(Clone::clone)?;
        let spec = new.clone().resolve(job.memory.partitions.read().table(), origin)?;

        let wanted = Request::partition(&spec, job.site.topology());
        let wanted =
            wanted.map(|request| Wanted { hidden: false, ..Wanted::new(request, spec.id, spec.name) });
        let grant = |_, grant: &Grant| Ok(codec::encode(grant));
        let made = dynamic_segments::make(job, &agreed, wanted.map_err(Error::from), grant)?;
        let garbled = |_| job.abort(1, "a PE's grant is garbled");
        let granted: EqualRun<Grant> =
            made.said.iter().map(|said| codec::decode(said).unwrap_or_else(garbled)).collect();

        let (start, size) = (made.offset, spec.size as usize);
        let colour = statics::colour(made.index, spec.size) as usize;
        let heap = Allocator::new(spec.id, spec.name, start + colour..start + size, size);
        job.memory.ledger.lock().add_heap(made.index, heap);
        if self.my_pe() == 0 && job.first_time_at(location, &spec.title()) {
            let (specs, grants) = (std::slice::from_ref(&spec), std::slice::from_ref(&granted));
            warnings::degraded(&job.settings, specs, grants);
        }
        let id = spec.id;
        job.memory.partitions.write().insert(spec, made.index, granted);
        drop(agreed);
        self.partition(id)
    }

    /// Drops a partition that [`create_partition`](Self::create_partition) made, and frees its memory. Collective.
    ///
    /// # Errors
    ///
    /// If there is no such partition, it was made at the start, or it has allocations (which the error text names).
    #[track_caller]
    pub fn drop_partition(&mut self, id: u32) -> Result<()> {
        let (arguments, subject) = ([u64::from(id)], || format!("partition {id}"));
        let signature = CallSignature::of_memory("drop_partition", &arguments, &subject);
        let job = self.job();
        let agreed = self.team().agree_on(self.endpoint(), &signature);
        self.reclaim_for(&agreed);
        let (at, segment) = {
            let partitions = job.memory.partitions.read();
            let at = partitions.table().position_of(id)?;
            let (spec, segment) = (&partitions.table().specs()[at], partitions.segments()[at]);
            if segment < FIRST_DYNAMIC {
                return Err(PartitionError::new(format!(
                    "{} exists since the start of the job (from {}) and as long as it; only what `create_partition` made can be dropped",
                    spec.title(),
                    spec.origin
                ))
                .into());
            }
            let ledger = job.memory.ledger.lock();
            let mut there = ledger.allocations().filter(|allocation| allocation.segment == segment);
            if let Some(first) = there.next() {
                let allocations = match there.count() {
                    0 => format!("{first} is"),
                    others => format!("{first} and {} are", counted(others, "other allocation")),
                };
                return Err(PartitionError::new(format!(
                    "{} cannot be dropped: {allocations} in it; drop or free what is there on every PE first",
                    spec.title()
                ))
                .into());
            }
            (at, segment)
        };
        job.memory.ledger.lock().remove_heap(segment);
        job.memory.partitions.write().remove(at);
        // SAFETY: the ledgers of all PEs are equal and have no allocation in the segment. The world is borrowed exclusively, so no
        // token exists that could use an address in it. Each PE was quiet when it entered this agreed collective.
        unsafe { dynamic_segments::remove(job, segment) };
        agreed.again();
        Ok(())
    }
}

impl<L: ThreadLevel> Heap<'_, L> {
    /// Returns (NUMA node, number of populated pages) for the calling PE's part of the partition, sorted by node.
    ///
    /// # Errors
    ///
    /// If the system does not report the nodes of pages.
    ///
    /// ```
    /// fn pages(world: &shmem::World) -> shmem::Result<u64> {
    ///     let nodes = world.heap::<shmem::partition::fast>()?.pages_per_node()?;
    ///     Ok(nodes.iter().map(|(_node, pages)| pages).sum())
    /// }
    /// ```
    #[track_caller]
    pub fn pages_per_node(&self) -> Result<Vec<(u32, u64)>> {
        let (job, page) = (self.world.job(), self.page_bytes as usize);
        let segment = job.memory.segments.list().into_iter().find(|(index, _)| *index == self.segment);
        let (_, segment) = segment.unwrap_or_else(|| unreachable!("every partition is a segment"));
        let range = segment.start..segment.start + segment.bytes.next_multiple_of(page);
        Ok(job.memory.arena.pages_per_node(job.site.slot, range, page)?)
    }
}
