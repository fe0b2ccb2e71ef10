//! Partitions in files: the memory of a heap that survives its job.
//!
//! ```text
//! find     files on a file system: found or made, locked, checked, or refused
//! file     the file of one PE: persist in two phases, and what an opening repairs
//! agree    agreement on the persist that the files of all PEs can come to
//! header   the format of a file: two headers, the layout, working area, copy
//! ```
//!
//! A file has a working area W, which is mapped as the memory of the partition, and a copy C of it, which
//! only `persist` writes. Its header holds its state:
//!
//! ```text
//! Stable(g)       C holds persist number g, flushed. W holds anything. Stable(0): nothing was persisted yet
//! Copying(g + 1)  W holds persist number g + 1, flushed. C holds anything between g and g + 1
//! ```
//!
//! # Persist
//!
//! All PEs do this together. Nobody writes W meanwhile, since `persist` takes the world exclusively on
//! every PE. From `Stable(g)`:
//!
//! 1. flush W; write the header `Copying(g + 1)`; flush.
//! 2. Barrier. Every PE has `Copying(g + 1)` on its disk.
//! 3. Write to C each page in which it differs from W; flush; write the header `Stable(g + 1)`; flush.
//! 4. Barrier. Then W may be written again.
//!
//! Flushing is `fsync`. On Linux it covers what mappings of every process made dirty; on a DAX file system it flushes the caches
//! of the CPUs. So nothing depends on `MAP_SYNC`.
//!
//! # Why opening gives the last persist, whatever was lost
//!
//! A crash may lose any part of what was written since the last flush of a file, and keep any other part.
//! There are two headers. Each has a sequence number and a checksum, and is written over the older one; it is
//! flushed before the next one is written. So at most the header being written is torn, and the newest whole header counts.
//!
//! *Damage that no crash makes* may hit the newest header as well, and the header before it says nothing of what a program did
//! later. A torn header has in common with the other one what all headers of a file have, or zeroes there. A page with anything
//! else is damage, and the file is refused. Damage in words that differ between headers looks like a crash.
//!
//! *What a header says of its own file holds, whatever was lost.* `Copying(g + 1)` is written after W was
//! flushed, and the program next writes W after barrier 4, when the header that counts is
//! `Stable(g + 1)`, flushed. `Stable(g)` is written after C was flushed, and C is next written in step 3, when
//! the header that counts is `Copying(g + 1)`, flushed.
//!
//! *The headers of all PEs together.* Before any PE has passed barrier 2, all headers are `Stable(g)` or `Copying(g + 1)`; after
//! that, `Copying(g + 1)` or `Stable(g + 1)`, until all are `Stable(g + 1)` at barrier 4. So ([`agree`]):
//!
//! * Some file is `Stable(g)`, and none further than `Copying(g + 1)`: no PE passed barrier 2, so no C was touched. All go
//!   to g: each writes W from its C, those that were `Copying` after a header `Stable(g)`.
//! * Every file is `Copying(g + 1)` or `Stable(g + 1)`: all go to g + 1. Those that are `Copying` have it in W and
//!   repeat step 3; those that are `Stable` have it in C and write W from it.
//! * Anything else cannot come from a crash (a file was put back from a backup, or belongs to another
//!   job): refused.
//!
//! `Stable(0)` stands for a C of zero bytes, which need not be stored: a heap that goes back to it is made anew.
//!
//! *An opening may crash as well.* It moves headers only towards what was agreed: from `Copying(g + 1)` to
//! `Stable(g)` in the first case, while some file stays `Stable(g)`; from `Copying(g + 1)` to `Stable(g + 1)` in the second.
//! So the next opening finds the same case. No PE goes on before all have finished.
//!
//! *A header that was written and not yet flushed* is seen by the next job if only the job died, and may be gone if
//! the machine dies then. So every opening writes the header that it found once more, the same bytes in the
//! same place, and flushes, before it reports the header to the other PEs.
//!
//! *Errors of the disk.* If step 1 fails on any PE, all write `Stable(g)` again, over the header that may or may not be
//! there, and persist returns the error; the partition is not persisted any more in this job. If
//! step 3 fails, or going back does, W must not be written any more: the job ends. The next one finds the case
//! above. A flush that fails leaves pages that are read and that the disk lacks, and a later flush passes them
//! over: so an opening writes all pages, and not only those in which W and C differ.
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
