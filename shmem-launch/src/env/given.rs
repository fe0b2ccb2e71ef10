//! A variable, and what the environment says of it.

use std::collections::BTreeMap;
use std::time::Duration;

use shmem_core::array::StorageKind;
use shmem_core::partition::parse_size;

use super::choice::Choice;
use super::collective::CollectiveWays;
use super::error::EnvError;

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

/// The environment of this process. What is not UTF-8 is shown as `\u{fffd}`, which no variable may
/// contain.
pub fn process() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
}

/// The variables that are set.
pub(super) struct Given(BTreeMap<String, String>);

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
    pub(super) fn find(&self, variable: &Variable) -> Option<(&str, &str)> {
        let mut names = [Some(variable.name), variable.alias].into_iter().flatten();
        names.find_map(|name| self.0.get(name).map(|value| (name, value.as_str())))
    }

    /// The variables of a family that are set.
    pub(super) fn members(&self, family: &Variable) -> Vec<(&str, &str)> {
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

    /// One warning for each of these that is a flag, and set by both of its names, differently.
    pub(super) fn differences(&self, variables: &[Variable]) -> Vec<String> {
        variables
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
    pub(super) fn value(&self, variable: &Variable) -> (&str, &str) {
        self.find(variable).unwrap_or((variable.name, variable.default))
    }
}

/// What a variable sets, as a value.
pub(super) trait Setting: Sized {
    /// What is set, or what the default says.
    ///
    /// # Errors
    ///
    /// If the variable does not take it.
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError>;
}

impl Setting for bool {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let (_, value) = given.value(variable);
        let off = ["", "0", "n", "no", "off", "f", "false"];
        Ok(!off.iter().any(|off| off.eq_ignore_ascii_case(value.trim())))
    }
}

impl Setting for Option<String> {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        Ok(given.find(variable).map(|(_, value)| value.to_owned()).filter(|value| !value.is_empty()))
    }
}

impl Setting for Option<StorageKind> {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let Some((name, value)) = given.find(variable) else { return Ok(None) };
        let wrong = |fault| EnvError::Storage { variable: name.into(), value: value.into(), fault };
        value.parse().map(Some).map_err(wrong)
    }
}

impl Setting for CollectiveWays {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let (name, value) = given.value(variable);
        value.parse().map_err(|fault| EnvError::Ways { variable: name.into(), value: value.into(), fault })
    }
}

impl Setting for Option<usize> {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let Some((name, value)) = given.find(variable) else { return Ok(None) };
        let count = value.parse().ok().filter(|count| *count > 0);
        let wrong = || EnvError::Count { variable: name.into(), value: value.into() };
        count.map(Some).ok_or_else(wrong)
    }
}

impl Setting for Option<Duration> {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let (name, value) = given.value(variable);
        let seconds = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let wrong = || EnvError::Seconds { variable: name.into(), value: value.into() };
        seconds.map(|seconds| Some(seconds).filter(|time| !time.is_zero())).ok_or_else(wrong)
    }
}

impl Setting for u64 {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let (name, value) = given.value(variable);
        parse_size(value).map_err(|fault| EnvError::Size {
            variable: name.into(),
            value: value.into(),
            fault,
        })
    }
}

impl<T: Choice> Setting for T {
    fn read(given: &Given, variable: &Variable) -> Result<Self, EnvError> {
        let (name, value) = given.value(variable);
        let meant = T::CHOICES.iter().copied().find(|one| one.word().eq_ignore_ascii_case(value));
        meant.ok_or_else(|| EnvError::Choice {
            variable: name.into(),
            value: value.into(),
            allowed: T::CHOICES.iter().map(|one| one.word()).collect::<Vec<_>>().join(", "),
        })
    }
}
