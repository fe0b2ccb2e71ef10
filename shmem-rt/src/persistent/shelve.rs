//! The start: partitions are put on their shelves, and all PEs find the same names there.

use std::collections::BTreeMap;

use shmem_core::heap::Ledger;
use shmem_core::heap::statics::Layout;
use shmem_core::memory::{Backing, SlotLayout};
use shmem_core::partition::Table;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec;

use crate::error::{Error, ErrorKind, Result};
use crate::state::shelf::{Opened, Shelf};

/// Puts the partitions of this PE, which lie in the slot at `mine`, on their shelves, when none of them is
/// used yet. All PEs must find the same names.
pub(crate) fn shelve(
    files: BTreeMap<usize, Backing>,
    table: &Table,
    statics: &Layout,
    layout: &SlotLayout,
    mine: *mut u8,
    ledger: &mut Ledger,
    bootstrap: &dyn Bootstrap,
) -> Result<Vec<Shelf>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let shelves = files.into_iter().map(|(k, backing)| {
        let (spec, part) = (&table.specs()[k], &statics.partitions[k]);
        let opened = Opened {
            spec,
            segment: part.index,
            range: layout.partition(k),
            heap: part.end as usize,
            backing,
        };
        // SAFETY: the arena has mapped the partitions of this PE's slot at `mine`, and no token exists yet.
        unsafe { Shelf::new(opened, mine, ledger) }
    });
    let shelves: Result<Vec<_>, String> = shelves.collect();
    let prints = shelves.as_ref().map(|shelves| {
        let prints = shelves.iter().map(|shelf| shelf.directory.fingerprint());
        prints.collect::<Vec<_>>()
    });
    let all = bootstrap.exchange("names", &codec::encode(&prints)).map_err(Error::launcher)?;
    for (pe, theirs) in all.iter().enumerate() {
        let theirs: Result<Vec<u64>, String> = codec::decode(theirs).map_err(Error::launcher)?;
        let theirs = theirs.map_err(|reason| ErrorKind::File { pe, reason })?;
        if prints.as_ref().is_ok_and(|mine| *mine != theirs) {
            let me = bootstrap.number();
            let reason =
                format!("its files hold other objects than those of PE {me}; put back all of one copy");
            return Err(ErrorKind::File { pe, reason }.into());
        }
    }
    Ok(shelves.map_err(|reason| ErrorKind::File { pe: bootstrap.number(), reason })?)
}
