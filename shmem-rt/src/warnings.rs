//! Diagnostics of the runtime: downgrades of partitions, and long waits.

use std::fmt::Write as _;
use std::time::Duration;

use shmem_core::partition::{Grant, PartitionSpec, downgrades};
use shmem_core::run_length::{EqualRun, groups};
use shmem_core::system_area::{Activity, PeRecord, Stage};
use shmem_launch::diagnostics::say;
use shmem_launch::env::Settings;
use shmem_launch::launch::held;
use shmem_launch::launch::report::PeState;
use shmem_launch::pe_list::numbers;

/// Prints which requested traits of partitions were not granted, unless `SHMEM_PARTITION_WARN` is 0.
pub(crate) fn degraded(settings: &Settings, specs: &[PartitionSpec], grants: &[EqualRun<Grant>]) {
    if settings.partition_warn {
        for line in downgrades(specs, grants) {
            say(&format!("shmem: warning: {line} (SHMEM_PARTITION_WARN=0: no such warning)"));
        }
    }
}

/// A PE's number, and its record in shared memory, which a waiting PE reads.
pub(crate) type Peer<'a> = (usize, &'a PeRecord);

/// Describes a long wait of PE `me`, and what other PEs do. If the wait is in a collective of all PEs, lists only PEs that have not
/// entered it.
pub(crate) fn long_wait<'a>(
    me: usize,
    activity: &Activity,
    waited: Duration,
    peers: impl Iterator<Item = Peer<'a>>,
) -> String {
    let mut text = format!("shmem: PE {me} has waited {:.1} s {activity}", waited.as_secs_f64());
    // Records count only the collectives of the team of all PEs, which has index 0.
    let in_collective = activity.count != 0 && activity.team == 0;
    let has_entered = |record: &PeRecord| in_collective && record.collectives() >= activity.count;
    let others = peers.filter(|(number, record)| *number != me && !has_entered(record));
    let doing = others.map(|(number, record)| {
        let doing = match (record.stage(), held(record.pid()), record.activity()) {
            (Stage::Finished, ..) => "left the job".to_owned(),
            (_, Some(PeState::Stopped), _) => "stopped by a signal".to_owned(),
            (_, Some(PeState::Traced), _) => "stopped by a debugger".to_owned(),
            (.., Some(activity)) => activity.to_string(),
            (.., None) => "busy".to_owned(),
        };
        (number, doing)
    });
    let mut lead = if in_collective { " for " } else { "; meanwhile " };
    for (doing, pes) in groups(doing) {
        let doing = if pes.len() > 1 { doing.replace("in its own", "in their own") } else { doing };
        let _ = write!(text, "{lead}{} ({doing})", numbers(&pes));
        lead = "; ";
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
    use shmem_core::text::Text;

    use super::*;

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
        let said = long_wait(0, &activity, Duration::from_secs(2), [(1, &*stopped)].into_iter());
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(said.ends_with(" for PE 1 (stopped by a signal)"), "{said}");
    }
}
