//! What starting and ending a job costs, and what it keeps in memory.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::baseline;
use super::jobs::{Job, JobError, partitions_of_environment};
use super::samples::Samples;

/// How long our own job under another launcher may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long the one that it is compared with may take. Open MPI's `mpirun` often never ends when its programs end
/// at once; such a run does not count.
const BASELINE_PATIENCE: Duration = Duration::from_secs(4);

/// Runs of one job before it is given up.
const ATTEMPTS: usize = 10;

/// Between two looks whether a job has ended.
const LOOK: Duration = Duration::from_millis(1);

/// Starting a job and waiting for its end, against doing so with as many programs that do nothing:
/// milliseconds.
///
/// # Errors
///
/// If the job fails, or the programs cannot be started.
pub fn startup(job: &Job, repetitions: usize) -> Result<Samples, JobError> {
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let start = Instant::now();
        job.run()?;
        let cost = milliseconds(start);
        let start = Instant::now();
        baseline::processes(job.pes).map_err(JobError::Baseline)?;
        samples.push(cost, milliseconds(start));
    }
    Ok(samples)
}

/// Starting this program with `args` as a job of `pes` PEs under `mpirun` and waiting for its end, against
/// `mpirun` of as many `hostname`: milliseconds. `None` if there is no `mpirun`.
///
/// # Errors
///
/// If the program does not know where it lies, or a job fails.
pub fn under_mpirun(pes: usize, args: &[String], repetitions: usize) -> Result<Option<Samples>, JobError> {
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
                    Some(status) if status.success() => return Ok(milliseconds(start)),
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

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// What a process has of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Bytes of memory that are there, shared ones included.
    pub resident: u64,
    /// Ranges of addresses that are mapped.
    pub mappings: u64,
}

impl Footprint {
    /// That of the calling process.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn now() -> io::Result<Self> {
        let mappings = fs::read("/proc/self/maps")?.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Ok(Self { resident: resident(&fs::read_to_string("/proc/self/status")?)?, mappings })
    }

    /// What has come to it since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            resident: self.resident.saturating_sub(before.resident),
            mappings: self.mappings.saturating_sub(before.mappings),
        }
    }
}

/// The line `VmRSS:      1234 kB` of a process's status, in bytes.
fn resident(status: &str) -> io::Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes
        .map(|kilobytes| kilobytes << 10)
        .ok_or_else(|| io::Error::other("/proc/self/status does not say how much memory is resident"))
}

/// The most mappings that the system allows a process.
///
/// # Errors
///
/// If the system does not say.
pub fn most_mappings() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/sys/vm/max_map_count")?;
    text.trim().parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_process_is_read() {
        assert_eq!(resident("Name:\tx\nVmHWM:\t 99 kB\nVmRSS:\t    2100 kB\n").unwrap(), 2100 << 10);
        assert!(resident("Name:\tx\nVmRSS:\t many kB\n").is_err());
    }

    #[test]
    fn memory_that_is_touched_is_seen() {
        let before = Footprint::now().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let more = Footprint::now().unwrap().since(before);
        // Other tests of this process give memory back meanwhile.
        assert!(more.resident > 32 << 20, "{more:?} of {}", block.len());
        assert!(more.mappings < most_mappings().unwrap());
    }
}
