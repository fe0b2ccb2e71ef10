//! Partitions in files: the memory of a heap that survives its job.
//!
//! ```text
//! find     files on a file system: found or made, locked, checked, or refused
//! file     the file of one PE: persist, and what an opening repairs
//! agree    agreement on the persist that the files of all PEs can come to
//! header   the format of a file: two headers, the layout, working area, two copies
//! ```
//!
//! A file has a working area W, which is mapped as the memory of the partition, and two copies of it, which
//! only `persist` writes. Persist number g is in copy g mod 2, and its number in the header of that copy. The algorithm is a
//! ping-pong checkpoint, as in LMDB's two meta pages, over the files of all PEs.
//!
//! # Persist
//!
//! All PEs do this together. Nobody writes W meanwhile, since `persist` takes the world exclusively on every PE. From persist g:
//!
//! 1. Clear the header of the copy that holds g - 1; flush.
//! 2. Write to that copy each page in which it differs from W; flush.
//! 3. Write its header, with number g + 1; flush.
//! 4. Barrier. Every PE has g and g + 1 on its disk. Then W may be written again.
//!
//! Flushing is `fsync`. On Linux it covers what mappings of every process made dirty; on a DAX file system it flushes the caches
//! of the CPUs. So nothing depends on `MAP_SYNC`.
//!
//! # Why opening gives the last persist, whatever was lost
//!
//! A crash may lose any part of what was written since the last flush of a file, and keep any other part.
//!
//! *A header that is there says the truth.* It has a checksum, so a torn one is none. It is written after its copy was flushed, and
//! cleared, flushed, before its copy is written again.
//!
//! *The headers of all PEs together.* No PE passes barrier 4 before all have g + 1. So the newest header of each file is that of g,
//! and its copy is whole, or that of g + 1, and both copies are. All PEs go to the smallest of these numbers ([`agree`]): those that
//! have a newer persist clear its header. Then each writes W from its copy. Anything else cannot come from a crash (a file was put
//! back from a backup, or belongs to another job): refused. Persist 0 stands for zero bytes, which the first copy of a new file has.
//!
//! *An opening may crash as well.* It clears only headers that are newer than what was agreed, so the next opening agrees on the
//! same. No PE goes on before all have finished.
//!
//! *A header that was written and not yet flushed* is seen by the next job if only the job died, and may be gone if
//! the machine dies then. So every opening writes the header that it found once more, the same bytes in the
//! same place, and flushes, before it reports the header to the other PEs.
//!
//! *Errors of the disk.* If persist fails on any PE, all clear the header of g + 1, there or not, and persist returns the error; the
//! partition is not persisted any more in this job. If clearing fails as well, the job ends. A flush that fails leaves pages that
//! are read and that the disk lacks, and a later flush passes them over: so the first persist of a job writes all pages.
//!
//! *Damage that no crash makes* may hit the newest header as well: then the persist before it would be taken for the last one.
//! What a crash leaves of a header has in common with the other one what all headers of a file have, or zeroes there. A page with
//! anything else is damage, and the file is refused. Damage in words that differ between headers looks like a crash.
//!
//! # Remaining risk
//!
//! A regular file cannot be sealed as memfds are. It is locked (`flock`) for as long as any PE has it mapped,
//! has mode 0600, and belongs to the user of the job; its blocks are allocated at the start. If a process of the
//! same user truncates it all the same, or a medium fails to read, whoever touches that part is killed (SIGBUS).

mod agree;
mod file;
mod find;
mod header;

pub use agree::{FileState, agree};
pub use file::{Backing, PmemError, PmemFile};
pub use header::Identity;

#[cfg(test)]
mod tests {
    #[cfg(not(miri))]
    mod files;
    mod simulated;
}
