//! The two exchanges that every job makes at its start: of the description of the set-up, which must be equal on all PEs,
//! and of each PE's memory.
//!
//! A launcher may be slow, so only the first PE sends its description, and each PE compares it byte by byte with its own. The
//! description is text. Its first line names the version of the library, and so the layout of the runtime's words. PEs compare
//! before they make any memory.

use serde::{Deserialize, Serialize};
use shmem_core::memory::FilePart;
use shmem_core::partition::Grant;
use shmem_core::run_length::Alike;
use shmem_core::text::first_difference;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};
use shmem_launch::cpus::Cpus;

use crate::error::{Error, ErrorKind, Result};

/// Compares the description of this PE's set-up with that of the first PE.
///
/// # Errors
///
/// If the first PE has another text. A PE with an equal text goes on, up to the next wait for all PEs.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct PeMemory {
    /// The files of the slot, and the bytes in each.
    pub(crate) files: Vec<FilePart>,
    pub(crate) cpus: Cpus,
    pub(crate) grants: Vec<Grant>,
}

impl Message for PeMemory {}

impl PeMemory {
    /// Sends this message, and receives each PE's. All have equally many partitions.
    ///
    /// # Errors
    ///
    /// If the launcher is lost, or a PE's message is malformed.
    pub(crate) fn exchange(&self, bootstrap: &dyn Bootstrap) -> Result<Alike<Self>> {
        let all = bootstrap.exchange("told", &codec::encode(self)).map_err(Error::launcher)?;
        let all: Alike<Vec<u8>> = all.into_iter().collect();
        let is_complete = |theirs: &Self| theirs.grants.len() == self.grants.len();
        let all = all.map(|theirs| codec::decode(theirs).ok().filter(is_complete));
        match all.iter().position(Option::is_none) {
            None => Ok(all.map(|theirs| theirs.clone().unwrap_or_else(|| unreachable!("none is missing")))),
            Some(pe) => Err(Error::launcher(format!("what PE {pe} tells of its memory is garbled"))),
        }
    }
}
