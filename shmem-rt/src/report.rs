//! What the runtime says on its own: at the start, at the end, and when a wait takes long.

use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::Location;

use shmem_core::context::{Initiator as _, WaitReport};
use shmem_core::object::Extent;
use shmem_core::partition::{downgrades, report, show_size};
use shmem_core::strided::Advice;
use shmem_core::system::{PeRecord, Stage};

use crate::launch::report::numbers;
use crate::thread::ThreadLevel;
use crate::version;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// What is said at the start. By PE 0: warnings always, the table of partitions when asked for.
    /// By every PE when debugging: where it is.
    pub(crate) fn introduce(&self) {
        let job = self.job();
        if job.settings.debug {
            let (me, pid) = (self.my_pe(), std::process::id());
            let place = self.endpoint().mine(0) as usize;
            say(&format!("shmem: PE {me} is process {pid}, with its symmetric memory from {place:#x}"));
        }
        if self.my_pe() != 0 {
            return;
        }
        if job.settings.version {
            say(&format!("shmem: {}, after OpenSHMEM {}", version::NAME, version::OPENSHMEM));
        }
        let unknown = crate::env::unknown(crate::env::process());
        let partitions = job.partitions();
        let (table, grants) = (partitions.table(), partitions.grants());
        let downgrades = downgrades(table.specs(), grants);
        let settings = job.settings.warnings.iter();
        for warning in unknown.iter().chain(settings).chain(table.warnings()).chain(&downgrades) {
            say(&format!("shmem: warning: {warning}"));
        }
        if job.settings.info || job.settings.debug {
            let (pes, name) = (counted(self.n_pes()), job.bootstrap.name());
            let fabric = job.fabric.as_ref().map_or_else(String::new, |fabric| format!(": {fabric}"));
            let transport = job.transport;
            let mut text =
                format!("shmem: {pes}, brought together by {name}, transport {transport}{fabric}\n");
            text.push_str(&report(table.specs(), grants));
            let _ = writeln!(text, "shmem: {}", job.holdings().report());
            for row in crate::env::rows(crate::env::process()) {
                let value = row.current.as_deref().unwrap_or(row.default);
                let _ = writeln!(text, "shmem: {}={value}", row.name);
            }
            say(text.trim_end());
        }
    }

    /// What every PE says at the end when debugging: what its heaps have held, and hold still.
    pub(crate) fn take_leave(&self) {
        let job = self.job();
        if !job.settings.debug {
            return;
        }
        let mut text = format!("shmem: PE {} has reached the end", self.my_pe());
        let partitions = job.partitions();
        for (spec, segment) in partitions.table().specs().iter().zip(partitions.segments()) {
            let usage = job.ledger().usage(*segment);
            if let Some(usage) = usage.filter(|usage| usage.peak > 0) {
                let (peak, used) = (show_size(usage.peak as u64), show_size(usage.used as u64));
                let _ = write!(text, "; heap of `{}`: at most {peak} used, now {used}", spec.name);
            }
        }
        say(&text);
    }
}

/// Prints lines in one piece: several PEs write to the same place.
pub(crate) fn say(text: &str) {
    // If nobody reads messages any more, nobody can be told.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Says what a program's arrays make slow.
pub(crate) fn advise(advice: &Advice, location: &Location<'_>) {
    let (file, line) = (location.file(), location.line());
    say(&format!("shmem: advice: {file}:{line}: {advice} (SHMEM_STRIDED_ADVICE=0: no advice)"));
}

/// `1 PE`, `2 PEs`.
fn counted(pes: usize) -> String {
    format!("{pes} PE{}", if pes == 1 { "" } else { "s" })
}

/// What lies at an offset, for people: a static, if one does.
pub(crate) fn name_at(statics: &[(Extent, String)], offset: usize) -> String {
    let found =
        statics.iter().find(|(extent, _)| (extent.offset..extent.offset + extent.bytes).contains(&offset));
    match found {
        Some((extent, name)) if extent.offset == offset => name.clone(),
        Some((extent, name)) => format!("{name} + {}", show_size((offset - extent.offset) as u64)),
        None => format!("a word at offset {offset:#x}"),
    }
}

/// A peer on this node, as a waiting PE sees it.
pub(crate) struct Peer<'a> {
    pub(crate) number: usize,
    pub(crate) record: &'a PeRecord,
}

/// Says who waits, where, for how long, and for whom.
///
/// In a collective the ones waited for are known: those that have not entered it. A word can be
/// changed by anybody, so there the list says what everybody else is doing.
pub(crate) fn long_wait<'a>(me: usize, report: &WaitReport, peers: impl Iterator<Item = Peer<'a>>) -> String {
    let activity = &report.activity;
    let mut text = format!("shmem: PE {me} has waited {:.1} s {activity}", report.waited.as_secs_f64());
    // Of other teams' collectives the records say only what each PE is in now.
    let in_collective = activity.count != 0 && activity.team == 0;
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for Peer { number, record } in peers.filter(|peer| peer.number != me) {
        if in_collective && record.collectives() >= activity.count {
            continue;
        }
        let doing = match (record.stage(), record.activity()) {
            (Stage::Finished, _) => "left the job".to_owned(),
            (_, Some(activity)) => activity.to_string(),
            (_, None) => "busy".to_owned(),
        };
        match groups.iter_mut().find(|group| group.0 == doing) {
            Some(group) => group.1.push(number),
            None => groups.push((doing, vec![number])),
        }
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
    use std::time::Duration;

    use shmem_core::system::Activity;
    use shmem_core::text::Text;

    use super::*;

    fn record() -> Box<PeRecord> {
        // SAFETY: all zeroes is the initial state of a record.
        unsafe { Box::<PeRecord>::new_zeroed().assume_init() }
    }

    #[test]
    fn an_offset_is_named_by_the_static_that_holds_it() {
        let extent = |offset, bytes| Extent { offset, bytes };
        let statics = [(extent(64, 8), "READY".to_owned()), (extent(128, 80), "FLAGS".to_owned())];
        let names = [64, 71, 72, 128, 200, 208].map(|offset| name_at(&statics, offset));
        let none = |offset| format!("a word at offset {offset:#x}");
        let expected = ["READY", "READY + 7 bytes", &none(72), "FLAGS", "FLAGS + 72 bytes", &none(208)];
        assert_eq!(names, expected);
    }

    fn at(operation: &str, line: u32, count: u64) -> Activity {
        Activity {
            operation: Text::head(operation),
            file: Text::tail("src/main.rs"),
            line,
            count,
            ..Activity::NONE
        }
    }

    #[test]
    fn a_collective_names_those_who_are_missing() {
        let (here, missing, asleep, too) = (record(), record(), record(), record());
        here.enter_collective(7);
        missing.enter_collective(6);
        asleep.enter_collective(6);
        too.enter_collective(6);
        asleep.describe(&at("wait_until", 30, 0));
        let peers = [&here, &here, &missing, &asleep, &too];
        let peers = peers.iter().enumerate().map(|(number, record)| Peer { number, record });
        let report = WaitReport { activity: at("barrier", 12, 7), waited: Duration::from_millis(5100) };
        assert_eq!(
            long_wait(0, &report, peers),
            "shmem: PE 0 has waited 5.1 s in `barrier` at src/main.rs:12 for PEs 2, 4 (in their own code); \
             PE 3 (in `wait_until` at src/main.rs:30)"
        );
    }

    #[test]
    fn a_word_can_be_changed_by_anybody() {
        let (a, b) = (record(), record());
        b.set_stage(Stage::Finished);
        let peers = [&a, &b].into_iter().enumerate().map(|(number, record)| Peer { number, record });
        let report = WaitReport { activity: at("wait_until", 9, 0), waited: Duration::from_secs(2) };
        assert_eq!(
            long_wait(0, &report, peers),
            "shmem: PE 0 has waited 2.0 s in `wait_until` at src/main.rs:9; meanwhile PE 1 (left the job)"
        );
    }
}
