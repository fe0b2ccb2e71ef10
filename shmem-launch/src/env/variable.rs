//! [`Variable`]: a row of the table of variables; [`Given`]: the environment; [`Setting`]: a parser for each type of value.

use std::collections::BTreeMap;
use std::time::Duration;

use shmem_core::array::{ArrayError, StorageKind};
use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::partition::parse_size;
use shmem_core::strided::Algorithm;

use super::keywords::{
    BarrierChoice, Bind, CheckChoice, CollectiveFamily, CollectiveWay, CollectiveWays, TransportChoice,
};

/// An environment variable that the library reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable's name. A name with `<ID>` or `<NAME>` stands for a family of variables.
    pub name: &'static str,
    /// The variable's older name, which is read if the newer one is not set.
    pub alias: Option<&'static str>,
    /// The value if the variable is not set, or empty.
    pub default: &'static str,
    /// The variable's effect, in one sentence.
    pub help: &'static str,
}

/// Returns the environment of this process. Invalid UTF-8 becomes `\u{fffd}`, which is no part of a keyword or number.
pub fn process() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
}

pub(super) struct Given(BTreeMap<String, String>);

impl FromIterator<(String, String)> for Given {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(environment: I) -> Self {
        // Control characters are escaped, because error texts contain values.
        let printable = |value: String| match value.chars().any(char::is_control) {
            true => value.escape_debug().to_string(),
            false => value,
        };
        Self(environment.into_iter().map(|(name, value)| (name, printable(value))).collect())
    }
}

impl Given {
    /// Returns the name under which a variable is set, older or newer, and its value.
    pub(super) fn find(&self, variable: &Variable) -> Option<(&str, &str)> {
        let mut names = [Some(variable.name), variable.alias].into_iter().flatten();
        names.find_map(|name| self.0.get(name).map(|value| (name, value.as_str())))
    }

    pub(super) fn members(&self, family: &Variable) -> Vec<(&str, &str)> {
        let belongs = |name: &str, head: &str| {
            let rest = head.split_once('<').and_then(|(head, _)| name.strip_prefix(head));
            // A name with a `_` where `<ID>` would be belongs to the other family, whose names end with `_<NAME>`.
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

    /// Returns the parsed value of a variable, or its parsed default.
    pub(super) fn read<T: Setting>(&self, variable: &Variable) -> Result<T, EnvError> {
        let (name, value) = self.find(variable).unwrap_or((variable.name, variable.default));
        let wrong = |why: String| EnvError {
            variable: name.into(),
            value: value.into(),
            why: why.replace("{}", name),
        };
        T::parse(value).map_err(wrong)
    }
}

/// The error for a variable whose value is not permitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={value}: {why}")]
pub struct EnvError {
    pub(crate) variable: String,
    pub(crate) value: String,
    pub(crate) why: String,
}

/// A type of value. The text to parse is empty if the variable is not set and has no default.
pub(super) trait Setting: Sized {
    /// Parses a text. The error says what is permitted, and contains `{}` in place of the variable's name.
    fn parse(text: &str) -> Result<Self, String>;
}

impl Setting for bool {
    fn parse(text: &str) -> Result<Self, String> {
        let off = ["", "0", "n", "no", "off", "f", "false"];
        Ok(!off.iter().any(|off| off.eq_ignore_ascii_case(text.trim())))
    }
}

impl Setting for Option<String> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
    }
}

impl Setting for Option<StorageKind> {
    fn parse(text: &str) -> Result<Self, String> {
        let kind = (!text.is_empty()).then(|| text.parse()).transpose();
        kind.map_err(|why: ArrayError| format!("{why}; write for example {{}}=separate, or unset it"))
    }
}

impl Setting for CollectiveWays {
    fn parse(text: &str) -> Result<Self, String> {
        let (families, ways) = (CollectiveFamily::NAMES.join(", "), CollectiveWay::NAMES.join(", "));
        text.parse().map_err(|why| {
            format!(
                "{why}; families are {families}, and ways are {ways}; write for example \
                 {{}}=broadcast:windows,reduce:barriers, or unset it"
            )
        })
    }
}

impl Setting for Option<usize> {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "not a whole number from 1 up; write for example {}=4, or unset it".to_owned();
        let count = |text: &str| text.parse().ok().filter(|count| *count > 0).ok_or_else(wrong);
        (!text.is_empty()).then(|| count(text)).transpose()
    }
}

impl Setting for Option<Duration> {
    fn parse(text: &str) -> Result<Self, String> {
        let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let wrong = "not a number of seconds; write a number from 0 up without a unit, for example {}=2.5, or unset it";
        seconds.map(|time| Some(time).filter(|time| !time.is_zero())).ok_or_else(|| wrong.to_owned())
    }
}

impl Setting for u64 {
    fn parse(text: &str) -> Result<Self, String> {
        parse_size(text).map_err(|why| why.to_string())
    }
}

/// Implements [`Setting`] for types whose values are keywords.
macro_rules! choices {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn parse(text: &str) -> Result<Self, String> {
                let meant = Self::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(text));
                meant.ok_or_else(|| format!("not one of {}; write one of them, or unset it", Self::NAMES.join(", ")))
            }
        }
    )*};
}
choices! { Design, Sharing, Algorithm, CheckChoice, TransportChoice, Bind, BarrierChoice }
