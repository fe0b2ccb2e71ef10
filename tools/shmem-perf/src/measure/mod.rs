//! Measures. Each is a constant of one module: rows of data (the cases, what they are compared with, what they ought to reach),
//! what runs them, what must not become slower, and a function for each of the two sides. Limits that several measures share are
//! in `baseline.rs` and `strided/baseline.rs`; the bare program over libfabric is in `fabric`.
//!
//! Who adds a measure takes three steps: write its file here; list it below, among the modules and in [`MEASURES`]; and write
//! the table of docs/performance.md anew, by `BLESS=1 cargo test -p shmem-perf --lib`.

pub(crate) mod alloc;
pub(crate) mod array;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod c;
pub(crate) mod calibrate;
pub(crate) mod collective;
pub(crate) mod halo;
pub(crate) mod indexed;
pub(crate) mod lookup;
pub(crate) mod mapping;
pub(crate) mod micro;
pub(crate) mod network;
pub(crate) mod ofi;
pub(crate) mod pages;
pub(crate) mod peers;
pub(crate) mod placement;
pub(crate) mod put;
pub(crate) mod signal;
pub(crate) mod startup;
pub(crate) mod strided;
pub(crate) mod threads;
pub(crate) mod tracking;

use clap::ArgMatches;

use crate::case::Case;
use crate::check::Guard;
use crate::goal::Goal;
use crate::pattern;
use crate::runner::Runner;
use crate::task::{Done, Given, Task};

/// All of them, in the order of the tool's help.
pub(crate) const MEASURES: &[Measure] = &[
    put::PUT,
    put::GET,
    lookup::MEASURE,
    barrier::MEASURE,
    signal::MEASURE,
    atomic::MEASURE,
    indexed::MEASURE,
    collective::MEASURE,
    alloc::MEASURE,
    array::MEASURE,
    threads::MEASURE,
    tracking::MEASURE,
    pages::MEASURE,
    placement::MEASURE,
    halo::MEASURE,
    micro::MEASURE,
    c::MEASURE,
    startup::MEASURE,
    ofi::MEASURE,
    network::MEASURE,
    mapping::MEASURE,
    strided::MEASURE,
    peers::MEASURE,
    calibrate::MEASURE,
];

/// A measure.
pub(crate) struct Measure {
    /// Its subcommand.
    pub(crate) name: &'static str,
    /// What that does, for who asks for help; nothing: it is part of another one's.
    about: &'static str,
    /// Adds its options, if it has any.
    options: fn(clap::Command) -> clap::Command,
    /// What the subcommand runs.
    pub(crate) run: fn(&mut Runner, &ArgMatches) -> Done,
    /// Whether it is run where no subcommand is given.
    pub(crate) usual: bool,
    /// What PEs of its jobs do.
    tasks: &'static [Task],
    rows: &'static [Cases],
    /// What must not become slower.
    pub(crate) guards: &'static [Guard],
}

/// Cases of a measure: a line of the table in docs/performance.md, and what they ought to reach.
struct Cases {
    /// As in the document, `measure | case | operation | limit`: what is written in JSON and CSV (several that stand together are
    /// parted by strokes), how its cases are (`partitions/bytes`), what is measured, and what beside.
    line: &'static str,
    /// Patterns of cases, where they count, and what these ought to reach; the first that finds a case is its own.
    goals: &'static [(&'static str, At, Goal)],
}

/// Where a goal counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Anywhere,
    /// PEs with a core each.
    Apart,
    /// PEs that share cores.
    Shared,
    /// PEs of a node.
    Near,
}

/// Cases with goals.
const fn row(line: &'static str, goals: &'static [(&'static str, At, Goal)]) -> Cases {
    Cases { line, goals }
}

impl Measure {
    /// A measure whose subcommand has no options; what is not said is left out.
    const PLAIN: Self = Self {
        name: "",
        about: "",
        options: |command| command,
        run: |_, _| Ok(()),
        usual: true,
        tasks: &[],
        rows: &[],
        guards: &[],
    };

    /// Its subcommand, if it is not part of another one's.
    pub(crate) fn subcommand(&self) -> Option<clap::Command> {
        let rows: String = self.rows.iter().map(|row| format!("  {}\n", row.line)).collect();
        let cases =
            if rows.is_empty() { rows } else { format!("Measure | case | operation | limit:\n{rows}") };
        let command = || {
            let command = (self.options)(clap::Command::new(self.name)).about(self.about).long_about(None);
            command.after_long_help(cases)
        };
        (!self.about.is_empty()).then(command)
    }

    /// What its subcommand does where no option is given.
    pub(crate) fn run_plain(&self, runner: &mut Runner) -> Done {
        let Some(command) = self.subcommand() else { return Ok(()) };
        (self.run)(runner, &command.try_get_matches_from([self.name])?)
    }
}

/// What a case ought to reach, where there is something.
pub(crate) fn goal(case: &Case) -> Option<Goal> {
    let counts = |at| match at {
        At::Anywhere => true,
        At::Apart => !case.shared_cores,
        At::Shared => case.shared_cores,
        At::Near => case.transport == "shm",
    };
    let mut goals = MEASURES.iter().flat_map(|measure| measure.rows).flat_map(|row| row.goals);
    let found = goals.find(|(pattern, ..)| pattern::find(pattern, &case.measure, &case.case).is_some());
    found.filter(|(_, at, _)| counts(*at)).map(|(.., goal)| *goal)
}

/// Measures, as one PE of a job.
pub(crate) fn pe(given: &Given, repetitions: usize) -> Done {
    let mut tasks = MEASURES.iter().flat_map(|measure| measure.tasks);
    let task = tasks
        .find(|task| task.name == given.task)
        .ok_or_else(|| format!("there is no task {}", given.task))?;
    task.run(given, repetitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::case;

    #[test]
    fn names_are_given_once() {
        let tasks = MEASURES.iter().flat_map(|measure| measure.tasks).map(|task| task.name);
        for mut names in [MEASURES.iter().map(|measure| measure.name).collect::<Vec<_>>(), tasks.collect()] {
            let before = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), before, "{names:?}");
        }
    }

    /// The table of docs/performance.md is that of the rows. `BLESS=1` writes it.
    #[test]
    fn the_document_lists_what_is_measured() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md");
        let text = std::fs::read_to_string(file).unwrap();
        let head = "| measure | case | operation | limit |\n|---|---|---|---|\n";
        let lines = MEASURES.iter().flat_map(|measure| measure.rows).map(|row| {
            let (measures, rest) = row.line.split_once(" | ").unwrap();
            assert_eq!(rest.split(" | ").count(), 3, "{rest}");
            let measures = measures.split('|').map(|name| format!("`{name}`")).collect::<Vec<_>>();
            format!("| {} | {rest} |\n", measures.join(", "))
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
        use Goal::{AtMost, Beaten, Faster, OnlyFaster, Ratio, RatioOr, RatioPlus, Tail};
        for (name, shared_cores, expected) in [
            ("put8-static 8", false, Some(Ratio(1.2))),
            ("put8-quiet 8", false, Some(Ratio(1.2))),
            ("put 512", false, None),
            ("put 4096", false, Some(Ratio(1.0 / 0.95))),
            ("get 4194304", false, Some(Ratio(1.0 / 0.95))),
            ("halo late/256x256", false, Some(Ratio(1.0 / 1.2))),
            ("halo 256x256", false, Some(Ratio(1.0))),
            ("halo 16x16", true, None),
            ("lookup typed/7/8", false, Some(RatioOr(1.01, 0.05))),
            ("lookup raw/127/1", false, Some(RatioOr(1.02, 0.3))),
            ("lookup-published put/127/8", false, None),
            ("signal 8", false, Some(Ratio(1.3))),
            ("signal 8/read", false, Some(Ratio(1.3))),
            ("signal 4096", false, Some(Ratio(1.5))),
            ("signal 8", true, None),
            ("signal 8/line", false, None),
            ("atomic fetch-add/32", false, Some(Ratio(1.2))),
            ("barrier 2", false, Some(Ratio(3.0))),
            ("barrier 2", true, None),
            ("barrier 16", true, Some(Ratio(2.0))),
            ("collective sum/8/2", false, Some(Ratio(2.5))),
            ("collective sum/4096/2", false, None),
            ("collective-oshmem barrier/0/2", false, Some(Ratio(1.0))),
            ("collective-oshmem alltoall/65536/2", false, None),
            ("startup 16/127/1G", true, None),
            ("startup 4", true, Some(RatioPlus(3.0, 20.0))),
            ("startup mpirun/64", true, Some(RatioPlus(1.5, 500.0))),
            ("threads 2/private", false, Some(Ratio(1.05))),
            ("threads 2/private", true, None),
            ("threads 2/locked", false, None),
            ("tracking events/8/at-once", false, None),
            ("tracking hybrid/1048576/at-once", false, None),
            ("tracking events/65536/tcp;ofi_rxm", false, Some(Ratio(1.05))),
            ("tracking context/1048576/tcp;ofi_rxm", false, None),
            ("tracking events/quiet/tcp;ofi_rxm", false, None),
            ("pages column/4096", false, None),
            ("pages column/8192", false, Some(Ratio(1.0 / 1.3))),
            ("array cyclic/index/3", false, Some(Ratio(1.05))),
            ("array multi/par-index", false, Some(Ratio(1.5))),
            ("array multi/index/2", false, None),
            ("array multi/iter", false, Some(Ratio(1.05))),
            ("array multi/chunks", false, Some(Ratio(1.02))),
            ("array single/index/cache", false, None),
            ("array single/iter", false, None),
            ("array next-layer/multi/1024/2", false, None),
            ("peers mpi/pack/2", false, Some(Ratio(0.25))),
            ("peers mpi/column4/128/same-sets", false, Some(Ratio(1.0 / 1.2))),
            ("peers mpi/pitch/8192/same-sets", false, Some(Ratio(1.0))),
            ("peers oshmem/column/129", false, Some(Ratio(1.0 / 9.0))),
            ("peers oshmem/column4/129", false, None),
            ("peers a1/column/2", false, Some(Ratio(1.0))),
            ("ofi put/8/tcp;ofi_rxm", false, Some(Ratio(1.1))),
            ("ofi fetch-add-asleep/8/sockets", false, Some(Ratio(1.25))),
            ("ofi put-rate/8/tcp;ofi_rxm", false, Some(Ratio(1.0 / 0.9))),
            ("ofi get/1048576/tcp;ofi_rxm", false, Some(Ratio(1.0 / 0.95))),
            ("ofi put-rate/64/tcp;ofi_rxm", false, None),
            ("ofi idle/0/tcp;ofi_rxm", false, Some(Ratio(1.0))),
            ("ofi-bare put/8/tcp;ofi_rxm", false, None),
            ("ofi-bare pingpong/8/tcp;ofi_rxm", false, Some(Ratio(1.1))),
            ("ofi-strided 16/4096/polling", false, Some(Ratio(0.4))),
            ("ofi-strided 64/256/asleep", false, Some(Ratio(1.0 / 9.0))),
            ("ofi-strided 64/4096/asleep", false, Some(Ratio(0.25))),
            ("ofi-strided-model 64/8/polling", false, Some(Beaten(0.85))),
            ("network barrier/0/tcp;ofi_rxm", false, Some(Ratio(0.9))),
            ("network sum/1048576/tcp;ofi_rxm", false, Some(Ratio(2.5))),
            ("network sum-direct/1048576/tcp;ofi_rxm", false, Some(Ratio(2.3))),
            ("network alltoall/4096/tcp;ofi_rxm", false, None),
            ("network put/8/tcp;ofi_rxm", false, None),
            ("network-both-ways fcollect/1048576/tcp;ofi_rxm", false, Some(Ratio(1.25))),
            ("mapping events/1/8", false, Some(Ratio(1.05))),
            ("mapping context/2/4096", false, Some(Ratio(1.0 / 0.95))),
            ("mapping domain/2/8", false, None),
            ("mapping locked/2/8", false, None),
            ("micro broadcast/4096/floor", false, Some(Ratio(1.5))),
            ("micro sum-direct/4194304/floor", false, Some(Ratio(1.0))),
            ("micro sum-direct/8/floor", false, None),
            ("micro alltoall-direct/8/mpi-micro", false, Some(Ratio(1.0))),
            ("micro alltoall/8/mpi-micro", false, None),
            ("c put8/8/oshmem", false, Some(Ratio(0.3))),
            ("c put/4096/rust", false, Some(Ratio(1.03))),
            ("c put/512/rust", false, None),
            ("c fetch-add/8/rust", false, Some(RatioPlus(1.0, 2.0))),
            ("c wake/futex", false, Some(AtMost(50.0))),
            ("indexed gather/536870912", false, Some(Ratio(1.0))),
            ("indexed gather/32768", false, Some(Ratio(1.15))),
            ("indexed f64/32768", false, None),
            ("indexed network-rate/4", false, Some(AtMost(16.7))),
            ("indexed-shared 16", false, Some(Ratio(0.05))),
            ("strided column/1024/put", false, Some(Faster(1.1, 2.2))),
            ("strided column/1000/1032/get", false, Some(Faster(1.15, 2.2))),
            ("strided column4/1024/put", false, Some(Faster(1.1, 2.5))),
            ("strided aos/24/8/1k/get", false, Some(Faster(1.15, 3.0))),
            ("strided checkerboard-f32/1k/put", false, Some(OnlyFaster(10.0))),
            ("strided matrix/row-512/put", false, Some(OnlyFaster(0.95))),
            ("strided matrix/element/put", false, None),
            ("strided constant/8x4", false, Some(RatioOr(1.0, 1.3))),
            ("strided-few 4/256/4096", false, Some(Ratio(1.05))),
            ("regret auto/random", false, Some(Tail(1.2, 1.7))),
            ("regret published/random", false, None),
        ] {
            let (measure, of) = name.split_once(' ').unwrap();
            assert_eq!(goal(&Case { shared_cores, ..case(measure, of) }), expected, "{name}");
        }
        assert_eq!(goal(&Case { transport: "ofi".into(), ..case("lookup", "raw/7/8") }), None);
    }
}
