//! What the environment sets, as values.

use std::time::Duration;

use shmem_core::array::{ArrayError, StorageKind};
use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::partition::{SizeError, parse_size};
use shmem_core::strided::Algorithm;

use super::given::Given;
use super::variable::{
    ARRAY_STORAGE, ATTACH_WAIT, BARRIER_ALGORITHM, CHECK, CONTEXT_MAPPING, CONTEXT_SHARING, DEBUG, INFO,
    LATER_SIZE, LIBFABRIC, LIBPMIX, MAX_NUM_THREADS, MAX_RESOURCES, NPES, OFI_INTERFACE, OFI_PROVIDER, STATS,
    STRIDED_ADVICE, STRIDED_ALGORITHM, STRIDED_TABLE, TEAM_SIZE, TIMEOUT, TRACE, TRANSPORT, VERSION,
    Variable, WAIT_WARN,
};

/// What the environment sets, apart from partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `SHMEM_NPES`.
    pub npes: Option<usize>,
    /// `SHMEM_INFO`.
    pub info: bool,
    /// `SHMEM_DEBUG`.
    pub debug: bool,
    /// `SHMEM_VERSION`.
    pub version: bool,
    /// `SHMEM_WAIT_WARN`; `None`: no warnings.
    pub wait_warn: Option<Duration>,
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
            info: given.flag(&INFO),
            debug: given.flag(&DEBUG),
            version: given.flag(&VERSION),
            wait_warn: given.seconds(&WAIT_WARN)?,
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
        Self::from_env(super::process())
    }
}

/// What becomes of mistakes that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckChoice {
    /// None are looked for.
    Off,
    /// All are reported, and the job ends with an error at its end.
    Report,
    /// The first ends the job.
    Abort,
}

impl CheckChoice {
    const ALL: [Self; 3] = [Self::Off, Self::Report, Self::Abort];
    pub(super) const NAMES: [&'static str; 3] = [Self::Off.name(), Self::Report.name(), Self::Abort.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "0",
            Self::Report => "1",
            Self::Abort => "abort",
        }
    }
}

/// How bytes reach other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportChoice {
    /// What fits each pair of PEs best.
    Auto,
    /// Shared memory.
    Shm,
    /// libfabric, for all other PEs, those on the same host included.
    Ofi,
    /// The transport of the tests.
    Loopback,
}

impl TransportChoice {
    const ALL: [Self; 4] = [Self::Auto, Self::Shm, Self::Ofi, Self::Loopback];
    pub(super) const NAMES: [&'static str; 4] =
        [Self::Auto.name(), Self::Shm.name(), Self::Ofi.name(), Self::Loopback.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Shm => "shm",
            Self::Ofi => "ofi",
            Self::Loopback => "loopback",
        }
    }
}

/// How the PEs of a node meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierChoice {
    /// By the number of PEs and of cores.
    Auto,
    /// Each looks at a line of each other, where they are on one node.
    Lines,
    /// Each counts itself at the first one.
    Counter,
}

impl BarrierChoice {
    const ALL: [Self; 3] = [Self::Auto, Self::Lines, Self::Counter];
    pub(super) const NAMES: [&'static str; 3] = [Self::Auto.name(), Self::Lines.name(), Self::Counter.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lines => "lines",
            Self::Counter => "counter",
        }
    }
}

/// A variable has a value that it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// Not a number of things.
    #[error("{variable}={value}: not a whole number from 1 up; write for example {variable}=4, or unset it")]
    Count {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// Not a time.
    #[error(
        "{variable}={value}: not a number of seconds; write a number from 0 up without a unit, for example {variable}=2.5, or unset it"
    )]
    Seconds {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// Not a size.
    #[error("{variable}={value}: {fault}")]
    Size {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is wrong.
        fault: SizeError,
    },
    /// Not a storage of arrays.
    #[error("{variable}={value}: {fault}; write for example {variable}=separate, or unset it")]
    Storage {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is wrong.
        fault: ArrayError,
    },
    /// Not one of the words allowed.
    #[error("{variable}={value}: not one of {allowed}; write one of them, or unset it")]
    Choice {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The words allowed.
        allowed: String,
    },
}

impl Given {
    fn flag(&self, variable: &Variable) -> bool {
        let (_, value) = self.value(variable);
        let off = ["", "0", "n", "no", "off", "f", "false"];
        !off.iter().any(|off| off.eq_ignore_ascii_case(value.trim()))
    }

    fn text(&self, variable: &Variable) -> Option<String> {
        self.find(variable).map(|(_, value)| value.to_owned()).filter(|value| !value.is_empty())
    }

    fn storage(&self, variable: &Variable) -> Result<Option<StorageKind>, EnvError> {
        let Some((name, value)) = self.find(variable) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|fault| EnvError::Storage {
            variable: name.into(),
            value: value.into(),
            fault,
        })
    }

    fn count(&self, variable: &Variable) -> Result<Option<usize>, EnvError> {
        let Some((name, value)) = self.find(variable) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(count) if count > 0 => Ok(Some(count)),
            _ => Err(EnvError::Count { variable: name.into(), value: value.into() }),
        }
    }

    fn seconds(&self, variable: &Variable) -> Result<Option<Duration>, EnvError> {
        let (name, value) = self.value(variable);
        match value.parse().map(Duration::try_from_secs_f64) {
            Ok(Ok(Duration::ZERO)) => Ok(None),
            Ok(Ok(seconds)) => Ok(Some(seconds)),
            _ => Err(EnvError::Seconds { variable: name.into(), value: value.into() }),
        }
    }

    fn size(&self, variable: &Variable) -> Result<u64, EnvError> {
        let (name, value) = self.value(variable);
        parse_size(value).map_err(|fault| EnvError::Size {
            variable: name.into(),
            value: value.into(),
            fault,
        })
    }

    /// The one of `all` whose name is given.
    fn choice<T: Copy>(
        &self,
        variable: &Variable,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Result<T, EnvError> {
        let (given, value) = self.value(variable);
        all.iter().copied().find(|one| name(*one).eq_ignore_ascii_case(value)).ok_or_else(|| {
            EnvError::Choice {
                variable: given.into(),
                value: value.into(),
                allowed: all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", "),
            }
        })
    }
}
