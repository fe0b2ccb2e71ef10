//! Objects with names, on the heaps of partitions that outlive the job.

use core::any::TypeId;
use std::sync::Arc;

use shmem_core::context::Initiator as _;
use shmem_core::heap::{Allocation, MIN_ALIGN, Owner};
use shmem_core::object::SymBox;
use shmem_core::partition::nearest;
use shmem_core::symmetric_data::Contents;

use crate::error::{NameError, Result};
use crate::group::{CallSignature, words_of};
use crate::heap::Heap;
use crate::initial_contents::Initial;
use crate::job::Job;
use crate::state::names::Named;
use crate::state::persistent_partition::PersistentPartition;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Heap<'_, L> {
    /// Returns the object called `name`. If an earlier job has made and persisted it, it has the persisted contents.
    /// Otherwise it is new, with the contents `initial`. Collective. The partition must have `KIND=PMEM`.
    ///
    /// An existing object must have as many items, of equal size and alignment, as `initial`. The types are compared,
    /// too: within a job always, but with an object of an earlier job only for numbers and arrays of numbers. So a
    /// program that changes a struct must ensure that old contents keep their meaning.
    ///
    /// Dropping the handle keeps the object; [`remove`](Self::remove) frees it. The end of the job frees objects without a name.
    ///
    /// # Errors
    ///
    /// [`NameError`], if the name is malformed, an object of another type has the name, or the partition does not
    /// outlive the job. An error of the heap, if free memory is short. The error is the same on every PE.
    ///
    /// ```no_run
    /// use shmem::prelude::*;
    ///
    /// fn temperature(world: &World, n: usize) -> shmem::Result<SymBox<[f64]>> {
    ///     world.partition(4)?.named("temperature", shmem::filled(20.0, n))
    /// }
    /// ```
    #[track_caller]
    pub fn named<I: Initial>(&self, name: &str, initial: I) -> Result<SymBox<I::Contents>> {
        type Item<I> = <<I as Initial>::Contents as Contents>::Item;
        let (items, kind) = (initial.items(), core::any::type_name::<Item<I>>());
        let wanted = Named::new::<Item<I>>(name, items)?;
        let sizes = [u64::from(self.segment), items as u64, wanted.item_bytes as u64, wanted.align as u64];
        let (names, types) = (words_of(name), words_of(kind));
        let arguments: Vec<u64> = sizes.into_iter().chain(names).chain(types).collect();
        let subject = || format!("`{name}` in partition `{}`, {items} x {kind}", self.name());
        let signature = CallSignature::of_memory("named", &arguments, &subject);
        let (world, job) = (self.world, self.world.job());
        let agreed = world.team().agree_on(world.endpoint(), &signature);
        world.reclaim_for(&agreed);
        let mut partitions = job.memory.persistent_partitions.lock();
        let partition = self.partition(&mut partitions)?;
        // The id distinguishes types of the same name. The name is for error texts.
        let asked = (TypeId::of::<Item<I>>(), kind);
        let opened = *partition.opened.get(name).unwrap_or(&asked);
        let made = match partition.find(name) {
            Some(found) if found.is_like(&wanted) && opened == asked => {
                let ledger = job.memory.ledger.lock();
                let found = ledger.starting_at(partition.start + found.offset).copied();
                found.unwrap_or_else(|| unreachable!("what has a name is reserved"))
            }
            Some(found) => {
                let mut found = found.clone();
                if opened != asked {
                    found.kind =
                        if opened.1 == kind { format!("another {kind}") } else { opened.1.to_owned() };
                }
                let (found, asked) = (found.describe(), wanted.describe());
                let (name, partition) = (name.to_owned(), self.name().to_owned());
                return Err(NameError::Other { name, partition, found, asked }.into());
            }
            None => {
                let made = self.make(partition, job, wanted)?;
                // SAFETY: the address is a new block of this PE with `items` aligned items.
                unsafe { initial.write(world.endpoint().mine(made.offset).cast()) };
                made
            }
        };
        partition.opened.insert(name.to_owned(), asked);
        drop(partitions);
        let mut ledger = job.memory.ledger.lock();
        ledger.open(made.id);
        let released = Arc::clone(ledger.released());
        drop(ledger);
        agreed.again();
        // SAFETY: on every PE the ledger has reserved the object under this id for as long as the object has a name, and afterwards
        // until the handle, which `ledger.open` has counted, is dropped. Every PE has initialised its copy, in this job or before
        // the persist that restored the copy, with as many items of the same size and alignment. Any bytes are a valid value.
        Ok(unsafe { SymBox::__new(made.id, made.segment, made.offset, items, released) })
    }

    /// Returns the named objects, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// If the partition does not outlive the job.
    #[track_caller]
    pub fn names(&self) -> Result<Vec<Named>> {
        let mut partitions = self.world.job().memory.persistent_partitions.lock();
        Ok(self.partition(&mut partitions)?.objects.clone())
    }

    /// Removes the name of an object. Collective. The object's memory is reused after every PE has dropped its handles. A later job
    /// still finds the object, if this job ends before the next persist.
    ///
    /// # Errors
    ///
    /// If no object has the name, or the partition does not outlive the job.
    #[track_caller]
    pub fn remove(&self, name: &str) -> Result<()> {
        let arguments: Vec<u64> = [u64::from(self.segment)].into_iter().chain(words_of(name)).collect();
        let subject = || format!("`{name}` in partition `{}`", self.name());
        let signature = CallSignature::of_memory("remove", &arguments, &subject);
        let (world, job) = (self.world, self.world.job());
        let _agreed = world.team().agree_on(world.endpoint(), &signature);
        let mut partitions = job.memory.persistent_partitions.lock();
        let partition = self.partition(&mut partitions)?;
        partition.opened.remove(name);
        let Some(at) = partition.objects.iter().position(|object| object.name == name) else {
            let names = partition.objects.iter().map(|object| object.name.as_str());
            let hint = nearest(name, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let (name, partition) = (name.escape_debug().to_string(), self.name().to_owned());
            return Err(NameError::Missing { name, partition, hint }.into());
        };
        let gone = partition.take(at);
        let mut ledger = job.memory.ledger.lock();
        if let Some(id) = ledger.starting_at(partition.start + gone.offset).map(|allocation| allocation.id) {
            ledger.unname(id);
        }
        Ok(())
    }

    #[track_caller]
    fn partition<'s>(&self, all: &'s mut [PersistentPartition]) -> Result<&'s mut PersistentPartition> {
        let found = all.iter_mut().find(|partition| partition.segment == self.segment);
        Ok(found.ok_or_else(|| NameError::NotInFile { partition: self.name().to_owned() })?)
    }

    /// Reserves the memory of a new object, and records its name, on every PE.
    #[track_caller]
    fn make(&self, partition: &mut PersistentPartition, job: &Job, mut object: Named) -> Result<Allocation> {
        let full = |room| NameError::Full { partition: self.name().to_owned(), room };
        partition.has_room_for(&object).map_err(full)?;
        let align = object.align.max(MIN_ALIGN);
        let made = job.memory.ledger.lock().allocate(self.segment, object.bytes(), align, Owner::Name)?;
        object.offset = made.offset - partition.start;
        partition.add(object);
        Ok(made)
    }
}
