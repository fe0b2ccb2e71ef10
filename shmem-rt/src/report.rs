//! What the runtime says on its own: who waits for whom, what was granted, what was not.

use std::fmt::Write;

use serde_json::{Value, json};
use shmem_core::context::WaitReport;
use shmem_core::partition::{Grant, Kind, Pages, PartitionSpec, downgrades, report};
use shmem_core::system::{PeRecord, Stage};

use crate::thread::ThreadLevel;
use crate::world::World;

/// One partition of the job: what was asked, and what each PE was given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartitionReport {
    /// What was asked.
    pub spec: PartitionSpec,
    /// What was given, by the PE's number.
    pub grants: Vec<Grant>,
}

impl<L: ThreadLevel> World<L> {
    /// The partitions of the job in order of their IDs: what was asked, and what each PE was given.
    pub fn partitions(&self) -> Vec<PartitionReport> {
        let job = self.job();
        let specs = job.table.specs().iter().enumerate();
        specs
            .map(|(index, spec)| PartitionReport {
                spec: spec.clone(),
                grants: job.grants.iter().map(|grants| grants[index].clone()).collect(),
            })
            .collect()
    }

    /// What PE 0 says at the start: warnings always, the table of partitions when asked for.
    pub(crate) fn introduce(&self) {
        let job = self.job();
        if job.settings.version {
            eprintln!("shmem: shmem-rt {}", env!("CARGO_PKG_VERSION"));
        }
        let unknown = crate::env::unknown(crate::env::process());
        let downgrades = downgrades(job.table.specs(), &job.grants);
        let settings = job.settings.warnings.iter();
        for warning in unknown.iter().chain(settings).chain(job.table.warnings()).chain(&downgrades) {
            eprintln!("shmem: warning: {warning}");
        }
        if job.settings.info || job.settings.debug {
            eprintln!(
                "shmem: {} PEs, brought together by {}, transport {}",
                self.n_pes(),
                job.bootstrap.name(),
                job.transport,
            );
            eprint!("{}", report(job.table.specs(), &job.grants));
            for row in crate::env::rows(crate::env::process()) {
                let value = row.current.as_deref().unwrap_or(row.default);
                eprintln!("shmem: {}={value}", row.name);
            }
        }
    }
}

/// A PE's grants, for the others.
pub(crate) fn encode(grants: &[Grant]) -> Vec<u8> {
    let all: Vec<Value> = grants
        .iter()
        .map(|g| {
            let (pages, kind) = (g.pages as u32, g.kind.map_or(0, |kind| kind as u32));
            json!([g.size, g.pgsize, pages, kind, g.populated, g.downgrades])
        })
        .collect();
    Value::Array(all).to_string().into_bytes()
}

/// What [`encode`] made; `None` if it is something else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Grant>> {
    let all: Vec<(u64, u64, u32, u32, bool, Vec<String>)> = serde_json::from_slice(bytes).ok()?;
    all.into_iter()
        .map(|(size, pgsize, pages, kind, populated, downgrades)| {
            let pages =
                [Pages::Base, Pages::Transparent, Pages::HugeTlb].into_iter().find(|p| *p as u32 == pages)?;
            let kinds = [Kind::NormalMem, Kind::FastMem, Kind::SysDefault, Kind::LargeMem, Kind::Pmem];
            let kind = kinds.into_iter().find(|k| *k as u32 == kind);
            Some(Grant { size, pgsize, pages, kind, populated, downgrades })
        })
        .collect()
}

/// A peer on this node, as a waiting PE sees it.
pub(crate) struct Peer<'a> {
    pub number: usize,
    pub record: &'a PeRecord,
}

/// Says who waits, where, for how long, and for whom.
///
/// In a collective the ones waited for are known: those that have not entered it. A word can be
/// changed by anybody, so there the list says what everybody else is doing.
pub(crate) fn long_wait<'a>(me: usize, report: &WaitReport, peers: impl Iterator<Item = Peer<'a>>) -> String {
    let activity = &report.activity;
    let mut text = format!("shmem: PE {me} has waited {:.1} s {activity}", report.waited.as_secs_f64());
    let in_collective = activity.count != 0;
    let mut first = true;
    for Peer { number, record } in peers.filter(|peer| peer.number != me) {
        if in_collective && record.collectives() >= activity.count {
            continue;
        }
        let lead = if !first {
            "; "
        } else if in_collective {
            " for "
        } else {
            "; meanwhile "
        };
        first = false;
        let doing = match (record.stage(), record.activity()) {
            (Stage::Finished, _) => "which has left the job".to_owned(),
            (_, Some(activity)) => activity.to_string(),
            (_, None) => "busy".to_owned(),
        };
        let _ = write!(text, "{lead}PE {number} ({doing})");
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
    fn grants_survive_the_journey() {
        let grants = vec![
            Grant {
                size: 64 << 20,
                pgsize: 2 << 20,
                pages: Pages::Transparent,
                kind: Some(Kind::FastMem),
                populated: true,
                downgrades: vec!["asked 1G".to_owned()],
            },
            Grant {
                size: 1,
                pgsize: 4096,
                pages: Pages::Base,
                kind: None,
                populated: false,
                downgrades: vec![],
            },
        ];
        assert_eq!(decode(&encode(&grants)), Some(grants));
        assert_eq!(decode(b"junk"), None);
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
        let (here, missing, asleep) = (record(), record(), record());
        here.enter_collective(7);
        missing.enter_collective(6);
        asleep.enter_collective(6);
        asleep.describe(&at("wait_until", 30, 0));
        let peers = [&here, &here, &missing, &asleep];
        let peers = peers.iter().enumerate().map(|(number, record)| Peer { number, record });
        let report = WaitReport { activity: at("barrier", 12, 7), waited: Duration::from_millis(5100) };
        assert_eq!(
            long_wait(0, &report, peers),
            "shmem: PE 0 has waited 5.1 s in `barrier` at src/main.rs:12 for PE 2 (in its own code); \
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
            "shmem: PE 0 has waited 2.0 s in `wait_until` at src/main.rs:9; meanwhile PE 1 (which has left the job)"
        );
    }
}
