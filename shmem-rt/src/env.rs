//! The environment variables that the product reads, in one table.
//!
//! Reading, defaults, the warning about mistyped names and the list of `shmem-info` all come from
//! [`VARIABLES`]: a default is the text that would have to be set, and is read in the same way. What
//! the variables of partitions say is read by [`Environment`](shmem_core::partition::Environment);
//! here they only have their names. Variables with which the launcher speaks to its PEs start with
//! `SHMRUN_` and are not meant for users.
//!
//! OpenSHMEM (`environment_variables.tex`) names four variables, and their older names with `SMA_`.

use std::collections::BTreeMap;
use std::time::Duration;

use shmem_core::partition::{PARTITION_VARIABLE, SizeError, nearest, parse_size};

const PREFIX: &str = "SHMEM_";

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
    /// The traits of a partition.
    Traits,
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
            const $constant: Variable =
                Variable { name: $name, alias: $alias, kind: $kind, default: $default, help: $help };
        )*

        /// Every variable, in the order in which they are listed.
        pub const VARIABLES: &[Variable] = &[$($constant),*];
    };
}

variables! {
    HEAP = "SHMEM_SYMMETRIC_SIZE", Some("SMA_SYMMETRIC_SIZE"), ValueKind::Size, "64M",
        "bytes of the default heap (partition 1) on each PE; not together with SHMEM_SYMMETRIC_PARTITION1";
    BY_ID = "SHMEM_SYMMETRIC_PARTITION<ID>", Some("SMA_SYMMETRIC_PARTITION<ID>"), ValueKind::Traits, "",
        "a partition by its ID, 1..=255: SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>]";
    BY_NAME = "SHMEM_SYMMETRIC_PARTITION_<NAME>", Some("SMA_SYMMETRIC_PARTITION_<NAME>"), ValueKind::Traits, "",
        "the same by the name that the program declares, without regard to case";
    NPES = "SHMEM_NPES", None, ValueKind::Count, "",
        "number of PEs that a program started without a launcher starts itself as";
    INFO = "SHMEM_INFO", Some("SMA_INFO"), ValueKind::Flag, "0",
        "PE 0 prints these variables and the partitions, asked and given, at start";
    DEBUG = "SHMEM_DEBUG", Some("SMA_DEBUG"), ValueKind::Flag, "0",
        "every PE prints what it does at start and end";
    VERSION = "SHMEM_VERSION", Some("SMA_VERSION"), ValueKind::Flag, "0",
        "PE 0 prints the version of the library at start";
    WAIT_WARN = "SHMEM_WAIT_WARN", None, ValueKind::Seconds, "5",
        "a wait of more seconds than this says who waits where for whom; 0: never";
    MAX_RESOURCES = "SHMEM_MAX_RESOURCES", None, ValueKind::Count, "",
        "communication resources that the PEs of a node share; not set: what the transport has";
    TRANSPORT = "SHMEM_TRANSPORT", None, ValueKind::Choice(&TransportChoice::NAMES), "auto",
        "how bytes reach other PEs: auto, shm (shared memory), loopback (copies, for tests)";
    LATER_SIZE = "SHMEM_LATER_SIZE", None, ValueKind::Size, "16G",
        "address space kept on each PE for partitions and arrays that are made after the start";
    ATTACH_WAIT = "SHMEM_ATTACH_WAIT", None, ValueKind::Flag, "0",
        "every PE prints its process ID at start and waits until a debugger has attached";
}

/// How bytes reach other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportChoice {
    /// What fits each pair of PEs best.
    Auto,
    /// Shared memory.
    Shm,
    /// The transport of the tests.
    Loopback,
}

impl TransportChoice {
    const ALL: [Self; 3] = [Self::Auto, Self::Shm, Self::Loopback];
    const NAMES: [&'static str; 3] = [Self::Auto.name(), Self::Shm.name(), Self::Loopback.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Shm => "shm",
            Self::Loopback => "loopback",
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
    /// `SHMEM_MAX_RESOURCES`.
    pub max_resources: Option<usize>,
    /// `SHMEM_TRANSPORT`.
    pub transport: TransportChoice,
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
            max_resources: given.count(&MAX_RESOURCES)?,
            transport: given.transport(&TRANSPORT)?,
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
        Self::from_env(process())
    }
}

/// The environment of this process. What is not UTF-8 is shown as `\u{fffd}`, which no variable may
/// contain.
pub fn process() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
}

/// One warning for each variable that looks like one of ours and is none, with the nearest name.
/// Names of partitions are checked where the partitions are known.
pub fn unknown(environment: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = environment.into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let known = |name: &str| {
        name.starts_with(PARTITION_VARIABLE) || VARIABLES.iter().any(|variable| variable.name == name)
    };
    names
        .into_iter()
        .filter(|name| name.starts_with(PREFIX) && !known(name))
        .map(|name| {
            let advice = match meant(&name) {
                Some(meant) => format!("did you mean {meant}?"),
                None => "`shmem-info` lists those that are".into(),
            };
            format!("{} is set and not known; {advice}", name.escape_debug())
        })
        .collect()
}

/// A line of the list of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The variable; of a family, the one that is set.
    pub name: String,
    /// The default, or `-`.
    pub default: &'static str,
    /// The value that is set, with the older name if it is set by that.
    pub current: Option<String>,
    /// What the variable does.
    pub help: &'static str,
}

/// Every variable with its current value, those of partitions once for each that is set.
pub fn rows(environment: impl IntoIterator<Item = (String, String)>) -> Vec<Row> {
    let given: Given = environment.into_iter().collect();
    let mut rows = Vec::new();
    for variable in VARIABLES {
        let row = |name: &str, current| Row {
            name: name.into(),
            default: if variable.default.is_empty() { "-" } else { variable.default },
            current,
            help: variable.help,
        };
        let members = given.members(variable);
        if members.is_empty() {
            let current = given.find(variable).map(|(name, value)| match name == variable.name {
                true => value.into(),
                false => format!("{value} (from {name})"),
            });
            rows.push(row(variable.name, current));
        }
        rows.extend(members.into_iter().map(|(name, value)| row(name, Some(value.into()))));
    }
    rows
}

/// The known name nearest to an unknown one. Names of families are compared with the ID or name
/// taken out. The prefix, which all have, would make all of them near.
fn meant(name: &str) -> Option<&'static str> {
    let known = || VARIABLES.iter().filter_map(|variable| variable.name.strip_prefix(PREFIX));
    let name = name.strip_prefix(PREFIX)?;
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

/// The variables that are set.
struct Given(BTreeMap<String, String>);

impl FromIterator<(String, String)> for Given {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(environment: I) -> Self {
        // Shown in messages: characters that do not print are made visible.
        let printable = |value: String| match value.chars().any(char::is_control) {
            true => value.escape_debug().to_string(),
            false => value,
        };
        Self(environment.into_iter().map(|(name, value)| (name, printable(value))).collect())
    }
}

impl Given {
    /// The name under which a variable is set, and its value.
    fn find(&self, variable: &Variable) -> Option<(&str, &str)> {
        [Some(variable.name), variable.alias]
            .into_iter()
            .flatten()
            .find_map(|name| self.0.get(name).map(|value| (name, value.as_str())))
    }

    /// The variables of a family that are set.
    fn members(&self, family: &Variable) -> Vec<(&str, &str)> {
        if family.kind != ValueKind::Traits {
            return Vec::new();
        }
        let belongs = |name: &str, head: &str| {
            let rest = head.split_once('<').and_then(|(head, _)| name.strip_prefix(head));
            // What follows the ID's place with `_` is a name, and belongs to the other family.
            rest.is_some_and(|rest| !rest.starts_with('_'))
        };
        self.0
            .iter()
            .filter(|(name, _)| {
                belongs(name, family.name) || family.alias.is_some_and(|alias| belongs(name, alias))
            })
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    fn differences(&self) -> Vec<String> {
        VARIABLES
            .iter()
            .filter(|variable| matches!(variable.kind, ValueKind::Flag))
            .filter_map(|variable| {
                let alias = variable.alias?;
                let (value, ignored) = (self.0.get(variable.name)?, self.0.get(alias)?);
                let name = variable.name;
                (value != ignored).then(|| {
                    format!("{name}={value} and {alias}={ignored} are both set and differ: {name} counts; unset {alias}")
                })
            })
            .collect()
    }

    /// What is set, or the default: the name to blame, and the value.
    fn value(&self, variable: &Variable) -> (&str, &str) {
        self.find(variable).unwrap_or((variable.name, variable.default))
    }

    fn flag(&self, variable: &Variable) -> bool {
        let (_, value) = self.value(variable);
        let off = ["", "0", "n", "no", "off", "f", "false"];
        !off.iter().any(|off| off.eq_ignore_ascii_case(value.trim()))
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

    fn transport(&self, variable: &Variable) -> Result<TransportChoice, EnvError> {
        let (name, value) = self.value(variable);
        TransportChoice::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(value)).ok_or_else(|| {
            EnvError::Choice {
                variable: name.into(),
                value: value.into(),
                allowed: TransportChoice::NAMES.join(", "),
            }
        })
    }
}

#[cfg(test)]
mod tests;
