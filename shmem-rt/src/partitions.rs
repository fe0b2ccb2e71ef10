//! The partitions of a job: those from the start, and those that the running program makes and drops.
//!
//! A partition made at run time is a later [segment](crate::segments) with a heap. Once made it is
//! like any other: `world.partition(id)`, allocation, `world.partitions()`.

use std::panic::Location;

use shmem_core::context::Initiator as _;
use shmem_core::fingerprint::fingerprint;
use shmem_core::heap::{Allocation, Allocator, statics};
use shmem_core::memory::Request;
use shmem_core::observe::Family;
use shmem_core::partition::{
    Grant, NewPartition, Origin, PartitionError, PartitionSpec, Table, TraitError, downgrades, show_size,
};
use shmem_core::segment::FIRST_LATER;
use shmem_core::text::Text;

use crate::collective::{Operation, Purpose};
use crate::error::{Error, Result};
use crate::grants;
use crate::heap::Heap;
use crate::report;
use crate::segments::{Own, Wanted};
use crate::thread::ThreadLevel;
use crate::world::World;

/// How many allocations an error names.
const NAMED: usize = 4;

/// The partitions there are, in the order of their IDs.
pub(crate) struct Partitions {
    table: Table,
    /// The segment of each.
    segments: Vec<u32>,
    /// What was granted: per PE, per partition.
    grants: Vec<Vec<Grant>>,
}

impl Partitions {
    /// Those from the start.
    pub(crate) fn new(table: Table, grants: Vec<Vec<Grant>>) -> Self {
        let segments = (1..=table.specs().len() as u32).collect();
        Self { table, segments, grants }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The segments, in the order of the table.
    pub(crate) fn segments(&self) -> &[u32] {
        &self.segments
    }

    pub(crate) fn grants(&self) -> &[Vec<Grant>] {
        &self.grants
    }

    fn insert(&mut self, spec: PartitionSpec, segment: u32, grants: Vec<Grant>) {
        let at = self.table.insert(spec);
        self.segments.insert(at, segment);
        for (all, grant) in self.grants.iter_mut().zip(grants) {
            all.insert(at, grant);
        }
    }

    fn remove(&mut self, at: usize) {
        self.table.remove(at);
        self.segments.remove(at);
        for all in &mut self.grants {
            all.remove(at);
        }
    }
}

impl<L: ThreadLevel> World<L> {
    /// Makes a partition, and gives its heap. Collective.
    ///
    /// It is described by a [`NewPartition`], or as the environment describes one, and lasts until the end
    /// of the job or [`drop_partition`](Self::drop_partition). Its memory is placed, and where kind, policy
    /// or page size are given populated, as at the start. `SHMEM_LATER_SIZE` bounds the addresses of all
    /// that is made after the start.
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
    /// If the traits cannot be read or do not fit together, the ID or name is taken, the machine does
    /// not have what is asked, or there is no room: the same error on every PE, and nothing is left of it.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), future work.
    #[track_caller]
    pub fn create_partition<N>(&self, new: N) -> Result<Heap<'_, L>>
    where
        N: TryInto<NewPartition, Error: Into<TraitError>>,
    {
        let location = Location::caller();
        let origin = Origin::Program { file: Text::tail(location.file()), line: location.line() };
        let new = new.try_into().map_err(|fault| PartitionError::New {
            origin: origin.to_string(),
            fault: Box::new(fault.into()),
        });
        let text = match &new {
            Ok(new) => format!("{new:?}"),
            Err(error) => error.to_string(),
        };
        let subject = || new.as_ref().map_or_else(|_| String::new(), |new| new.traits().to_string());
        let purpose = Purpose {
            operation: Operation::named(Family::Memory, "create_partition"),
            opens: false,
            arguments: &[fingerprint(text.bytes())],
            subject: &subject,
            location: Some(location),
        };
        let job = self.job();
        let collective = self.team().enter(self.endpoint());
        self.reclaim_for(&collective, &purpose);
        let new = new.as_ref().map_err(Clone::clone)?;
        let spec = new.clone().resolve(job.partitions().table(), origin)?;

        let wanted = Request::partition(&spec, job.topology())
            .map(|request| Wanted {
                request,
                partition: spec.id,
                name: spec.name,
                taken: Vec::new(),
                hidden: false,
            })
            .map_err(Error::from);
        let grant = |own: Own<'_>| Ok(grants::encode(std::slice::from_ref(own.grant)));
        let made = job.make_segment(&collective, &purpose, wanted, grant)?;
        let granted: Option<Vec<Grant>> = made.said.iter().map(|said| grants::decode(said)?.pop()).collect();
        let granted = granted.unwrap_or_else(|| job.abort(1, "a PE's grant is garbled"));

        let (start, size) = (made.offset, spec.size as usize);
        let colour = statics::colour(made.index, spec.size) as usize;
        let heap = Allocator::new(spec.id, spec.name, start + colour..start + size);
        job.ledger().add_heap(made.index, heap);
        if self.my_pe() == 0 {
            let each: Vec<_> = granted.iter().map(|grant| vec![grant.clone()]).collect();
            for warning in downgrades(std::slice::from_ref(&spec), &each) {
                report::say(&format!("shmem: warning: {warning}"));
            }
        }
        let id = spec.id;
        job.partitions_mut().insert(spec, made.index, granted);
        drop(collective);
        self.partition(id)
    }

    /// Drops a partition that [`create_partition`](Self::create_partition) made, and gives its memory back.
    /// Collective.
    ///
    /// # Errors
    ///
    /// If there is no such partition, it exists since the start, or something is allocated in it on any
    /// PE (the message says what).
    #[track_caller]
    pub fn drop_partition(&mut self, id: u32) -> Result<()> {
        let location = Location::caller();
        let subject = || format!("partition {id}");
        let purpose = Purpose {
            operation: Operation::named(Family::Memory, "drop_partition"),
            opens: false,
            arguments: &[u64::from(id)],
            subject: &subject,
            location: Some(location),
        };
        let job = self.job();
        let collective = self.team().enter(self.endpoint());
        self.reclaim_for(&collective, &purpose);
        let (at, segment) = {
            let partitions = job.partitions();
            let at = partitions.table().position_of(id)?;
            let (spec, segment) = (&partitions.table().specs()[at], partitions.segments()[at]);
            if segment < FIRST_LATER {
                let (partition, origin) = (spec.title(), spec.origin.to_string());
                return Err(PartitionError::Permanent { partition, origin }.into());
            }
            if let Some(allocations) = allocated(job.ledger().allocations(), segment) {
                return Err(PartitionError::InUse { partition: spec.title(), allocations }.into());
            }
            (at, segment)
        };
        job.ledger().remove_heap(segment);
        job.partitions_mut().remove(at);
        job.remove_segment(segment);
        // Who returns may count on the memory being free: all have let go of it.
        collective.meet(&purpose);
        Ok(())
    }
}

/// What is allocated in a segment, in words; `None`: nothing.
fn allocated<'a>(allocations: impl Iterator<Item = &'a Allocation>, segment: u32) -> Option<String> {
    let there: Vec<_> = allocations.filter(|allocation| allocation.segment == segment).collect();
    let bytes = there.iter().map(|allocation| allocation.bytes as u64).sum();
    let named = there.iter().take(NAMED).map(|a| format!("#{} ({})", a.id, show_size(a.bytes as u64)));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if there.len() > NAMED { ", .." } else { "" };
    match there.len() {
        0 => None,
        1 => Some(format!("allocation {named} is")),
        n => Some(format!("{n} allocations with {} are, {named}{more},", show_size(bytes))),
    }
}
