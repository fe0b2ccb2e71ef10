//! Whether all PEs are set up alike, and what each tells the others of its memory: the two exchanges of a start
//! that every job makes.
//!
//! A launcher may be slow, so the first PE alone tells how it is set up, and each compares that with its own, to the byte: text,
//! the first line of which is the name of the library, which says how the words of the runtime lie in memory. That comes before
//! anything is made.

use shmem_core::alike::Alike;
use shmem_core::partition::Grant;
use shmem_core::text::first_difference;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec;
use shmem_launch::cpus::Cpus;

use crate::error::{Error, ErrorKind, Result};
use crate::grants;

/// Compares what all PEs must agree on, a line each, the first of which is the name of the library, with what the first PE has.
///
/// # Errors
///
/// If that has another text. Who has the same goes on, and no further than to where all wait for all.
pub(crate) fn agree(mine: &str, bootstrap: &dyn Bootstrap) -> Result<()> {
    let theirs = bootstrap.told_by(&[0], "setup", mine.as_bytes()).map_err(Error::launcher)?.concat();
    if theirs == mine.as_bytes() {
        return Ok(());
    }
    let theirs = String::from_utf8_lossy(&theirs);
    let (here, there) = first_difference(mine, &theirs);
    let me = bootstrap.number();
    Err(ErrorKind::Start(format!(
        "the PEs do not agree on the layout of symmetric memory: PE {me} has `{here}` where PE 0 has \
         `{there}`; run the same binary with the same SHMEM_ variables on all PEs"
    ))
    .into())
}

/// What a PE tells the others, once it has its memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PeMemory {
    /// Of which file parts its slot consists.
    pub(crate) pieces: Vec<u8>,
    /// The CPUs that it may run on.
    pub(crate) cpus: Cpus,
    /// What its partitions were granted.
    pub(crate) grants: Vec<Grant>,
}

impl PeMemory {
    /// What each PE tells. All have as many partitions as this one was granted.
    ///
    /// # Errors
    ///
    /// If the launcher is lost, or what a PE tells is garbled.
    pub(crate) fn exchange(
        pieces: &[u8],
        granted: &[Grant],
        bootstrap: &dyn Bootstrap,
    ) -> Result<Alike<Self>> {
        let mine = (pieces, Cpus::here(), grants::encode(granted));
        let all = bootstrap.exchange("told", &codec::encode(&mine));
        let all: Alike<Vec<u8>> = all.map_err(Error::launcher)?.into_iter().collect();
        let told = all.map(|told| Self::decode(told, granted.len()));
        match told.iter().position(Option::is_none) {
            None => Ok(told.map(|told| told.clone().unwrap_or_else(|| unreachable!("none is missing")))),
            Some(pe) => Err(Error::launcher(format!("what PE {pe} tells of its memory is garbled"))),
        }
    }

    /// What a PE with so many partitions tells.
    fn decode(told: &[u8], partitions: usize) -> Option<Self> {
        let (pieces, cpus, granted) = codec::decode::<(Vec<u8>, Cpus, Vec<u8>)>(told).ok()?;
        let grants = grants::decode(&granted).filter(|grants| grants.len() == partitions)?;
        Some(Self { pieces, cpus, grants })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_garbled_is_refused() {
        let told = codec::encode(&(b"pieces".to_vec(), Cpus::here(), grants::encode(&[])));
        assert_eq!(PeMemory::decode(&told, 0).unwrap().pieces, b"pieces");
        assert!(PeMemory::decode(&told, 1).is_none());
        for end in 0..told.len() {
            assert!(PeMemory::decode(&told[..end], 0).is_none(), "{end}");
        }
    }
}
