//! What the launcher tells people: who died how, and what the others were doing.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use shmem_core::memory::Machine;

use super::record::Doing;
use super::signals;
use crate::text::numbers;

/// Most lines or clauses about the others.
const MOST_GROUPS: usize = 8;

/// Where a PE stands, as the launcher and the PE's record together know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its process runs, but has not joined.
    NotJoined,
    /// It waits for the others in the launcher.
    Meeting,
    /// Its process has ended.
    Ended(String),
    /// A signal has stopped its process.
    Stopped,
    /// A debugger has stopped its process.
    Traced,
    /// A signal has ended its process, which is not over: the kernel writes its core dump, or takes its memory back.
    Dying,
    /// As its record says.
    Inside(Doing),
}

/// What one PE does, what several do if they are not told of one by one, and since when.
type Words = (String, Option<String>, Option<Duration>);

impl Standing {
    /// Whether it will stay so until something happens to the PE.
    pub(crate) fn is_at_rest(&self) -> bool {
        match self {
            Self::Meeting | Self::Ended(_) | Self::Stopped | Self::Traced => true,
            Self::Inside(doing) => matches!(doing, Doing::Waiting(..) | Doing::Finished),
            Self::NotJoined | Self::Dying => false,
        }
    }

    fn text(&self) -> Words {
        let both = |one: &str, many: &str| (one.to_owned(), Some(many.to_owned()), None);
        match self {
            Self::NotJoined => both("has not joined the job", "have not joined the job"),
            Self::Meeting => both("waits for the others to start", "wait for the others to start"),
            Self::Ended(how) => (how.clone(), None, None),
            Self::Stopped => both(
                "is stopped by a signal (SIGCONT lets it go on)",
                "are stopped by a signal (SIGCONT lets them go on)",
            ),
            Self::Traced => both("is stopped by a debugger", "are stopped by a debugger"),
            Self::Dying => both("is being ended by a signal", "are being ended by a signal"),
            Self::Inside(Doing::Unknown) => both("does not say what it does", "do not say what they do"),
            Self::Inside(Doing::Starting) => both("is starting", "are starting"),
            Self::Inside(Doing::OwnCode) => both("runs its own code", "run their own code"),
            Self::Inside(Doing::Inside(activity)) => {
                (format!("is {activity}"), Some(format!("are {activity}")), None)
            }
            Self::Inside(Doing::Waiting(activity, waited)) => {
                (format!("waits {activity}"), Some(format!("wait {activity}")), Some(*waited))
            }
            Self::Inside(Doing::Finished) => both("has finished", "have finished"),
            Self::Inside(Doing::Aborting) => both("is ending the job", "are ending the job"),
        }
    }
}

/// One clause for all PEs that do the same: `PEs 0, 2-5 wait in .. since 0.3 s`.
pub fn standings(all: &[(usize, Standing)]) -> Vec<String> {
    let mut groups: Vec<(Words, Vec<usize>)> = Vec::new();
    for (pe, standing) in all {
        let words = standing.text();
        if let Some((known, pes)) = groups.iter_mut().find(|(known, _)| known.0 == words.0) {
            known.2 = known.2.max(words.2);
            pes.push(*pe);
        } else {
            groups.push((words, vec![*pe]));
        }
    }
    let beyond = groups.split_off(groups.len().min(MOST_GROUPS));
    let mut clauses: Vec<String> = groups
        .into_iter()
        .map(|((one, many, waited), pes)| {
            let who = numbers(&pes);
            let mut clause = match many {
                _ if pes.len() == 1 => format!("{who} {one}"),
                Some(many) => format!("{who} {many}"),
                None => format!("each of {who} {one}"),
            };
            if let Some(waited) = waited {
                let _ = write!(clause, " since {:.1} s", waited.as_secs_f64());
            }
            clause
        })
        .collect();
    if !beyond.is_empty() {
        let pes: usize = beyond.iter().map(|group| group.1.len()).sum();
        clauses.push(format!("{pes} more PEs are elsewhere"));
    }
    clauses
}

/// How a process ended, if it has: by nothing that has a name, where somebody else has waited for it, as a handler of SIGCHLD
/// may.
pub(crate) fn end_of(child: &mut Child) -> Option<ExitStatus> {
    match child.try_wait() {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Some(ExitStatus::from_raw(-1)),
        status => status.ok().flatten(),
    }
}

/// The end of a process that should not have ended so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    pub(crate) pe: usize,
    /// The process that the launcher started.
    pub(crate) started: u32,
    /// The process that joined, if one has.
    pub(crate) joined: Option<u32>,
    /// How the started process ended; `None`: it has not, but the one that joined has.
    pub(crate) status: Option<ExitStatus>,
}

impl Death {
    /// What is to be told of it.
    pub(crate) fn notice(&self) -> Notice {
        let pid = self.joined.unwrap_or(self.started);
        Notice { pe: self.pe, pid, how: self.how(), hint: self.hint(), code: self.code() }
    }

    /// The job's exit code for it.
    fn code(&self) -> u8 {
        let status = self.status.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => code as u8,
            (None, Some(signal)) => 128u8.saturating_add(signal as u8),
            (None, None) => 1,
        });
        status.unwrap_or(1).max(1)
    }

    /// How, in words: `was killed by signal 11 (SIGSEGV)`.
    pub(crate) fn how(&self) -> String {
        let wrapped = self.joined.is_some_and(|pid| pid != self.started);
        let Some(status) = self.status else {
            return if wrapped {
                format!("ended before it left the job; process {}, which started it, goes on", self.started)
            } else {
                "closed its connection to the launcher before it left the job".into()
            };
        };
        if let Some(signal) = status.signal() {
            let core = if status.core_dumped() { ", core dumped" } else { "" };
            return format!("was killed by {}{core}", signals::name(signal));
        }
        let Some(code) = status.code() else {
            return "has ended, and how is not known: something else in the launcher's process waited for it"
                .into();
        };
        match code {
            0 if self.joined.is_none() => "exited with code 0 and never joined the job".into(),
            0 => "exited with code 0 before it left the job".into(),
            101 if !wrapped && self.joined.is_some() => "panicked (exit code 101)".into(),
            129..=192 if wrapped || self.joined.is_none() => {
                let signal = signals::name(code - 128);
                format!("exited with code {code}, which shells use for {signal}")
            }
            _ => format!("exited with code {code}"),
        }
    }

    /// What may be behind it.
    fn hint(&self) -> Option<String> {
        let memory = || Machine::default().available();
        match self.status?.signal()? {
            libc::SIGKILL => Some(format!(
                "perhaps by the kernel for want of memory (see `dmesg`), or by a user; {} now",
                memory()
            )),
            libc::SIGBUS => Some(format!(
                "memory that was reserved could not be had when it was touched: a heap larger than the memory, its cgroup's limit or the pool of huge pages; {} now",
                memory()
            )),
            libc::SIGILL => Some("perhaps it was built for another processor".into()),
            _ => None,
        }
    }
}

/// What is told of a PE's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) pe: usize,
    pub(crate) pid: u32,
    /// In words: `was killed by signal 11 (SIGSEGV)`.
    pub(crate) how: String,
    /// What may be behind it.
    pub(crate) hint: Option<String>,
    /// The job's exit code for it.
    pub(crate) code: u8,
}

/// What is told of a PE that has ended the job.
pub(crate) fn ended_with(code: i32, message: &str) -> String {
    let with = format!("ended the job with code {code}");
    if message.is_empty() { with } else { format!("{with}: {message}") }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, WaitOptions};

    use super::*;

    #[test]
    fn pes_that_do_the_same_are_named_together() {
        let waiting = |ms| {
            Standing::Inside(Doing::Waiting(
                "in `barrier` at src/main.rs:88".into(),
                Duration::from_millis(ms),
            ))
        };
        let all = [
            (0, waiting(100)),
            (1, Standing::Inside(Doing::OwnCode)),
            (3, waiting(340)),
            (4, waiting(0)),
            (5, waiting(0)),
            (6, Standing::Ended("was killed by signal 9 (SIGKILL)".into())),
            (7, Standing::Stopped),
            (8, Standing::Ended("was killed by signal 9 (SIGKILL)".into())),
            (9, Standing::Stopped),
        ];
        assert_eq!(
            standings(&all),
            [
                "PEs 0, 3-5 wait in `barrier` at src/main.rs:88 since 0.3 s",
                "PE 1 runs its own code",
                "each of PEs 6, 8 was killed by signal 9 (SIGKILL)",
                "PEs 7, 9 are stopped by a signal (SIGCONT lets them go on)"
            ]
        );
        let many: Vec<_> =
            (0..20).map(|pe| (pe, Standing::Inside(Doing::Inside(format!("in `f` at {pe}"))))).collect();
        let clauses = standings(&many);
        assert_eq!((clauses.len(), clauses[8].as_str()), (9, "12 more PEs are elsewhere"));
    }

    #[test]
    fn a_death_is_told_with_its_code() {
        let exit = |code: i32| Some(ExitStatus::from_raw(code << 8));
        let killed = |signal| Some(ExitStatus::from_raw(signal));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        rustix::process::waitpid(Some(Pid::from_child(&child)), WaitOptions::empty()).unwrap();
        let lost = end_of(&mut child);
        let cases = [
            (exit(3), Some(10), "exited with code 3", 3),
            (exit(0), Some(10), "exited with code 0 before it left the job", 1),
            (exit(0), None, "exited with code 0 and never joined the job", 1),
            (exit(101), Some(10), "panicked (exit code 101)", 101),
            (exit(139), Some(10), "exited with code 139", 139),
            (exit(139), Some(11), "exited with code 139, which shells use for signal 11 (SIGSEGV)", 139),
            (killed(11), Some(10), "was killed by signal 11 (SIGSEGV)", 139),
            (killed(0x80 | 6), Some(10), "was killed by signal 6 (SIGABRT), core dumped", 134),
            (killed(40), Some(10), "was killed by signal 40", 168),
            (
                lost,
                Some(10),
                "has ended, and how is not known: something else in the launcher's process waited for it",
                1,
            ),
            (None, Some(11), "ended before it left the job; process 10, which started it, goes on", 1),
            (None, Some(10), "closed its connection to the launcher before it left the job", 1),
        ];
        for (status, joined, how, code) in cases {
            let death = Death { pe: 2, started: 10, joined, status };
            assert_eq!((death.how().as_str(), death.code()), (how, code));
            assert_eq!(death.notice().pid, joined.unwrap_or(10));
        }
    }

    #[test]
    fn a_death_for_want_of_memory_says_how_much_there_is() {
        for signal in [libc::SIGBUS, libc::SIGKILL] {
            let status = Some(ExitStatus::from_raw(signal));
            let death = Death { pe: 0, started: 1, joined: None, status };
            assert!(death.notice().hint.unwrap().contains(" has left "));
        }
    }
}
