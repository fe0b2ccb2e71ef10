//! The partitions of a job.

use shmem_grammar::{MAX_PARTITION_ID, Traits, did_you_mean, nearest, show_size};

use super::environment::PARTITION_VARIABLE;
use super::error::PartitionError;
use super::spec::PartitionSpec;

/// The partitions of a job, in the order of their IDs. The first is partition 1, the default heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub(super) specs: Vec<PartitionSpec>,
    pub(super) warnings: Vec<String>,
}

impl Table {
    /// The partitions, in the order of their IDs.
    pub fn specs(&self) -> &[PartitionSpec] {
        &self.specs
    }

    /// Warnings of settings that are valid but probably unintended, one per line.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the position in [`specs`](Self::specs) of the partition with this ID.
    /// Fails if there is no such partition; the error lists all partitions.
    pub fn position_of(&self, id: u32) -> Result<usize, PartitionError> {
        self.specs.iter().position(|spec| spec.id == id).ok_or_else(|| {
            let hint = match id {
                1..=MAX_PARTITION_ID => format!("; set {PARTITION_VARIABLE}{id}=SIZE=<size> to make it"),
                _ => format!("; an ID lies in 1..={MAX_PARTITION_ID}"),
            };
            self.missing(&id.to_string(), &hint)
        })
    }

    /// Returns the position in [`specs`](Self::specs) of the partition with this name, without regard to case.
    /// Fails if there is no such partition; the error lists all partitions.
    pub fn position_of_name(&self, name: &str) -> Result<usize, PartitionError> {
        self.specs
            .iter()
            .position(|spec| spec.name.as_str().eq_ignore_ascii_case(name))
            .ok_or_else(|| self.missing(&format!("`{}`", name.escape_debug()), &meant(name, &self.specs)))
    }

    fn missing(&self, asked: &str, hint: &str) -> PartitionError {
        let existing = existing(&self.specs);
        PartitionError::new(format!("there is no partition {asked}; there are {existing}{hint}"))
    }

    /// Inserts a resolved partition, and returns its position in [`specs`](Self::specs). Partitions with higher IDs move up by one.
    pub fn insert(&mut self, spec: PartitionSpec) -> usize {
        let at = self.specs.partition_point(|other| other.id < spec.id);
        self.specs.insert(at, spec);
        at
    }

    /// Removes the partition at a position in [`specs`](Self::specs). Partitions with higher IDs move down by one. Panics if there
    /// is no such position.
    pub fn remove(&mut self, at: usize) -> PartitionSpec {
        self.specs.remove(at)
    }

    /// Returns one line per partition, with all properties that must be equal on all PEs. (Origins may differ.)
    pub fn describe(&self) -> Vec<String> {
        self.specs
            .iter()
            .map(|spec| {
                let asked = match (Traits { size: None, ..spec.traits }).to_string() {
                    none if none.is_empty() => none,
                    asked => format!(", {asked}"),
                };
                let populated = if spec.explicit { ", populated" } else { "" };
                format!("{}: {}{asked}{populated}", spec.title(), show_size(spec.size))
            })
            .collect()
    }
}

pub(super) fn existing(specs: &[PartitionSpec]) -> String {
    let mut specs: Vec<_> = specs.iter().collect();
    specs.sort_by_key(|spec| spec.id);
    let each: Vec<_> = specs.iter().map(|spec| format!("{} `{}`", spec.id, spec.name)).collect();
    each.join(", ")
}

/// Suggests the partition with the nearest name, in an error text.
pub(super) fn meant(name: &str, specs: &[PartitionSpec]) -> String {
    let nearest = nearest(name, specs.iter().map(|spec| spec.name.as_str()));
    did_you_mean(nearest.map(|name| format!("`{name}`")).as_deref())
}
