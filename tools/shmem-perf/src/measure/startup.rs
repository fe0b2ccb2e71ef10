//! The time to start and end a job, and the memory that a PE uses.

use std::ops::Range;
use std::{array, io};

use super::*;
use crate::jobs::partitions_of_environment;
use crate::peers::{LATE, MISSING};

pub(crate) const MEASURE: Measure = Measure {
    name: "startup",
    run: Some(|runner| {
        starts(runner, "4", (4, 0), runner.asked.repetitions)?;
        // 127 partitions of 1 GiB, instead of the default heap.
        starts(runner, "16/127/1G", (16, 127), FEWEST)?;
        for pes in [2, 8, 32, 64] {
            keeps(runner, &runner.job("kept", pes, PeArguments::default()), 2..4, &pes.to_string())?;
        }
        lines("startup", "launcher").try_for_each(|launcher| {
            [4, 64].into_iter().try_for_each(|pes| starts_under(runner, launcher, pes))
        })
    }),
    tasks: &[
        ("nothing", Task::Own(|_| Ok(_ = shmem::init::<Single>()?))),
        ("kept", Task::Own(|_| what_is_kept())),
    ],
    ..Measure::PLAIN
};

fn starts(runner: &mut Runner, case: &str, (pes, partitions): (usize, usize), repetitions: usize) -> Done {
    let partitions = (1..=partitions).map(|id| (format!("{PARTITION_VARIABLE}{id}"), "SIZE=1G"));
    let [job, kept] = ["nothing", "kept"]
        .map(|task| runner.job(task, pes, PeArguments::default()).with(partitions.clone()));
    let processes = || -> io::Result<()> {
        let children: Vec<_> = (0..pes).map(|_| Command::new("true").spawn()).collect::<Result<_, _>>()?;
        children.into_iter().try_for_each(|mut child| child.wait().map(drop))
    };
    let name = format!("startup {case}");
    if runner.wants(&name) {
        let samples = Samples::tried(repetitions, || {
            let (cost, ended) = milliseconds(|| job.run());
            let (limit, others) = milliseconds(processes);
            ended.and_then(|_| Ok((cost, others.map(|()| limit)?)))
        })?;
        runner.taken(pes, name, samples)?;
    }
    keeps(runner, &kept, 0..2, case)
}

/// Kinds of memory, in the order in which PEs print them: (name in cases, bytes of the unit, or 1 for a count).
const KINDS: [(&str, usize); 4] = [
    ("startup-resident", 1 << 20),
    ("startup-mappings", 1),
    ("startup-pe", 1 << 20),
    ("startup-node", 1 << 20),
];

/// Measures the kinds of memory that PEs of a job use, against fixed limits.
fn keeps(runner: &mut Runner, job: &Asked, kinds: Range<usize>, case: &str) -> Done {
    let kinds = kinds.map(|kind| (format!("{} {case}", KINDS[kind].0), kind));
    let kinds: Vec<_> = kinds.filter(|(name, _)| runner.wants(name)).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let mappings: f64 = fs::read_to_string("/proc/sys/vm/max_map_count")?.trim().parse()?;
    let limits = [8.0, mappings, 8.0, 8.0 * job.pes as f64];
    let mut found: Vec<[u64; 4]> = Vec::new();
    for _ in 0..FEWEST {
        found.extend(runner.lines::<[u64; 4]>(job)?);
    }
    kinds.into_iter().try_for_each(|(name, kind)| {
        let kept = found.iter().map(|kept| (kept[kind] as f64 / KINDS[kind].1 as f64, limits[kind]));
        runner.taken(job.pes, name, kept.collect())
    })
}

/// Prints the growth of a PE's memory when it joins a job. Maxima over PEs: resident memory with shared pages, mappings, private
/// memory. Sum over PEs: private memory, and each PE's share of shared memory.
fn what_is_kept() -> Done {
    let now = || -> io::Result<[u64; 4]> {
        let mappings = fs::read("/proc/self/maps")?.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let of_rollup = |name| of_system("/proc/self/smaps_rollup", name);
        let own = of_rollup("Pss_Anon:")?;
        Ok([of_status("VmRSS:")?, mappings, own, own + of_rollup("Pss_Shmem:")?])
    };
    let before = now()?;
    let world = shmem::init::<Single>()?;
    world.barrier_all();
    let after = now()?;
    let grown: [u64; 4] = array::from_fn(|k| after[k].saturating_sub(before[k]));
    let [resident, mappings, own] = world.max([grown[0], grown[1], grown[2]]);
    let together = world.sum(grown[3]);
    if world.my_pe() == 0 { say(&[resident, mappings, own, together]) } else { Ok(()) }
}

pub(super) fn of_status(name: &str) -> io::Result<u64> {
    of_system("/proc/self/status", name)
}

/// Reads the line `name: 1234 kB` of a file about this process. Returns bytes.
fn of_system(file: &str, name: &str) -> io::Result<u64> {
    let lines = fs::read_to_string(file)?;
    let line = lines.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    let missing = || io::Error::other(format!("{file} does not say how many kB are behind {name}"));
    kilobytes.map(|kilobytes| kilobytes << 10).ok_or_else(missing)
}

/// Measures starts by a launcher, if it is installed: `pes` PEs of this program, against `pes` processes of `hostname`.
fn starts_under(runner: &mut Runner, line: &SheetLine, pes: usize) -> Done {
    let [launcher, start, source] = [0, 1, 2].map(|at| line.part(at));
    let name = format!("startup {launcher}/{pes}");
    if !runner.wants(&name) {
        return Ok(());
    }
    let program = std::env::current_exe()?.display().to_string();
    let job = [vec![program], runner.job("nothing", pes, PeArguments::default()).args].concat();
    let mut samples = Samples::default();
    for _ in 0..FEWEST {
        let Some(limit) = under(start, pes, &["hostname".to_owned()], "4")? else {
            runner.remark(&format!(
                "starts under {launcher} are not measured: it does not start `hostname` ({source})"
            ));
            return Ok(());
        };
        samples.0.extend(under(start, pes, &job, "20")?.map(|cost| (cost, limit)));
    }
    runner.taken(pes, name, samples)
}

/// Returns the milliseconds of a command under a launcher; `None` if the launcher is missing or cannot start `hostname`. Runs that
/// hang are ended and repeated, because Open MPI's launcher often hangs when its programs end at once.
fn under(start: &str, pes: usize, command: &[String], seconds: &str) -> Result<Option<f64>, Box<dyn Error>> {
    let mut launcher = Command::new("timeout");
    launcher.args(["--kill-after", "5", seconds]).stdin(Stdio::null()).stdout(Stdio::null());
    launcher.args(start.split(' ')).arg(pes.to_string()).args(command);
    // With these variables, Open MPI starts programs of root, too.
    launcher.envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
    partitions_of_environment().for_each(|name| _ = launcher.env_remove(name));
    let what = format!("{start} of {}", command.join(" "));
    for _ in 0..10 {
        let (milliseconds, output) = milliseconds(|| launcher.output());
        match output?.status.code() {
            Some(0) => return Ok(Some(milliseconds)),
            // `timeout` has ended the launcher or, by its last signal, also itself.
            Some(LATE) | None => {}
            Some(MISSING) => return Ok(None),
            Some(_) if command.len() == 1 => return Ok(None),
            code => return Err(format!("{what} has ended with {code:?}").into()),
        }
    }
    Err(format!("{what} did not end within {seconds} s, ten times").into())
}
