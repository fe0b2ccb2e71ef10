//! The program that reaches another host, `ssh` or one like it, as the launcher sees it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::launch::report::end_of;
use crate::launch::signals::Given;

/// The argument that makes a launcher a deputy.
pub const DEPUTY: &str = "--deputy";

/// A running agent. It is ended with its value.
#[derive(Debug)]
pub(super) struct Agent {
    text: String,
    child: Child,
    /// Readable when it has ended; kernels before 5.3 have none.
    handle: Option<OwnedFd>,
    /// Open as long as the agent is to run: some end with it.
    _input: Option<ChildStdin>,
    ended: Option<ExitStatus>,
}

impl Agent {
    /// Starts `words host`, which is to run `shmrun` there, and gives that a letter to read. The letter
    /// goes through a pipe: arguments and environments can be read by others.
    pub(super) fn start(words: &[OsString], host: &str, shmrun: &Path, letter: &str) -> io::Result<Self> {
        let (program, options) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(options).arg(host).arg(shell_words(shmrun)).stdin(Stdio::piped());
        let given = Given::take();
        let detach = move || {
            given.give_back();
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                // The keys of the terminal are the launcher's affair, which passes on what they mean.
                // SAFETY: allowed between `fork` and `exec`; no handler is installed.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
            }
            Ok(())
        };
        // SAFETY: between `fork` and `exec` the closure makes system calls only.
        unsafe { command.pre_exec(detach) };
        let mut child = command.spawn()?;
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            // An agent that has ended already is noticed by its end.
            let _ = input.write_all(letter.as_bytes());
        }
        let pid = Pid::from_raw(child.id().cast_signed());
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let text = format!("{} {host}", words.join(OsStr::new(" ")).display());
        Ok(Self { text, child, handle, _input: input, ended: None })
    }

    /// What is readable when it has ended.
    pub(super) fn poll_fd(&self) -> Option<PollFd<'_>> {
        let handle = self.handle.as_ref().filter(|_| self.ended.is_none())?;
        Some(PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN))
    }

    /// How it ended, in words, if it has.
    pub(super) fn end(&mut self) -> Option<String> {
        if self.ended.is_none() {
            self.ended = end_of(&mut self.child);
        }
        self.ended.map(|status| format!("`{}` ended ({status})", self.text))
    }

    /// Waits for its end, but not for longer than until then.
    pub(super) fn wait(&mut self, until: Instant) {
        while self.end().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.end().is_none() {
            // A process that cannot be killed has just ended.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// What the shell of the other host is to run.
fn shell_words(shmrun: &Path) -> OsString {
    let mut words = OsString::from("exec '");
    let path = shmrun.as_os_str();
    for (i, part) in path.as_encoded_bytes().split(|&byte| byte == b'\'').enumerate() {
        if i > 0 {
            words.push("'\\''");
        }
        words.push(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(part));
    }
    words.push("' ");
    words.push(DEPUTY);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_pass_a_shell_unchanged() {
        for path in ["/usr/bin/true", "/a b/$HOME;\"x\"/it's"] {
            let words = shell_words(Path::new(path)).into_string().unwrap();
            let echo = words.replacen("exec ", "printf %s ", 1);
            let echo = echo.strip_suffix(DEPUTY).unwrap();
            let output = Command::new("sh").args(["-c", echo]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), path);
        }
    }

    #[test]
    fn the_letter_is_read_and_not_shown_in_the_arguments() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("seen");
        let script = format!(
            "read line; echo \"$line\" > {0}; tr '\\0' ' ' < /proc/$$/cmdline >> {0}",
            file.display()
        );
        let words = ["sh", "-c", &script].map(OsString::from);
        let mut agent = Agent::start(&words, "elsewhere", Path::new("shmrun"), "hush\n").unwrap();
        agent.wait(Instant::now() + Duration::from_secs(10));
        assert!(agent.end().unwrap().contains("elsewhere` ended (exit status: 0)"));
        let seen = std::fs::read_to_string(file).unwrap();
        assert_eq!(seen.matches("hush").count(), 1, "{seen}");
    }
}
