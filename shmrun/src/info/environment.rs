//! The environment variables.

use shmem_core::columns::Columns;
use shmem_launch::env;

/// The section `env`: every variable with its default and its current value, and one line for each
/// variable that is set and not known.
pub(crate) fn environment(variables: impl IntoIterator<Item = (String, String)>) -> (String, Vec<String>) {
    let variables: Vec<_> = variables.into_iter().collect();
    let mut columns = Columns::new(["VARIABLE", "DEFAULT", "CURRENT", "MEANING"], &[]).indented();
    for row in env::rows(variables.clone()) {
        let current = row.current.unwrap_or_else(|| "-".to_owned());
        columns.push([row.name, row.default.to_owned(), current, row.help.to_owned()]);
    }
    (columns.to_string(), env::unknown(variables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_listed_and_mistyped_ones_named() {
        let set = [("SHMEM_SYMMETRIC_SIZE", "3G"), ("SHMEM_NPEZ", "4"), ("HOME", "/")];
        let (text, unknown) = environment(set.map(|(name, value)| (name.into(), value.into())));
        let size = text.lines().find(|line| line.trim_start().starts_with("SHMEM_SYMMETRIC_SIZE")).unwrap();
        assert!(size.contains(" 64M ") && size.contains(" 3G "), "{size}");
        assert!(!text.contains("HOME"));
        assert_eq!(unknown.len(), 1);
        assert!(unknown[0].contains("SHMEM_NPEZ") && unknown[0].contains("SHMEM_NPES"), "{unknown:?}");
    }
}
