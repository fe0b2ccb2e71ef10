//! The list of variables with what they are set to.

use super::given::Given;
use super::variable::VARIABLES;

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
