//! Jobs of `mpirun` and of MPICH's `mpiexec` on this machine. PEs are copies of this program, and run the program of
//! `pmix/programs.rs` that the environment names. (On several hosts, and under Slurm: `ci/hosts.sh`.)

mod programs;

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Seconds after which `timeout` ends a job with the exit code [`HANGS`]. Programs that wait do so for longer.
const LIMIT: &str = "300";

const HANGS: i32 = 124;

thread_local! {
    /// A directory for each test, because `mpirun` fails if two jobs of a user create the same directory at once.
    static DIRECTORY: TempDir = tempfile::tempdir().unwrap();
}

/// The PEs' entry, and no test by itself.
#[test]
fn program() {
    if let Ok(name) = std::env::var(programs::NAME) {
        programs::run(&name);
    }
}

/// Returns the command that runs a program as `pes` PEs under `mpirun`; `None` without Open MPI.
fn mpirun(pes: usize, name: &str) -> Option<Command> {
    let version = Command::new("mpirun").arg("--version").stderr(Stdio::null()).output().ok()?;
    if !text(&version.stdout).contains("Open MPI") {
        return None;
    }
    let mut command = Command::new("timeout");
    command.args([LIMIT, "mpirun", "--oversubscribe", "-np", &pes.to_string()]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    DIRECTORY.with(|directory| command.env("TMPDIR", directory.path()));
    itself(&mut command, name);
    Some(command)
}

fn itself(command: &mut Command, name: &str) {
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "pmix::program", "--nocapture", "-q"]);
    command.env(programs::NAME, name).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
}

/// Returns the command for MPICH's `mpiexec`, which speaks PMI-1 over an inherited socket or, if `by_port`, over another one.
fn hydra(pes: usize, name: &str, by_port: bool) -> Option<Command> {
    Command::new("mpiexec.hydra").arg("--version").output().ok()?;
    let mut command = Command::new("timeout");
    command.args([LIMIT, "mpiexec.hydra"]).args(by_port.then_some("-pmi-port"));
    itself(command.args(["-n", &pes.to_string()]), name);
    Some(command)
}

fn run_by_all(pes: usize, name: &str) -> Vec<Output> {
    let launchers = [
        ("mpirun of Open MPI", mpirun(pes, name)),
        ("mpiexec of MPICH", hydra(pes, name, false)),
        ("mpiexec of MPICH", hydra(pes, name, true)),
    ];
    let mut outputs = Vec::new();
    for (launcher, command) in launchers {
        match command {
            Some(mut command) => outputs.push(command.output().unwrap()),
            None => eprintln!("skipped: there is no {launcher}"),
        }
    }
    outputs
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
fn pes_meet_and_share_memory_beside_what_they_start() {
    for (pes, name, line) in [
        (1, "bootstrap", " of 1 on [0"),
        (2, "bootstrap", " of 2 on [0"),
        (5, "bootstrap", " of 5 on [0"),
        (4, "ring", " of 4 has its neighbour's"),
        // A process that a PE starts must not be taken for the PE.
        (2, "start-another", " of 2 has its neighbour's"),
    ] {
        for output in run_by_all(pes, name) {
            assert_success(&output, line, pes);
        }
    }
}

/// The job ends with the exit code and one error text, and leaves no process. (On several hosts: `ci/hosts.sh`.)
#[test]
fn an_abort_and_a_death_end_the_job() {
    let is_left = |pid: &str| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
        line.unwrap_or_default().contains("program")
    };
    // In the case "abort" all PEs abort at once.
    for (name, who) in [("abort-0", Some("PE 0 ")), ("abort", Some("")), ("die-0", None), ("die-3", None)] {
        for output in run_by_all(4, name) {
            let (said, code) = (text(&output.stderr), output.status.code());
            match who {
                Some(who) => {
                    let message = format!("{who}ended the job with code 42: the sky is falling");
                    assert_eq!((code, said.matches(&message).count()), (Some(42), 1), "{said}");
                }
                None => assert!(!output.status.success() && code != Some(HANGS), "{}: {said}", output.status),
            }
            for pid in text(&output.stdout).lines().filter_map(|line| line.strip_prefix("pid ")) {
                // A killed process may exist for a while.
                let is_gone = (0..300).any(|look| {
                    std::thread::sleep(Duration::from_millis(if look == 0 { 0 } else { 100 }));
                    !is_left(pid)
                });
                assert!(is_gone, "process {pid} is left over");
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
    // Variables that a launcher leaves in the environment of a script's programs, although they do not inherit its socket.
    command.envs([("PMI_FD", "77"), ("PMI_RANK", "1"), ("PMI_SIZE", "4")]);
    let output = command.output().unwrap();
    assert_success(&output, "PE 0 of 1 has its neighbour's", 1);
    let err = text(&output.stderr);
    assert_eq!(err.matches("PMI_FD=77 is left over from another process").count(), 1, "{err}");
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
    // Removes PMIx, as in a launcher that was built without it.
    let words: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
    let place = words.iter().position(|word| *word == std::env::current_exe().unwrap()).unwrap();
    let mut without = Command::new("timeout");
    without.args(&words[..place]).args(["env", "-u", "PMIX_NAMESPACE"]).args(&words[place..]);
    without.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = without.stdin(Stdio::null()).output().unwrap();
    let err = text(&output.stderr);
    assert!(!output.status.success(), "{err}");
    assert_eq!(err.matches("mpirun has started 3 processes").count(), 1, "{err}");
    let output = without.env("SHMEM_SINGLETON", "1").output().unwrap();
    assert_success(&output, "PE 0 of 1 has its neighbour's", 3);
}
