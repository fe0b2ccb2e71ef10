//! Reads a PE's record from its memory, for the launcher: also after the PE has died, because its memory lives as long as the launcher's
//! descriptor.

use std::mem::offset_of;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use memmap2::MmapOptions;
use rustix::fs::FileType;
use shmem_core::system::{PeRecord, Stage, SystemArea, monotonic_now};

use super::report::Standing;

/// Bytes at the start of a PE's memory that hold its record.
const BYTES: usize = offset_of!(SystemArea, record) + size_of::<PeRecord>();

/// Reads the record from the first descriptor that a PE shared.
pub(crate) fn read(memory: &OwnedFd) -> Standing {
    view(memory).unwrap_or(Standing::Unknown)
}

fn view(memory: &OwnedFd) -> Option<Standing> {
    let status = rustix::fs::fstat(memory).ok()?;
    let holds_record = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile
        && usize::try_from(status.st_size).is_ok_and(|bytes| bytes >= BYTES);
    if !holds_record {
        return None;
    }
    // Mapped for this call only.
    let map = MmapOptions::new().len(BYTES).map_raw_read_only(memory.as_raw_fd()).ok()?;
    let record = map.as_ptr().wrapping_add(offset_of!(SystemArea, record)).cast::<PeRecord>();
    // SAFETY: the mapping holds `BYTES` bytes, of which the record is the end, at an offset that is
    // a multiple of its alignment from a page; it outlives the reference. A record has no invalid
    // bit patterns, is only read here, and by atomic or volatile reads, as its other readers do.
    let record = unsafe { &*record };
    Some(describe(record))
}

/// The state in a record.
pub fn describe(record: &PeRecord) -> Standing {
    if !record.is_started() {
        return Standing::Unknown;
    }
    match (record.stage(), record.activity()) {
        (Stage::Finished, _) => Standing::Finished,
        (Stage::Aborting, _) => Standing::Aborting,
        (_, None) => Standing::Unknown,
        (Stage::Starting, Some(activity)) if activity.operation.is_empty() => Standing::Starting,
        (Stage::Running, Some(activity)) if activity.operation.is_empty() => Standing::OwnCode,
        (_, Some(activity)) => match record.waiting_since() {
            0 => Standing::Inside(activity.to_string()),
            since => Standing::Waiting(
                activity.to_string(),
                Duration::from_nanos(monotonic_now().saturating_sub(since)),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use shmem_core::system::Activity;
    use shmem_core::text::Text;

    use super::*;

    fn memory(bytes: u64) -> OwnedFd {
        let memory = rustix::fs::memfd_create("record", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, bytes).unwrap();
        memory
    }

    #[test]
    fn a_record_is_read_from_outside() {
        let memory = memory(size_of::<SystemArea>() as u64);
        assert_eq!(read(&memory), Standing::Unknown, "not filled in yet");
        let map = MmapOptions::new().len(size_of::<SystemArea>()).map_raw(memory.as_raw_fd()).unwrap();
        // SAFETY: the mapping has the size of the area, at a page; zeroes are its initial state.
        let area = unsafe { &*map.as_ptr().cast::<SystemArea>() };
        area.record.start(3, 77);
        assert_eq!(read(&memory), Standing::Starting);
        area.record.set_stage(Stage::Running);
        assert_eq!(read(&memory), Standing::OwnCode);

        let activity = Activity {
            operation: Text::head("barrier"),
            file: Text::tail("src/main.rs"),
            line: 88,
            ..Activity::NONE
        };
        area.record.describe(&activity);
        assert_eq!(read(&memory), Standing::Inside("in `barrier` at src/main.rs:88".into()));
        area.record.set_waiting_since(monotonic_now() - 300_000_000);
        let Standing::Waiting(text, waited) = read(&memory) else { panic!() };
        assert_eq!(text, "in `barrier` at src/main.rs:88");
        assert!((300..3000).contains(&waited.as_millis()), "{waited:?}");

        area.record.done();
        area.record.set_stage(Stage::Finished);
        assert_eq!(read(&memory), Standing::Finished);
    }

    #[test]
    fn what_holds_no_record_is_no_reason_to_die() {
        assert_eq!(read(&memory(0)), Standing::Unknown);
        assert_eq!(read(&memory(BYTES as u64 - 1)), Standing::Unknown);
        assert_eq!(read(&memory(1 << 20)), Standing::Unknown);
        let (pipe, _write) = rustix::pipe::pipe().unwrap();
        assert_eq!(read(&pipe), Standing::Unknown);
    }
}
