//! `World::persist`: saves the partitions that outlive the job.

use std::panic::Location;

use rustix::io::Errno;
use shmem_core::context::Initiator as _;
use shmem_launch::diagnostics::say;

use crate::caller::at;
use crate::collective::{Agreed, Number as _};
use crate::error::{ErrorKind, Result};
use crate::group::CallSignature;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Saves the contents of the partitions with `KIND=PMEM`, on all PEs. A later job that names the same files begins
    /// with exactly these contents, whatever happens to this job. Collective. Returns the number of saved partitions,
    /// which is 0 if no partition of the job is in a file.
    ///
    /// All earlier puts, by any PE, are saved. (The world is borrowed exclusively, so that none is in progress.) Each
    /// partition is saved atomically, but not several together: after a crash, one partition may have the contents of
    /// this persist, and another those of the previous persist. The end of a job does not persist.
    ///
    /// A persist costs three flushes of each file, and a comparison of the partition with a copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotPersisted`], on all PEs, if a disk fails. Then a later job finds the previous persist, and all
    /// further persists of the partition in this job fail.
    ///
    /// ```no_run
    /// use shmem::prelude::*;
    ///
    /// // SHMEM_SYMMETRIC_PARTITION4=SIZE=64M:KIND=PMEM:POLICY=M:PMEM=/mnt/pmem0/heap
    /// fn count_runs(world: &mut World) -> shmem::Result<u64> {
    ///     let runs = world.partition(4)?.named("runs", shmem::zeroed::<u64>(1))?;
    ///     let count = world.local(&runs, |runs| {
    ///         runs[0] += 1;
    ///         runs[0]
    ///     });
    ///     world.persist()?;
    ///     Ok(count)
    /// }
    /// ```
    #[track_caller]
    pub fn persist(&mut self) -> Result<usize> {
        let signature = CallSignature::of_memory("persist", &[], &String::new);
        let job = self.job();
        let agreed = self.team().agree_on(self.endpoint(), &signature);
        let mut partitions = job.memory.persistent_partitions.lock();
        for partition in partitions.iter_mut() {
            // A raw transfer may have overwritten the partition's list of names, so it is written again from this process's copy.
            // SAFETY: the address is the start of this PE's slot. `agree_on` admits one thread, and `partitions` is locked.
            if unsafe { partition.write_names(self.endpoint().mine(0)) } {
                say(&format!(
                    "shmem: warning: PE {}: the list of names of {} was overwritten, which is no object of the program; it is \
                     written again at {} (a raw address that leads past an object does that)",
                    self.my_pe(),
                    partition.title,
                    at(Location::caller())
                ));
            }
            let last = partition.file.generation();
            let mine = if partition.failed { Err(Errno::IO) } else { partition.file.persist() };
            if let Err((pe, errno)) = worst(&agreed, mine) {
                if !partition.failed {
                    partition.failed = true;
                    if let Err(errno) = partition.file.revert() {
                        let error = partition.file.failed("going back", errno);
                        job.abort(1, &format!("{error}; the files have the last persist"));
                    }
                    agreed.again();
                }
                let reason = std::io::Error::from_raw_os_error(errno).to_string();
                let partition = partition.title.clone();
                return Err(agreed.refused(ErrorKind::NotPersisted { partition, pe, reason, last }));
            }
        }
        Ok(partitions.len())
    }
}

/// Combines the results of all PEs. The error is (a PE that failed, its error number), the same on all PEs.
fn worst(agreed: &Agreed<'_>, mine: Result<(), Errno>) -> Result<(), (usize, i32)> {
    let me = agreed.collective.endpoint.me().number() as u64;
    let code = |errno: Errno| (me + 1) << 32 | u64::from(errno.raw_os_error().unsigned_abs());
    let mut word = mine.err().map_or(0, code);
    agreed.reduce(bytemuck::bytes_of_mut(&mut word), u64::greater);
    match word {
        0 => Ok(()),
        word => Err(((word >> 32) as usize - 1, word as u32 as i32)),
    }
}
