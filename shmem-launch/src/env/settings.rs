//! What the environment sets, as values.

use std::time::Duration;

use shmem_core::array::StorageKind;
use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::memory::Machine;
use shmem_core::strided::Algorithm;
use shmem_core::transport::ofi::{Nearness, Options};

use super::choice::{BarrierChoice, Bind, CheckChoice, TransportChoice};
use super::collective::CollectiveWays;
use super::error::EnvError;
use super::given::{Given, process};
use super::variable::{
    ARRAY_STORAGE, ATTACH_WAIT, BARRIER_ALGORITHM, BIND, CHECK, COLLECTIVE_ALGORITHM, CONTEXT_MAPPING,
    CONTEXT_SHARING, DEBUG, INFO, LATER_SIZE, LIBFABRIC, LIBPMIX, MAX_NUM_THREADS, MAX_RESOURCES, NPES,
    OFI_INTERFACE, OFI_PROVIDER, PARTITION_WARN, STANDSTILL, STATS, STRIDED_ADVICE, STRIDED_ALGORITHM,
    STRIDED_TABLE, TEAM_SIZE, TEST_TIMEOUT, TIMEOUT, TRACE, TRANSPORT, VERSION, WAIT_WARN,
};

/// What the environment sets, apart from partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `SHMEM_NPES`.
    pub npes: Option<usize>,
    /// `SHMEM_BIND`.
    pub bind: Bind,
    /// `SHMEM_PARTITION_WARN`.
    pub partition_warn: bool,
    /// `SHMEM_INFO`.
    pub info: bool,
    /// `SHMEM_DEBUG`.
    pub debug: bool,
    /// `SHMEM_VERSION`.
    pub version: bool,
    /// `SHMEM_WAIT_WARN`; `None`: no warnings.
    pub wait_warn: Option<Duration>,
    /// `SHMEM_STANDSTILL`.
    pub standstill: bool,
    /// `SHMEM_TEST_TIMEOUT`; `None`: never.
    pub test_timeout: Option<Duration>,
    /// `SHMEM_TIMEOUT`; `None`: never.
    pub timeout: Option<Duration>,
    /// `SHMEM_MAX_RESOURCES`.
    pub max_resources: Option<usize>,
    /// `SHMEM_CONTEXT_MAPPING`.
    pub context_mapping: Design,
    /// `SHMEM_CONTEXT_SHARING`.
    pub context_sharing: Sharing,
    /// `SHMEM_MAX_NUM_THREADS`.
    pub max_num_threads: Option<usize>,
    /// `SHMEM_TRANSPORT`.
    pub transport: TransportChoice,
    /// `SHMEM_LIBFABRIC`; `None`: the system's.
    pub libfabric: Option<String>,
    /// `SHMEM_OFI_PROVIDER`; `None`: the first that fits.
    pub ofi_provider: Option<String>,
    /// `SHMEM_OFI_INTERFACE`; `None`: the first that fits.
    pub ofi_interface: Option<String>,
    /// `SHMEM_LIBPMIX`; `None`: the system's.
    pub libpmix: Option<String>,
    /// `SHMEM_BARRIER_ALGORITHM`.
    pub barrier: BarrierChoice,
    /// `SHMEM_COLLECTIVE_ALGORITHM`.
    pub collective_ways: CollectiveWays,
    /// `SHMEM_TEAM_SIZE`, in bytes.
    pub team_size: u64,
    /// `SHMEM_STRIDED_ALGORITHM`.
    pub strided_algorithm: Algorithm,
    /// `SHMEM_STRIDED_TABLE`; `None`: where `shmem-perf calibrate` leaves it.
    pub strided_table: Option<String>,
    /// `SHMEM_STRIDED_ADVICE`.
    pub strided_advice: bool,
    /// `SHMEM_ARRAY_STORAGE`; `None`: in the heap where it has room.
    pub array_storage: Option<StorageKind>,
    /// `SHMEM_STATS`.
    pub stats: bool,
    /// `SHMEM_TRACE`.
    pub trace: Option<String>,
    /// `SHMEM_CHECK`.
    pub check: CheckChoice,
    /// `SHMEM_LATER_SIZE`, in bytes.
    pub later_size: u64,
    /// `SHMEM_ATTACH_WAIT`.
    pub attach_wait: bool,
    /// What was set and does not count, one line each.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads an environment.
    ///
    /// # Errors
    ///
    /// If a variable has a value that it does not take.
    pub fn from_env(environment: impl IntoIterator<Item = (String, String)>) -> Result<Self, EnvError> {
        let given: Given = environment.into_iter().collect();
        Ok(Self {
            npes: given.count(&NPES)?,
            bind: given.choice(&BIND, &Bind::ALL, Bind::name)?,
            partition_warn: given.flag(&PARTITION_WARN),
            info: given.flag(&INFO),
            debug: given.flag(&DEBUG),
            version: given.flag(&VERSION),
            wait_warn: given.seconds(&WAIT_WARN)?,
            standstill: given.flag(&STANDSTILL),
            test_timeout: given.seconds(&TEST_TIMEOUT)?,
            timeout: given.seconds(&TIMEOUT)?,
            max_resources: given.count(&MAX_RESOURCES)?,
            context_mapping: given.choice(&CONTEXT_MAPPING, &Design::ALL, Design::name)?,
            context_sharing: given.choice(&CONTEXT_SHARING, &Sharing::ALL, Sharing::name)?,
            max_num_threads: given.count(&MAX_NUM_THREADS)?,
            transport: given.choice(&TRANSPORT, &TransportChoice::ALL, TransportChoice::name)?,
            libfabric: given.text(&LIBFABRIC),
            ofi_provider: given.text(&OFI_PROVIDER),
            ofi_interface: given.text(&OFI_INTERFACE),
            libpmix: given.text(&LIBPMIX),
            barrier: given.choice(&BARRIER_ALGORITHM, &BarrierChoice::ALL, BarrierChoice::name)?,
            collective_ways: given.ways(&COLLECTIVE_ALGORITHM)?,
            team_size: given.size(&TEAM_SIZE)?,
            strided_algorithm: given.choice(&STRIDED_ALGORITHM, &Algorithm::ALL, Algorithm::name)?,
            strided_table: given.text(&STRIDED_TABLE),
            strided_advice: given.flag(&STRIDED_ADVICE),
            array_storage: given.storage(&ARRAY_STORAGE)?,
            stats: given.flag(&STATS),
            trace: given.text(&TRACE),
            check: given.choice(&CHECK, &CheckChoice::ALL, CheckChoice::name)?,
            later_size: given.size(&LATER_SIZE)?,
            attach_wait: given.flag(&ATTACH_WAIT),
            warnings: given.differences(),
        })
    }

    /// [`from_env`](Self::from_env) with the environment of this process.
    ///
    /// # Errors
    ///
    /// As [`from_env`](Self::from_env).
    pub fn from_process() -> Result<Self, EnvError> {
        let mut settings = Self::from_env(process())?;
        // SAFETY: asks the system for a number.
        if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
            settings.distrust();
        }
        Ok(settings)
    }

    /// Ignores which libraries are to be loaded: the process has rights that whoever set its environment may not have.
    pub(super) fn distrust(&mut self) {
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

    /// How the fabric is to be opened by the PE that is `turn`th of its host: of several interfaces it takes the nearest.
    pub fn fabric(&self, turn: usize) -> Options {
        let topology = Machine::default().topology();
        let homes = topology.homes();
        let from = topology.nodes().iter().filter(|node| homes.contains(&node.number));
        // The distances of a node are listed in the order of the nodes.
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
