//! Measures: what operations cost, each against a limit that is measured beside it.
//!
//! `shmem-perf` is made of them, and a program may call them on its own objects. A measure is a
//! function that returns [`Samples`]: pairs of what the operation cost and what its limit cost, taken
//! in turn. What comes out of them is a [`Case`], and what it ought to be a [`Goal`].
//!
//! ```text
//! put, get, lookup, barrier, alloc      measures inside a job
//! signal, atomic                        measures of words
//! collective                            collectives, inside a job
//! pages, partitions, placing            measures of memory
//! placement                             where memory lies, which is no measure
//! array                                 measures of arrays on NUMA nodes
//! threads, tracking                     measures of contexts
//! strided                               measures of layouts, inside a job
//! halo                                  measures of a stencil, inside a job
//! startup                               measures of whole jobs, which are started by jobs
//! applications, processes               examples beside one process alone; what the machine gains by several
//! baseline                              the limits        affinity    a core for each PE
//! peers                                 other libraries, in turn with ours
//! micro                                 the usual micro-benchmarks, beside all of them
//! fabric                                measures over libfabric, against a bare program
//! jobs, hosts                           the tool's own program as PEs, and where they run
//! scale                                 how collectives and starts grow: formulas, and a model
//! samples, case, goal, table, rounds    statistics and reports
//! guard                                 what must not become slower
//! ```

pub mod affinity;
pub mod alloc;
pub mod applications;
pub mod array;
pub mod atomic;
pub mod barrier;
pub mod baseline;
mod case;
pub mod collective;
pub mod fabric;
pub mod get;
mod goal;
pub mod guard;
pub mod halo;
pub mod hosts;
pub mod jobs;
pub mod lookup;
pub mod micro;
pub mod pages;
pub mod partitions;
pub mod peers;
pub mod placement;
pub mod placing;
pub mod processes;
pub mod put;
pub mod rounds;
mod samples;
pub mod scale;
mod sequence;
pub mod signal;
pub mod startup;
pub mod stencil;
pub mod strided;
pub mod table;
pub mod threads;
mod touch;
pub mod tracking;

pub use case::{Case, Record, Site};
pub use goal::Goal;
pub use samples::{FEWEST, Quartiles, Samples, nanoseconds_each};
