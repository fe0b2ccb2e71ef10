//! Objects by name, on the heaps of partitions that outlive the job.

use core::any::TypeId;
use std::sync::{Arc, MutexGuard};

use shmem_core::context::Initiator as _;
use shmem_core::heap::{Allocation, MIN_ALIGN, Owner};
use shmem_core::object::SymBox;
use shmem_core::partition::nearest;
use shmem_core::symmetric_data::Contents;

use crate::error::{NameError, Result};
use crate::group::{Purpose, words_of};
use crate::heap::Heap;
use crate::initial_contents::Initial;
use crate::job::Job;
use crate::state::names::Named;
use crate::state::persistent_partition::Shelf;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Heap<'_, L> {
    /// Returns the object with a name: as persisted, if an earlier job has made it, otherwise a new one with
    /// these initial contents. Collective. The partition must have `KIND=PMEM`.
    ///
    /// An existing object must have as many items, of equal size and alignment, as `initial`. Types are compared by
    /// name: within a job all types, with an object of an earlier job only numbers and arrays of numbers.
    /// The program answers for the meaning of a struct's fields.
    ///
    /// Dropping the handle keeps the object; [`remove`](Self::remove) frees it. Objects without a name
    /// are gone when the job ends.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the name is malformed or that of another kind of object, or the partition does not outlive
    /// the job; or if the heap has no room: the same error on every PE.
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
        let purpose = Purpose::of_memory("named", &arguments, &subject);
        let (world, job) = (self.world, self.world.job());
        let agreed = world.team().agree_on(world.endpoint(), &purpose);
        world.reclaim_for(&agreed);
        let mut shelves = job.memory.shelves.lock();
        let shelf = self.shelf(&mut shelves)?;
        // Types may differ and have one name.
        let asked = (TypeId::of::<Item<I>>(), kind);
        let opened = *shelf.opened.get(name).unwrap_or(&asked);
        let made = match shelf.find(name) {
            Some(found) if found.is_like(&wanted) && opened == asked => {
                let ledger = job.memory.ledger.lock();
                let found = ledger.starting_at(shelf.start + found.offset).copied();
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
                let made = self.make(shelf, job, wanted)?;
                // SAFETY: a fresh block of `items` aligned items of this PE.
                unsafe { initial.write(world.endpoint().mine(made.offset).cast()) };
                made
            }
        };
        shelf.opened.insert(name.to_owned(), asked);
        drop(shelves);
        let mut ledger = job.memory.ledger.lock();
        ledger.open(made.id);
        let released = Arc::clone(ledger.released());
        drop(ledger);
        agreed.again();
        // SAFETY: the ledger has reserved the object under this number on every PE, for as long as the object has a
        // name, and then until the handle counted here is dropped. Every PE has initialised its copy, in this job or
        // before the persist that restored it, with as many items of that size and alignment, and any bytes
        // are a value.
        Ok(unsafe { SymBox::__new(made.id, made.segment, made.offset, items, released) })
    }

    /// The objects with names, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// If the partition does not outlive the job.
    #[track_caller]
    pub fn names(&self) -> Result<Vec<Named>> {
        let mut shelves = self.world.job().memory.shelves.lock();
        Ok(self.shelf(&mut shelves)?.objects.clone())
    }

    /// Removes the name of an object. Collective. The memory is used again when every PE has dropped its
    /// handles. After the next persist no job finds the object.
    ///
    /// # Errors
    ///
    /// If there is no such name, or the partition does not outlive the job.
    #[track_caller]
    pub fn remove(&self, name: &str) -> Result<()> {
        let arguments: Vec<u64> = [u64::from(self.segment)].into_iter().chain(words_of(name)).collect();
        let subject = || format!("`{name}` in partition `{}`", self.name());
        let purpose = Purpose::of_memory("remove", &arguments, &subject);
        let (world, job) = (self.world, self.world.job());
        let _agreed = world.team().agree_on(world.endpoint(), &purpose);
        let mut shelves = job.memory.shelves.lock();
        let shelf = self.shelf(&mut shelves)?;
        shelf.opened.remove(name);
        let Some(at) = shelf.objects.iter().position(|object| object.name == name) else {
            let names = shelf.objects.iter().map(|object| object.name.as_str());
            let hint = nearest(name, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let (name, partition) = (name.escape_debug().to_string(), self.name().to_owned());
            return Err(NameError::Missing { name, partition, hint }.into());
        };
        let gone = shelf.take(at);
        let mut ledger = job.memory.ledger.lock();
        if let Some(id) = ledger.starting_at(shelf.start + gone.offset).map(|allocation| allocation.id) {
            ledger.unname(id);
        }
        Ok(())
    }

    #[track_caller]
    fn shelf<'s>(&self, shelves: &'s mut MutexGuard<'_, Vec<Shelf>>) -> Result<&'s mut Shelf> {
        let partition = || self.name().to_owned();
        let found = shelves.iter_mut().find(|shelf| shelf.segment == self.segment);
        Ok(found.ok_or_else(|| NameError::NotInFile { partition: partition() })?)
    }

    /// Reserves a new object, and enters its name, on every PE.
    #[track_caller]
    fn make(&self, shelf: &mut Shelf, job: &Job, mut object: Named) -> Result<Allocation> {
        let full = |room| NameError::Full { partition: self.name().to_owned(), room };
        shelf.has_room_for(&object).map_err(full)?;
        let align = object.align.max(MIN_ALIGN);
        let made = job.memory.ledger.lock().allocate(shelf.segment, object.bytes(), align, Owner::Name)?;
        object.offset = made.offset - shelf.start;
        shelf.add(object);
        Ok(made)
    }
}
