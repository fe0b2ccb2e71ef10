//! The two exchanges of a start that every job makes: one description of the set-up, which must be the same on all PEs,
//! and what each PE says of its memory.
//!
//! A launcher may be slow, so only the first PE sends its description, and each PE compares it byte by byte with its own. The
//! description is text. Its first line names the version of the library, and so the layout of the runtime's words. PEs compare
//! before they make any memory.

use serde::{Deserialize, Serialize};
use shmem_core::alike::Alike;
use shmem_core::memory::FilePart;
use shmem_core::partition::Grant;
use shmem_core::text::first_difference;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};
use shmem_launch::cpus::Cpus;

use crate::error::{Error, ErrorKind, Result};

/// Compares the description of this PE's set-up with that of the first PE.
///
/// # Errors
///
/// If the first PE has another text. A PE with the same text goes on to where all wait for all, and no further.
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
    /// Which bytes of its slot are in which file.
    pub(crate) files: Vec<FilePart>,
    pub(crate) cpus: Cpus,
    pub(crate) grants: Vec<Grant>,
}

impl Message for PeMemory {}

impl PeMemory {
    /// Sends this, and receives that of each PE. All have as many partitions.
    ///
    /// # Errors
    ///
    /// If the launcher is lost, or a PE sends something else.
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
