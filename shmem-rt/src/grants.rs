//! The message with which a PE tells the others what it was granted for each partition.

use serde::{Deserialize, Serialize};
use shmem_core::alike::Alike;
use shmem_core::partition::{FileGrant, Grant, Kind, Pages};
use shmem_launch::codec::{self, Message};

/// A [`Grant`] in a message.
#[derive(Debug, Serialize, Deserialize)]
struct Sent {
    size: u64,
    pgsize: u64,
    pages: u32,
    kind: u32,
    nodes: Vec<(u32, u64)>,
    populated: bool,
    downgrades: Vec<String>,
    file: Option<(String, u64)>,
}

impl Message for Sent {}

/// Encodes a PE's grants.
pub(crate) fn encode(grants: &[Grant]) -> Vec<u8> {
    let each = grants.iter().cloned().map(|grant| {
        let Grant { size, pgsize, pages, kind, nodes, populated, downgrades, file } = grant;
        let file = file.map(|FileGrant { path, generation }| (path, generation));
        let (pages, kind) = (pages as u32, kind.map_or(0, |kind| kind as u32));
        Sent { size, pgsize, pages, kind, nodes, populated, downgrades, file }
    });
    codec::encode(&each.collect::<Vec<_>>())
}

/// Decodes what [`encode`] made; `None` if the bytes are something else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Grant>> {
    let grant = |sent: Sent| {
        let Sent { size, pgsize, pages, kind, nodes, populated, downgrades, file } = sent;
        let (pages, kind) =
            (Pages::ALL.into_iter().find(|one| *one as u32 == pages)?, Kind::from_number(kind));
        let file = file.map(|(path, generation)| FileGrant { path, generation });
        Some(Grant { size, pgsize, pages, kind, nodes, populated, downgrades, file })
    };
    codec::decode::<Vec<Sent>>(bytes).ok()?.into_iter().map(grant).collect()
}

/// Turns the grants of all partitions, by PE, into the grants of all PEs, by partition.
///
/// # Panics
///
/// If a PE has fewer than `partitions` grants.
pub(crate) fn by_partition(partitions: usize, pes: &Alike<Vec<Grant>>) -> Vec<Alike<Grant>> {
    (0..partitions).map(|at| pes.map(|granted| granted[at].clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_survive_the_journey() {
        let grants = vec![
            Grant {
                pages: Pages::Transparent,
                kind: Some(Kind::FastMem),
                nodes: vec![(0, 31), (2, 1)],
                populated: true,
                downgrades: vec!["asked 1G".to_owned()],
                ..Grant::plain(64 << 20, 2 << 20)
            },
            Grant {
                file: Some(FileGrant { path: "/mnt/heap.0".to_owned(), generation: 7 }),
                ..Grant::plain(1, 4096)
            },
        ];
        assert_eq!(decode(&encode(&grants)), Some(grants.clone()));
        assert_eq!(decode(b"junk"), None);
        let mut other: Vec<Sent> = codec::decode(&encode(&grants)).unwrap();
        other[1].pages = 77;
        assert_eq!(decode(&codec::encode(&other)), None);
    }
}
