//! A peer that runs beside us and answers: a line of JSON for each request, behind one in which it introduces itself.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use super::program::{Programs, launch};
use super::{OPEN_MPI, Peer, PeerError};
use crate::bench::allowed_cores;
use crate::samples::Samples;

/// How long a peer may take for its start, for an answer, and for its end. It needs less than a
/// second for the first and the last, and milliseconds for an answer; the rest is for busy machines.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a launcher may take to end its processes once it is told to.
const GRACE: Duration = Duration::from_secs(2);

/// An operation that a peer is asked to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What the case is called; without blanks.
    pub(crate) case: String,
    /// What the program calls the operation.
    pub(crate) operation: &'static str,
    /// Its sizes, and how many operations make a sample, as the program reads them.
    pub(crate) numbers: String,
}

impl Request {
    /// The line that asks for samples; for none, whether the operation does what it should.
    fn line(&self, samples: usize) -> String {
        let Self { case, operation, numbers } = self;
        format!("{case} {operation} {numbers} {samples}")
    }

    /// The nanoseconds of each of so many samples, from the answer.
    fn answer(&self, line: &str, number: usize) -> Result<Vec<f64>, PeerError> {
        let request = self.line(number);
        let Line { case, operation, ns, error, .. } = Line::parse(line, &request)?;
        if let Some(fault) = error {
            return Err(PeerError::Refused { request, fault });
        }
        let fault = match ns {
            _ if case != self.case || operation != self.operation => "it answers another request".to_owned(),
            Some(ns) if ns.len() == number && ns.iter().all(|&ns| ns > 0.0 && ns.is_finite()) => {
                return Ok(ns);
            }
            Some(ns) if ns.len() == number => "times are positive".to_owned(),
            _ => format!("{number} samples were asked for"),
        };
        Err(PeerError::Answer { line: line.to_owned(), request, fault })
    }
}

/// A line of a peer. Launchers add lines of their own: what is no JSON is none.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Line {
    library: String,
    case: String,
    operation: String,
    ns: Option<Vec<f64>>,
    error: Option<String>,
}

impl Line {
    fn parse(line: &str, request: &str) -> Result<Self, PeerError> {
        let (text, request) = (line.to_owned(), request.to_owned());
        let fault =
            |error: serde_json::Error| PeerError::Answer { line: text, request, fault: error.to_string() };
        serde_json::from_str(line).map_err(fault)
    }
}

/// A peer's processes, started by its launcher. They sleep while they are not asked.
#[derive(Debug)]
pub(crate) struct Running {
    peer: Peer,
    library: String,
    launcher: Child,
    requests: Option<ChildStdin>,
    answers: ChildStdout,
    /// What has come of an answer that is not complete.
    begun: Vec<u8>,
    /// Where its remarks go.
    remarks: PathBuf,
    patience: Duration,
}

impl Running {
    /// Starts the program of a peer, out of the directory of [`Programs`]; nothing if it is not there.
    /// Its processes take a core each, those that the first two PEs of this node
    /// [take](crate::bench::take_core): so it is started before.
    pub(crate) fn start(peer: Peer, directory: &Path) -> Result<Option<Self>, PeerError> {
        let Some(program) = Programs::of(peer, directory) else { return Ok(None) };
        let mut command = launch(peer, &program, directory, &allowed_cores()?);
        let remarks = directory.join(format!("{peer}-{}.remarks", std::process::id()));
        Self::spawn(peer, &mut command, remarks, PATIENCE).map(Some)
    }

    fn spawn(
        peer: Peer,
        command: &mut Command,
        remarks: PathBuf,
        patience: Duration,
    ) -> Result<Self, PeerError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&remarks)?);
        let mut launcher = command.spawn().map_err(|error| PeerError::of_start(error, command, OPEN_MPI))?;
        let requests = launcher.stdin.take();
        let Some(answers) = launcher.stdout.take() else { unreachable!("it was asked for above") };
        let (library, begun) = (String::new(), Vec::new());
        let mut running = Self { peer, library, launcher, requests, answers, begun, remarks, patience };
        running.library = Line::parse(&running.line()?, "who are you?")?.library;
        Ok(running)
    }

    /// Which one it is.
    pub(crate) fn peer(&self) -> Peer {
        self.peer
    }

    /// The name and version of its library.
    pub(crate) fn library(&self) -> &str {
        &self.library
    }

    /// Whether the operation does what it should.
    pub(crate) fn check(&mut self, request: &Request) -> Result<(), PeerError> {
        self.ask(request, 0).map(drop)
    }

    /// One sample: nanoseconds of one operation, complete when it ends.
    pub(crate) fn sample(&mut self, request: &Request) -> Result<f64, PeerError> {
        self.ask(request, 1).map(|samples| samples[0])
    }

    /// Pairs of samples of our own operation and the peer's, in turn, if the operation does what it should.
    pub(crate) fn against(
        &mut self,
        request: &Request,
        repetitions: usize,
        mut ours: impl FnMut() -> f64,
    ) -> Result<Samples, PeerError> {
        self.check(request)?;
        ours();
        self.sample(request)?;
        Samples::tried(repetitions, || Ok((ours(), self.sample(request)?)))
    }

    fn ask(&mut self, request: &Request, samples: usize) -> Result<Vec<f64>, PeerError> {
        let line = request.line(samples) + "\n";
        // A peer that is gone is found out by its answer.
        let _ = self.requests.as_mut().map(|requests| requests.write_all(line.as_bytes()));
        request.answer(&self.line()?, samples)
    }

    /// The next line of the peer itself.
    fn line(&mut self) -> Result<String, PeerError> {
        let until = Instant::now() + self.patience;
        loop {
            if let Some(end) = self.begun.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.begun.drain(..=end).collect();
                if line.starts_with(b"{") {
                    return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
                }
            } else if !self.readable(until)? {
                return Err(
                    self.lost(&format!("no answer within {} s, it hangs", self.patience.as_secs_f64()))
                );
            } else {
                let mut bytes = [0; 4096];
                match self.answers.read(&mut bytes)? {
                    0 => return Err(self.lost("it ended before it had answered")),
                    read => self.begun.extend_from_slice(&bytes[..read]),
                }
            }
        }
    }

    /// Whether there is something to read, or nothing will come any more, before `until`.
    fn readable(&self, until: Instant) -> Result<bool, PeerError> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.answers, PollFlags::IN)], Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        }
    }

    /// That there is no more to be expected, with the last lines of what it has said besides.
    fn lost(&self, what: &str) -> PeerError {
        let remarks = self.remarks();
        PeerError::Lost(if remarks.is_empty() {
            what.to_owned()
        } else {
            format!("{what}; it said:\n{remarks}")
        })
    }

    fn remarks(&self) -> String {
        let text = fs::read(&self.remarks).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    /// Whether the launcher ends by itself within a time.
    fn ends(&mut self, within: Duration) -> bool {
        let until = Instant::now() + within;
        loop {
            match self.launcher.try_wait() {
                Ok(None) if Instant::now() < until => sleep(Duration::from_millis(5)),
                Ok(None) => return false,
                _ => return true,
            }
        }
    }
}

impl Drop for Running {
    /// Ends the peer: by the end of its requests, by the launcher's own means, or by force; its
    /// processes end with the launcher.
    fn drop(&mut self) {
        self.requests = None;
        if self.ends(GRACE) {
            return;
        }
        let _ = kill_process(Pid::from_child(&self.launcher), Signal::TERM);
        if !self.ends(GRACE) {
            let _ = self.launcher.kill();
            let _ = self.launcher.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{c, micro, peers as strided};

    const HELLO: &str = r#"echo '{"peer":"mpi","library":"a shell"}'"#;

    /// A peer made of a script.
    fn peer(script: &str) -> Result<(Running, tempfile::TempDir), PeerError> {
        let directory = tempfile::tempdir().unwrap();
        let remarks = directory.path().join("remarks");
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let running = Running::spawn(Peer::Mpi, &mut command, remarks, Duration::from_millis(500))?;
        Ok((running, directory))
    }

    fn column() -> Request {
        let numbers = "1000 1 128 128 4416 20".to_owned();
        Request { case: "column/128".to_owned(), operation: "iput", numbers }
    }

    #[test]
    fn whoever_says_something_else_is_not_believed() {
        let refused = |line: &str, number, why: &str| {
            let error = column().answer(line, number).unwrap_err().to_string();
            assert!(error.contains(why), "{line}: {error}");
        };
        let line = r#"{"peer":"mpi","case":"column/128","operation":"iput","ns":[2315.9]}"#;
        refused(line, 2, "2 samples were asked for");
        refused(&line.replace("/128", "/129"), 1, "another request");
        refused(&line.replace(r#""iput""#, r#""put""#), 1, "another request");
        refused(&line.replace("2315.9", "0.0"), 1, "times are positive");
        refused(&line.replace("ns", "us"), 1, "1 samples were asked for");
        refused(&line[..50], 1, "is no answer to `column/128 iput 1000 1 128 128 4416 20 1`");
        let wrong =
            r#"{"peer":"mpi","case":"column/128","operation":"iput","error":"it wrote beyond its blocks"}"#;
        refused(wrong, 0, "it wrote beyond its blocks (asked for `column/128");
    }

    #[test]
    fn a_peer_is_asked_line_by_line() {
        let script = format!(
            r#"{HELLO}; read -r case operation rest
            echo "a remark of the launcher"
            printf '{{"peer":"mpi","case":"%s",' "$case"; sleep 0.05
            printf '"operation":"%s","ns":[]}}\n' "$operation"
            read -r case operation rest
            echo '{{"peer":"mpi","case":"'$case'","operation":"'$operation'","ns":['${{#rest}}']}}'"#
        );
        let (mut peer, _directory) = peer(&script).unwrap();
        assert_eq!(peer.library(), "a shell");
        peer.check(&column()).unwrap();
        assert_eq!(peer.sample(&column()).unwrap(), "1000 1 128 128 4416 20 1".len() as f64);
        assert!(
            peer.sample(&column()).unwrap_err().to_string().starts_with("it ended before it had answered")
        );
    }

    #[test]
    fn a_peer_that_hangs_is_said_and_ended() {
        let (mut peer, _directory) = peer(&format!("{HELLO}; echo stuck >&2; exec sleep 1000")).unwrap();
        let error = peer.check(&column()).unwrap_err().to_string();
        assert_eq!(error, "no answer within 0.5 s, it hangs; it said:\nstuck");
        let process = Pid::from_child(&peer.launcher);
        drop(peer);
        assert!(rustix::process::test_kill_process(process).is_err());
    }

    /// Those in C, for compilers that packages bring; their directory goes away with them.
    #[test]
    fn peers_that_are_installed_do_what_they_should() {
        let all = [
            (Peer::Mpi, strided::requests(Peer::Mpi)),
            (Peer::Oshmem, strided::requests(Peer::Oshmem)),
            (Peer::Floor, micro::requests()),
            (Peer::OshmemMicro, micro::requests()),
            (Peer::MpiMicro, micro::requests()),
            (Peer::OshmemRoutines, c::requests()),
        ];
        let programs =
            Programs::build(&all.each_ref().map(|(peer, _)| *peer), super::super::PATIENCE).unwrap();
        let directory = programs.directory().to_owned();
        for missing in programs.missing() {
            eprintln!("skipped: {missing}");
        }
        for (peer, requests) in all {
            let running = Running::start(peer, &directory).unwrap();
            assert_eq!(
                running.is_none(),
                programs.missing().iter().any(|missing| missing.peer == peer),
                "{peer}"
            );
            let Some(mut running) = running else { continue };
            for request in requests {
                running.check(&request).unwrap();
                assert!(running.sample(&request).unwrap() > 0.0);
            }
            running.requests = None;
            assert!(running.ends(PATIENCE), "{peer} does not end by itself: {}", running.remarks());
            assert!(running.launcher.wait().unwrap().success(), "{peer}: {}", running.remarks());
        }
        drop(programs);
        assert!(!directory.exists());
    }
}
