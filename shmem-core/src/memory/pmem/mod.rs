//! Partitions in files: the memory of a heap that survives its job.
//!
//! ```text
//! open     a file on a file system: found, made, locked, or refused
//! store    what is done to one file: persist in two phases, and what an opening repairs; reading, writing, flushing, where
//!          tests put a disk that loses what was not flushed
//! agree    which persist the files of all PEs can come to
//! format   what stands where in a file: two headers, the layout, working area, copy
//! ```
//!
//! A file has a working area W, which is mapped as the memory of the partition, and a copy C of it, which
//! nobody but `persist` writes. Its header says how far the file is:
//!
//! ```text
//! Stable(g)       C holds persist number g, flushed. W holds anything. Stable(0): nothing was persisted yet
//! Copying(g + 1)  W holds persist number g + 1, flushed. C holds anything between g and g + 1
//! ```
//!
//! # Persist
//!
//! All PEs do this together; nobody writes W meanwhile, since `persist` takes the world exclusively on
//! every PE. From `Stable(g)`:
//!
//! 1. flush W; write the header `Copying(g + 1)`; flush.
//! 2. Barrier. Every PE has `Copying(g + 1)` on its disk.
//! 3. Write to C each page in which it differs from W; flush; write the header `Stable(g + 1)`; flush.
//! 4. Barrier. Then W may be written again.
//!
//! Flushing is `fsync`. On Linux it covers what mappings made dirty, of every process, as `msync` on the
//! whole mapping does; on a DAX file system it flushes the caches of the CPUs. So nothing depends on
//! `MAP_SYNC`.
//!
//! # Why opening gives the last persist, whatever was lost
//!
//! A crash may lose any part of what was written since the last flush of a file, and keep any other part.
//! There are two headers. Each has a sequence number and a checksum, and is written over the older one; it is
//! flushed before the next is begun. So of the two at most the one being written is torn, and the newest one
//! that is whole counts: a header is there or is not.
//!
//! *Damage that no crash makes* may hit the newest header as well, and the one before says nothing of what a program did
//! behind the newest. What is left of a torn header has in common with the other one what all headers of a file have,
//! or nothing there; a page with anything else is damage, and the file is refused. Where damage has hit only words that
//! differ between headers, it is taken for a crash.
//!
//! *What a header says of its own file holds, whatever was lost.* `Copying(g + 1)` is written after W was
//! flushed, and W is next written by the program after barrier 4, when the header that counts is
//! `Stable(g + 1)`, flushed. `Stable(g)` is written after C was flushed, and C is next written in step 3, when
//! the header that counts is `Copying(g + 1)`, flushed.
//!
//! *What the headers of all PEs can be together.* Barriers 2 and 4 divide time: before barrier 2 is passed by
//! anybody, all headers are `Stable(g)` or `Copying(g + 1)`; behind it, `Copying(g + 1)` or `Stable(g + 1)`, until
//! all are `Stable(g + 1)` at barrier 4. So ([`agree`]):
//!
//! * Some file is `Stable(g)`, and none further than `Copying(g + 1)`: nobody passed barrier 2, so no C was touched. All go
//!   to g: each writes W from its C, those that were `Copying` after a header `Stable(g)`.
//! * Every file is `Copying(g + 1)` or `Stable(g + 1)`: all go to g + 1. Those that are `Copying` have it in W and
//!   repeat step 3; those that are `Stable` have it in C and write W from it.
//! * Anything else cannot come from a crash (a file was put back from a backup, or belongs to another
//!   job): refused.
//!
//! `Stable(0)` stands for a C of zero bytes, which need not be stored: what goes back to it is made anew.
//!
//! *An opening may crash as well.* It moves headers only towards what was agreed: from `Copying(g + 1)` to
//! `Stable(g)` in the first case, while some file stays `Stable(g)`; from `Copying(g + 1)` to `Stable(g + 1)` in the second.
//! So the next opening finds the same case. No PE goes on before all have finished.
//!
//! *A header that was written and not yet flushed* is seen by the next job if only the job died, and may be gone if
//! the machine dies then. So every opening writes the header that it found once more, the same bytes in the
//! same place, and flushes, before it tells anybody.
//!
//! *Errors of the disk.* If step 1 fails on any PE, all write `Stable(g)` again, over the header that may be
//! there or not, and persist returns the error; the partition is not persisted any more in this job. If
//! step 3 fails, or going back does, W must not be written any more: the job ends. The next one finds the case
//! above. A flush that fails leaves pages that are seen and that the disk lacks, and a later flush passes them
//! over: so an opening writes all pages, and not only those in which W and C differ.
//!
//! # What stays a risk
//!
//! A regular file cannot be sealed as memfds are. It is locked (`flock`) for as long as any PE has it mapped,
//! has mode 0600, and belongs to the user of the job; its blocks are allocated at the start. A process of the
//! same user that truncates it all the same, or a medium that fails to read, kills who touches that part
//! (SIGBUS).

mod agree;
mod error;
mod format;
mod open;
mod store;

pub use agree::{Found, agree};
pub use error::{Fault, PmemError};
pub use format::Identity;
pub use open::{Backing, PmemFile};

#[cfg(test)]
mod tests {
    #[cfg(not(miri))]
    mod changed;
    #[cfg(not(miri))]
    mod files;
    mod simulated;
}
