//! The table of variables, and [`Settings`], their values.

use std::time::Duration;

use shmem_core::array::StorageKind;
use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::memory::Machine;
use shmem_core::strided::Algorithm;
use shmem_core::transport::ofi::{Nearness, Options};

use super::keywords::{BarrierChoice, Bind, CheckChoice, CollectiveWays, TransportChoice};
use super::variable::{EnvError, Given, Variable, process};

/// Defines each variable, and the name and type of its field of [`Settings`]. Partition variables have no field.
macro_rules! variables {
    ($($constant:ident $($field:ident: $type:ty)? = $name:literal, $alias:expr, $default:expr, $help:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`, as [`VARIABLES`] lists it.")]
            pub const $constant: Variable =
                Variable { name: $name, alias: $alias, default: $default, help: $help };
        )*

        /// All variables, in the order in which `shmem-info` lists them.
        pub const VARIABLES: &[Variable] = &[$($constant),*];

        /// The values of all variables except partition variables. `None` means that a feature is off, or that the runtime chooses.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $($(
                #[doc = concat!("[`", stringify!($constant), "`].")]
                pub $field: $type,
            )?)*
            /// Warnings about ignored values, one line each.
            pub warnings: Vec<String>,
        }

        impl Settings {
            /// Parses an environment.
            ///
            /// # Errors
            ///
            /// If a variable has a value that is not permitted.
            pub fn from_env(environment: impl IntoIterator<Item = (String, String)>) -> Result<Self, EnvError> {
                let given: Given = environment.into_iter().collect();
                Ok(Self {
                    $($($field: given.read::<$type>(&$constant)?,)?)*
                    warnings: Vec::new(),
                })
            }
        }
    };
}

variables! {
    HEAP = "SHMEM_SYMMETRIC_SIZE", Some("SMA_SYMMETRIC_SIZE"), "64M",
        "bytes of the default heap (partition 1) on each PE; in C 512M if not set; not together with SHMEM_SYMMETRIC_PARTITION1";
    BY_ID = "SHMEM_SYMMETRIC_PARTITION<ID>", Some("SMA_SYMMETRIC_PARTITION<ID>"), "",
        "a partition by its ID, 1..=255: SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]";
    BY_NAME = "SHMEM_SYMMETRIC_PARTITION_<NAME>", Some("SMA_SYMMETRIC_PARTITION_<NAME>"), "",
        "the same by the name that the program declares, without regard to case";
    PARTITION_WARN partition_warn: bool = "SHMEM_PARTITION_WARN", None, "1",
        "PE 0 says once a job what partitions asked for and were not given, such as a kind of memory that this machine has not; 0: SHMEM_INFO alone shows it";
    NPES npes: Option<usize> = "SHMEM_NPES", None, "",
        "number of PEs that a program started without a launcher starts itself as";
    SINGLETON singleton: bool = "SHMEM_SINGLETON", None, "0",
        "each process is a job of one PE, whatever has started it";
    BIND bind: Bind = "SHMEM_BIND", None, "share",
        "CPUs of the PEs that shmrun, or a program by itself, starts: share (each PE has as many as any other, and none of theirs, where there are as many CPUs as PEs), core (one CPU each), numa (those of a NUMA node, in turn), none (as the system likes)";
    INFO info: bool = "SHMEM_INFO", Some("SMA_INFO"), "0",
        "PE 0 prints these variables and the partitions, asked and given, at start";
    DEBUG debug: bool = "SHMEM_DEBUG", Some("SMA_DEBUG"), "0",
        "every PE prints at the start which process it is, and where its symmetric memory lies";
    VERSION version: bool = "SHMEM_VERSION", Some("SMA_VERSION"), "0",
        "PE 0 prints the version of the library at start";
    WAIT_WARN wait_warn: Option<Duration> = "SHMEM_WAIT_WARN", None, "5",
        "a wait of more seconds than this says who waits where for whom; 0: never";
    STANDSTILL standstill: bool = "SHMEM_STANDSTILL", None, "1",
        "ends a job in which every PE waits and nobody is left who could wake one, and says who waits where; 0: it waits";
    TEST_TIMEOUT test_timeout: Option<Duration> = "SHMEM_TEST_TIMEOUT", None, "60",
        "seconds that a #[shmem::test] may run that says no timeout; 0: no test is ended, whatever it says";
    TIMEOUT timeout: Option<Duration> = "SHMEM_TIMEOUT", None, "60",
        "seconds without any progress of what a PE has under way on the network, or without a sign of another host, after which the job is ended; 0: never";
    MAX_RESOURCES max_resources: Option<usize> = "SHMEM_MAX_RESOURCES", None, "",
        "units of the communication resource that the PEs of a node have together: shared out evenly, what is left over goes to the first ones, one each; not set: what the transport has";
    CONTEXT_MAPPING context_mapping: Design = "SHMEM_CONTEXT_MAPPING", None, "auto",
        "what gets a unit of its own: events (a domain; each operation is an event of its context), hybrid (a domain; small operations are counted), domain (a domain; all are counted), context (a context), auto (a domain, and further contexts while there are enough)";
    CONTEXT_SHARING context_sharing: Sharing = "SHMEM_CONTEXT_SHARING", None, "conservative",
        "who shares units while nobody knows what comes: conservative (contexts for many threads share one, and who wants no lock gets none or an error), efficient (all get their own while there are any, and then share with a lock)";
    MAX_NUM_THREADS max_num_threads: Option<usize> = "SHMEM_MAX_NUM_THREADS", None, "",
        "threads that each PE may have registered at a time; not set: as many as it likes";
    TRANSPORT transport: TransportChoice = "SHMEM_TRANSPORT", None, "auto",
        "how bytes reach other PEs: auto (shared memory on a host, libfabric between hosts), shm (shared memory), ofi (libfabric, on a host as well), loopback (copies, for tests)";
    LIBFABRIC libfabric: Option<String> = "SHMEM_LIBFABRIC", None, "",
        "file of libfabric, through which PEs on other hosts are reached; not set: the system's libfabric.so.1";
    OFI_PROVIDER ofi_provider: Option<String> = "SHMEM_OFI_PROVIDER", None, "",
        "provider of libfabric, as fi_info lists them (tcp, verbs, cxi, efa); not set: the first that fits";
    OFI_INTERFACE ofi_interface: Option<String> = "SHMEM_OFI_INTERFACE", None, "",
        "interface of libfabric: the name of its domain (eth0, mlx5_0), an address, or a network (10.1.0.0/16), or several with commas between, which reach each other: each PE takes the nearest, equally near ones in turn; not set: the first that fits";
    LIBPMIX libpmix: Option<String> = "SHMEM_LIBPMIX", None, "",
        "file of libpmix, with which PEs talk to mpirun, prterun or srun; not set: the system's libpmix.so.2";
    BARRIER_ALGORITHM barrier: BarrierChoice = "SHMEM_BARRIER_ALGORITHM", None, "auto",
        "how the PEs of a node meet: lines (each looks at all others), counter (each counts itself at the first), auto (lines where few PEs have a core each)";
    COLLECTIVE_ALGORITHM collective_ways: CollectiveWays = "SHMEM_COLLECTIVE_ALGORITHM", None, "auto",
        "how the data of collectives go, never what comes of them: auto (by lengths and where members are), or <family>:<way>[,<family>:<way>..] of broadcast, reduce, fcollect, alltoall and barriers (a piece with each), rings (chunks, on one node), direct (symmetric objects where they lie, on one node), windows (chunks, between all PEs of several nodes); where there is no such way, as with auto";
    TEAM_SIZE team_size: u64 = "SHMEM_TEAM_SIZE", None, "64M",
        "bytes on each PE for what teams allocate";
    STRIDED_ALGORITHM strided_algorithm: Algorithm = "SHMEM_STRIDED_ALGORITHM", None, "auto",
        "how strided transfers planned at run time are carried out: 1 (putmem for each block), 2 (iput of columns), 3 (the published table), auto";
    ARRAY_STORAGE array_storage: Option<StorageKind> = "SHMEM_ARRAY_STORAGE", None, "",
        "storage of NUMA-aware arrays that name none: single (in the heap), separate (memory of its own), cyclic or cyclic=<block> (nodes in turn), multi (a piece per chunk); not set: single where the heap has room";
    STATS stats: bool = "SHMEM_STATS", None, "0",
        "PE 0 prints at the end how often each operation was called, what it moved, and how long it took";
    TRACE trace: Option<String> = "SHMEM_TRACE", None, "",
        "file for a trace of every operation, for chrome://tracing or Perfetto; %p in it is the PE's number";
    CHECK check: CheckChoice = "SHMEM_CHECK", None, "0",
        "looks for mistakes in how PEs follow one another, and reports them with their lines: 0 (no), 1 (the job ends with an error at its end), abort (at the first)";
    DYNAMIC_SIZE dynamic_size: u64 = "SHMEM_DYNAMIC_SIZE", None, "16G",
        "address space kept on each PE for partitions and arrays that are made after the start";
    ATTACH_WAIT attach_wait: bool = "SHMEM_ATTACH_WAIT", None, "0",
        "every PE prints its process ID at start and waits until a debugger has attached";
}

impl Settings {
    /// Parses the environment of this process, as [`from_env`](Self::from_env). Ignores libraries' names in a privileged process.
    ///
    /// # Errors
    ///
    /// As [`from_env`](Self::from_env).
    pub fn from_process() -> Result<Self, EnvError> {
        let mut settings = Self::from_env(process())?;
        // SAFETY: `getauxval` reads a number from the process's auxiliary vector.
        if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
            settings.ignore_library_names();
        }
        Ok(settings)
    }

    /// Ignores variables that name libraries, because the process has rights that the user who set them may not have.
    pub(super) fn ignore_library_names(&mut self) {
        for (variable, named) in [(&LIBFABRIC, &mut self.libfabric), (&LIBPMIX, &mut self.libpmix)] {
            if let Some(file) = named.take() {
                let name = variable.name;
                self.warnings.push(format!(
                    "{name}={file} is ignored: the program has rights that its caller may not have (set-user-ID or \
                     capabilities), and loads the system's library only; unset {name}, or start it without such rights"
                ));
            }
        }
    }

    /// Returns the options of libfabric for the PE with number `turn` within its host. Each PE uses the nearest network interface.
    pub fn fabric(&self, turn: usize) -> Options {
        let topology = Machine::default().topology();
        let homes = topology.homes();
        let from = topology.nodes().iter().filter(|node| homes.contains(&node.number));
        // The `distances` of a NUMA node are in the order of `nodes`.
        let nearest = |to: usize| from.clone().filter_map(|node| node.distances.get(to)).min().copied();
        let nodes = topology.nodes().iter().enumerate();
        let distances = nodes.filter_map(|(k, node)| Some((node.number, nearest(k)?))).collect();
        Options {
            library: self.libfabric.clone(),
            provider: self.ofi_provider.clone(),
            interface: self.ofi_interface.clone(),
            timeout: self.timeout,
            spins: false,
            near: Nearness { distances, turn },
        }
    }
}
