//! Partitions in files: the memory of a heap that survives its job.
//!
//! ```text
//! open     the file of one PE is found or made, locked, and checked, or refused
//! file     persist, what an opening repairs, and the agreement of all PEs on a persist
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
//! 2. Write to that copy each unit of 64 KiB in which it differs from W; flush.
//! 3. Write its header, with number g + 1; flush.
//! 4. Barrier. Every PE has g and g + 1 on its disk. Then W may be written again.
//!
//! Flushing is `fsync`. On Linux it covers what mappings of every process made dirty; on a DAX file system it flushes the caches
//! of the CPUs. So nothing depends on `MAP_SYNC`.
//!
//! # Why opening gives the last persist, whatever was lost
//!
//! A crash may lose any part of the writes since a file's last flush, and keep any other part.
//!
//! *A whole header is true.* A checksum detects torn headers. A header is written after its copy was flushed; it is cleared
//! and flushed before its copy is written again.
//!
//! *The headers of all PEs.* No PE passes barrier 4 before all have g + 1. So the newest header of each file is either that of g,
//! with a whole copy, or that of g + 1, with two whole copies. All PEs go to the smallest of these numbers ([`agree`]). PEs with a
//! newer persist clear its header. Then each PE writes W from its copy. Other states cannot come from a crash (a file was put back
//! from a backup, or belongs to another job): refused. Persist 0 stands for zero bytes, which all areas of a new file have.
//!
//! *An opening may crash as well.* It clears only headers newer than the agreed persist, so the next opening agrees on
//! it, too. No PE goes on before all PEs have finished.
//!
//! *A header that was written and not yet flushed* is seen by the next job if only the job died. It may be lost if
//! the machine dies then. So every opening rewrites the header that it found, with equal bytes in place,
//! and flushes, before it reports the header to the other PEs.
//!
//! *Disk errors.* If persist fails on any PE, all PEs clear the header of g + 1, and persist returns the error. The
//! partition cannot be persisted again in this job. If clearing fails as well, the job ends. A failed flush leaves pages in the
//! cache that the disk lacks; a later flush skips such pages. So the first persist of a job writes
//! the whole copy, unless the file is new.
//!
//! # Remaining risk
//!
//! Only headers have a checksum. Bytes that all headers of a file share tell a header that a medium damaged from a torn one.
//!
//! A regular file cannot be sealed as memfds are. It is locked (`flock`) for as long as any PE has it mapped,
//! has mode 0600, and belongs to the user of the job; its blocks are allocated at the start. If a process of the
//! same user truncates it, or a medium fails to read, a PE that accesses that part is killed (SIGBUS).

mod file;
mod header;
mod open;

pub use file::{Persist, PmemFile, agree};
pub use header::Identity;

#[cfg(test)]
mod tests {
    #[cfg(not(miri))]
    mod files;
    mod simulated;
}
