//! Jobs of `mpirun` on this machine: the PEs are this test's own binary, which runs one of the programs in
//! `pmix/programs.rs` when the environment names one. On several hosts, and under Slurm: `ci/hosts.sh`.

mod programs;

use std::process::{Command, Output, Stdio};

/// Seconds after which a job hangs, and ends with [`HANGS`]; its programs wait longer.
const LIMIT: &str = "300";

/// What `timeout` ends with then.
const HANGS: i32 = 124;

/// Not a test of its own: the PEs' entry.
#[test]
fn program() {
    if let Ok(name) = std::env::var(programs::NAME) {
        programs::run(&name);
    }
}

/// A program of this test under `mpirun`, as so many PEs; `None` where there is no Open MPI.
fn mpirun(pes: usize, name: &str) -> Option<Command> {
    let version = Command::new("mpirun").arg("--version").stderr(Stdio::null()).output().ok()?;
    if !text(&version.stdout).contains("Open MPI") {
        return None;
    }
    let mut command = Command::new("timeout");
    command.args([LIMIT, "mpirun", "--oversubscribe", "-np", &pes.to_string()]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    itself(&mut command, name);
    Some(command)
}

fn itself(command: &mut Command, name: &str) {
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "pmix::program", "--nocapture", "-q"]);
    command.env(programs::NAME, name).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
}

/// Runs it; `None`, and says so, where there is no Open MPI.
fn run(pes: usize, name: &str) -> Option<Output> {
    let Some(mut command) = mpirun(pes, name) else {
        eprintln!("skipped: there is no mpirun of Open MPI");
        return None;
    };
    Some(command.output().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn assert_success(output: &Output, line: &str, times: usize) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}\n{out}{err}", output.status);
    assert_eq!(out.matches(line).count(), times, "{line:?} in\n{out}{err}");
}

#[test]
fn pes_of_mpirun_exchange_values_and_descriptors() {
    for pes in [1, 2, 5] {
        let Some(output) = run(pes, "bootstrap") else { return };
        assert_success(&output, &format!(" of {pes} on [0"), pes);
    }
}

#[test]
fn pes_of_mpirun_share_memory() {
    let Some(output) = run(4, "ring") else { return };
    assert_success(&output, " of 4 has its neighbour's", 4);
}

#[test]
fn mpi_runs_in_the_same_processes() {
    let Some(output) = run(3, "mpi-first") else { return };
    assert_success(&output, " of MPI", 3);
}

/// Open MPI 5.0.7 does not survive this, in C neither: its `MPI_Init` finds no local rank behind any `PMIx_Init`.
#[test]
fn mpi_starts_in_processes_that_are_pes_already() {
    let Some(output) = run(3, "mpi") else { return };
    assert_success(&output, " of MPI", 3);
}

#[test]
fn an_abort_ends_the_job_with_its_code_and_one_message() {
    for name in ["abort-0", "abort-2"] {
        let Some(output) = run(4, name) else { return };
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(42), "{err}");
        let message = format!("PE {} ended the job with code 42: the sky is falling", &name[6..]);
        assert_eq!(err.matches(&message).count(), 1, "{err}");
    }
}

#[test]
fn what_a_pe_starts_does_not_pose_as_the_pe() {
    let Some(output) = run(2, "start-another") else { return };
    assert_success(&output, " of 2 has its neighbour's", 2);
}

#[test]
fn pes_that_all_abort_at_once_give_one_message() {
    let Some(output) = run(4, "abort") else { return };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(42), "{err}");
    assert_eq!(err.matches("ended the job with code 42: the sky is falling").count(), 1, "{err}");
}

#[test]
fn a_death_ends_the_job() {
    for name in ["die-0", "die-3"] {
        let Some(output) = run(4, name) else { return };
        assert!(!output.status.success(), "{name}: {}", text(&output.stderr));
        assert_ne!(output.status.code(), Some(HANGS), "{name}: {}", text(&output.stderr));
        for line in text(&output.stdout).lines() {
            if let Some(pid) = line.strip_prefix("pid ") {
                let status = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                assert!(!status.contains("program"), "process {pid} is left over");
            }
        }
    }
}

#[test]
fn a_library_that_is_not_there_is_one_clear_error() {
    let Some(mut command) = mpirun(2, "ring") else { return };
    let output = command.env("SHMEM_LIBPMIX", "/nowhere/libpmix.so").output().unwrap();
    let err = text(&output.stderr);
    assert!(!output.status.success());
    assert!(err.contains("/nowhere/libpmix.so") && err.contains("SHMEM_LIBPMIX"), "{err}");
}

#[test]
fn without_its_launcher_a_process_is_one_pe() {
    let mut command = Command::new("timeout");
    itself(command.arg(LIMIT), "ring");
    // What `srun` leaves in the environment of a shell that it started, for example.
    let output = command.env("PMIX_NAMESPACE", "left.over").env("PMIX_RANK", "1").output().unwrap();
    if text(&output.stderr).contains("libpmix") {
        eprintln!("skipped: there is no libpmix");
        return;
    }
    assert_success(&output, "PE 0 of 1 has its neighbour's", 1);
}

#[test]
fn processes_that_do_not_find_their_launcher_are_explained_once() {
    let Some(command) = mpirun(3, "ring") else { return };
    // As a launcher that was built without PMIx.
    let words: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
    let place = words.iter().position(|word| *word == std::env::current_exe().unwrap()).unwrap();
    let mut without = Command::new("timeout");
    without.args(&words[..place]).args(["env", "-u", "PMIX_NAMESPACE"]).args(&words[place..]);
    without.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = without.stdin(Stdio::null()).output().unwrap();
    assert_success(&output, "PE 0 of 1 has its neighbour's", 3);
    let err = text(&output.stderr);
    assert_eq!(err.matches("mpirun has started 3 processes").count(), 1, "{err}");
}
