//! Errors of making and mapping symmetric memory.

use core::fmt;

use rustix::io::Errno;
use shmem_grammar::Kind;

use super::placement::PlacementError;
use super::pmem::PmemError;
use super::size::Size;
use crate::ranges;

/// Memory could not be reserved, mapped or populated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum MemoryError {
    /// The sizes asked for do not fit into any address space.
    #[error(
        "{what}: {asked} are asked for, and a process has {most} of addresses for all PEs of its node; lower it",
        asked = Size(*asked), most = Size(*most)
    )]
    TooLarge {
        /// The partition and where it was asked for, or what else it is.
        what: String,
        /// Bytes asked for.
        asked: u64,
        /// Bytes of addresses that a process has.
        most: u64,
    },
    /// The process may not reserve that many addresses.
    #[error(
        "symmetric memory of the {slots} PEs of this node needs {asked} of addresses, {place} for each, and {limit}; {hint}",
        asked = Size(*asked), place = Size(*place)
    )]
    AddressSpace {
        /// PEs on the node.
        slots: usize,
        /// Bytes of addresses of all of them.
        asked: u64,
        /// Bytes of addresses of one of them.
        place: u64,
        /// The limit, in words.
        limit: String,
        hint: String,
    },
    /// The process may not open enough files.
    #[error(
        "the PEs of this node hand each other {needed} file descriptors beside the {open} that this process has open, and the hard limit on open files (ulimit -Hn, RLIMIT_NOFILE) is {limit}; raise it to at least {total}, or start fewer PEs on a node", total = needed.saturating_add(*open)
    )]
    Descriptors { needed: u64, open: u64, limit: u64 },
    /// The memory of a PE is a file that may not be that large.
    #[error(
        "the memory of a PE is a memfd of {asked}, and files may have at most {limit} (ulimit -f, RLIMIT_FSIZE); raise the limit, or lower the sizes of the partitions",
        asked = Size(*asked), limit = Size(*limit)
    )]
    FileSize {
        /// Bytes of the file.
        asked: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// One partition is larger than the memory of the node.
    #[error("{what}: {asked} are asked for, and {memory}; lower it", asked = Size(*asked))]
    LargerThanMemory {
        /// The partition and where it was asked for.
        what: String,
        /// Bytes asked for.
        asked: u64,
        /// The memory there is, in words.
        memory: String,
    },
    /// What is to be populated does not fit into the memory that is left.
    #[error(
        "{asked} of symmetric memory are to be populated on this node ({slots} x {each}: {who}), and {memory}; lower these sizes, start fewer PEs on a node, or leave KIND, POLICY and PGSIZE out, so that pages come when they are touched",
        asked = Size(*asked), each = Size(*each)
    )]
    NotEnoughMemory {
        /// Bytes to populate.
        asked: u64,
        /// PEs that populate.
        slots: usize,
        /// Bytes that each of them populates.
        each: u64,
        /// The partitions that are populated.
        who: String,
        /// The memory there is, in words.
        memory: String,
    },
    /// No memfds.
    #[error(
        "memfd_create is not allowed here ({errno}): symmetric memory is made of memfds; allow the call, in a container in its seccomp profile, and have vm.memfd_noexec at most 1"
    )]
    NoMemfd { errno: Errno },
    /// No pages of the size asked for.
    #[error(
        "{what}: PGSIZE={asked} with POLICY=MANDATORY needs {bytes} in pages of at least that size on each of {slots} PEs{place}, and this machine has {has}; reserve huge pages ({variable}), lower PGSIZE, or take POLICY=PREFERRED",
        asked = Size(*asked), bytes = Size(*bytes), place = NodeList(", on", nodes), variable = Reserve(nodes)
    )]
    NoPages {
        /// The partition and where it was asked for.
        what: String,
        /// Bytes of a page, at least.
        asked: u64,
        /// Bytes of the partition.
        bytes: u64,
        /// PEs that want it.
        slots: usize,
        /// The nodes on which they must lie; empty: any.
        nodes: Vec<u32>,
        /// The pages there are, in words.
        has: String,
    },
    /// The file of a partition cannot be used.
    #[error(transparent)]
    Pmem(#[from] Box<PmemError>),
    /// A partition in a file, after the start.
    #[error(
        "{what}: a partition with KIND=PMEM is made when the job starts; declare it with `partitions!`, or give it in the environment"
    )]
    FileAtStart {
        /// The partition and where it was asked for.
        what: String,
    },
    /// A page size that a file does not have.
    #[error(
        "{what}: PGSIZE={asked} with POLICY=MANDATORY, and the pages of a file have {has}; leave PGSIZE out, or take POLICY=PREFERRED",
        asked = Size(*asked), has = Size(*has)
    )]
    FilePages {
        /// The partition and where it was asked for.
        what: String,
        /// Bytes of a page, at least.
        asked: u64,
        /// Bytes of a page of a file.
        has: u64,
    },
    /// What must be on some nodes does not fit there.
    #[error(
        "{what}: KIND={kind} with POLICY=MANDATORY needs {bytes}{place}; the PEs of this host want {asked} there in all, and {memory}; lower the sizes of what is {kind}, start fewer PEs on a node, or take POLICY=PREFERRED",
        bytes = Size(*bytes), place = NodeList(" on", nodes), asked = Size(*asked)
    )]
    NotEnoughOnNodes {
        /// The partition and where it was asked for.
        what: String,
        kind: Kind,
        /// Bytes of the partition.
        bytes: u64,
        nodes: Vec<u32>,
        /// Bytes that all PEs of the host want there.
        asked: u64,
        /// The memory there is, in words.
        memory: String,
    },
    /// No memory of the kind asked for.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Pages cannot come from the nodes from which they must.
    #[error(
        "{what}: its pages must lie{place}, and cannot: {reason}; take POLICY=PREFERRED to run all the same",
        place = NodeList(" on", nodes)
    )]
    NotPlaced {
        /// The partition and where it was asked for, or what else it is.
        what: String,
        nodes: Vec<u32>,
        reason: String,
    },
    /// Pages could not be made.
    #[error("{what}: {bytes} could not be populated: {reason}", bytes = Size(*bytes))]
    Populate {
        /// The partition and where it was asked for.
        what: String,
        /// Bytes to populate.
        bytes: u64,
        reason: String,
    },
    /// A system call failed for no reason of its own.
    #[error("{call} failed while {what}: {errno}")]
    System { call: &'static str, what: &'static str, errno: Errno },
    /// A peer's memory is not what it has to be.
    #[error(
        "the memory that the PE in slot {slot} of this node handed over is refused: {reason}; all PEs must run the same program with the same partitions"
    )]
    Peer { slot: usize, reason: String },
    /// No room behind the partitions.
    #[error(
        "no room for another segment of {asked}: {segments} of {most} are in use, and the largest free range has {largest} of {total}; drop one, ask for less, or raise SHMEM_LATER_SIZE",
        asked = Size(*asked), largest = Size(*largest), total = Size(*total)
    )]
    NoLaterRoom {
        /// Bytes asked for.
        asked: u64,
        segments: usize,
        most: usize,
        /// Bytes of the largest free range.
        largest: u64,
        /// Bytes of the whole range.
        total: u64,
    },
}

/// Nodes with a word in front; nothing if there are none.
pub(super) struct NodeList<'a>(pub(super) &'a str, pub(super) &'a [u32]);

impl fmt::Display for NodeList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(word, nodes) = *self;
        match nodes {
            [] => Ok(()),
            [node] => write!(f, "{word} node {node}"),
            nodes => {
                let mut numbers: Vec<_> = nodes.iter().map(|&node| node as usize).collect();
                numbers.sort_unstable();
                write!(f, "{word} nodes {}", ranges::show(&numbers))
            }
        }
    }
}

/// What reserves huge pages, on nodes.
struct Reserve<'a>(&'a [u32]);

impl fmt::Display for Reserve<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("vm.nr_hugepages"),
            [node, ..] => write!(f, "/sys/devices/system/node/node{node}/hugepages/*/nr_hugepages"),
        }
    }
}
