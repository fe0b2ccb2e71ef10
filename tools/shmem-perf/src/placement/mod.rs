//! Where memory lies: what the kernel says, of arrays of each storage and of partitions of each kind of memory and
//! size of pages.
//!
//! Nothing here is a time. So it may be asked on an emulated machine, which has nodes and kinds of memory that the
//! machine at hand has not: emulation proves where pages are, never how fast they are.
//!
//! ```text
//! arrays       the use cases of "NUMA-Aware Array Storage", beside a first touch
//! apart        the same by one PE on each node
//! partition    partition 1 by what the environment asks, under a stencil that knows nothing of it
//! ```

use serde::{Deserialize, Serialize};
use shmem_core::partition::Kind;
use shmem_core::topology::Topology;

mod arrays;
mod first_touch;
mod partitions;

pub use arrays::{AFFINITY, apart, arrays, scale, variables};
pub use partitions::{PARTITIONS, TRAITS, partition, refused, traits_variables};

/// Most PEs that are started for it, one on each node.
const MOST_PES: usize = 8;

/// One thing that was found, and where it stands in which table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// [`AFFINITY`] or [`PARTITIONS`].
    pub table: String,
    /// What was made: a shape, traits of a partition.
    pub row: String,
    /// What is said of it.
    pub column: String,
    /// That, in words.
    pub value: String,
}

impl Found {
    /// A cell of a table.
    pub fn new(
        table: &str,
        row: impl Into<String>,
        column: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self { table: table.to_owned(), row: row.into(), column: column.into(), value: value.into() }
    }

    /// All of them to read: a paragraph for each table, a line for each row.
    pub fn text(all: &[Self]) -> String {
        let mut text = String::new();
        for table in all.chunk_by(|a, b| a.table == b.table) {
            text += &format!("{}\n", table[0].table);
            for row in table.chunk_by(|a, b| a.row == b.row) {
                let cells: Vec<_> = row.iter().map(|one| format!("{}: {}", one.column, one.value)).collect();
                text += &format!("  {}\n    {}\n", row[0].row, cells.join("; "));
            }
        }
        text
    }
}

/// The number of PEs that have a node each: that of the nodes with CPUs for this process.
pub fn pes(topology: &Topology) -> usize {
    topology.homes().len().clamp(1, MOST_PES)
}

/// Whether this process may have normal and fast memory: kinds make a difference then.
pub fn has_kinds(topology: &Topology) -> bool {
    let has = |kind| topology.home().is_some_and(|home| !topology.of_kind(kind, home).is_empty());
    has(Kind::NormalMem) && has(Kind::FastMem)
}

#[cfg(test)]
mod tests {
    use shmem_core::topology::{NumaNode, Speed};

    use super::*;

    #[test]
    fn what_was_found_is_shown_by_tables_and_rows() {
        let found =
            [("a", "x", "1", "one"), ("a", "x", "2", "two"), ("a", "y", "1", "three"), ("b", "x", "1", "")];
        let found = found.map(|(table, row, column, value)| Found::new(table, row, column, value));
        let expected = "a\n  x\n    1: one; 2: two\n  y\n    1: three\nb\n  x\n    1: \n";
        assert_eq!(Found::text(&found), expected);
    }

    #[test]
    fn kinds_are_two_that_one_may_have() {
        let node = |number, bandwidth, cpus: &[usize]| NumaNode {
            speed: Speed { bandwidth: Some(bandwidth), latency: Some(100) },
            memory: 1 << 30,
            cpus: cpus.to_vec(),
            ..NumaNode::new(number)
        };
        let (one, two) = (node(0, 100_000, &[0]), node(1, 100_000, &[1]));
        let fast = node(2, 400_000, &[]);
        let seen = |nodes: &[&NumaNode], cpus: &[usize]| {
            let nodes = nodes.iter().map(|&node| node.clone()).collect();
            let topology = Topology::of(nodes, cpus.to_vec(), Some(0));
            (has_kinds(&topology), pes(&topology))
        };
        assert_eq!(seen(&[&one, &two, &fast], &[0, 1]), (true, 2));
        assert_eq!(seen(&[&one, &two], &[0, 1]), (false, 2));
        assert_eq!(seen(&[&one, &two, &fast], &[0]), (true, 1));
        let forbidden = NumaNode { allowed: false, ..fast.clone() };
        assert_eq!(seen(&[&one, &two, &forbidden], &[0, 1]), (false, 2));
        assert_eq!(seen(&[], &[0]), (false, 1));
    }
}
