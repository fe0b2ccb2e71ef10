//! A running peer. It introduces itself by a line of JSON, and answers each request by a line of JSON.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use shmem_launch::cpus;

use super::{Peer, PeerError, Programs, launch};
use crate::samples::Samples;

/// Upper limit on the time for a peer's start, and for an answer. Either takes less than a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerRequest {
    /// Name of the case, without blanks.
    pub(crate) case: String,
    /// Name of the operation, as the peer's program knows it.
    pub(crate) operation: &'static str,
    /// Sizes of the operation and the repetitions in a sample, separated by blanks.
    pub(crate) numbers: String,
}

/// A peer's launcher and processes. The processes sleep between requests.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) peer: Peer,
    pub(crate) library: String,
    launcher: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
    remarks: PathBuf,
}

impl Running {
    /// Starts a peer's program from the directory of [`Programs`]; `None` if it is missing there. Its processes bind themselves to
    /// the cores that [`take_core`](crate::bench::take_core) gives the first two PEs of this node later.
    pub(crate) fn start(peer: Peer, directory: &Path) -> Result<Option<Self>, PeerError> {
        if Programs::of(peer, directory).is_none() {
            return Ok(None);
        }
        let remarks = directory.join(format!("{peer}-{}.remarks", std::process::id()));
        let mut command = launch(peer, directory, &cpus::allowed()?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&remarks)?);
        let mut launcher = command.spawn()?;
        let requests = launcher.stdin.take();
        let Some(printed) = launcher.stdout.take() else { unreachable!("it was asked for above") };
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            // Lines that are no JSON are those of the launcher.
            let lines = BufReader::new(printed).lines().map_while(Result::ok);
            lines.filter(|line| line.starts_with('{')).try_for_each(|line| sender.send(line))
        });
        let mut running = Self { peer, library: String::new(), launcher, requests, answers, remarks };
        running.library = running.line("who are you?")?.1["library"].as_str().unwrap_or_default().to_owned();
        Ok(Some(running))
    }

    pub(crate) fn check(&self, request: &PeerRequest) -> Result<(), PeerError> {
        self.ask(request, 0).map(drop)
    }

    /// Takes a sample: returns the nanoseconds of an operation with its completion.
    pub(crate) fn sample(&self, request: &PeerRequest) -> Result<f64, PeerError> {
        self.ask(request, 1).map(|samples| samples[0])
    }

    /// Takes pairs of samples, in turn: of `other`, and of the peer's operation. Before the first pair, the peer checks the
    /// operation.
    pub(crate) fn against(
        &self,
        request: &PeerRequest,
        repetitions: usize,
        mut other: impl FnMut() -> Result<f64, PeerError>,
    ) -> Result<Samples, PeerError> {
        self.check(request)?;
        let mut pair = || Ok((other()?, self.sample(request)?));
        pair()?;
        Samples::tried(repetitions, pair)
    }

    /// Takes pairs of samples: of the operation `cost` of this peer, and of `limit` of `other`, which may be the same peer.
    pub(crate) fn beside(
        &self,
        cost: &PeerRequest,
        other: &Self,
        limit: &PeerRequest,
        repetitions: usize,
    ) -> Result<Samples, PeerError> {
        self.check(cost)?;
        other.against(limit, repetitions, || self.sample(cost))
    }

    /// Requests samples of an operation, and returns their nanoseconds. Asked for 0 samples, the peer only checks the operation.
    fn ask(&self, request: &PeerRequest, samples: usize) -> Result<Vec<f64>, PeerError> {
        let PeerRequest { case, operation, numbers } = request;
        let asked = format!("{case} {operation} {numbers} {samples}");
        // An error is ignored here, because a peer that has ended sends no answer, which the next line reports.
        _ = self.requests.as_ref().map(|mut requests| writeln!(requests, "{asked}"));
        let (line, found) = self.line(&asked)?;
        if let Some(fault) = found["error"].as_str() {
            return Err(PeerError::Refused { request: asked, fault: fault.to_owned() });
        }
        let is_asked = found["case"] == *case && found["operation"] == *operation;
        let is_right = |ns: &Vec<f64>| {
            is_asked && ns.len() == samples && ns.iter().all(|&ns| ns > 0.0 && ns.is_finite())
        };
        let ns = found["ns"].as_array().map(|ns| ns.iter().filter_map(Value::as_f64).collect());
        let expected = || format!("it says the case, the operation, and {samples} times above 0");
        ns.filter(is_right).ok_or_else(|| wrong(&line, &asked, expected()))
    }

    /// Returns the next line of the peer, as text and as JSON.
    fn line(&self, request: &str) -> Result<(String, Value), PeerError> {
        let what = match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => {
                let found = serde_json::from_str(&line).map_err(|error| wrong(&line, request, error))?;
                return Ok((line, found));
            }
            Err(RecvTimeoutError::Timeout) => format!("no answer within {} s, it hangs", PATIENCE.as_secs()),
            Err(RecvTimeoutError::Disconnected) => "it ended before it had answered".to_owned(),
        };
        // The error text has the last lines of the peer's standard error.
        let said = fs::read(&self.remarks).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.trim().lines().collect();
        let last = lines[lines.len().saturating_sub(8)..].join("\n");
        Err(PeerError::Lost(if last.is_empty() { what } else { format!("{what}; it said:\n{last}") }))
    }

    fn ends(&mut self) -> bool {
        let until = Instant::now() + Duration::from_secs(2);
        while matches!(self.launcher.try_wait(), Ok(None)) {
            if Instant::now() > until {
                return false;
            }
            sleep(Duration::from_millis(5));
        }
        true
    }
}

impl Drop for Running {
    /// Ends the peer: closes the pipe of requests, then sends signals to its launcher, which ends the peer's processes.
    fn drop(&mut self) {
        self.requests = None;
        if !self.ends() {
            _ = kill_process(Pid::from_child(&self.launcher), Signal::TERM);
            if !self.ends() {
                _ = self.launcher.kill();
                _ = self.launcher.wait();
            }
        }
    }
}

fn wrong(line: &str, request: &str, fault: impl fmt::Display) -> PeerError {
    PeerError::Lost(format!("`{line}` is no answer to `{request}`: {fault}"))
}
