//! The variables that are set, what they say, and the list of all with what they are set to.

use std::collections::BTreeMap;
use std::time::Duration;

use shmem_core::array::StorageKind;
use shmem_core::partition::parse_size;

use super::collective::CollectiveWays;
use super::error::EnvError;
use super::variable::{VARIABLES, ValueKind, Variable};

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
        [Some(variable.name), variable.alias]
            .into_iter()
            .flatten()
            .find_map(|name| self.0.get(name).map(|value| (name, value.as_str())))
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

    /// One warning for each flag that is set by both of its names, differently.
    pub(super) fn differences(&self) -> Vec<String> {
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
    pub(super) fn value(&self, variable: &Variable) -> (&str, &str) {
        self.find(variable).unwrap_or((variable.name, variable.default))
    }

    pub(super) fn flag(&self, variable: &Variable) -> bool {
        let (_, value) = self.value(variable);
        let off = ["", "0", "n", "no", "off", "f", "false"];
        !off.iter().any(|off| off.eq_ignore_ascii_case(value.trim()))
    }

    pub(super) fn text(&self, variable: &Variable) -> Option<String> {
        self.find(variable).map(|(_, value)| value.to_owned()).filter(|value| !value.is_empty())
    }

    pub(super) fn storage(&self, variable: &Variable) -> Result<Option<StorageKind>, EnvError> {
        let Some((name, value)) = self.find(variable) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|fault| EnvError::Storage {
            variable: name.into(),
            value: value.into(),
            fault,
        })
    }

    pub(super) fn ways(&self, variable: &Variable) -> Result<CollectiveWays, EnvError> {
        let (name, value) = self.value(variable);
        value.parse().map_err(|fault| EnvError::Ways { variable: name.into(), value: value.into(), fault })
    }

    pub(super) fn count(&self, variable: &Variable) -> Result<Option<usize>, EnvError> {
        let Some((name, value)) = self.find(variable) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(count) if count > 0 => Ok(Some(count)),
            _ => Err(EnvError::Count { variable: name.into(), value: value.into() }),
        }
    }

    pub(super) fn seconds(&self, variable: &Variable) -> Result<Option<Duration>, EnvError> {
        let (name, value) = self.value(variable);
        match value.parse().map(Duration::try_from_secs_f64) {
            Ok(Ok(Duration::ZERO)) => Ok(None),
            Ok(Ok(seconds)) => Ok(Some(seconds)),
            _ => Err(EnvError::Seconds { variable: name.into(), value: value.into() }),
        }
    }

    pub(super) fn size(&self, variable: &Variable) -> Result<u64, EnvError> {
        let (name, value) = self.value(variable);
        parse_size(value).map_err(|fault| EnvError::Size {
            variable: name.into(),
            value: value.into(),
            fault,
        })
    }

    /// The one of `all` whose name is given.
    pub(super) fn choice<T: Copy>(
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
            name: name.escape_debug().to_string(),
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
