//! What features keep of a running job, one to a file: plain values, which the [job](crate::job) holds.
//!
//! What is done with them stands above, with those who do it. So the job need not know them, and the compiler
//! knows what there is, and in which order it is dropped.
//!
//! ```text
//! partitions   which partitions there are       later     segments made after the start, and what ends with them
//! shelf        a partition that outlives the job, with its file      names    the list of the objects that have names there
//! holdings     who has which unit of the resource        granted   the same for people
//! threads      registered threads
//! indexes      which teams the calling PE is in          uses      what it has of each: handle, contexts, objects
//! room         which parts of the memory of teams are free
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
