//! Measures. Each is one constant of one module: what it is called, what it runs and what its PEs do, the names of its cases,
//! what they are compared with, what they ought to reach and which of them are guarded. Limits that several measures share are
//! in `baseline.rs` and `strided/baseline.rs`; the bare program over libfabric is in `fabric`.
//!
//! Who adds a measure takes three steps: write its file here; list it below, among the modules and in [`MEASURES`]; and write
//! the table of docs/performance.md anew, by `BLESS=1 cargo test -p shmem-perf --lib`.
//!
//! ```text
//! form                          what a measure is made of
//! put get atomic lookup indexed operations on one node      signal barrier collective alloc
//! array halo strided ready_made what programs are made of   peers     other libraries, beside ours
//! threads tracking mapping      contexts                    pages partitions placing placement
//! ofi network                   over libfabric              micro     the usual micro-benchmarks
//! startup applications          whole jobs                  c         the C library
//! ```

pub mod alloc;
pub mod applications;
pub mod array;
pub mod atomic;
pub mod barrier;
pub mod c;
pub mod calibrate;
pub mod collective;
pub mod form;
pub mod get;
pub mod halo;
pub mod indexed;
pub mod lookup;
pub mod mapping;
pub mod micro;
pub mod network;
pub mod ofi;
pub mod pages;
pub mod partitions;
pub mod peers;
pub mod placement;
pub mod placing;
pub mod processes;
pub mod put;
pub mod ready_made;
pub mod signal;
pub mod startup;
pub mod strided;
pub mod threads;
pub mod tracking;

use form::Measure;

use crate::case::Case;
use crate::goal::Goal;
use crate::task::{Done, Given, Task};

/// All of them, in the order of the tool's help.
pub const MEASURES: &[&Measure] = &[
    &put::MEASURE,
    &get::MEASURE,
    &lookup::MEASURE,
    &barrier::MEASURE,
    &signal::MEASURE,
    &atomic::MEASURE,
    &indexed::MEASURE,
    &collective::MEASURE,
    &alloc::MEASURE,
    &array::MEASURE,
    &threads::MEASURE,
    &tracking::MEASURE,
    &pages::MEASURE,
    &partitions::MEASURE,
    &placing::MEASURE,
    &placement::MEASURE,
    &halo::MEASURE,
    &ready_made::MEASURE,
    &micro::MEASURE,
    &c::MEASURE,
    &startup::MEASURE,
    &applications::MEASURE,
    &ofi::MEASURE,
    &network::MEASURE,
    &mapping::MEASURE,
    &strided::MEASURE,
    &peers::MEASURE,
    &calibrate::MEASURE,
];

/// A case as it is written, read by whatever measure has one of that name, and written again.
pub fn written_again(measure: &str, case: &str) -> Option<String> {
    MEASURES.iter().find_map(|one| (one.again)(measure, case))
}

/// What a case ought to reach, where there is something.
pub fn goal(case: &Case) -> Option<Goal> {
    MEASURES.iter().find_map(|measure| (measure.goal)(case))
}

fn tasks() -> impl Iterator<Item = &'static Task> {
    MEASURES.iter().flat_map(|measure| measure.tasks)
}

/// Measures, as one PE of a job.
pub(crate) fn pe(given: &Given, repetitions: usize) -> Done {
    let task = tasks()
        .find(|task| task.name == given.task)
        .ok_or_else(|| format!("there is no task {}", given.task))?;
    (task.pe)(given, repetitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::case;

    /// Whatever the report was drawn of last has names, and they are those of its figures.
    #[test]
    fn every_case_of_the_sample_has_a_name() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report/cases.csv");
        let mut read = csv::Reader::from_path(file).unwrap();
        let column = |heads: &csv::StringRecord, name| heads.iter().position(|head| head == name).unwrap();
        let heads = read.headers().unwrap().clone();
        let (measure, case) = (column(&heads, "measure"), column(&heads, "case"));
        for line in read.records() {
            let line = line.unwrap();
            let (measure, case) = (&line[measure], &line[case]);
            assert_eq!(written_again(measure, case).as_deref(), Some(case), "{measure} {case}");
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut all: Vec<_> = MEASURES.iter().map(|measure| measure.name).collect();
        let mut of_tasks: Vec<_> = tasks().map(|task| task.name).collect();
        for names in [&mut all, &mut of_tasks] {
            let before = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), before, "{names:?}");
        }
    }

    /// The table of docs/performance.md is that of the measures. `BLESS=1` writes it.
    #[test]
    fn the_document_lists_what_is_measured() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");
        let text = std::fs::read_to_string(file).unwrap();
        let head = "| measure | case | operation | limit |\n|---|---|---|---|\n";
        let lines = MEASURES.iter().flat_map(|measure| measure.cases).map(|cases| {
            let measures: Vec<_> = cases.measures.iter().map(|name| format!("`{name}`")).collect();
            format!("| {} | {} | {} | {} |\n", measures.join(", "), cases.case, cases.measured, cases.limit)
        });
        let expected = head.to_owned() + &lines.collect::<String>();
        let start = text.find(head).expect("the document has the table");
        let end = start + text[start..].find("\n\n").unwrap() + 1;
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(file, [&text[..start], &expected, &text[end..]].concat()).unwrap();
        } else {
            assert_eq!(&text[start..end], expected, "BLESS=1 cargo test -p shmem-perf --lib rewrites it");
        }
    }

    #[test]
    fn goals_stand_at_the_cases_they_are_meant_for() {
        let of = |measure: &str, name: &str, pes, shared_cores| {
            goal(&Case { pes, shared_cores, ..case(measure, name) })
        };
        assert_eq!(of("put8-static", "8", 2, false), Some(Goal::Ratio(1.2)));
        assert_eq!(of("put8-quiet", "8", 2, false), Some(Goal::Ratio(1.2)));
        assert_eq!(of("put", "512", 2, false), None);
        assert_eq!(of("halo", "late/256x256", 2, false), Some(Goal::Ratio(1.0 / 1.2)));
        assert_eq!(of("halo", "16x16", 2, true), None);
        assert_eq!(of("put", "4096", 2, false), of("get", "4194304", 2, false));
        assert!(of("put", "4096", 2, false).is_some());
        assert_eq!(of("lookup", "typed/7/8", 2, false), Some(Goal::RatioOr(1.01, 0.05)));
        assert_eq!(of("lookup", "raw/127/1", 2, false), Some(Goal::RatioOr(1.02, 0.3)));
        assert_eq!(of("lookup-published", "put/127/8", 2, false), None);
        assert_eq!(of("signal", "8", 2, false), Some(Goal::Ratio(1.3)));
        assert_eq!(of("signal", "4096", 2, false), Some(Goal::Ratio(1.5)));
        assert_eq!(of("signal", "8", 2, true), None);
        assert_eq!(of("signal", "8/line", 2, false), None);
        assert_eq!(of("atomic", "fetch-add/32", 2, false), Some(Goal::Ratio(1.2)));
        assert_eq!(of("barrier", "2", 2, false), Some(Goal::Ratio(3.0)));
        assert_eq!(of("barrier", "2", 2, true), None);
        assert_eq!(of("barrier", "16", 16, true), Some(Goal::Ratio(2.0)));
        assert_eq!(of("collective", "sum/8/2", 2, false), Some(Goal::Ratio(2.5)));
        assert_eq!(of("collective", "sum/4096/2", 2, false), None);
        assert_eq!(of("collective-oshmem", "barrier/0/2", 2, false), Some(Goal::Ratio(1.0)));
        assert_eq!(of("collective-oshmem", "alltoall/65536/2", 2, false), None);
        assert_eq!(of("startup", "16/127/1G", 16, true), None);
        assert_eq!(of("threads", "2/private", 2, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("threads", "2/private", 2, true), None);
        assert_eq!(of("threads", "2/locked", 2, false), None);
        assert_eq!(of("tracking", "events/8/at-once", 2, false), None);
        assert_eq!(of("tracking", "hybrid/1048576/at-once", 2, false), None);
        assert_eq!(of("tracking", "events/65536/tcp;ofi_rxm", 2, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("tracking", "context/1048576/tcp;ofi_rxm", 2, false), None);
        assert_eq!(of("tracking", "events/quiet/at-once", 2, false), None);
        assert_eq!(of("pages", "column/4096", 2, false), None);
        assert_eq!(of("pages", "column/8192", 2, false), Some(Goal::Ratio(1.0 / 1.3)));
        assert_eq!(of("placing", "64M", 1, false), Some(Goal::Ratio(1.25)));
        assert_eq!(of("array", "cyclic/index/3", 1, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("array", "multi/par-index", 1, false), Some(Goal::Ratio(1.5)));
        assert_eq!(of("array", "multi/index/2", 1, false), None);
        assert_eq!(of("array", "multi/iter", 1, false), Some(Goal::Ratio(1.05)));
        assert_eq!(of("array", "multi/chunks", 1, false), Some(Goal::Ratio(1.02)));
        assert_eq!(of("array", "single/index/cache", 1, false), None);
        assert_eq!(of("array", "next-layer/multi/1024/2", 2, false), None);
        assert_eq!(of("partitions", "create/127", 4, false), Some(Goal::Ratio(1.0)));
        assert_eq!(of("partitions", "create/1", 4, false), None);
        assert_eq!(of("peers", "mpi/pack/2", 2, false), Some(Goal::Ratio(0.25)));
        assert_eq!(of("peers", "mpi/column4/128/same-sets", 2, false), Some(Goal::Ratio(1.0 / 1.2)));
        assert_eq!(of("peers", "mpi/pitch/8192/same-sets", 2, false), Some(Goal::Ratio(1.0)));
        assert_eq!(of("peers", "oshmem/column/129", 2, false), Some(Goal::Ratio(1.0 / 9.0)));
        assert_eq!(of("peers", "oshmem/column4/129", 2, false), None);
        assert_eq!(of("peers", "a1/column/2", 2, false), Some(Goal::Ratio(1.0)));
    }

    #[test]
    fn networks_have_the_goals_of_their_operations() {
        let of = |measure: &str, name: &str| goal(&case(measure, name));
        assert_eq!(of("ofi", "put/8/tcp;ofi_rxm"), Some(Goal::Ratio(1.1)));
        assert_eq!(of("ofi", "fetch-add-asleep/8/sockets"), Some(Goal::Ratio(1.25)));
        assert_eq!(of("ofi", "put-rate/8/tcp;ofi_rxm"), Some(Goal::Ratio(1.0 / 0.9)));
        assert_eq!(of("ofi", "get/1048576/tcp;ofi_rxm"), Some(Goal::Ratio(1.0 / 0.95)));
        assert_eq!(of("ofi", "put-rate/64/tcp;ofi_rxm"), None);
        assert_eq!(of("ofi", "idle/0/tcp;ofi_rxm"), Some(Goal::Ratio(1.0)));
        assert_eq!(of("ofi-bare", "put/8/tcp;ofi_rxm"), None);
        assert_eq!(of("ofi-bare", "pingpong/8/tcp;ofi_rxm"), Some(Goal::Ratio(1.1)));
        assert_eq!(of("ofi-strided", "16/4096/polling"), Some(Goal::Ratio(0.4)));
        assert_eq!(of("ofi-strided", "64/256/asleep"), Some(Goal::Ratio(1.0 / 9.0)));
        assert_eq!(of("ofi-strided", "64/4096/asleep"), Some(Goal::Ratio(0.25)));
        assert_eq!(of("ofi-strided-model", "64/8/polling"), Some(Goal::Beaten(0.85)));
        assert_eq!(of("network", "barrier/0/tcp;ofi_rxm"), Some(Goal::Ratio(0.9)));
        assert_eq!(of("network", "sum/1048576/tcp;ofi_rxm"), Some(Goal::Ratio(2.5)));
        assert_eq!(of("network", "sum-direct/1048576/tcp;ofi_rxm"), Some(Goal::Ratio(2.3)));
        assert_eq!(of("network", "alltoall/4096/tcp;ofi_rxm"), None);
        assert_eq!(of("network", "put/8/tcp;ofi_rxm"), None);
        assert_eq!(of("network-both-ways", "fcollect/1048576/tcp;ofi_rxm"), Some(Goal::Ratio(1.25)));
        assert_eq!(of("mapping", "events/1/8"), Some(Goal::Ratio(1.05)));
        assert_eq!(of("mapping", "context/2/4096"), Some(Goal::Ratio(1.0 / 0.95)));
        assert_eq!((of("mapping", "domain/2/8"), of("mapping", "locked/2/8")), (None, None));
        let far = Case { transport: "ofi".into(), ..case("lookup", "raw/7/8") };
        assert_eq!(goal(&far), None);
        assert_eq!(of("startup", "mpirun/64"), Some(Goal::RatioPlus(1.5, 500.0)));
    }

    #[test]
    fn strided_layouts_have_the_goals_of_their_kind() {
        let of = |measure: &str, name: &str| goal(&case(measure, name));
        assert_eq!(of("strided", "column/1024/put"), Some(Goal::Faster(1.1, 2.2)));
        assert_eq!(of("strided", "column/1000/1032/get"), Some(Goal::Faster(1.15, 2.2)));
        assert_eq!(of("strided", "column4/1024/put"), Some(Goal::Faster(1.1, 2.5)));
        assert_eq!(of("strided", "aos/24/8/1k/get"), Some(Goal::Faster(1.15, 3.0)));
        assert_eq!(of("strided", "checkerboard-f32/1k/put"), Some(Goal::OnlyFaster(10.0)));
        assert_eq!(of("strided", "matrix/row-512/put"), Some(Goal::OnlyFaster(0.95)));
        assert_eq!(of("strided", "matrix/element/put"), None);
        assert_eq!(of("strided", "constant/8x4"), Some(Goal::RatioOr(1.0, 1.3)));
        assert_eq!(of("regret", "auto/random"), Some(Goal::Tail(1.2, 1.7)));
        assert_eq!(of("regret", "published/random"), None);
    }
}
