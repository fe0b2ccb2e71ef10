//! What starting and ending a job costs, and what it keeps in memory.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use shmem::thread::Single;

use super::{At, Cases, Measure, row};
use crate::baseline;
use crate::case::{Record, Site};
use crate::check::{Bound, Guard, held};
use crate::footprint::{Footprint, kilobytes, most_mappings};
use crate::goal::Goal;
use crate::jobs::{JobError, partitions_of_environment};
use crate::runner::Runner;
use crate::samples::{FEWEST, Samples, milliseconds};
use crate::task::{Done, Task};

pub(crate) const MEASURE: Measure = Measure {
    name: "startup",
    about: "Start and end of a job, against programs that do nothing",
    run: |runner, _| {
        starts(runner, &SMALL, runner.repetitions)?;
        starts(runner, &MANY_PARTITIONS, FEWEST)?;
        for pes in JOBS {
            keeps(runner, *pes)?;
        }
        // Figures of a build without optimisation are nobody's: there it is shown that the measure works.
        starts_under_mpirun(runner, if cfg!(debug_assertions) { 4 } else { 64 })
    },
    tasks: &[NOTHING, FOOTPRINT, KEPT],
    rows: ROWS,
    guards: &[Guard::of(
        "startup",
        |runner| starts(runner, &SMALL, runner.repetitions),
        || ["startup 4", "startup-resident 4"].map(|name| held(name, Bound::Eased(4.0))).into(),
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("startup | PEs | a job from start to end | as many processes of `true`",
        &[("startup 4", At::Anywhere, Goal::RatioPlus(3.0, 20.0))]),
    row("startup | mpirun/PEs | a job under `mpirun` from start to end | `mpirun` of as many `hostname`",
        &[("startup mpirun/64", At::Anywhere, Goal::RatioPlus(1.5, 500.0))]),
    row("startup-resident|startup-mappings | PEs | what a PE keeps after its start, the most of all PEs | 8 MiB, \
         `vm.max_map_count`", &[("startup-resident 4", At::Anywhere, Goal::Ratio(1.0))]),
    row("startup-pe|startup-node | PEs | memory that a PE has after its start, the most of all, and that of all PEs of a node \
         with what they share once | 8 MiB, as much for each PE", &[]),
];

const NOTHING: Task = Task::own("nothing", |_, _| Ok(_ = shmem::init::<Single>()?));
const FOOTPRINT: Task = Task::own("footprint", |_, _| footprint());
const KEPT: Task = Task::own("kept", |_, _| kept());

/// PEs of the jobs that say what they keep. A build without optimisation shows with few that it is measured.
const JOBS: &[usize] = if cfg!(debug_assertions) { &[2] } else { &[2, 8, 32, 64] };

/// Jobs that are started: their case, PEs, and partitions of 1 GiB, where there is something else than the default heaps.
struct Kind(&'static str, usize, usize);
const SMALL: Kind = Kind("4", 4, 0);
const MANY_PARTITIONS: Kind = Kind("16/127/1G", 16, 127);

/// Measures starts by a launcher that is not ours, if it is there.
fn starts_under_mpirun(runner: &mut Runner, pes: usize) -> Done {
    let args = runner.job(&NOTHING, pes, &[]).args;
    let Some(samples) = under_mpirun(pes, &args, FEWEST)? else {
        runner.remark("mpirun is not installed: starts under it are not measured (Debian: openmpi-bin)");
        return Ok(());
    };
    let compared = "start and end of a job under mpirun, against mpirun of as many hostname";
    runner.show(vec![Record::new(&site(pes)?, &format!("startup mpirun/{pes}"), "ms", compared, samples)]);
    Ok(())
}

fn site(pes: usize) -> io::Result<Site> {
    let cores = std::thread::available_parallelism()?.get();
    Ok(Site { shared_cores: pes > cores, ..Site::near(pes) })
}

/// Measures starts of a job, against as many programs that do nothing, and what its PEs keep.
fn starts(runner: &mut Runner, &Kind(case, pes, partitions): &Kind, repetitions: usize) -> Done {
    let site = site(pes)?;
    let heaps = if partitions > 0 { "127 partitions of 1 GiB" } else { "the default heaps" };
    let variables: Vec<_> = (1..=partitions).map(|id| format!("SHMEM_SYMMETRIC_PARTITION{id}")).collect();
    let variables: Vec<_> = variables.iter().map(|name| (&**name, "SIZE=1G".to_owned())).collect();
    let job = runner.job(&NOTHING, pes, &variables);
    let samples = Samples::tried(repetitions, || {
        let (cost, ended) = milliseconds(|| job.run());
        let (limit, others) = milliseconds(|| baseline::processes(pes));
        ended.and_then(|_| Ok((cost, others.map(|()| limit).map_err(JobError::Baseline)?)))
    })?;
    let compared = format!("start and end of a job with {heaps}, against as many programs that do nothing");
    let start = Record::new(&site, &format!("startup {case}"), "ms", &compared, samples);

    let job = runner.job(&FOOTPRINT, pes, &variables);
    let (mut resident, mut mappings) = (Samples::new(), Samples::new());
    for _ in 0..FEWEST {
        for footprint in runner.lines::<Footprint>(&job)? {
            resident.push(footprint.resident as f64 / f64::from(1 << 20), 8.0);
            mappings.push(footprint.mappings as f64, most_mappings()? as f64);
        }
    }
    let of = |what, limit| {
        format!("{what} of a PE with {heaps} beyond those of the program itself, against {limit}")
    };
    runner.show(vec![
        start,
        Record::new(&site, &format!("startup-resident {case}"), "MiB", &of("pages", "8 MiB"), resident),
        Record::new(
            &site,
            &format!("startup-mappings {case}"),
            "",
            &of("mappings", "vm.max_map_count"),
            mappings,
        ),
    ]);
    Ok(())
}

/// Measures what the PEs of a node keep: each, and all together.
fn keeps(runner: &mut Runner, pes: usize) -> Done {
    let (site, job) = (site(pes)?, runner.job(&KEPT, pes, &[]));
    let (mut of_pe, mut of_node) = (Samples::new(), Samples::new());
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    for _ in 0..FEWEST {
        for kept in runner.lines::<Kept>(&job)? {
            of_pe.push(mebibytes(kept.own), 8.0);
            of_node.push(mebibytes(kept.together), 8.0 * pes as f64);
        }
    }
    let own = "memory that no other process has, against 8 MiB";
    let together = "memory of all PEs, what they share counted once, against 8 MiB for each";
    runner.show(vec![
        Record::new(&site, &format!("startup-pe {pes}"), "MiB", own, of_pe),
        Record::new(&site, &format!("startup-node {pes}"), "MiB", together, of_node),
    ]);
    Ok(())
}

/// One PE that says what the most of all PEs have.
fn footprint() -> Done {
    let before = Footprint::now()?;
    let world = shmem::init::<Single>()?;
    world.barrier_all();
    let grown = Footprint::now()?.since(before);
    let mut most = [grown.resident, grown.mappings];
    world.max(&mut most[..]);
    if world.my_pe() == 0 {
        println!("{}", serde_json::to_string(&Footprint { resident: most[0], mappings: most[1] })?);
    }
    Ok(())
}

/// One PE that says what the most of all PEs have of their own, and what all have together.
fn kept() -> Done {
    let before = Kept::now()?;
    let world = shmem::init::<Single>()?;
    world.barrier_all();
    let grown = Kept::now()?.since(before);
    let (own, together) = (world.max(grown.own), world.sum(grown.together));
    if world.my_pe() == 0 {
        println!("{}", serde_json::to_string(&Kept { own, together })?);
    }
    Ok(())
}

/// How long our own job under another launcher may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long the one that it is compared with may take. Open MPI's `mpirun` often never ends when its programs end
/// at once; such a run does not count.
const BASELINE_PATIENCE: Duration = Duration::from_secs(4);

/// Runs of one job before it is given up.
const ATTEMPTS: usize = 10;

/// Between two looks whether a job has ended.
const LOOK: Duration = Duration::from_millis(1);

/// Starting this program with `args` as a job of `pes` PEs under `mpirun` and waiting for its end, against
/// `mpirun` of as many `hostname`: milliseconds. `None` if there is no `mpirun`.
fn under_mpirun(pes: usize, args: &[String], repetitions: usize) -> Result<Option<Samples>, JobError> {
    let program = std::env::current_exe().map_err(JobError::Program)?;
    let run = |program: &OsStr, args: &[String], patience: Duration| {
        let mut mpirun = Command::new("mpirun");
        // Where there are fewer cores it wants to be told, and it starts nothing for root otherwise.
        mpirun.stdin(Stdio::null()).stdout(Stdio::null());
        mpirun.args(["--oversubscribe", "-np", &pes.to_string()]).arg(program).args(args);
        mpirun.envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
        partitions_of_environment().for_each(|name| _ = mpirun.env_remove(name));
        let what = || format!("{} {}", program.display(), args.join(" "));
        for _ in 0..ATTEMPTS {
            let start = Instant::now();
            let mut job = mpirun.spawn().map_err(JobError::Baseline)?;
            while start.elapsed() < patience {
                match job.try_wait().map_err(JobError::Baseline)? {
                    Some(status) if status.success() => return Ok(start.elapsed().as_secs_f64() * 1e3),
                    Some(status) => {
                        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
                        return Err(JobError::Failed { what: what(), pes, code, report: String::new() });
                    }
                    None => std::thread::sleep(LOOK),
                }
            }
            // The launcher has missed the end of programs that end at once. It is asked first: it ends them.
            let asked = rustix::process::kill_process(rustix::process::Pid::from_child(&job), Signal::TERM);
            asked.map_err(|error| JobError::Baseline(error.into()))?;
            job.wait().map_err(JobError::Baseline)?;
        }
        let report = format!("mpirun did not end within {} s, {ATTEMPTS} times", patience.as_secs());
        Err(JobError::Failed { what: what(), pes, code: u8::MAX, report })
    };
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let limit = match run(OsStr::new("hostname"), &[], BASELINE_PATIENCE) {
            Err(JobError::Baseline(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            limit => limit?,
        };
        samples.push(run(program.as_os_str(), args, PATIENCE)?, limit);
    }
    Ok(Some(samples))
}

/// Memory of a process beside its program, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// What it has for itself.
    own: u64,
    /// That, and its share of what it has with others.
    together: u64,
}

impl Kept {
    fn now() -> io::Result<Self> {
        Self::of(&fs::read_to_string("/proc/self/smaps_rollup")?)
    }

    /// The lines `Pss_Anon:  1234 kB` and `Pss_Shmem:  567 kB` of the sum of a process's mappings.
    fn of(mappings: &str) -> io::Result<Self> {
        let missing = || io::Error::other("/proc/self/smaps_rollup does not say whose memory is");
        let bytes = |name: &str| kilobytes(mappings, name).ok_or_else(missing);
        let own = bytes("Pss_Anon:")?;
        Ok(Self { own, together: own + bytes("Pss_Shmem:")? })
    }

    fn since(self, before: Self) -> Self {
        Self {
            own: self.own.saturating_sub(before.own),
            together: self.together.saturating_sub(before.together),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_process_and_its_share_are_read() {
        let kept = Kept::of("Pss:  9 kB\nPss_Anon:\t 5 kB\nPss_File: 1 kB\nPss_Shmem:  3 kB\n").unwrap();
        assert_eq!(kept, Kept { own: 5 << 10, together: 8 << 10 });
        assert!(Kept::of("Pss: 9 kB\n").is_err());
    }
}
