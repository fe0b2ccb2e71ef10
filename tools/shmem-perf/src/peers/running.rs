//! A peer that runs beside us and answers.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::answer::{self, Line};
use super::program::{Programs, launch};
use super::{OPEN_MPI, Peer, PeerError, Request};
use crate::affinity;
use crate::samples::Samples;

/// How long a peer may take for its start, for an answer, and for its end. It needs less than a
/// second for the first and the last, and milliseconds for an answer; the rest is for busy machines.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a launcher may take to end its processes once it is told to.
const GRACE: Duration = Duration::from_secs(2);

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
    /// [take](crate::affinity::take): so it is started before.
    pub(crate) fn start(peer: Peer, directory: &Path) -> Result<Option<Self>, PeerError> {
        let Some(program) = Programs::of(peer, directory) else { return Ok(None) };
        let mut command = launch(peer, &program, directory, &affinity::allowed()?);
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
        let mut child = command.spawn().map_err(|error| PeerError::of_start(error, command, OPEN_MPI))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for above");
        };
        let mut running = Self {
            peer,
            library: String::new(),
            launcher: child,
            requests: Some(requests),
            answers,
            begun: Vec::new(),
            remarks,
            patience,
        };
        running.library = answer::introduction(&running.line()?)?;
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

    /// Pairs of samples of our own operation and the peer's, in turn; of ours as many whatever happens.
    pub(crate) fn against(
        &mut self,
        request: &Request,
        repetitions: usize,
        ours: impl FnMut() -> f64,
    ) -> Result<Samples, PeerError> {
        let mut failed = None;
        let theirs = || match failed {
            Some(_) => f64::NAN,
            None => self.sample(request).unwrap_or_else(|error| {
                failed = Some(error);
                f64::NAN
            }),
        };
        let samples = Samples::alternate(repetitions, ours, theirs);
        failed.map_or(Ok(samples), Err)
    }

    fn ask(&mut self, request: &Request, samples: usize) -> Result<Vec<f64>, PeerError> {
        let line = request.line(samples) + "\n";
        // A peer that is gone is found out by its answer.
        let _ = self.requests.as_mut().map(|requests| requests.write_all(line.as_bytes()));
        answer::samples(&self.line()?, request, samples)
    }

    /// The next line of the peer itself.
    fn line(&mut self) -> Result<String, PeerError> {
        let until = Instant::now() + self.patience;
        loop {
            if let Some(end) = self.begun.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.begun.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if Line::is_one(&line) {
                    return Ok(line);
                }
            } else if !self.readable(until)? {
                return Err(PeerError::Silent { within: self.patience, remarks: self.remarks() });
            } else {
                let mut bytes = [0; 4096];
                match self.answers.read(&mut bytes)? {
                    0 => return Err(PeerError::Ended(self.remarks())),
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

    /// The last lines of what it has said besides.
    fn remarks(&self) -> String {
        let text = fs::read(&self.remarks).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
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
    use super::super::program;
    use super::*;
    use crate::measure::{c, collective, micro, peers as strided};

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
        assert!(matches!(peer.sample(&column()), Err(PeerError::Ended(_))));
    }

    #[test]
    fn a_peer_that_hangs_is_said_and_ended() {
        let (mut peer, _directory) = peer(&format!("{HELLO}; echo stuck >&2; exec sleep 1000")).unwrap();
        let started = Instant::now();
        let error = peer.check(&column()).unwrap_err().to_string();
        assert_eq!(error, "no answer within 0.5 s, it hangs; it said:\nstuck");
        let process = Pid::from_child(&peer.launcher);
        drop(peer);
        assert!(started.elapsed() < Duration::from_secs(10));
        assert!(rustix::process::test_kill_process(process).is_err());
    }

    #[test]
    fn peers_that_are_installed_do_what_they_should() {
        let programs = Programs::build(&Peer::C, program::PATIENCE).unwrap();
        for missing in programs.missing() {
            eprintln!("skipped: {missing}");
        }
        for peer in Peer::C {
            let Some(mut running) = Running::start(peer, programs.directory()).unwrap() else {
                continue;
            };
            let requests: Vec<_> = match peer {
                Peer::Floor | Peer::MpiMicro => micro::requests().collect(),
                Peer::OshmemMicro => {
                    micro::requests().chain(collective::cases().map(|case| case.request())).collect()
                }
                Peer::OshmemRoutines => c::requests().collect(),
                _ => strided::requests(peer).collect(),
            };
            assert!(!requests.is_empty());
            for request in requests {
                running.check(&request).unwrap();
                assert!(running.sample(&request).unwrap() > 0.0);
            }
            running.requests = None;
            assert!(running.ends(PATIENCE), "{peer} does not end by itself: {}", running.remarks());
            assert!(running.launcher.wait().unwrap().success(), "{peer}: {}", running.remarks());
        }
    }
}
