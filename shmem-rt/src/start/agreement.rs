//! The two exchanges of every start. First, PEs compare a text that describes the set-up, before they make any memory; only the
//! first PE sends its text, because a launcher may be slow. Second, PEs exchange descriptions of their memory.

use serde::{Deserialize, Serialize};
use shmem_core::memory::FilePart;
use shmem_core::partition::{Grant, show_size};
use shmem_core::run_length::EqualRun;
use shmem_core::system_area::SystemArea;
use shmem_core::text::first_difference;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};
use shmem_launch::cpus::Cpus;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Observers;
use crate::setup::{PROGRAM, Setup, dynamic_bytes};
use crate::version;

/// Compares the description of this PE's set-up with that of the first PE.
pub(crate) fn agree(setup: &Setup, bootstrap: &dyn Bootstrap) -> Result<()> {
    let mine = describe(setup);
    let theirs = bootstrap.gather_from(&[0], "setup", mine.as_bytes()).map_err(Error::launcher)?.concat();
    if theirs == mine.as_bytes() {
        return Ok(());
    }
    let theirs = String::from_utf8_lossy(&theirs);
    let (here, there) = first_difference(&mine, &theirs);
    let me = bootstrap.number();
    Err(ErrorKind::Start(format!(
        "the PEs do not agree on the layout of symmetric memory: PE {me} has `{here}` where PE 0 has \
         `{there}`; run the same binary with the same SHMEM_ variables on all PEs"
    ))
    .into())
}

/// Returns all properties that must be equal on all PEs, one per line.
fn describe(setup: &Setup) -> String {
    let storage = setup.settings.array_storage.map(|storage| storage.to_string());
    let mut lines = vec![version::NAME.into()];
    // The program's line is before the lines that depend on the program, because the first difference is reported.
    lines.extend(PROGRAM.get().map(|program| program.line.clone()));
    lines.extend([
        format!("words of the runtime: {}", show_size(size_of::<SystemArea>() as u64)),
        format!("base pages: {}", show_size(rustix::param::page_size() as u64)),
        format!("memory of teams: {}", show_size(setup.settings.team_size)),
        format!("barrier of a node: {}", setup.settings.barrier.name()),
        format!("ways of collectives: {}", setup.settings.collective_ways),
        format!("address space for dynamic segments: {}", show_size(dynamic_bytes(&setup.settings) as u64)),
        format!("asked to observe: {}", Observers::wanted(&setup.settings).join(", ")),
        format!("storage of arrays that name none: {}", storage.unwrap_or_else(|| "by size".to_owned())),
    ]);
    lines.extend(setup.table.describe());
    lines.extend(setup.statics.describe());
    lines.join("\n")
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct PeMemory {
    /// The files that make up the PE's slot, and the bytes of each.
    pub(crate) files: Vec<FilePart>,
    pub(crate) cpus: Cpus,
    pub(crate) grants: Vec<Grant>,
}

impl Message for PeMemory {}

impl PeMemory {
    /// Sends this message to all PEs, and receives the message of each PE. It is an error if the numbers of partitions differ.
    pub(crate) fn exchange(&self, bootstrap: &dyn Bootstrap) -> Result<EqualRun<Self>> {
        let all = bootstrap.exchange("told", &codec::encode(self)).map_err(Error::launcher)?;
        let all: EqualRun<Vec<u8>> = all.into_iter().collect();
        let is_complete = |theirs: &Self| theirs.grants.len() == self.grants.len();
        let all = all.map(|theirs| codec::decode(theirs).ok().filter(is_complete));
        match all.iter().position(Option::is_none) {
            None => Ok(all.map(|theirs| theirs.clone().unwrap_or_else(|| unreachable!("none is missing")))),
            Some(pe) => Err(Error::launcher(format!("what PE {pe} tells of its memory is garbled"))),
        }
    }
}
