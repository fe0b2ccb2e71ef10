//! Partitions in files: the memory of a heap that survives its job.
//!
//! ```text
//! open     finds or makes the file of one PE, locks it, and checks it, or refuses it
//! file     persisting, repairs when a file is opened, and the agreement of all PEs on a checkpoint
//! header   the format of a file: two headers, the layout, working area, two copies
//! ```
//!
//! A file has a working area W, which is mapped as the memory of the partition, and two copies of W, which only `persist` writes. A
//! *checkpoint* is a copy with its header. Checkpoint number g is in copy g mod 2, and the header of this copy has the number. The
//! algorithm is a ping-pong checkpoint, as in LMDB's two meta pages, over the files of all PEs.
//!
//! # Persist
//!
//! All PEs persist together. Nobody writes W meanwhile, because `persist` borrows the world exclusively on every PE. If g is the
//! newest checkpoint:
//!
//! 1. Clear the header of the copy that has checkpoint g - 1; flush.
//! 2. Write to this copy each block of 64 KiB in which it differs from W; flush.
//! 3. Write the header of this copy, with number g + 1; flush.
//! 4. Barrier. Every PE has checkpoints g and g + 1 on its disk. Then W may be written again.
//!
//! Flushing is `fsync`. On Linux it covers pages that mappings of any process made dirty; on a DAX file system it flushes the
//! caches of the CPUs. So nothing depends on `MAP_SYNC`.
//!
//! # Why opening restores the last checkpoint, whatever was lost
//!
//! A crash may lose any part of the writes since a file's last flush, and keep any other part.
//!
//! *A whole header means a whole copy.* A checksum detects torn headers. A header is written after its copy was flushed. It is
//! cleared and flushed before its copy is written again.
//!
//! *The headers of all PEs.* No PE passes the barrier before all PEs have g + 1. So each file has header g with its whole copy, and
//! the newest header is g or g + 1. All PEs agree on the smallest of these numbers ([`agree`]). PEs with a newer checkpoint clear
//! its header. Then each PE writes W from its copy. Other states cannot come from a crash (a file was put back from a backup, or
//! belongs to another job), and are refused. Checkpoint 0 stands for zero bytes, which all areas of a new file have.
//!
//! *A crash while opening.* Opening clears only headers that are newer than the agreed checkpoint, so the next opening agrees on
//! the same one. No PE goes on before all PEs have finished.
//!
//! *A header that was written and not flushed.* If only the job died, the next job sees this header; if then the machine dies, it
//! may be lost. So every opening rewrites the header that it found, with equal bytes in place, and flushes, before it reports the
//! header to the other PEs.
//!
//! *Disk errors.* If persist fails on any PE, all PEs clear header g + 1, and persist returns the error. The partition cannot be
//! persisted again in this job. If clearing fails too, the job ends. A failed flush leaves pages in the cache that the disk lacks;
//! they may equal W, and later flushes skip them. So a job's first persist writes the whole copy, unless the file is new.
//!
//! # Remaining risk
//!
//! Only headers have a checksum. In a header torn by a crash, each byte that all headers of a file share has its value or is 0.
//! Otherwise an unreadable header is damaged, and the file is refused.
//!
//! A regular file cannot be sealed as memfds are. It is locked (`flock`) for as long as any PE has it mapped, has mode 0600, and
//! belongs to the user of the job; its blocks are allocated at the start. If a process of the same user truncates the file, or the
//! medium fails to read, a PE that accesses the lost part is killed (SIGBUS).

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
