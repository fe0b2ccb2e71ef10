//! Jobs whose PEs are copies of this test, which run a program of `programs.rs` if the environment names one.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use shmem::launch::{Failure, Launch, Outcome, Printed};

pub(crate) use crate::attempts::one_of;
pub(crate) use crate::command::*;

pub(crate) mod programs;

/// The arguments by which the binary becomes a PE.
pub(crate) const ENTRY: [&str; 4] = ["--exact", "entry::program", "--nocapture", "-q"];

#[test]
fn program() {
    if let Ok(name) = std::env::var(programs::NAME) {
        programs::run(&name);
    }
}

pub(crate) fn launch(name: &str, pes: usize) -> Launch {
    Launch::new(itself(), pes)
        .args(ENTRY)
        .env(programs::NAME, name)
        .capture_output()
        .timeout(Duration::from_secs(60))
}

/// The lines that a PE printed by `say`.
pub(crate) fn said(printed: &Printed) -> Vec<String> {
    text(&printed.out).lines().filter_map(|line| Some(line.split_once("> ")?.1.to_owned())).collect()
}

pub(crate) fn assert_in_order(outcome: &Outcome) {
    assert_eq!((outcome.code, &outcome.failure), (0, &None), "{outcome:?}");
    assert_eq!(outcome.report, "", "{outcome:?}");
}

/// Longer than a job that ends by itself takes on a busy machine, and shorter than a limit.
const SOON: Duration = Duration::from_secs(40);

/// Asserts that a job has ended before its limit.
#[track_caller]
pub(crate) fn assert_ended_by_itself(start: Instant) {
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

pub(crate) fn died(outcome: &Outcome) -> (usize, String) {
    match &outcome.failure {
        Some(Failure::Died { pe, how }) => (*pe, how.clone()),
        other => panic!("{other:?}: {outcome:?}"),
    }
}

/// Starts `shmrun` and reads output until each PE has printed its process. Returns their processes.
pub(crate) fn started(mut command: Command, pes: usize) -> (Child, Vec<i32>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pids = Vec::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    while pids.len() < pes {
        let mut line = String::new();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended");
        pids.extend(line.split_once("pid> ").map(|(_, pid)| pid.trim().parse::<i32>().unwrap()));
    }
    // Read on, so that PEs that print are not killed by SIGPIPE.
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    (child, pids)
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[track_caller]
pub(crate) fn assert_gone(pids: &[i32]) {
    let start = Instant::now();
    for pid in pids {
        // A zombie has ended.
        let runs = || {
            std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
                .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim().starts_with('Z'))
        };
        while runs() {
            assert!(start.elapsed() < SOON, "{pid} is left");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(crate) fn launcher_lines(output: &Output) -> Vec<String> {
    text(&output.stderr).lines().filter(|l| l.starts_with("shmrun: ")).map(str::to_owned).collect()
}
