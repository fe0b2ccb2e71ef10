//! Reads a PE's record from the PE's memory, for the launcher. This also works after the PE has died, because the launcher's
//! descriptor keeps the memory alive.

use std::mem::offset_of;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use memmap2::MmapOptions;
use rustix::fs::FileType;
use shmem_core::system_area::{PeRecord, Stage, SystemArea, monotonic_now};

use super::report::PeState;

/// Bytes to map: from the start of a PE's memory to the end of its record.
const BYTES: usize = offset_of!(SystemArea, record) + size_of::<PeRecord>();

/// Reads the PE's record. `memory` is the first descriptor that the PE shared.
pub(crate) fn read(memory: &OwnedFd) -> PeState {
    view(memory).unwrap_or(PeState::Unknown)
}

fn view(memory: &OwnedFd) -> Option<PeState> {
    let status = rustix::fs::fstat(memory).ok()?;
    let holds_record = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile
        && usize::try_from(status.st_size).is_ok_and(|bytes| bytes >= BYTES);
    if !holds_record {
        return None;
    }
    let map = MmapOptions::new().len(BYTES).map_raw_read_only(memory.as_raw_fd()).ok()?;
    let record = map.as_ptr().wrapping_add(offset_of!(SystemArea, record)).cast::<PeRecord>();
    // SAFETY: the mapping has `BYTES` bytes and outlives the reference. The record is at the mapping's end, and aligned, because
    // the mapping begins at a page. Any bits are valid for a record. It is only read here, and only by atomic or volatile reads,
    // because its PE may write it meanwhile.
    let record = unsafe { &*record };
    Some(describe(record))
}

/// Returns the state of a PE by its record.
pub fn describe(record: &PeRecord) -> PeState {
    if !record.is_started() {
        return PeState::Unknown;
    }
    match (record.stage(), record.activity()) {
        (Stage::Finished, _) => PeState::Finished,
        (Stage::Aborting, _) => PeState::Aborting,
        (_, None) => PeState::Unknown,
        (Stage::Starting, Some(activity)) if activity.operation.is_empty() => PeState::Starting,
        (Stage::Running, Some(activity)) if activity.operation.is_empty() => PeState::OwnCode,
        (_, Some(activity)) => match record.waiting_since() {
            0 => PeState::Inside(activity.to_string()),
            since => PeState::Waiting(
                activity.to_string(),
                Duration::from_nanos(monotonic_now().saturating_sub(since)),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: u64) -> OwnedFd {
        let memory = rustix::fs::memfd_create("record", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, bytes).unwrap();
        memory
    }

    #[test]
    fn what_holds_no_record_is_no_reason_to_die() {
        assert_eq!(read(&memory(0)), PeState::Unknown);
        assert_eq!(read(&memory(BYTES as u64 - 1)), PeState::Unknown);
        assert_eq!(read(&memory(1 << 20)), PeState::Unknown);
        let (pipe, _write) = rustix::pipe::pipe().unwrap();
        assert_eq!(read(&pipe), PeState::Unknown);
    }
}
