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
use super::given::{Given, Setting as _, process};
use super::variable::*;

/// A field for each variable that sets something, by which type it is read.
macro_rules! settings {
    ($($field:ident: $type:ty = $variable:ident;)*) => {
        /// What the environment sets, apart from partitions. What a variable switches off is `None`.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $(
                #[doc = concat!("[`", stringify!($variable), "`].")]
                pub $field: $type,
            )*
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
                    $($field: <$type>::read(&given, &$variable)?,)*
                    warnings: given.differences(),
                })
            }
        }
    };
}

settings! {
    npes: Option<usize> = NPES;
    singleton: bool = SINGLETON;
    bind: Bind = BIND;
    partition_warn: bool = PARTITION_WARN;
    info: bool = INFO;
    debug: bool = DEBUG;
    version: bool = VERSION;
    wait_warn: Option<Duration> = WAIT_WARN;
    standstill: bool = STANDSTILL;
    test_timeout: Option<Duration> = TEST_TIMEOUT;
    timeout: Option<Duration> = TIMEOUT;
    max_resources: Option<usize> = MAX_RESOURCES;
    context_mapping: Design = CONTEXT_MAPPING;
    context_sharing: Sharing = CONTEXT_SHARING;
    max_num_threads: Option<usize> = MAX_NUM_THREADS;
    transport: TransportChoice = TRANSPORT;
    libfabric: Option<String> = LIBFABRIC;
    ofi_provider: Option<String> = OFI_PROVIDER;
    ofi_interface: Option<String> = OFI_INTERFACE;
    libpmix: Option<String> = LIBPMIX;
    barrier: BarrierChoice = BARRIER_ALGORITHM;
    collective_ways: CollectiveWays = COLLECTIVE_ALGORITHM;
    team_size: u64 = TEAM_SIZE;
    strided_algorithm: Algorithm = STRIDED_ALGORITHM;
    strided_table: Option<String> = STRIDED_TABLE;
    strided_advice: bool = STRIDED_ADVICE;
    array_storage: Option<StorageKind> = ARRAY_STORAGE;
    stats: bool = STATS;
    trace: Option<String> = TRACE;
    check: CheckChoice = CHECK;
    later_size: u64 = LATER_SIZE;
    attach_wait: bool = ATTACH_WAIT;
}

impl Settings {
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
