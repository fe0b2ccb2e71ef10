//! Every limit has one message.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Tree, in_child, paged, plain};
use crate::memory::{Arena, Machine, MemoryError, PlaceLayout, Request};
use crate::partition::{Kind, PartitionSpec, Policy, Traits};
use crate::topology::Topology;

const M: u64 = 1 << 20;
const G: u64 = 1 << 30;

fn reserve(specs: &[PartitionSpec], slots: usize, machine: Machine) -> Result<Arena, MemoryError> {
    Arena::reserve(PlaceLayout::new(specs, 0, &Topology::default()).unwrap(), slots, machine)
}

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
    for part in
        ["partition 9 `partition9` (SHMEM_SYMMETRIC_PARTITION9)", "about 1G are asked", "this node has 1G"]
    {
        assert!(error.contains(part), "`{part}` in: {error}");
    }
    let arena = reserve(&[plain(1, M)], 1, machine).unwrap();
    let start = arena.layout().later().start;
    let error = arena.create_later(0, start, &Request::array("A", 2 << 30)).unwrap_err();
    assert!(matches!(error, MemoryError::LargerThanMemory { .. }), "{error}");
}

#[test]
fn what_is_populated_on_all_pes_fits_into_what_is_left() {
    let tree = small();
    let machine = Machine::at(tree.root());
    reserve(&[plain(1, G), explicit(2, 150 * M)], 4, machine.clone()).unwrap();
    let error = reserve(&[plain(1, G), explicit(2, 151 * M)], 4, machine.clone()).unwrap_err();
    assert!(matches!(error, MemoryError::NotEnoughMemory { slots: 4, .. }), "{error}");
    for part in ["partition 2 `partition2`", "4 x 151M", "this node has left 600M"] {
        assert!(error.to_string().contains(part), "`{part}` in: {error}");
    }
    tree.write("proc/self/cgroup", "0::/job\n");
    tree.write("sys/fs/cgroup/job/memory.max", &(100 * M).to_string());
    let error = reserve(&[explicit(1, 50 * M)], 4, machine).unwrap_err().to_string();
    assert!(error.contains("the control group /job has left 100M"), "{error}");
}

#[test]
fn pages_of_a_pool_do_not_count_as_memory_and_have_to_do_for_all() {
    let tree = small();
    let pool = "sys/kernel/mm/hugepages/hugepages-1048576kB";
    tree.write(&format!("{pool}/nr_hugepages"), "5");
    tree.write(&format!("{pool}/free_hugepages"), "4");
    let machine = Machine::at(tree.root());
    let specs = [paged(1, G, G, Policy::Mandatory)];
    reserve(&specs, 4, machine.clone()).unwrap();
    let error = reserve(&specs, 5, machine.clone()).unwrap_err().to_string();
    for part in
        ["PGSIZE=1G", "MANDATORY", "each of 5 PEs", "huge pages of 1G (4 of 5 can be had)", "vm.nr_hugepages"]
    {
        assert!(error.contains(part), "`{part}` in: {error}");
    }
    let error = reserve(&[paged(1, G, G, Policy::Preferred)], 5, machine).unwrap_err();
    assert!(matches!(error, MemoryError::NotEnoughMemory { asked: G, .. }), "the fifth: {error:?}");
}

#[test]
fn a_limit_on_addresses() {
    in_child("memory::tests::limits::a_limit_on_addresses", || {
        let limit = Rlimit { current: Some(8 * G), maximum: Some(8 * G) };
        setrlimit(Resource::As, limit).unwrap();
        let specs = [plain(1, M), plain(2, G)];
        let error = reserve(&specs, 8, Machine::default()).unwrap_err().to_string();
        for part in ["8 PEs", "RLIMIT_AS) is 8G", "raise the limit", "partition 2 `partition2`"] {
            assert!(error.contains(part), "`{part}` in: {error}");
        }
        reserve(&specs, 2, Machine::default()).unwrap();
    });
}

#[test]
fn more_addresses_than_there_are() {
    let specs = [plain(1, G), explicit(2, M), paged(3, M, G, Policy::Preferred)];
    for slots in [1 << 20, usize::MAX / 2] {
        let error = reserve(&specs, slots, Machine::at(Tree::new().root())).unwrap_err();
        assert!(
            matches!(error, MemoryError::AddressSpace { .. } | MemoryError::Descriptors { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_limit_on_open_files_is_raised_or_named() {
    in_child("memory::tests::limits::a_limit_on_open_files_is_raised_or_named", || {
        let set = |current, maximum| {
            setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: Some(maximum) }).unwrap();
        };
        set(64, 500);
        reserve(&[plain(1, M)], 32, Machine::default()).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(64), "enough: left alone");
        reserve(&[plain(1, M)], 128, Machine::default()).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(500), "raised");
        let error = reserve(&[plain(1, M)], 500, Machine::default()).unwrap_err();
        assert!(matches!(error, MemoryError::Descriptors { needed: 500, limit: 500, .. }), "{error}");
    });
}

#[test]
fn a_limit_on_the_size_of_files() {
    in_child("memory::tests::limits::a_limit_on_the_size_of_files", || {
        setrlimit(Resource::Fsize, Rlimit { current: Some(64 * M), maximum: Some(64 * M) }).unwrap();
        let error = reserve(&[plain(1, 100 * M)], 1, Machine::default()).unwrap_err().to_string();
        assert!(error.contains("RLIMIT_FSIZE") && error.contains("at most 64M"), "{error}");
        reserve(&[plain(1, 10 * M)], 1, Machine::default()).unwrap().create(0).unwrap();
    });
}

/// Lets `memfd_create` fail in this thread, as the profiles of some containers do.
#[expect(clippy::cast_possible_truncation, reason = "fields of a filter are that small")]
fn forbid_memfd(errno: i32) {
    let op = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let (load, jump, give) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET,
    );
    let mut filter = [
        op(load, 0, 0, 0),
        op(jump, 0, 1, libc::SYS_memfd_create as u32),
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
    in_child("memory::tests::limits::memfds_that_are_forbidden", || {
        for errno in [libc::EPERM, libc::ENOSYS] {
            forbid_memfd(errno);
            let error = reserve(&[plain(1, M)], 1, Machine::default()).unwrap().create(0).unwrap_err();
            assert!(matches!(error, MemoryError::NoMemfd { .. }), "{error}");
            assert!(error.to_string().contains("seccomp"), "{error}");
        }
    });
}
