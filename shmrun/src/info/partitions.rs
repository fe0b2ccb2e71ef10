//! The output section `partitions`.

use shmem_core::memory::placement;
use shmem_core::partition::{Environment, Origin, PartitionError, Table, show_size};
use shmem_core::text_table::Columns;
use shmem_core::topology::Topology;

use crate::Fault;
use crate::binary::Binary;

/// Returns the partitions of a job that runs a program in this environment.
pub(crate) fn resolve(binary: &Binary, environment: &Environment) -> Result<Table, PartitionError> {
    Table::resolve(&binary.declarations, &binary.statics, environment)
}

/// Returns a table of the partitions of a job in this environment, and warnings. Shows the NUMA nodes that a PE on these CPUs gets.
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

    fn shown(binary: &Binary, name: &str, value: &str) -> Result<(String, Vec<String>), Fault> {
        let environment = Environment::collect([(name.to_owned(), value.to_owned())]).unwrap();
        partitions(binary, &environment, &machine())
    }

    #[test]
    fn declarations_and_environment_are_joined_and_what_a_job_would_refuse_is_refused() {
        let (kind, policy) = (Some(Kind::LargeMem), Some(Policy::Preferred));
        let traits = Traits { size: Some(8 << 20), kind, policy, ..Traits::NONE };
        let declarations = vec![Declaration::new("bulk", 9, traits, "src/main.rs", 3)];
        let binary = Binary { declarations, ..Binary::default() };
        let (text, warnings) = shown(&binary, "SHMEM_SYMMETRIC_PARTITION23", "SIZE=3M").unwrap();
        for (start, end) in [
            (" 1  default ", ""),
            (" 9  bulk ", "  8M       -  LARGEMEM   PREFERRED  node 0, then any  src/main.rs:3"),
            (
                "23  partition23 ",
                "  3M       -  -          -          node 0, then any  SHMEM_SYMMETRIC_PARTITION23",
            ),
            ("  fast ", ""),
        ] {
            let row = text.lines().find(|line| line.contains(start));
            assert!(row.is_some_and(|row| row.ends_with(end)), "`{start}..{end}` in {text}");
        }
        assert!(text.contains("  FASTMEM    PREFERRED  node 1, then any  "), "{text}");
        assert!(warnings.len() == 1 && warnings[0].contains("LARGEMEM"), "{warnings:?}");
        let file = "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/mnt/heap";
        let (text, _) = shown(&Binary::default(), "SHMEM_SYMMETRIC_PARTITION7", file).unwrap();
        assert!(text.contains("  PMEM       MANDATORY  /mnt/heap.<PE>"), "{text}");
        let mandatory = "SIZE=1M:KIND=LARGEMEM:POLICY=MANDATORY";
        let error =
            shown(&Binary::default(), "SHMEM_SYMMETRIC_PARTITION2", mandatory).unwrap_err().to_string();
        assert!(error.contains("LARGEMEM") && error.contains("node 1 FASTMEM"), "{error}");
    }
}
