//! Errors of making and mapping symmetric memory.

use rustix::io::Errno;
use shmem_grammar::Kind;

use super::placement::PlacementError;
use super::pmem::PmemError;
use super::size::Size;
use crate::topology;

/// Memory could not be reserved, mapped or populated.
///
/// Sizes are in bytes. `what` is the memory and who asked for it: a partition, or what else it is. `memory`, `limit` and `has` say
/// in words what there is; `nodes` are those on which it must lie, of which none stand for any.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum MemoryError {
    /// The size asked for does not fit into any address space, of which a process has `most`.
    #[error(
        "{what}: {asked} are asked for, and a process has {most} of addresses for all PEs of its node; lower it",
        asked = Size(*asked), most = Size(*most)
    )]
    TooLarge { what: String, asked: u64, most: u64 },
    /// The process may not reserve `asked` of addresses, `place` for each of the `slots` PEs of its node.
    #[error(
        "symmetric memory of the {slots} PEs of this node needs {asked} of addresses, {place} for each, and {limit}; {hint}",
        asked = Size(*asked), place = Size(*place)
    )]
    AddressSpace { slots: usize, asked: u64, place: u64, limit: String, hint: String },
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
    FileSize { asked: u64, limit: u64 },
    /// One partition is larger than the memory of the node.
    #[error("{what}: {asked} are asked for, and {memory}; lower it", asked = Size(*asked))]
    LargerThanMemory { what: String, asked: u64, memory: String },
    /// What `slots` PEs are to populate, `each` of it in the partitions `who`, does not fit into the memory that is left.
    #[error(
        "{asked} of symmetric memory are to be populated on this node ({slots} x {each}: {who}), and {memory}; lower these sizes, start fewer PEs on a node, or leave KIND, POLICY and PGSIZE out, so that pages come when they are touched",
        asked = Size(*asked), each = Size(*each)
    )]
    NotEnoughMemory { asked: u64, slots: usize, each: u64, who: String, memory: String },
    /// No memfds.
    #[error(
        "memfd_create is not allowed here ({errno}): symmetric memory is made of memfds; allow the call, in a container in its seccomp profile, and have vm.memfd_noexec at most 1"
    )]
    NoMemfd { errno: Errno },
    /// No pages of at least the size `asked` for what has `bytes` on each of `slots` PEs.
    #[error(
        "{what}: PGSIZE={asked} with POLICY=MANDATORY needs {bytes} in pages of at least that size on each of {slots} PEs{place}, and this machine has {has}; reserve huge pages ({variable}), lower PGSIZE, or take POLICY=PREFERRED",
        asked = Size(*asked), bytes = Size(*bytes), place = node_list(", on", nodes), variable = reserve(nodes)
    )]
    NoPages { what: String, asked: u64, bytes: u64, slots: usize, nodes: Vec<u32>, has: String },
    /// The file of a partition cannot be used.
    #[error(transparent)]
    Pmem(#[from] Box<PmemError>),
    /// A page size that a file does not have.
    #[error(
        "{what}: PGSIZE={asked} with POLICY=MANDATORY, and the pages of a file have {has}; leave PGSIZE out, or take POLICY=PREFERRED",
        asked = Size(*asked), has = Size(*has)
    )]
    FilePages { what: String, asked: u64, has: u64 },
    /// What must be on some nodes does not fit there: all PEs of the host together want `asked`.
    #[error(
        "{what}: KIND={kind} with POLICY=MANDATORY needs {bytes}{place}; the PEs of this host want {asked} there in all, and {memory}; lower the sizes of what is {kind}, start fewer PEs on a node, or take POLICY=PREFERRED",
        bytes = Size(*bytes), place = node_list(" on", nodes), asked = Size(*asked)
    )]
    NotEnoughOnNodes { what: String, kind: Kind, bytes: u64, nodes: Vec<u32>, asked: u64, memory: String },
    /// No memory of the kind asked for.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Pages cannot come from the nodes from which they must.
    #[error(
        "{what}: its pages must lie{place}, and cannot: {reason}; take POLICY=PREFERRED to run all the same",
        place = node_list(" on", nodes)
    )]
    NotPlaced { what: String, nodes: Vec<u32>, reason: String },
    /// Pages could not be made.
    #[error("{what}: {bytes} could not be populated: {reason}", bytes = Size(*bytes))]
    Populate { what: String, bytes: u64, reason: String },
    /// A system call failed for no reason of its own.
    #[error("{call} failed while {what}: {errno}")]
    System { call: &'static str, what: &'static str, errno: Errno },
    /// A peer's memory is not what it has to be.
    #[error(
        "the memory that the PE in slot {slot} of this node handed over is refused: {reason}; all PEs must run the same program with the same partitions"
    )]
    Peer { slot: usize, reason: String },
    /// No room behind the partitions, in a range of `total`.
    #[error(
        "no room for another segment of {asked}: {segments} of {most} are in use, and the largest free range has {largest} of {total}; drop one, ask for less, or raise SHMEM_LATER_SIZE",
        asked = Size(*asked), largest = Size(*largest), total = Size(*total)
    )]
    NoLaterRoom { asked: u64, segments: usize, most: usize, largest: u64, total: u64 },
}

/// Nodes with a word in front; nothing if there are none.
pub(super) fn node_list(word: &str, nodes: &[u32]) -> String {
    if nodes.is_empty() { String::new() } else { format!("{word} {}", topology::numbers(nodes)) }
}

/// What reserves huge pages, on nodes.
fn reserve(nodes: &[u32]) -> String {
    match nodes {
        [] => "vm.nr_hugepages".into(),
        [node, ..] => format!("/sys/devices/system/node/node{node}/hugepages/*/nr_hugepages"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_say_when_they_are_rounded() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (4096, "4K"),
            ((3 << 30) / 2, "1.5G"),
            ((1 << 30) + 1, "about 1G"),
            (23_683_808 << 10, "about 22.6G"),
            (2032 << 30, "2032G"),
            (u64::MAX, "about 16777216T"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
