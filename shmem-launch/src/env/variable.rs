//! The table of variables.

use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::partition::nearest;
use shmem_core::strided::Algorithm;

use super::choice::{BarrierChoice, Bind, CheckChoice, TransportChoice};

const PREFIX: &str = "SHMEM_";

/// That of older names, which other libraries have variables with, too.
const OLDER: &str = "SMA_";

/// The beginning of the variables of partitions, without the prefix.
const PARTITION: &str = "SYMMETRIC_PARTITION";

/// What values a variable takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Bytes: a number and at most one of K, M, G, T.
    Size,
    /// A whole number from 1 up.
    Count,
    /// Seconds, a fraction allowed; 0 switches off.
    Seconds,
    /// On if set to anything but nothing, `0`, `no`, `off`, `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of a file.
    Path,
    /// The name of something else.
    Name,
    /// The traits of a partition.
    Traits,
    /// A way for each of some collectives.
    Ways,
}

/// An environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name; in `<ID>` and `<NAME>` it is a family of variables.
    pub name: &'static str,
    /// Its older name, which is read where the newer one is not set.
    pub alias: Option<&'static str>,
    /// What values it takes.
    pub kind: ValueKind,
    /// The value that counts where it is not set; empty: that it is not set means something of
    /// its own.
    pub default: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
}

macro_rules! variables {
    ($($constant:ident = $name:literal, $alias:expr, $kind:expr, $default:expr, $help:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`, as [`VARIABLES`] lists it.")]
            pub const $constant: Variable =
                Variable { name: $name, alias: $alias, kind: $kind, default: $default, help: $help };
        )*

        /// Every variable, in the order in which they are listed.
        pub const VARIABLES: &[Variable] = &[$($constant),*];
    };
}

variables! {
    HEAP = "SHMEM_SYMMETRIC_SIZE", Some("SMA_SYMMETRIC_SIZE"), ValueKind::Size, "64M",
        "bytes of the default heap (partition 1) on each PE; in C 512M if not set; not together with SHMEM_SYMMETRIC_PARTITION1";
    BY_ID = "SHMEM_SYMMETRIC_PARTITION<ID>", Some("SMA_SYMMETRIC_PARTITION<ID>"), ValueKind::Traits, "",
        "a partition by its ID, 1..=255: SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]";
    BY_NAME = "SHMEM_SYMMETRIC_PARTITION_<NAME>", Some("SMA_SYMMETRIC_PARTITION_<NAME>"), ValueKind::Traits, "",
        "the same by the name that the program declares, without regard to case";
    PARTITION_WARN = "SHMEM_PARTITION_WARN", None, ValueKind::Flag, "1",
        "PE 0 says once a job what partitions asked for and were not given, such as a kind of memory that this machine has not; 0: SHMEM_INFO alone shows it";
    NPES = "SHMEM_NPES", None, ValueKind::Count, "",
        "number of PEs that a program started without a launcher starts itself as";
    SINGLETON = "SHMEM_SINGLETON", None, ValueKind::Flag, "0",
        "each process is a job of one PE, whatever has started it";
    BIND = "SHMEM_BIND", None, ValueKind::Choice(&Bind::NAMES), "share",
        "CPUs of the PEs that shmrun, or a program by itself, starts: share (each PE has as many as any other, and none of theirs, where there are as many CPUs as PEs), core (one CPU each), numa (those of a NUMA node, in turn), none (as the system likes)";
    INFO = "SHMEM_INFO", Some("SMA_INFO"), ValueKind::Flag, "0",
        "PE 0 prints these variables and the partitions, asked and given, at start";
    DEBUG = "SHMEM_DEBUG", Some("SMA_DEBUG"), ValueKind::Flag, "0",
        "every PE prints what it does at start and end";
    VERSION = "SHMEM_VERSION", Some("SMA_VERSION"), ValueKind::Flag, "0",
        "PE 0 prints the version of the library at start";
    WAIT_WARN = "SHMEM_WAIT_WARN", None, ValueKind::Seconds, "5",
        "a wait of more seconds than this says who waits where for whom; 0: never";
    STANDSTILL = "SHMEM_STANDSTILL", None, ValueKind::Flag, "1",
        "ends a job in which every PE waits and nobody is left who could wake one, and says who waits where; 0: it waits";
    TEST_TIMEOUT = "SHMEM_TEST_TIMEOUT", None, ValueKind::Seconds, "60",
        "seconds that a #[shmem::test] may run that says no timeout; 0: no test is ended, whatever it says";
    TIMEOUT = "SHMEM_TIMEOUT", None, ValueKind::Seconds, "60",
        "seconds without any progress of what a PE has under way on the network, or without a sign of another host, after which the job is ended; 0: never";
    MAX_RESOURCES = "SHMEM_MAX_RESOURCES", None, ValueKind::Count, "",
        "units of the communication resource that the PEs of a node have together: shared out evenly, what is left over goes to the first ones, one each; not set: what the transport has";
    CONTEXT_MAPPING = "SHMEM_CONTEXT_MAPPING", None, ValueKind::Choice(&Design::NAMES), "auto",
        "what gets a unit of its own: events (a domain; each operation is an event of its context), hybrid (a domain; small operations are counted), domain (a domain; all are counted), context (a context), auto (a domain, and further contexts while there are enough)";
    CONTEXT_SHARING = "SHMEM_CONTEXT_SHARING", None, ValueKind::Choice(&Sharing::NAMES), "conservative",
        "who shares units while nobody knows what comes: conservative (contexts for many threads share one, and who wants no lock gets none or an error), efficient (all get their own while there are any, and then share with a lock)";
    MAX_NUM_THREADS = "SHMEM_MAX_NUM_THREADS", None, ValueKind::Count, "",
        "threads that each PE may have registered at a time; not set: as many as it likes";
    TRANSPORT = "SHMEM_TRANSPORT", None, ValueKind::Choice(&TransportChoice::NAMES), "auto",
        "how bytes reach other PEs: auto (shared memory on a host, libfabric between hosts), shm (shared memory), ofi (libfabric, on a host as well), loopback (copies, for tests)";
    LIBFABRIC = "SHMEM_LIBFABRIC", None, ValueKind::Path, "",
        "file of libfabric, through which PEs on other hosts are reached; not set: the system's libfabric.so.1";
    OFI_PROVIDER = "SHMEM_OFI_PROVIDER", None, ValueKind::Name, "",
        "provider of libfabric, as fi_info lists them (tcp, verbs, cxi, efa); not set: the first that fits";
    OFI_INTERFACE = "SHMEM_OFI_INTERFACE", None, ValueKind::Name, "",
        "interface of libfabric: the name of its domain (eth0, mlx5_0), an address, or a network (10.1.0.0/16); not set: the first that fits";
    LIBPMIX = "SHMEM_LIBPMIX", None, ValueKind::Path, "",
        "file of libpmix, with which PEs talk to mpirun, prterun or srun; not set: the system's libpmix.so.2";
    BARRIER_ALGORITHM = "SHMEM_BARRIER_ALGORITHM", None, ValueKind::Choice(&BarrierChoice::NAMES), "auto",
        "how the PEs of a node meet: lines (each looks at all others), counter (each counts itself at the first), auto (lines where few PEs have a core each)";
    COLLECTIVE_ALGORITHM = "SHMEM_COLLECTIVE_ALGORITHM", None, ValueKind::Ways, "auto",
        "how the data of collectives go, never what comes of them: auto (by lengths and where members are), or <family>:<way>[,<family>:<way>..] of broadcast, reduce, fcollect, alltoall and meetings (a piece with each), rings (chunks, on one node), direct (symmetric objects where they lie, on one node), windows (chunks, between all PEs of several nodes); where there is no such way, as with auto";
    TEAM_SIZE = "SHMEM_TEAM_SIZE", None, ValueKind::Size, "64M",
        "bytes on each PE for what teams allocate";
    STRIDED_ALGORITHM = "SHMEM_STRIDED_ALGORITHM", None, ValueKind::Choice(&Algorithm::NAMES), "auto",
        "how strided transfers planned at run time are carried out: 1 (putmem for each block), 2 (iput of columns), 3 (the published table), auto";
    STRIDED_TABLE = "SHMEM_STRIDED_TABLE", None, ValueKind::Path, "",
        "file of what shmem-perf calibrate measured, for plans made at run time; not set: the one of this machine in the user's cache directory; none: what is compiled in";
    STRIDED_ADVICE = "SHMEM_STRIDED_ADVICE", None, ValueKind::Flag, "1",
        "PE 0 says once for each call of a strided transfer what its arrays make slow";
    ARRAY_STORAGE = "SHMEM_ARRAY_STORAGE", None, ValueKind::Choice(&["single", "separate", "cyclic", "multi"]), "",
        "storage of NUMA-aware arrays that name none: single (in the heap), separate (memory of its own), cyclic or cyclic=<block> (nodes in turn), multi (a piece per chunk); not set: single where the heap has room";
    STATS = "SHMEM_STATS", None, ValueKind::Flag, "0",
        "PE 0 prints at the end how often each operation was called, what it moved, and how long it took";
    TRACE = "SHMEM_TRACE", None, ValueKind::Path, "",
        "file for a trace of every operation, for chrome://tracing or Perfetto; %p in it is the PE's number";
    CHECK = "SHMEM_CHECK", None, ValueKind::Choice(&CheckChoice::NAMES), "0",
        "looks for mistakes in how PEs follow one another, and reports them with their lines: 0 (no), 1 (the job ends with an error at its end), abort (at the first)";
    LATER_SIZE = "SHMEM_LATER_SIZE", None, ValueKind::Size, "16G",
        "address space kept on each PE for partitions and arrays that are made after the start";
    ATTACH_WAIT = "SHMEM_ATTACH_WAIT", None, ValueKind::Flag, "0",
        "every PE prints its process ID at start and waits until a debugger has attached";
}

/// One warning for each variable that looks like one of ours and is none, with the name that was meant: in another
/// case, mistyped, or with a slip in the prefix. Names of partitions are checked where the partitions are known.
pub fn unknown(environment: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = environment.into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let is_known = |name: &str| is_of_partition(name) || spellings().any(|known| known == name);
    names
        .into_iter()
        .filter(|name| !is_known(name))
        .filter_map(|name| {
            let advice = match in_our_case(&name).or_else(|| without_slip(&name)) {
                Some(meant) => format!("did you mean {}?", meant.escape_debug()),
                None if !name.to_ascii_uppercase().starts_with(PREFIX) => return None,
                None => match meant(&name) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => "`shmem-info` lists those that are".into(),
                },
            };
            Some(format!("{} is set and not known; {advice}", name.escape_debug()))
        })
        .collect()
}

/// All names that are read, the older ones included, but for families.
fn spellings() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().flat_map(|variable| [Some(variable.name), variable.alias]).flatten()
}

/// Whether a name is one of the variables of partitions, by its newer or older name.
fn is_of_partition(name: &str) -> bool {
    let stem = name.strip_prefix(PREFIX).or_else(|| name.strip_prefix(OLDER));
    stem.is_some_and(|stem| stem.starts_with(PARTITION))
}

/// The name of ours that differs in nothing but the case of its letters. The name of a partition stays as it is.
fn in_our_case(name: &str) -> Option<String> {
    let capitals = name.to_ascii_uppercase();
    let stem = capitals.strip_prefix(PREFIX).or_else(|| capitals.strip_prefix(OLDER))?;
    if let Some(which) = stem.strip_prefix(PARTITION) {
        let end = name.len() - which.len();
        return Some(capitals[..end].to_owned() + &name[end..]);
    }
    let newer =
        || VARIABLES.iter().map(|one| one.name).find(|known| known.strip_prefix(PREFIX) == Some(stem));
    let found = spellings().find(|known| *known == capitals).or_else(newer)?;
    Some(found.to_owned())
}

/// The name of ours that differs in one letter of its prefix: `SHMEN_INFO`.
fn without_slip(name: &str) -> Option<String> {
    let (head, stem) = name.split_once('_')?;
    let is_slip =
        differ_by_one(head.to_ascii_uppercase().as_bytes(), PREFIX.trim_end_matches('_').as_bytes());
    is_slip.then(|| in_our_case(&format!("{PREFIX}{stem}"))).flatten()
}

/// Whether a letter was left out, added or mistaken, or two have changed places.
fn differ_by_one(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other)
        && a == b
    {
        (one, other) = (rest, others);
    }
    while let ([rest @ .., a], [others @ .., b]) = (one, other)
        && a == b
    {
        (one, other) = (rest, others);
    }
    match (one, other) {
        ([], []) => false,
        ([a, b], [c, d]) => (a, b) == (d, c),
        (one, other) => one.len() <= 1 && other.len() <= 1,
    }
}

/// The known name nearest to an unknown one. Names of families are compared with the ID or name
/// taken out. The prefix, which all have, would make all of them near.
fn meant(name: &str) -> Option<&'static str> {
    let known = || VARIABLES.iter().filter_map(|variable| variable.name.strip_prefix(PREFIX));
    let capitals = name.to_ascii_uppercase();
    let name = capitals.strip_prefix(PREFIX)?;
    let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let by_id = (head.len() < name.len()).then(|| format!("{head}<ID>"));
    let by_name = name.rsplit_once('_').map(|(head, _)| format!("{head}_<NAME>"));
    let stem = by_id
        .into_iter()
        .chain(by_name)
        .find_map(|pattern| nearest(&pattern, known().filter(|stem| stem.ends_with('>'))))
        .or_else(|| nearest(name, known()))?;
    VARIABLES.iter().map(|one| one.name).find(|known| known.strip_prefix(PREFIX) == Some(stem))
}
