//! What the PEs were given for their partitions, and where they want it from: told by each to the others,
//! shown to the program.

use serde_json::{Value, json};
use shmem_core::memory::{Placement, Spread};
use shmem_core::partition::{FileGrant, Grant, Kind, Pages, PartitionSpec};

use crate::error::Result;
use crate::heap::Heap;
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
    ///
    /// Of partitions whose pages exist from the start ([`Grant::populated`]), it says on which NUMA nodes
    /// these lie ([`Grant::nodes`]): as the kernel told after they were made, not as was asked. Of pages
    /// that come later, [`Heap::pages_per_node`](crate::Heap::pages_per_node) tells.
    ///
    /// ```
    /// fn largest_node(world: &shmem::World) -> Option<u32> {
    ///     let fast = world.partitions().into_iter().find(|partition| partition.spec.id == 2)?;
    ///     let nodes = &fast.grants[world.my_pe()].nodes;
    ///     nodes.iter().max_by_key(|(_, pages)| *pages).map(|(node, _)| *node)
    /// }
    /// ```
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

impl<L: ThreadLevel> Heap<'_, L> {
    /// Pages of this PE's part of the partition on each NUMA node, in the order of the nodes' numbers, as
    /// the kernel says now. Pages have the size that was granted; those that nobody has touched yet are
    /// left out.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    ///
    /// ```
    /// fn pages(world: &shmem::World) -> shmem::Result<u64> {
    ///     let nodes = world.heap::<shmem::partition::fast>()?.pages_per_node()?;
    ///     Ok(nodes.iter().map(|(_node, pages)| pages).sum())
    /// }
    /// ```
    pub fn pages_per_node(&self) -> Result<Vec<(u32, u64)>> {
        let (job, page) = (self.world.job(), self.page_bytes() as usize);
        let segment = job.segments.list().into_iter().find(|(index, _)| *index == self.segment);
        let (_, segment) = segment.unwrap_or_else(|| unreachable!("every partition is a segment"));
        let range = segment.start..segment.start + segment.bytes.next_multiple_of(page);
        Ok(job.arena.pages_per_node(job.slot, range, page)?)
    }
}

/// A PE's grants, for the others.
pub(crate) fn encode(grants: &[Grant]) -> Vec<u8> {
    let all: Vec<Value> = grants
        .iter()
        .map(|g| {
            let (pages, kind) = (g.pages as u32, g.kind.map_or(0, |kind| kind as u32));
            let file = g.file.as_ref().map(|file| (&file.path, file.generation));
            json!([g.size, g.pgsize, pages, kind, g.nodes, g.populated, g.downgrades, file])
        })
        .collect();
    Value::Array(all).to_string().into_bytes()
}

/// What [`encode`] made; `None` if it is something else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Grant>> {
    type Fields = (u64, u64, u32, u32, Vec<(u32, u64)>, bool, Vec<String>, Option<(String, u64)>);
    let all: Vec<Fields> = serde_json::from_slice(bytes).ok()?;
    all.into_iter()
        .map(|(size, pgsize, pages, kind, nodes, populated, downgrades, file)| {
            let pages = Pages::ALL.into_iter().find(|one| *one as u32 == pages)?;
            let kind = Kind::from_number(kind);
            let file = file.map(|(path, generation)| FileGrant { path, generation });
            Some(Grant { size, pgsize, pages, kind, nodes, populated, downgrades, file })
        })
        .collect()
}

/// Where a PE's partitions are to come from, for the others of its node.
pub(crate) fn encode_places<'a>(places: impl Iterator<Item = &'a Placement>) -> Vec<u8> {
    let each = places.map(|place| {
        let kind = place.kind.map_or(0, |kind| kind as u32);
        json!([kind, place.nodes, SPREADS.iter().position(|spread| *spread == place.spread)])
    });
    Value::Array(each.collect()).to_string().into_bytes()
}

/// What [`encode_places`] made; `None` if it is something else.
pub(crate) fn decode_places(bytes: &[u8]) -> Option<Vec<Placement>> {
    let all: Vec<(u32, Vec<u32>, usize)> = serde_json::from_slice(bytes).ok()?;
    let place = |(kind, nodes, spread): (u32, _, usize)| {
        let spread = *SPREADS.get(spread)?;
        Some(Placement { kind: Kind::from_number(kind), nodes, spread, downgrade: None })
    };
    all.into_iter().map(place).collect()
}

const SPREADS: [Spread; 4] = [Spread::System, Spread::Preferred, Spread::Bound, Spread::Interleaved];

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
                file: None,
            },
            Grant {
                size: 1,
                pgsize: 4096,
                pages: Pages::Base,
                kind: None,
                nodes: vec![],
                populated: false,
                downgrades: vec![],
                file: Some(FileGrant { path: "/mnt/heap.0".to_owned(), generation: 7 }),
            },
        ];
        assert_eq!(decode(&encode(&grants)), Some(grants));
        assert_eq!(decode(b"junk"), None);
    }

    #[test]
    fn places_survive_the_journey() {
        let place =
            |kind, nodes: &[u32], spread| Placement { kind, nodes: nodes.into(), spread, downgrade: None };
        let places = vec![
            Placement::system(),
            place(None, &[1, 0], Spread::Preferred),
            place(Some(Kind::FastMem), &[2], Spread::Bound),
            place(Some(Kind::NormalMem), &[0, 1], Spread::Interleaved),
        ];
        assert_eq!(decode_places(&encode_places(places.iter())), Some(places));
        assert_eq!(decode_places(b"[[0, [], 9]]"), None);
    }
}
