//! The partitions that a job would have.

use shmem_core::columns::Columns;
use shmem_core::memory::placement;
use shmem_core::partition::{Environment, Origin, PartitionError, Table, show_size};
use shmem_core::topology::Topology;

use crate::Fault;
use crate::binary::Binary;

/// The partitions of a program in this environment.
///
/// # Errors
///
/// If they are not usable: what the job would say at its start.
pub(crate) fn resolve(binary: &Binary, environment: &Environment) -> Result<Table, PartitionError> {
    Table::resolve(&binary.declarations, &binary.statics, environment)
}

/// The section `partitions`, and what is allowed and probably not meant, one line each: the partitions that a job of this program
/// would ask for in this environment, and where a PE like this process would get them from. A job of no program in
/// particular is one that declares nothing.
///
/// # Errors
///
/// If they are not usable, or must have memory that this machine does not have.
pub(crate) fn partitions(
    binary: &Binary,
    environment: &Environment,
    topology: &Topology,
) -> Result<(String, Vec<String>), Fault> {
    let table = resolve(binary, environment)?;
    let mut warnings = table.warnings().to_vec();
    let heads = ["ID", "NAME", "SIZE", "PGSIZE", "KIND", "POLICY", "COMES FROM", "ASKED BY"];
    let mut columns = Columns::new(heads, &[0, 2, 3]).indented();
    for spec in table.specs() {
        let or_none = |trait_: Option<String>| trait_.unwrap_or_else(|| "-".to_owned());
        let placement = placement(spec, topology)?;
        columns.push([
            spec.id.to_string(),
            spec.name.to_string(),
            show_size(spec.size),
            or_none(spec.traits.pgsize.map(show_size)),
            or_none(spec.traits.kind.map(|kind| kind.to_string())),
            or_none(spec.traits.policy.map(|policy| policy.to_string())),
            match &spec.file {
                Some(path) => format!("{path}.<PE>"),
                None if spec.is_in_file() => "no file is named".to_owned(),
                None => placement.to_string(),
            },
            spec.origin.to_string(),
        ]);
        let downgrade = placement.downgrade.filter(|_| spec.origin != Origin::BuiltIn);
        warnings.extend(downgrade.map(|why| format!("{} (from {}): {why}", spec.title(), spec.origin)));
    }
    Ok((columns.to_string(), warnings))
}

#[cfg(test)]
mod tests {
    use shmem_core::partition::{Declaration, Kind, Policy, Traits};
    use shmem_core::topology::{NumaNode, Speed};

    use super::*;

    /// A node with CPUs and DRAM, and one with HBM.
    fn machine() -> Topology {
        let node = |number, cpus: &[usize], bandwidth| NumaNode {
            memory: 1 << 30,
            cpus: cpus.into(),
            speed: Speed { bandwidth: Some(bandwidth), latency: Some(100) },
            ..NumaNode::new(number)
        };
        Topology::of(vec![node(0, &[0], 100_000), node(1, &[], 400_000)], vec![0], None)
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::collect(variables.iter().map(|(name, value)| ((*name).into(), (*value).into()))).unwrap()
    }

    #[test]
    fn declarations_and_environment_are_joined() {
        let (kind, policy) = (Some(Kind::LargeMem), Some(Policy::Preferred));
        let traits = Traits { size: Some(8 << 20), kind, policy, ..Traits::NONE };
        let declarations = vec![Declaration::new("bulk", 9, traits, "src/main.rs", 3)];
        let binary = Binary { declarations, ..Binary::default() };
        let (text, warnings) =
            partitions(&binary, &environment(&[("SHMEM_SYMMETRIC_PARTITION23", "SIZE=3M")]), &machine())
                .unwrap();
        let line = |name: &str| {
            let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
            line.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
        };
        assert!(line("default").contains(" 1  default ") && line("default").contains(" 64M "));
        assert!(line("bulk").contains(" 9  bulk ") && line("bulk").contains("  8M "));
        assert!(
            line("bulk").ends_with("  LARGEMEM   PREFERRED  node 0, then any  src/main.rs:3"),
            "{}",
            line("bulk")
        );
        assert!(
            line("partition23").ends_with(
                "  3M       -  -          -          node 0, then any  SHMEM_SYMMETRIC_PARTITION23"
            )
        );
        assert!(line("fast").contains("  FASTMEM    PREFERRED  node 1, then any  "), "{}", line("fast"));
        assert_eq!(warnings.len(), 1, "{:?}", warnings);
        assert!(warnings[0].contains("LARGEMEM"), "{:?}", warnings);
    }

    #[test]
    fn files_are_named() {
        let file = [("SHMEM_SYMMETRIC_PARTITION7", "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/mnt/heap")];
        let (text, _) = partitions(&Binary::default(), &environment(&file), &machine()).unwrap();
        assert!(text.contains("  PMEM       MANDATORY  /mnt/heap.<PE>"), "{text}");
    }

    #[test]
    fn what_a_job_would_refuse_is_refused() {
        let mandatory = [("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1M:KIND=LARGEMEM:POLICY=MANDATORY")];
        let error = partitions(&Binary::default(), &environment(&mandatory), &machine()).unwrap_err();
        assert!(
            error.to_string().contains("LARGEMEM") && error.to_string().contains("node 1 FASTMEM"),
            "{error}"
        );
    }
}
