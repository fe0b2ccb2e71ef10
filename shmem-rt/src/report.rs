//! Messages of the runtime: downgrades of partitions, and long waits; and the names of objects in them.

use std::fmt::Write as _;
use std::sync::OnceLock;

use shmem_core::context::WaitReport;
use shmem_core::exclusion::Mutex;
use shmem_core::heap::Ledger;
use shmem_core::object::Extent;
use shmem_core::partition::{Grant, PartitionSpec, downgrades, show_size};
use shmem_core::run_length::Alike;
use shmem_core::system_area::{PeRecord, Stage};
use shmem_launch::env::Settings;
use shmem_launch::launch::held;
use shmem_launch::launch::report::Standing;
use shmem_launch::say::{numbers, say};

/// Prints what partitions asked for and were not granted, unless `SHMEM_PARTITION_WARN` is 0.
pub(crate) fn degraded(settings: &Settings, specs: &[PartitionSpec], grants: &[Alike<Grant>]) {
    if settings.partition_warn {
        for line in downgrades(specs, grants) {
            say(&format!("shmem: warning: {line} (SHMEM_PARTITION_WARN=0: no such warning)"));
        }
    }
}

/// Offset and name of a variable.
pub(crate) type Variable = (usize, String);

/// Finds the variable at an offset, in a program in another language.
pub(crate) static VARIABLES: OnceLock<fn(usize) -> Option<Variable>> = OnceLock::new();

/// Names what is stored at an offset, for people: a variable of the program, or an allocation.
pub(crate) fn name_at(statics: &[(Extent, String)], ledger: &Mutex<Ledger>, offset: usize) -> String {
    known_at(statics, ledger, offset).unwrap_or_else(|| format!("a word at offset {offset:#x}"))
}

/// Like [`name_at`]; `None` if nothing is known to be stored there.
pub(crate) fn known_at(
    statics: &[(Extent, String)],
    ledger: &Mutex<Ledger>,
    offset: usize,
) -> Option<String> {
    let of_static = || {
        let holds = |extent: &Extent| (extent.offset..extent.offset + extent.bytes).contains(&offset);
        let (extent, name) = statics.iter().find(|(extent, _)| holds(extent))?;
        Some((extent.offset, name.clone()))
    };
    let allocated = || {
        // Another thread may hold the ledger, and wait in a collective for long.
        let ledger = ledger.try_lock()?;
        let found = ledger.find(offset)?;
        Some((found.offset, found.to_string()))
    };
    let (start, name) = of_static().or_else(allocated).or_else(|| VARIABLES.get()?(offset))?;
    let within = (offset - start) as u64;
    Some(if within == 0 { name } else { format!("{name} + {}", show_size(within)) })
}

/// A PE, as a waiting PE sees it.
#[derive(Clone, Copy)]
pub(crate) struct Peer<'a> {
    pub(crate) number: usize,
    pub(crate) record: &'a PeRecord,
}

/// Activities, each with the numbers of the PEs that have it.
pub(crate) type Groups = Vec<(String, Vec<usize>)>;

/// Adds a PE to the group with the same activity.
pub(crate) fn add_to(groups: &mut Groups, doing: String, pe: usize) {
    match groups.iter_mut().find(|group| group.0 == doing) {
        Some(group) => group.1.push(pe),
        None => groups.push((doing, vec![pe])),
    }
}

/// Describes a long wait: PE, place, time, and the PEs waited for: in a collective those that have not entered it, else all others.
pub(crate) fn long_wait<'a>(me: usize, report: &WaitReport, peers: impl Iterator<Item = Peer<'a>>) -> String {
    let activity = &report.activity;
    let mut text = format!("shmem: PE {me} has waited {:.1} s {activity}", report.waited.as_secs_f64());
    // Records count the collectives of the team of all PEs only.
    let in_collective = activity.count != 0 && activity.team == 0;
    let mut groups = Groups::new();
    for Peer { number, record } in peers.filter(|peer| peer.number != me) {
        if in_collective && record.collectives() >= activity.count {
            continue;
        }
        let doing = match (record.stage(), held(record.pid()), record.activity()) {
            (Stage::Finished, ..) => "left the job".to_owned(),
            (_, Some(Standing::Stopped), _) => "stopped by a signal".to_owned(),
            (_, Some(Standing::Traced), _) => "stopped by a debugger".to_owned(),
            (.., Some(activity)) => activity.to_string(),
            (.., None) => "busy".to_owned(),
        };
        add_to(&mut groups, doing, number);
    }
    let mut lead = if in_collective { " for " } else { "; meanwhile " };
    for (doing, pes) in groups {
        let doing = if pes.len() > 1 { doing.replace("in its own", "in their own") } else { doing };
        let _ = write!(text, "{lead}{} ({doing})", numbers(&pes));
        lead = "; ";
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
    use shmem_core::heap::{Allocator, Owner};
    use shmem_core::system_area::Activity;
    use shmem_core::text::Text;

    use super::*;

    #[test]
    fn an_offset_is_named_by_what_lies_there() {
        let extent = |offset, bytes| Extent { offset, bytes };
        let statics = [(extent(64, 8), "READY".to_owned()), (extent(128, 80), "FLAGS".to_owned())];
        let mut ledger = Ledger::new();
        ledger.add_heap(1, Allocator::new(1, Text::head("default"), 4096..8192, 4096));
        let block = ledger.allocate(1, 24, 8, Owner::Handle).unwrap();
        let ledger = Mutex::new(ledger);
        let name = |offset| name_at(&statics, &ledger, offset);
        let none = |offset| format!("a word at offset {offset:#x}");
        let expected = ["READY", "READY + 7 bytes", &none(72), "FLAGS", "FLAGS + 72 bytes", &none(208)];
        assert_eq!([64, 71, 72, 128, 200, 208].map(name), expected);
        let names = [0, 16, 24].map(|at| name(block.offset + at));
        assert_eq!(names, ["heap object #1", "heap object #1 + 16 bytes", &none(block.offset + 24)]);
        let _held = ledger.lock();
        assert_eq!(name(block.offset), none(block.offset), "nobody waits for a name");
    }

    #[test]
    fn who_is_stopped_is_not_in_its_own_code() {
        let mut process = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&process);
        kill_process(pid, Signal::STOP).unwrap();
        waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
        // SAFETY: all zeroes is the initial state of a record.
        let stopped = unsafe { Box::<PeRecord>::new(core::mem::zeroed()) };
        stopped.start(1, process.id());
        let activity = Activity { operation: Text::head("barrier"), count: 1, ..Activity::NONE };
        let report = WaitReport { activity, waited: Duration::from_secs(2) };
        let said = long_wait(0, &report, [Peer { number: 1, record: &stopped }].into_iter());
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(said.ends_with(" for PE 1 (stopped by a signal)"), "{said}");
    }
}
