//! The partitions that a job would have.

use shmem_core::columns::Columns;
use shmem_core::memory::{Machine, placement};
use shmem_core::partition::{Environment, Origin, PartitionError, Table, show_size};

use super::{Binary, InfoError};

/// The section `partitions`.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// A line for each partition.
    pub text: String,
    /// What is allowed and probably not meant, one line each.
    pub warnings: Vec<String>,
}

/// The partitions of a program in this environment.
///
/// # Errors
///
/// If they are not usable: what the job would say at its start.
pub fn resolve(binary: &Binary, environment: &Environment) -> Result<Table, PartitionError> {
    let wishes: Vec<_> = binary.statics.iter().map(Into::into).collect();
    Table::resolve(&binary.declarations, &wishes, environment)
}

/// The partitions that a job of this program would ask for in this environment. A job of no program
/// in particular is one that declares nothing.
///
/// # Errors
///
/// If they are not usable, or ask for memory that this build cannot place.
pub fn partitions(binary: &Binary, environment: &Environment) -> Result<Resolved, InfoError> {
    let table = resolve(binary, environment)?;
    let mut warnings = table.warnings().to_vec();
    let topology = Machine::default().topology();
    for spec in table.specs().iter().filter(|spec| spec.origin != Origin::BuiltIn) {
        let downgrade = placement(spec, &topology)?.downgrade;
        warnings.extend(downgrade.map(|why| format!("{} (from {}): {why}", spec.title(), spec.origin)));
    }
    let mut columns =
        Columns::new(["ID", "NAME", "SIZE", "PGSIZE", "KIND", "POLICY", "FROM"], &[0, 2, 3]).indented();
    for spec in table.specs() {
        let or_none = |trait_: Option<String>| trait_.unwrap_or_else(|| "-".to_owned());
        columns.push([
            spec.id.to_string(),
            spec.name.to_string(),
            show_size(spec.size),
            or_none(spec.traits.pgsize.map(show_size)),
            or_none(spec.traits.kind.map(|kind| kind.to_string())),
            or_none(spec.traits.policy.map(|policy| policy.to_string())),
            spec.origin.to_string(),
        ]);
    }
    Ok(Resolved { text: columns.to_string(), warnings })
}

#[cfg(test)]
mod tests {
    use shmem_core::partition::{Declaration, Kind, Policy, Traits};

    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::collect(variables.iter().map(|(name, value)| ((*name).into(), (*value).into()))).unwrap()
    }

    #[test]
    fn declarations_and_environment_are_joined() {
        let (kind, policy) = (Some(Kind::LargeMem), Some(Policy::Preferred));
        let traits = Traits { size: Some(8 << 20), kind, policy, ..Traits::NONE };
        let declarations = vec![Declaration::new("bulk", 9, traits, "src/main.rs", 3)];
        let binary = Binary { declarations, ..Binary::default() };
        let resolved =
            partitions(&binary, &environment(&[("SHMEM_SYMMETRIC_PARTITION23", "SIZE=3M")])).unwrap();
        let line = |name: &str| {
            let line = resolved.text.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
            line.unwrap_or_else(|| panic!("{name}: {}", resolved.text)).to_owned()
        };
        assert!(line("default").contains(" 1  default ") && line("default").contains(" 64M "));
        assert!(line("bulk").contains(" 9  bulk ") && line("bulk").contains("  8M "));
        assert!(line("bulk").ends_with("  LARGEMEM   PREFERRED  src/main.rs:3"), "{}", line("bulk"));
        assert!(
            line("partition23").ends_with("  3M       -  -          -          SHMEM_SYMMETRIC_PARTITION23")
        );
        assert_eq!(resolved.warnings.len(), 1, "{:?}", resolved.warnings);
        assert!(resolved.warnings[0].contains("LARGEMEM"), "{:?}", resolved.warnings);
    }

    #[test]
    fn what_a_job_would_refuse_is_refused() {
        let mandatory = [("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1M:KIND=FASTMEM:POLICY=MANDATORY")];
        let error = partitions(&Binary::default(), &environment(&mandatory)).unwrap_err();
        assert!(error.to_string().contains("FASTMEM"), "{error}");
    }
}
