//! The state of each feature in a running job, one to a file: plain values that are fields of the [job](crate::job).
//!
//! The operations on them are in modules above the job.
//!
//! ```text
//! partitions   partitions of the job                      later     segments and pools made after the start
//! shelf        a persistent partition, with its file      names     the list of its named objects
//! holdings     resource units of contexts and domains     granted   reports of them
//! threads      registered threads
//! indexes      teams of the calling PE, by index          uses      handle, contexts and objects of one team
//! room         free ranges of the memory of teams
//! ```

pub(crate) mod granted;
pub(crate) mod holdings;
pub(crate) mod indexes;
pub(crate) mod later;
pub(crate) mod names;
pub(crate) mod partitions;
pub(crate) mod room;
pub(crate) mod shelf;
pub(crate) mod threads;
pub(crate) mod uses;
