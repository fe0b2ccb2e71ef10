//! Partitions in files: what fits together.

use shmem_grammar::{Kind, Policy};

use super::environment::{Environment, PARTITION_VARIABLE};
use super::error::PartitionError;
use super::spec::PartitionSpec;

/// Checks the files of all partitions.
///
/// Under PREFERRED a program may declare a partition in a file for which the environment names none: it lies in
/// normal memory then, which is reported. Who writes KIND=PMEM into the environment has to name the file as well.
pub(super) fn check_files(specs: &[PartitionSpec], environment: &Environment) -> Result<(), PartitionError> {
    for spec in specs {
        check_file(spec, environment)?;
    }
    for (i, first) in specs.iter().enumerate() {
        let same = |second: &&PartitionSpec| second.file == first.file;
        if let Some(path) = &first.file
            && let Some(second) = specs[i + 1..].iter().find(same)
        {
            let (first, second) = (first.title(), second.title());
            return Err(PartitionError::FileTwice { first, second, path: path.clone() });
        }
    }
    Ok(())
}

fn check_file(spec: &PartitionSpec, environment: &Environment) -> Result<(), PartitionError> {
    let (partition, origin) = (spec.title(), spec.origin.to_string());
    let variables = || {
        let name = spec.name.as_str().to_ascii_lowercase();
        environment.ids.get(&spec.id).into_iter().chain(environment.names.get(&name))
    };
    if !spec.is_in_file() {
        return match &spec.file {
            None => Ok(()),
            Some(path) => Err(PartitionError::FileOfOtherKind {
                partition,
                path: path.clone(),
                origin: variables().next().map_or(origin, |given| given.variable.clone()),
                kind: spec.traits.kind.map_or("no KIND".into(), |kind| format!("KIND={kind}")),
            }),
        };
    }
    let policy = match spec.traits.policy {
        Some(policy @ (Policy::Interleaved | Policy::SysDefault)) => {
            return Err(PartitionError::PolicyOfFile { partition, policy, origin });
        }
        policy => policy.unwrap_or(Policy::Mandatory),
    };
    let asked_here = variables().any(|given| given.traits.kind == Some(Kind::Pmem));
    if spec.file.is_none() && (asked_here || policy == Policy::Mandatory) {
        let variable = variables()
            .next()
            .map_or(format!("{PARTITION_VARIABLE}{}", spec.id), |given| given.variable.clone());
        let size = spec.traits.size.unwrap_or_else(|| environment.default_size(spec.id));
        return Err(PartitionError::NoFile { partition, policy, origin, variable, size });
    }
    Ok(())
}
