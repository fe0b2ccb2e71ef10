//! What the PEs were given for their partitions: told by each to the others, shown to the program.

use serde_json::{Value, json};
use shmem_core::partition::{Grant, Kind, Pages, PartitionSpec};

use crate::thread::ThreadLevel;
use crate::world::World;

/// One partition of the job: what was asked, and what each PE was given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartitionReport {
    /// What was asked.
    pub spec: PartitionSpec,
    /// What was given, by the PE's number.
    pub grants: Vec<Grant>,
}

impl<L: ThreadLevel> World<L> {
    /// The partitions of the job in order of their IDs: what was asked, and what each PE was given.
    pub fn partitions(&self) -> Vec<PartitionReport> {
        let partitions = self.job().partitions();
        let specs = partitions.table().specs().iter().enumerate();
        specs
            .map(|(index, spec)| PartitionReport {
                spec: spec.clone(),
                grants: partitions.grants().iter().map(|grants| grants[index].clone()).collect(),
            })
            .collect()
    }
}

/// A PE's grants, for the others.
pub(crate) fn encode(grants: &[Grant]) -> Vec<u8> {
    let all: Vec<Value> = grants
        .iter()
        .map(|g| {
            let (pages, kind) = (g.pages as u32, g.kind.map_or(0, |kind| kind as u32));
            json!([g.size, g.pgsize, pages, kind, g.nodes, g.populated, g.downgrades])
        })
        .collect();
    Value::Array(all).to_string().into_bytes()
}

/// What [`encode`] made; `None` if it is something else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Grant>> {
    let all: Vec<(u64, u64, u32, u32, Vec<(u32, u64)>, bool, Vec<String>)> =
        serde_json::from_slice(bytes).ok()?;
    all.into_iter()
        .map(|(size, pgsize, pages, kind, nodes, populated, downgrades)| {
            let pages = Pages::ALL.into_iter().find(|one| *one as u32 == pages)?;
            let kind = Kind::from_number(kind);
            Some(Grant { size, pgsize, pages, kind, nodes, populated, downgrades })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_survive_the_journey() {
        let grants = vec![
            Grant {
                size: 64 << 20,
                pgsize: 2 << 20,
                pages: Pages::Transparent,
                kind: Some(Kind::FastMem),
                nodes: vec![(0, 31), (2, 1)],
                populated: true,
                downgrades: vec!["asked 1G".to_owned()],
            },
            Grant {
                size: 1,
                pgsize: 4096,
                pages: Pages::Base,
                kind: None,
                nodes: vec![],
                populated: false,
                downgrades: vec![],
            },
        ];
        assert_eq!(decode(&encode(&grants)), Some(grants));
        assert_eq!(decode(b"junk"), None);
    }
}
