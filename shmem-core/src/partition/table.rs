//! The partitions of a job.

use super::declaration::Declaration;
use super::environment::{Environment, PARTITION_VARIABLE};
use super::error::PartitionError;
use super::kind::Traits;
use super::nearest::{did_you_mean, nearest};
use super::resolve::resolve;
use super::size::show_size;
use super::spec::PartitionSpec;
use crate::text::Text;

/// Bytes of the default heap (partition 1) when nobody gives its size. Small: memory is reserved, and
/// exists only where it is touched.
pub const DEFAULT_HEAP_BYTES: u64 = 64 << 20;

/// Bytes of every other partition when nobody gives its size.
pub const DEFAULT_PARTITION_BYTES: u64 = 64 << 20;

/// What the descriptor of a symmetric static asks of its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectWish {
    /// The partition as the object's crate sees it.
    pub partition: Declaration,
    /// The smallest page it wants to lie on, in bytes; 0: no wish.
    pub pgsize: u64,
    /// The object's name.
    pub name: Text<64>,
    /// File of the object's declaration.
    pub file: Text<96>,
    /// Line of the object's declaration.
    pub line: u32,
}

/// The partitions of a job, in the order of their IDs. The first is partition 1, the default heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub(super) specs: Vec<PartitionSpec>,
    pub(super) warnings: Vec<String>,
}

impl Table {
    /// Joins what the program declares, what its objects wish for, and what the environment says.
    /// The order of none of them matters.
    ///
    /// - `default` (1), `fast` (2) and `normal` (3) exist always. A declaration of the same name
    ///   replaces one; a declaration of the same ID moves it to a free ID, unless an object lies in it.
    /// - Declarations without an ID get the lowest free one from 4 up, in the order of their names.
    /// - The environment replaces single traits of a partition, by ID or by name. An ID that
    ///   exists only there becomes a partition of its own.
    /// - A page size that an object wishes for becomes that of its partition where nobody gave one.
    ///
    /// # Errors
    ///
    /// If declarations contradict each other or the environment contradicts itself, if a partition
    /// must have smaller pages than an object in it needs, or if there are more than
    /// [`MAX_PARTITIONS`](super::MAX_PARTITIONS).
    pub fn resolve(
        declared: &[Declaration],
        objects: &[ObjectWish],
        environment: &Environment,
    ) -> Result<Self, PartitionError> {
        resolve(declared, objects, environment)
    }

    /// The partitions, in the order of their IDs.
    pub fn specs(&self) -> &[PartitionSpec] {
        &self.specs
    }

    /// What is allowed and probably not meant, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The place in [`specs`](Self::specs) of the partition with this ID.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists those that exist.
    pub fn position_of(&self, id: u32) -> Result<usize, PartitionError> {
        self.specs.iter().position(|spec| spec.id == id).ok_or_else(|| PartitionError::NoSuchPartition {
            asked: id.to_string(),
            existing: self.existing(),
            hint: match id {
                1..=super::MAX_PARTITION_ID => {
                    format!("; set {PARTITION_VARIABLE}{id}=SIZE=<size> to make it")
                }
                _ => format!("; an ID lies in 1..={}", super::MAX_PARTITION_ID),
            },
        })
    }

    /// The place in [`specs`](Self::specs) of the partition with this name, without regard to case.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists those that exist.
    pub fn position_of_name(&self, name: &str) -> Result<usize, PartitionError> {
        self.specs.iter().position(|spec| spec.name.as_str().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let nearest = nearest(name, self.specs.iter().map(|spec| spec.name.as_str()));
            PartitionError::NoSuchPartition {
                asked: format!("`{name}`"),
                existing: self.existing(),
                hint: did_you_mean(nearest.map(|name| format!("`{name}`")).as_deref()),
            }
        })
    }

    /// Enters a partition that [`NewPartition::resolve`](super::NewPartition::resolve) found; gives its
    /// place in [`specs`](Self::specs), from which on those behind move up.
    pub fn insert(&mut self, spec: PartitionSpec) -> usize {
        let at = self.specs.partition_point(|other| other.id < spec.id);
        self.specs.insert(at, spec);
        at
    }

    /// Takes out the partition at a place in [`specs`](Self::specs); those behind move down.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn remove(&mut self, at: usize) -> PartitionSpec {
        self.specs.remove(at)
    }

    /// One line for each partition, with everything that must be equal on all PEs: who asked for
    /// it need not be.
    pub fn describe(&self) -> Vec<String> {
        self.specs
            .iter()
            .map(|spec| {
                let asked = Traits { size: None, ..spec.traits }.to_string();
                let populated = if spec.explicit { ", populated" } else { "" };
                match asked.is_empty() {
                    true => format!("{}: {}{populated}", spec.title(), show_size(spec.size)),
                    false => format!("{}: {}, {asked}{populated}", spec.title(), show_size(spec.size)),
                }
            })
            .collect()
    }

    fn existing(&self) -> String {
        let each: Vec<_> = self.specs.iter().map(|spec| format!("{} `{}`", spec.id, spec.name)).collect();
        each.join(", ")
    }
}
