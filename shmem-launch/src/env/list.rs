//! The list of all variables with their values, for `shmem-info`, and warnings about unknown variables.

use shmem_core::partition::nearest;

use super::settings::VARIABLES;
use super::variable::Given;

const PREFIX: &str = "SHMEM_";

/// Beginning of the names of partition variables, after the prefix.
const PARTITION: &str = "SYMMETRIC_PARTITION";

/// A row of the list of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The variable's name. For a family of variables, the name of one that is set, or the family's name if none is.
    pub name: String,
    /// The default value, or `-`.
    pub default: &'static str,
    /// The value that is set. If it is set under the variable's older name, that name follows.
    pub current: Option<String>,
    /// The variable's effect.
    pub help: &'static str,
}

/// Returns a row for each variable. A family of partition variables has a row for each of its variables that is set, or one row.
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

/// Returns a warning for each unknown variable that begins with `SHMEM_` in any case, with the name that was probably meant. Names
/// of partitions are checked later, against the job's partitions.
pub fn unknown(environment: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = environment.into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let is_known = |name: &str| {
        name.strip_prefix(PREFIX).is_some_and(|stem| stem.starts_with(PARTITION))
            || VARIABLES.iter().any(|variable| variable.name == name)
    };
    names
        .into_iter()
        .filter(|name| name.to_ascii_uppercase().starts_with(PREFIX) && !is_known(name))
        .map(|name| {
            let advice = match meant(&name) {
                Some(meant) => format!("did you mean {meant}?"),
                None => "`shmem-info` lists those that are".into(),
            };
            format!("{} is set and not known; {advice}", name.escape_debug())
        })
        .collect()
}

/// Returns the known name nearest to an unknown name. Compares names without prefix, and `<ID>` and `<NAME>` as patterns.
fn meant(name: &str) -> Option<&'static str> {
    let known = || VARIABLES.iter().filter_map(|variable| variable.name.strip_prefix(PREFIX));
    let capitals = name.to_ascii_uppercase();
    let name = capitals.strip_prefix(PREFIX)?;
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
