//! Requests that the machine, or a limit of the process, does not allow: each has one message.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use shmem_grammar::{Kind, Policy, Traits};

use super::{NO_FILES, add_pool, paged, plain, reserve};
use crate::fixture::{Tree, assert_says, in_child};
use crate::memory::{Arena, Machine, MemoryError, Placement, Request, SlotLayout, Spread};
use crate::partition::PartitionSpec;
use crate::topology::tests::{dram, hbm};
use crate::topology::{NumaNode, Topology};

const M: u64 = 1 << 20;
const G: u64 = 1 << 30;

/// A machine with 1 GiB, of which 600 MiB are left, without huge pages.
fn small() -> Tree {
    let tree = Tree::new();
    tree.write("proc/meminfo", &format!("MemTotal: {} kB\nMemAvailable: {} kB\n", 1 << 20, 600 << 10));
    tree
}

fn explicit(id: u32, size: u64) -> PartitionSpec {
    let traits = Traits { kind: Some(Kind::NormalMem), ..Traits::NONE };
    PartitionSpec { traits, explicit: true, ..plain(id, size) }
}

#[test]
fn one_partition_fits_into_memory_and_their_sum_need_not() {
    let tree = small();
    let machine = Machine::at(tree.root());
    let sums: Vec<_> = (1..=127).map(|id| plain(id, G)).collect();
    reserve(&sums, 16, machine.clone()).unwrap();
    let error = reserve(&[plain(1, M), plain(9, G + 1)], 1, machine.clone()).unwrap_err().to_string();
    assert_says(
        &error,
        &["partition 9 `partition9` (SHMEM_SYMMETRIC_PARTITION9)", "about 1G are asked", "this node has 1G"],
    );
    let arena = reserve(&[plain(1, M)], 1, machine).unwrap();
    let error = arena.check_dynamic(&Request::plain("A", 2 << 30), 1).unwrap_err();
    assert_says(error, &["A: 2G are asked for, and this node has 1G"]);
}

#[test]
fn what_a_dynamic_segment_takes_of_a_node_is_asked_by_those_who_are_next_to_it() {
    let tree = two_nodes();
    let arena = reserve(&[plain(1, M)], 2, Machine::at(tree.root())).unwrap();
    let kind = Some(Kind::NormalMem);
    let placement = Placement { kind, nodes: vec![0], spread: Spread::Bound, ..Placement::system() };
    let ask = |bytes: u64| Request {
        placement: placement.clone(),
        populate: true,
        ..Request::plain("A", bytes as usize)
    };
    arena.check_dynamic(&ask(250 * M), 1).unwrap();
    let error = arena.check_dynamic(&ask(250 * M), 2).unwrap_err().to_string();
    assert!(error.contains("node 0 has left 392M"), "{error}");
    let error = arena.check_dynamic(&ask(390 * M), 1).unwrap_err();
    assert_says(error, &["2 x 390M", "this node has left 600M"]);
}

#[test]
fn what_is_populated_on_all_pes_fits_into_what_is_left() {
    let tree = small();
    let machine = Machine::at(tree.root());
    reserve(&[plain(1, G), explicit(2, 150 * M)], 4, machine.clone()).unwrap();
    let error = reserve(&[plain(1, G), explicit(2, 151 * M)], 4, machine.clone()).unwrap_err();
    assert_says(&error, &["partition 2 `partition2`", "4 x 151M", "this node has left 600M"]);
    tree.write("proc/self/cgroup", "0::/job\n");
    tree.write("sys/fs/cgroup/job/memory.max", &(100 * M).to_string());
    let error = reserve(&[explicit(1, 50 * M)], 4, machine).unwrap_err().to_string();
    assert!(error.contains("the control group /job has left 100M"), "{error}");
}

#[test]
fn pages_of_a_pool_do_not_count_as_memory_and_have_to_do_for_all() {
    let tree = small();
    add_pool(&tree, G, 5, 4, &[]);
    let machine = Machine::at(tree.root());
    let specs = [paged(1, G, G, Policy::Mandatory)];
    reserve(&specs, 4, machine.clone()).unwrap();
    let error = reserve(&specs, 5, machine.clone()).unwrap_err().to_string();
    assert_says(
        &error,
        &[
            "PGSIZE=1G",
            "MANDATORY",
            "each of 5 PEs",
            "huge pages of 1G (4 of 5 can be had)",
            "vm.nr_hugepages",
        ],
    );
    let error = reserve(&[paged(1, G, G, Policy::Preferred)], 5, machine).unwrap_err();
    assert_says(error, &["1G of symmetric memory are to be populated"]);
}

/// [`small`] with two nodes of 512 MiB each. Node 1 is fast and has three huge pages of a pool.
fn two_nodes() -> Tree {
    let tree = small();
    for (node, free) in [(0, 400), (1, 300)] {
        let directory = format!("sys/devices/system/node/node{node}");
        let text =
            format!("Node {node} MemTotal: {} kB\nNode {node} MemFree: {} kB\n", 512 << 10, free << 10);
        tree.write(&format!("{directory}/meminfo"), &text);
    }
    add_pool(&tree, 2 * M, 43, 43, &[(0, 40), (1, 3)]);
    tree
}

/// Reserves for two PEs that ask for fast memory: both on node 1, or the other PE on node 2, which a cpuset forbids to this PE.
fn fast(
    tree: &Tree,
    bytes: u64,
    pgsize: Option<u64>,
    policy: Policy,
    both: bool,
) -> Result<Arena, MemoryError> {
    let traits = Traits { kind: Some(Kind::FastMem), policy: Some(policy), pgsize, ..Traits::NONE };
    let spec = PartitionSpec { traits, explicit: true, ..plain(3, bytes) };
    let nodes = vec![dram(0), hbm(1), NumaNode { allowed: false, ..hbm(2) }];
    let layout = SlotLayout::new(&[plain(1, M), spec], 0, 0, &Topology::of(nodes, vec![0], None))?;
    Arena::reserve(0, layout, 2, if both { 2 } else { 1 }, Machine::at(tree.root()))
}

#[test]
fn what_must_be_on_a_node_fits_there_for_all_pes_together() {
    let tree = two_nodes();
    // Some of a node stays the kernel's: 8 MiB.
    fast(&tree, 146 * M, None, Policy::Mandatory, true).unwrap();
    fast(&tree, 250 * M, None, Policy::Mandatory, false).unwrap();
    fast(&tree, 250 * M, None, Policy::Preferred, true).unwrap();
    let error = fast(&tree, 147 * M, None, Policy::Mandatory, true).unwrap_err();
    assert_says(
        error,
        &[
            "partition 3 `partition3` (SHMEM_SYMMETRIC_PARTITION3)",
            "KIND=FASTMEM with POLICY=MANDATORY needs 147M on node 1",
            "want 294M there in all",
            "node 1 has left 292M",
            "POLICY=PREFERRED",
        ],
    );
    // Of the three huge pages that are free there each PE has one, or one PE has all.
    fast(&tree, 2 * M, Some(2 * M), Policy::Mandatory, true).unwrap();
    fast(&tree, 6 * M, Some(2 * M), Policy::Mandatory, false).unwrap();
    fast(&tree, 4 * M, Some(2 * M), Policy::Preferred, true).unwrap();
    let error = fast(&tree, 4 * M, Some(2 * M), Policy::Mandatory, true).unwrap_err();
    assert_says(
        error,
        &[
            "partition 3 `partition3`",
            "PGSIZE=2M with POLICY=MANDATORY needs 4M",
            "each of 2 PEs, on node 1",
            "huge pages of 2M (3 of 43 can be had on node 1)",
            "/sys/devices/system/node/node1/hugepages",
        ],
    );
}

#[test]
fn a_limit_on_addresses() {
    in_child(|| {
        let limit = Rlimit { current: Some(8 * G), maximum: Some(8 * G) };
        setrlimit(Resource::As, limit).unwrap();
        let specs = [plain(1, M), plain(2, G)];
        let error = reserve(&specs, 8, Machine::default()).unwrap_err().to_string();
        assert_says(&error, &["8 PEs", "RLIMIT_AS) is 8G", "raise the limit", "partition 2 `partition2`"]);
        reserve(&specs, 2, Machine::default()).unwrap();
    });
}

#[test]
fn more_addresses_than_there_are() {
    let specs = [plain(1, G), explicit(2, M), paged(3, M, G, Policy::Preferred)];
    for slots in [1 << 20, usize::MAX / 2] {
        let error = reserve(&specs, slots, Machine::at(Tree::new().root())).unwrap_err();
        assert_says(error, &["of addresses"]);
    }
}

#[test]
fn a_limit_on_open_files_is_raised_or_named() {
    in_child(|| {
        let set = |current, maximum| {
            setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: Some(maximum) }).unwrap();
        };
        set(64, 500);
        reserve(&[plain(1, M)], 32, Machine::default()).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(64), "enough: left alone");
        reserve(&[plain(1, M)], 128, Machine::default()).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(500), "raised");
        let error = reserve(&[plain(1, M)], 500, Machine::default()).unwrap_err();
        assert_says(error, &["hand each other 500 file descriptors", "RLIMIT_NOFILE) is 500; raise it"]);
    });
}

#[test]
fn a_limit_on_the_size_of_files() {
    in_child(|| {
        setrlimit(Resource::Fsize, Rlimit { current: Some(64 * M), maximum: Some(64 * M) }).unwrap();
        let error = reserve(&[plain(1, 100 * M)], 1, Machine::default()).unwrap_err().to_string();
        assert!(error.contains("RLIMIT_FSIZE") && error.contains("at most 64M"), "{error}");
        reserve(&[plain(1, 10 * M)], 1, Machine::default()).unwrap().create(0, NO_FILES).unwrap();
    });
}

/// Lets a system call fail in this thread, as the profiles of some containers do.
#[expect(clippy::cast_possible_truncation, reason = "fields of a filter are that small")]
pub(super) fn forbid(number: libc::c_long, errno: i32) {
    let op = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let (load, jump, give) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET,
    );
    let mut filter = [
        op(load, 0, 0, 0),
        op(jump, 0, 1, number as u32),
        op(give, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        op(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the option takes plain numbers.
    let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(result, 0);
    // SAFETY: the program and its filter live until the call returns.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn memfds_that_are_forbidden() {
    in_child(|| {
        for errno in [libc::EPERM, libc::ENOSYS] {
            forbid(libc::SYS_memfd_create, errno);
            let error =
                reserve(&[plain(1, M)], 1, Machine::default()).unwrap().create(0, NO_FILES).unwrap_err();
            assert_says(error, &["memfd_create is not allowed here", "seccomp"]);
        }
    });
}
