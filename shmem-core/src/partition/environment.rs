//! Variables of the environment that describe partitions.
//!
//! `SHMEM_SYMMETRIC_PARTITION<ID>` and `SHMEM_SYMMETRIC_PARTITION_<NAME>` give the traits of a partition, `SHMEM_SYMMETRIC_SIZE`
//! the size of the default heap. A variable may have the older prefix `SMA_` instead; if both are set, that with `SHMEM_` wins.

use core::fmt;
use std::collections::BTreeMap;

use shmem_grammar::{MAX_PARTITION_ID, TraitError, Traits, parse_size_prefix, parse_traits_and_file};

use super::error::PartitionError;

/// Bytes of the default heap (partition 1) if no size is given.
pub const DEFAULT_HEAP_BYTES: u64 = 64 << 20;

/// Bytes of every other partition if no size is given.
pub const DEFAULT_PARTITION_BYTES: u64 = 64 << 20;

/// Prefix of the variables of partitions, before ID or name.
pub const PARTITION_VARIABLE: &str = "SHMEM_SYMMETRIC_PARTITION";

/// The variable of the default heap's size.
pub const SIZE_VARIABLE: &str = "SHMEM_SYMMETRIC_SIZE";

/// A variable of a partition, and the traits in its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) variable: String,
    pub(super) value: String,
    pub(super) traits: Traits,
    pub(super) file: Option<String>,
}

impl Given {
    fn read(
        subject: &Subject,
        variable: String,
        value: String,
        warnings: &mut Vec<String>,
    ) -> Result<Self, PartitionError> {
        let (traits, file) = match subject {
            Subject::Heap => (heap_size(&variable, &value, warnings)?, None),
            _ => match parse_traits_and_file(&value) {
                Ok((traits, file)) => (traits, file.map(str::to_owned)),
                Err(fault) => return Err(refused(&variable, &value, fault)),
            },
        };
        Ok(Self { variable, value, traits, file })
    }

    /// The setting as written in the environment: `VARIABLE=value`.
    pub(super) fn shown(&self) -> String {
        format!("{}={}", self.variable, self.value)
    }

    pub(super) fn refused(&self, fault: TraitError) -> PartitionError {
        refused(&self.variable, &self.value, fault)
    }

    /// Returns the error that the setting `other` contradicts this one.
    pub(super) fn differs_from(&self, other: &str, partition: &str) -> PartitionError {
        let first = self.shown();
        PartitionError::new(format!(
            "{first} and {other} are both set, describe {partition} and differ; unset one of them"
        ))
    }
}

fn refused(variable: &str, value: &str, fault: impl fmt::Display) -> PartitionError {
    PartitionError::new(format!("{variable}={value}: {fault}"))
}

/// Reads the default heap's size by OpenSHMEM's rules. A size of 0 becomes one byte, the smallest heap.
fn heap_size(variable: &str, value: &str, warnings: &mut Vec<String>) -> Result<Traits, PartitionError> {
    let (size, taken, ignored) = parse_size_prefix(value).map_err(|fault| refused(variable, value, fault))?;
    if !ignored.is_empty() {
        warnings.push(format!(
            "{variable}={value}: {taken} is taken, and `{ignored}` behind it is ignored; write {taken}"
        ));
    }
    Ok(Traits { size: Some(size.max(1)), ..Traits::NONE })
}

/// The variables of the environment that describe partitions, as read at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The variable of each partition, and of the default heap's size. Names of partitions are not checked here, because only the
    /// program knows them.
    pub(super) given: BTreeMap<Subject, Given>,
    /// Bytes of partition 1 if no size is given; `None`: the default of Rust programs.
    default_heap: Option<u64>,
    /// Warnings about variables, or ends of their values, that have no effect.
    pub(super) warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// A partition's name, in lower case.
    Name(String),
    Id(u32),
    /// The size of partition 1, from `SHMEM_SYMMETRIC_SIZE`.
    Heap,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heap => f.write_str("the default heap"),
            Self::Id(id) => write!(f, "partition {id}"),
            Self::Name(name) => write!(f, "partition `{name}`"),
        }
    }
}

impl Environment {
    /// Reads the variables of partitions from an environment; ignores other variables.
    /// Fails if a variable is malformed, if two variables that differ only in the case of a name have different values, or if
    /// `SHMEM_SYMMETRIC_SIZE` and a variable of partition 1 are both set.
    pub fn collect(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, PartitionError> {
        let mut variables: Vec<_> =
            variables.into_iter().filter(|(variable, _)| concerns_partitions(variable)).collect();
        // Sorted, so that the first error is the same for every order of the variables.
        variables.sort();
        let mut found = Vec::new();
        for (variable, value) in variables {
            let (variable, value) = (printable(&variable), printable(&value));
            found.push((subject_of(&variable, &value)?, variable, value));
        }
        // `SHMEM_` sorts before `SMA_`, so the variable that wins comes first, and the other is not parsed.
        found.sort();
        let mut environment = Self::default();
        for (subject, variable, value) in found {
            let Some(first) = environment.given.get(&subject) else {
                let given = Given::read(&subject, variable, value, &mut environment.warnings)?;
                environment.given.insert(subject, given);
                continue;
            };
            if first.value == value {
                continue;
            }
            let other = format!("{variable}={value}");
            if is_alias(&first.variable) == is_alias(&variable) {
                return Err(first.differs_from(&other, &subject.to_string()));
            }
            environment.warnings.push(format!(
                "{} and {other} are both set and differ: {} counts; unset {variable}",
                first.shown(),
                first.variable
            ));
        }
        let first = environment.id(1).or_else(|| environment.name("default"));
        match environment.given.get(&Subject::Heap).zip(first) {
            Some((Given { variable: size, .. }, first)) => Err(PartitionError::new(format!(
                "{size} and {} are both set, and both size the default heap, partition 1; unset one of them (with other partitions, {size} may stay)",
                first.variable
            ))),
            None => Ok(environment),
        }
    }

    /// Sets the bytes of the default heap for the case that no size is given.
    #[must_use]
    pub fn with_default_heap(self, bytes: Option<u64>) -> Self {
        Self { default_heap: bytes, ..self }
    }

    pub(super) fn default_size(&self, id: u32) -> u64 {
        if id == 1 { self.default_heap.unwrap_or(DEFAULT_HEAP_BYTES) } else { DEFAULT_PARTITION_BYTES }
    }

    pub(super) fn id(&self, id: u32) -> Option<&Given> {
        self.given.get(&Subject::Id(id))
    }

    /// The variable of the partition with a name, without regard to case.
    pub(super) fn name(&self, name: &str) -> Option<&Given> {
        self.given.get(&Subject::Name(name.to_ascii_lowercase()))
    }
}

fn is_alias(variable: &str) -> bool {
    variable.starts_with("SMA_")
}

/// A variable's name without its prefix.
fn stem_of(variable: &str) -> Option<&str> {
    variable.strip_prefix("SHMEM_").or_else(|| variable.strip_prefix("SMA_"))
}

/// Whether a variable is meant for partitions, even if its name is malformed.
fn concerns_partitions(variable: &str) -> bool {
    stem_of(variable).is_some_and(|stem| stem == "SYMMETRIC_SIZE" || stem.starts_with("SYMMETRIC_PARTITION"))
}

fn subject_of(variable: &str, value: &str) -> Result<Subject, PartitionError> {
    let Some(which) = stem_of(variable).and_then(|stem| stem.strip_prefix("SYMMETRIC_PARTITION")) else {
        return Ok(Subject::Heap);
    };
    let fault = match (which.strip_prefix('_'), which.parse()) {
        (Some(""), _) => "the name is missing".into(),
        (Some(name), _) => return Ok(Subject::Name(name.to_ascii_lowercase())),
        (None, Ok(id)) if id <= MAX_PARTITION_ID && which.starts_with(|c| matches!(c, '1'..='9')) => {
            return Ok(Subject::Id(id));
        }
        (None, _) => format!("`{which}` is not an ID"),
    };
    let stem = &variable[..variable.len() - which.len()];
    Err(PartitionError::new(format!(
        "{variable}={value}: {fault}; write {stem}<ID> with an ID in 1..={MAX_PARTITION_ID}, or {stem}_<NAME> with a name that the program declares"
    )))
}

/// Escapes control characters for error texts. Valid variables have none.
fn printable(text: &str) -> String {
    let show = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(show).collect()
}
