//! Mechanism of `shmem-rt`, usable without a job: partitions and their traits, symmetric memory, heaps, segments, transports and
//! contexts.
//!
//! Launchers, teams and phases (`World::local`, `frozen`) are in `shmem-rt`, which imports this crate; this crate never imports
//! `shmem-rt`. Here, a module imports only modules below it in this list (`ui-tests/tests/layers.rs` checks this rule):
//!
//! ```text
//! linker_section  records of `#[symmetric]` and `partitions!` in a binary
//! indexed         single elements by lists of indices, on one PE or over several
//! halo            ghost cells that neighbours exchange without a barrier
//! context         contexts, and the operations: put, get, atomics, waiting, fence and quiet
//! array           arrays whose chunks are on NUMA nodes: chunking, storages, handles and views
//! object          handles of symmetric objects: Symmetric, SymBox, On
//! padded          arrays whose rows are padded, so that a column uses all sets of a cache
//! endpoint        streams of operations, the tokens that give access to them, and waits of a PE
//! observe         the table of all operations, and observers, which are notified of every call of one
//! transport       how bytes reach another PE: inline code for shared memory, a trait for everything else
//! libfabric       the network's library, loaded at run time: bindings, calls, and types for its objects
//! strided         regions, plans and kernels: which blocks a transfer moves, and how
//! heap            layout of statics, the deterministic allocator, deferred reclaim
//! memory          memfds, page sizes, files that survive the job, the arena: addresses with a slot for each PE of the node
//! topology        NUMA nodes: memory, its kind, its distance
//! segment_table   the table that finds the segment (system area, partition, dynamic segment) of an offset in a PE's slot
//! partition       requests for partitions (parts of symmetric memory with traits), and what the machine granted
//! system_area     the words of the runtime in every PE's slot: doorbell, barriers, record of the PE
//! sync            waiting, barriers and exchanges on a node: algorithms that are checked with loom
//! symmetric_data  types that may be in symmetric memory
//! shared          loads, stores and copies of memory that others access at the same time
//! hash            fingerprints of values that must be equal on all PEs
//! pe              the number of a PE, and its slot on this node
//! const_format    compile-time formatting of error texts
//! text_table      text in columns, for tables and reports
//! proc_sys        reads files of `proc` and `sys`, real or simulated
//! cpu_list        lists of numbers: `0-3,8`
//! run_length      run-length encoded lists
//! text            pieces of texts: counts, differences, keywords, and texts of fixed size for records
//! loom_atomics    atomics, fences and futexes, and their replacements in models of loom
//! planted_fault   faults that tests and models must find
//! loader          C libraries, loaded at run time without changing the program's signal handlers
//! process_exit    ends the process, and completes transfers before the program ends it
//! exclusion       mutexes and locks for threads of one process, without poison
//! ```

// The address to which other crates' documentation links.
#![doc(html_root_url = "https://docs.rs/shmem-core/0.1.0")]

pub mod array;
pub mod const_format;
pub mod context;
pub mod cpu_list;
pub mod endpoint;
pub mod exclusion;
#[cfg(test)]
mod fixture;
pub mod halo;
pub mod hash;
pub mod heap;
pub mod indexed;
pub mod libfabric;
pub mod linker_section;
pub mod loader;
mod loom_atomics;
pub mod memory;
pub mod object;
pub mod observe;
pub mod padded;
pub mod partition;
pub mod pe;
pub mod planted_fault;
pub mod proc_sys;
pub mod process_exit;
pub mod run_length;
pub mod segment_table;
pub mod shared;
pub mod strided;
pub mod symmetric_data;
pub mod sync;
pub mod system_area;
pub mod text;
pub mod text_table;
pub mod topology;
pub mod transport;
