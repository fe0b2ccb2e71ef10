//! What can be wrong with partitions before any memory is asked for.

use shmem_grammar::{MAX_PARTITION_ID, Policy, SizeError, TraitError, show_size};

use super::MAX_PARTITIONS;

/// A partition, or what describes it, is not usable.
///
/// Sizes are in bytes. `place`, and what takes something (`first`, `second`, `declaration`), has its file and line; `origin` says who
/// asked, and `remedy` what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum PartitionError {
    /// The value of a partition variable.
    #[error("{variable}={value}: {fault}")]
    Traits { variable: String, value: String, fault: Box<TraitError> },
    /// The ID or name in the name of a partition variable.
    #[error(
        "{variable}={value}: {fault}; write {stem}<ID> with an ID in 1..={MAX_PARTITION_ID}, or {stem}_<NAME> with a name that the program declares"
    )]
    Variable {
        variable: String,
        value: String,
        /// The variable without ID and name.
        stem: String,
        fault: String,
    },
    /// The value of `SHMEM_SYMMETRIC_SIZE`.
    #[error("{variable}={value}: {fault}")]
    HeapSize { variable: String, value: String, fault: SizeError },
    /// `SHMEM_SYMMETRIC_SIZE` and a variable of partition 1.
    #[error(
        "{size} and {partition} are both set, and both size the default heap, partition 1; unset one of them (with other partitions, {size} may stay)"
    )]
    HeapTwice { size: String, partition: String },
    /// Two variables of one partition that say different things.
    #[error("{first} and {second} are both set, describe {partition} and differ; unset one of them")]
    GivenTwice { first: String, second: String, partition: String },
    /// Traits in a declaration that do not fit together.
    #[error("partition `{name}`, declared at {place}: {fault}")]
    Declared { name: String, place: String, fault: Box<TraitError> },
    /// The page size that an object wishes for.
    #[error("`{object}` at {place}: {fault}")]
    Wished { object: String, place: String, fault: Box<TraitError> },
    /// Two declarations that cannot both hold.
    #[error("{what} is taken twice: by {first}, and by {second}; {remedy}")]
    Conflict { what: String, first: String, second: String, remedy: &'static str },
    /// ID 1 and the name `default` belong together.
    #[error("{declaration}: partition 1 is `default`, the default heap, and no other; {remedy}")]
    DefaultHeap { declaration: String, remedy: &'static str },
    /// More partitions than a job can have.
    #[error(
        "{count} partitions are asked for, and a job has at most {MAX_PARTITIONS}, the built-in ones (`default`, `fast`, `normal`) counted; one partition for each kind of memory and page size is enough, since a heap holds any number of objects"
    )]
    TooMany { count: usize },
    /// The traits of a partition made at run time.
    #[error("the new partition: {fault}")]
    New { fault: Box<TraitError> },
    /// The ID of a partition made at run time.
    #[error(
        "the new partition wants the ID {id}; an ID lies in 1..={MAX_PARTITION_ID}; give one of these, or none: then a free one is taken"
    )]
    NewId { id: u32 },
    /// The name of a partition made at run time.
    #[error(
        "the new partition is named `{}`; a name has at least one and at most 32 bytes, and only characters that print; shorten it, or give none",
        .name.escape_debug()
    )]
    NewName { name: String },
    /// A partition that exists as long as the job was to be dropped.
    #[error(
        "{partition} exists since the start of the job (from {origin}) and as long as it; only what `create_partition` made can be dropped"
    )]
    Permanent { partition: String, origin: String },
    /// A partition was to be dropped in which something is allocated.
    #[error(
        "{partition} cannot be dropped: {allocations} in it; drop or free what is there on every PE first"
    )]
    InUse { partition: String, allocations: String },
    /// No partition has the ID or name.
    #[error("there is no partition {asked}; there are {existing}{hint}")]
    NoSuchPartition {
        asked: String,
        existing: String,
        /// What was probably meant, or how to make it.
        hint: String,
    },
    /// A partition that must have small pages, with an object that needs large ones.
    #[error(
        "{partition} has PGSIZE={} under POLICY=MANDATORY (from {origin}), and `{object}` at {place} needs pages of {}; raise PGSIZE, or leave it out: then the object's wish is taken",
        show_size(*.given), show_size(*.wished)
    )]
    PageSize { partition: String, origin: String, given: u64, object: String, place: String, wished: u64 },
    /// A file for a partition of another kind.
    #[error(
        "{partition} has PMEM={path} (from {origin}) and {kind}; only a partition with KIND=PMEM lies in a file: write KIND=PMEM, or leave PMEM= out"
    )]
    FileOfOtherKind { partition: String, path: String, origin: String, kind: String },
    /// A partition that is to survive, and no file.
    #[error(
        "{partition} has KIND=PMEM under POLICY={policy} (from {origin}) and no file to lie in; add PMEM=<path> to {variable}, for example {variable}=SIZE={}:KIND=PMEM:POLICY={policy}:PMEM=/mnt/pmem0/heap",
        show_size(*.size)
    )]
    NoFile { partition: String, policy: Policy, origin: String, variable: String, size: u64 },
    /// Two partitions in one file.
    #[error("{first} and {second} both have PMEM={path}; each partition needs a file of its own")]
    FileTwice { first: String, second: String, path: String },
    /// A policy that means nothing for a file.
    #[error(
        "{partition} has KIND=PMEM and POLICY={policy} (from {origin}), and a file lies on no memory node; write POLICY=MANDATORY, or POLICY=PREFERRED for normal memory where the file cannot be made"
    )]
    PolicyOfFile { partition: String, policy: Policy, origin: String },
}
