//! The variables that are set.

use std::collections::BTreeMap;

use super::{VARIABLES, ValueKind, Variable};

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
}
