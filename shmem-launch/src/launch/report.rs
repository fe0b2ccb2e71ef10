//! Error texts and reports of the launcher: how a PE died, and what the other PEs were doing.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use shmem_core::memory::Machine;

use super::posix_signals;
use crate::pe_list::numbers;

/// Upper limit on the states of other PEs that a report lists.
const MOST_GROUPS: usize = 8;

/// The state of a PE, as far as the launcher and the PE's record know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeState {
    /// The PE's process runs, but has not joined.
    NotJoined,
    /// The PE waits at the launcher for other PEs, in a fence or share.
    Exchanging,
    /// The PE's process has ended, or the PE has ended the job, as described.
    Ended(String),
    /// A signal has stopped the PE's process.
    Stopped,
    /// A debugger has stopped the PE's process.
    Traced,
    /// A signal has killed the PE's process, but the kernel is still writing its core dump or freeing its memory.
    Dying,
    /// The state is unknown, because there is no record, or the PE is writing it.
    Unknown,
    /// The PE has joined, and the job is starting.
    Starting,
    /// The PE runs code of the program.
    OwnCode,
    /// The PE is in this operation of the runtime.
    Inside(String),
    /// The PE sleeps in this operation of the runtime, for this time so far.
    Waiting(String, Duration),
    /// The PE has left the job in order.
    Finished,
    /// The PE is ending the job.
    Aborting,
}

impl PeState {
    /// Returns whether the state cannot change without action of another PE or process.
    pub(crate) fn is_at_rest(&self) -> bool {
        use PeState::{Ended, Exchanging, Finished, Stopped, Traced, Waiting};
        matches!(self, Exchanging | Ended(_) | Stopped | Traced | Waiting(..) | Finished)
    }

    /// Returns the parts of a clause: the verb for one PE, the verb for several PEs, and the rest. If the second verb is empty, a
    /// clause for several PEs begins with `each of`.
    fn words(&self) -> (&str, &str, &str) {
        match self {
            Self::NotJoined => ("has", "have", "not joined the job"),
            Self::Exchanging => ("waits", "wait", "for the others to start"),
            Self::Ended(how) => ("", "", how),
            Self::Stopped => (
                "is stopped by a signal (SIGCONT lets it",
                "are stopped by a signal (SIGCONT lets them",
                "go on)",
            ),
            Self::Traced => ("is", "are", "stopped by a debugger"),
            Self::Dying => ("is", "are", "being ended by a signal"),
            Self::Unknown => ("does not say what it does", "do not say what they do", ""),
            Self::Starting => ("is", "are", "starting"),
            Self::OwnCode => ("runs its", "run their", "own code"),
            Self::Inside(activity) => ("is", "are", activity),
            Self::Waiting(activity, _) => ("waits", "wait", activity),
            Self::Finished => ("has", "have", "finished"),
            Self::Aborting => ("is", "are", "ending the job"),
        }
    }

    fn waited(&self) -> Option<Duration> {
        if let Self::Waiting(_, waited) = self { Some(*waited) } else { None }
    }
}

/// Returns a clause for each group of PEs in the same state: `PEs 0, 2-5 wait in .. since 0.3 s`.
pub fn state_clauses(all: &[(usize, PeState)]) -> Vec<String> {
    let mut groups: Vec<(&PeState, Option<Duration>, Vec<usize>)> = Vec::new();
    for (pe, state) in all {
        match groups.iter_mut().find(|(known, ..)| known.words() == state.words()) {
            Some((_, waited, pes)) => {
                *waited = (*waited).max(state.waited());
                pes.push(*pe);
            }
            None => groups.push((state, state.waited(), vec![*pe])),
        }
    }
    let beyond = groups.split_off(groups.len().min(MOST_GROUPS));
    let clause = |(state, waited, pes): (&PeState, Option<Duration>, Vec<usize>)| {
        let (one, many, what) = state.words();
        let (each, does) = match pes.len() {
            1 => ("", one),
            _ if many.is_empty() => ("each of", many),
            _ => ("", many),
        };
        let since = waited.map(|waited| format!("since {:.1} s", waited.as_secs_f64())).unwrap_or_default();
        let words = [each, &numbers(&pes), does, what, &since];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let mut clauses: Vec<String> = groups.into_iter().map(clause).collect();
    if !beyond.is_empty() {
        let pes: usize = beyond.iter().map(|(.., pes)| pes.len()).sum();
        clauses.push(format!("{pes} more PEs are elsewhere"));
    }
    clauses
}

/// Returns the exit status of a child that has ended. If other code of this process has waited for the child, such as a handler of
/// SIGCHLD, returns a status with neither code nor signal.
pub(crate) fn end_of(child: &mut Child) -> Option<ExitStatus> {
    match child.try_wait() {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Some(ExitStatus::from_raw(-1)),
        status => status.ok().flatten(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    pub(crate) pe: usize,
    pub(crate) started: u32,
    pub(crate) joined: Option<u32>,
    /// The exit status of the started process, or `None` if only the process that joined has ended.
    pub(crate) status: Option<ExitStatus>,
}

impl Death {
    pub(crate) fn pid(&self) -> u32 {
        self.joined.unwrap_or(self.started)
    }

    pub(crate) fn code(&self) -> u8 {
        let status = self.status.map(|status| match (status.code(), status.signal()) {
            (Some(code), _) => code as u8,
            (None, Some(signal)) => 128u8.saturating_add(signal as u8),
            (None, None) => 1,
        });
        status.unwrap_or(1).max(1)
    }

    /// Describes how the PE died: `was killed by signal 11 (SIGSEGV)`.
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
            return format!("was killed by {}{core}", posix_signals::name(signal));
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
                let signal = posix_signals::name(code - 128);
                format!("exited with code {code}, which shells use for {signal}")
            }
            _ => format!("exited with code {code}"),
        }
    }

    pub(crate) fn hint(&self) -> Option<String> {
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
        let waiting =
            |ms| PeState::Waiting("in `barrier` at src/main.rs:88".into(), Duration::from_millis(ms));
        let all = [
            (0, waiting(100)),
            (1, PeState::OwnCode),
            (3, waiting(340)),
            (4, waiting(0)),
            (5, waiting(0)),
            (6, PeState::Ended("was killed by signal 9 (SIGKILL)".into())),
            (7, PeState::Stopped),
            (8, PeState::Ended("was killed by signal 9 (SIGKILL)".into())),
            (9, PeState::Stopped),
        ];
        assert_eq!(
            state_clauses(&all),
            [
                "PEs 0, 3-5 wait in `barrier` at src/main.rs:88 since 0.3 s",
                "PE 1 runs its own code",
                "each of PEs 6, 8 was killed by signal 9 (SIGKILL)",
                "PEs 7, 9 are stopped by a signal (SIGCONT lets them go on)"
            ]
        );
        let many: Vec<_> = (0..20).map(|pe| (pe, PeState::Inside(format!("in `f` at {pe}")))).collect();
        let clauses = state_clauses(&many);
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
            assert_eq!(death.pid(), joined.unwrap_or(10));
        }
        // For want of memory, perhaps. (By SIGKILL: `launching` of shmrun.)
        let death = Death { pe: 0, started: 1, joined: None, status: killed(libc::SIGBUS) };
        assert!(death.hint().unwrap().contains(" has left "));
    }
}
