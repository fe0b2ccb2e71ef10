//! A running job: one thread that waits for what happens to its PEs and for signals, and decides
//! when the job is over.
//!
//! Nothing waits here for who reads the output.

mod ending;

use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::output::{Kind, Outlets};
use super::pes::{Event, LOOK, Pes};
use super::report::Notice;
use super::signals::Signals;
use super::{Failure, Outcome, Output, timespec};
use crate::say::line;

/// Between SIGTERM and SIGKILL after a death.
const GRACE: Duration = Duration::from_millis(200);

/// Between a signal of the user's and SIGKILL: programs may want to save something.
const GRACE_OF_USER: Duration = Duration::from_secs(2);

/// What is the same for all PEs.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) program: OsString,
    pub(crate) output: Output,
    pub(crate) debugged: bool,
    pub(crate) time: Option<Duration>,
    /// What the launcher is called.
    pub(crate) speaker: String,
}

/// A job that runs.
#[derive(Debug)]
pub(crate) struct Run {
    terms: Terms,
    pes: Pes,
    signals: Option<Signals>,
    outlets: Outlets,
    deadline: Option<Instant>,
    phase: Phase,
    deaths: Vec<Notice>,
    failure: Option<(Failure, u8)>,
    report: String,
}

impl Run {
    /// Of PEs that have been started.
    pub(crate) fn new(terms: Terms, pes: Pes, signals: Option<Signals>, outlets: Outlets) -> Self {
        Self {
            deadline: terms.time.and_then(|time| Instant::now().checked_add(time)),
            terms,
            pes,
            signals,
            outlets,
            phase: Phase::Running,
            deaths: Vec::new(),
            failure: None,
            report: String::new(),
        }
    }

    /// Sees it to its end.
    pub(crate) fn finish(mut self) -> Outcome {
        while !self.pes.are_over() {
            let ready = self.sleep();
            while let Some(signal) = self.signals.as_ref().and_then(Signals::next) {
                self.heed(signal);
            }
            self.pes.serve(&ready).into_iter().for_each(|event| self.hear(event));
            self.heed_outlets();
            self.move_on(Instant::now());
        }
        match std::mem::replace(&mut self.phase, Phase::Running) {
            Phase::Settling(_) => self.tell_deaths(),
            Phase::Suspecting(_, suspicion) => self.believe(suspicion),
            Phase::Running | Phase::Ending(_) => {}
        }
        // What PEs have printed, and that it could not be written, comes before anything that is said.
        self.write_rest(Kind::Out);
        let pes = self.pes.count();
        if self.failure.is_none() && pes > 1 && !self.pes.has_begun() {
            let program = self.terms.program.display();
            let text =
                format!("{pes} copies of `{program}` ran, and none of them joined the job: each was alone");
            self.say(&text);
        }
        self.write_rest(Kind::Err);
        let outputs = match self.terms.output {
            Output::Capture => self.outlets.into_printed(pes),
            Output::Inherit | Output::Tag => Vec::new(),
        };
        let (failure, code) = self.failure.map_or((None, 0), |(failure, code)| (Some(failure), code));
        Outcome { code, failure, report: self.report, outputs }
    }

    /// Output that cannot be written ends the job.
    fn heed_outlets(&mut self) {
        self.outlets.hush();
        for kind in [Kind::Out, Kind::Err] {
            if let Some(Err(error)) = self.outlets.end(kind) {
                self.lack_room(kind, &error);
            }
        }
    }

    /// Waits until something happens; gives to which PEs it does.
    fn sleep(&self) -> Vec<usize> {
        let (owners, mut list): (Vec<usize>, Vec<PollFd<'_>>) = self.pes.poll_list().into_iter().unzip();
        self.wait(&mut list, self.timeout(Instant::now()));
        let ready = owners.into_iter().zip(&list).filter(|(_, fd)| !fd.revents().is_empty());
        ready.map(|(owner, _)| owner).collect()
    }

    /// Waits for these, for a signal, and for what becomes of output.
    fn wait<'f>(&'f self, list: &mut Vec<PollFd<'f>>, timeout: Option<Duration>) {
        list.push(self.outlets.poll_fd());
        list.extend(self.signals.iter().map(|signals| PollFd::new(signals, PollFlags::IN)));
        match poll(list, timeout.map(timespec).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing to wait with (no memory in the kernel): look again a little later.
            Err(_) => std::thread::sleep(LOOK),
        }
    }

    /// Something has happened to a PE.
    fn hear(&mut self, event: Event) {
        match event {
            Event::Aborted { pe, code, message } => self.abort(pe, code, message),
            Event::Suspected { pe, message } => self.suspect(Suspicion { pe, message }),
            Event::Died(notice) => self.note(notice),
            Event::Over { pe } => self.outlets.finish(pe),
            Event::Broken { pe, what } => {
                let failure = Failure::Broken { pe, what: what.clone() };
                self.break_down(Cause::new(format!("PE {pe}: {what}"), failure, 1));
            }
        }
    }

    /// All is over but what is still to be written. Whoever reads it may take its time, unless the job was to end early, or has a
    /// limit.
    fn write_rest(&mut self, kind: Kind) {
        let is_asked = matches!(self.failure, Some((Failure::Interrupted { .. } | Failure::TimedOut, _)));
        let until = if is_asked { Some(Instant::now() + GRACE_OF_USER) } else { self.deadline };
        while self.outlets.close(kind) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let key_of_debugger = self.terms.debugged.then_some(libc::SIGINT);
            let signal = self.signals.as_ref().and_then(Signals::next).map(|signal| signal.number);
            let cut_short = match signal
                .filter(|signal| ![Some(libc::SIGQUIT), key_of_debugger].contains(&Some(*signal)))
            {
                Some(signal) => Some((Failure::Interrupted { signal }, 128u8.saturating_add(signal as u8))),
                None => (left == Some(Duration::ZERO)).then_some((Failure::TimedOut, 124)),
            };
            if let Some(cut_short) = cut_short {
                self.failure.get_or_insert(cut_short);
                return;
            }
            self.wait(&mut Vec::new(), left);
            self.outlets.hush();
        }
        if let Some(Err(error)) = self.outlets.end(kind) {
            self.lack_room(kind, &error);
        }
    }

    /// What PEs print cannot be kept. If nobody wants to read it any more, that is no fault.
    fn lack_room(&mut self, kind: Kind, error: &io::Error) {
        if error.kind() == io::ErrorKind::BrokenPipe || self.failure.is_some() {
            return;
        }
        let stream = self.outlets.stream_of(kind);
        let what = format!("what the PEs print cannot be written to {stream}: {error}");
        if self.pes.are_over() {
            self.say(&what);
            self.failure = Some((Failure::Output { what }, 1));
        } else {
            self.break_down(Cause::new(what.clone(), Failure::Output { what }, 1));
        }
    }

    /// All that a job's launcher says, wherever it has it from.
    pub(crate) fn say(&mut self, text: &str) {
        if self.terms.output != Output::Capture {
            self.outlets.say(line(&format!("{}: {text}", self.terms.speaker)));
        }
        self.report.push_str(&line(text));
    }
}

/// How far a job is on the way to its end.
#[derive(Debug)]
enum Phase {
    Running,
    /// Somebody has died; the others are let go on until then.
    Settling(Instant),
    /// A PE cannot go on because somebody else seems to be lost; who knows more may say so until then.
    Suspecting(Instant, Suspicion),
    /// All have been asked to end, and are killed then; `None`: they have been.
    Ending(Option<Instant>),
}

/// Why a job ends that could go on.
#[derive(Debug)]
struct Cause {
    text: String,
    failure: Failure,
    code: u8,
    grace: Duration,
    /// What asks the PEs to end.
    signal: Option<Signal>,
}

impl Cause {
    /// Something that has gone wrong.
    fn new(text: String, failure: Failure, code: u8) -> Self {
        Self { text, failure, code, grace: GRACE, signal: Some(Signal::TERM) }
    }
}

/// Why a PE takes another one to be lost.
#[derive(Debug)]
struct Suspicion {
    pe: usize,
    message: String,
}

#[cfg(test)]
mod tests {
    use super::ending::{SETTLE, SUSPECT};
    use super::*;

    /// A job of two PEs, which do nothing, that may run for so long.
    fn run(time: Option<Duration>) -> Run {
        let terms = Terms {
            program: "program".into(),
            output: Output::Capture,
            debugged: false,
            time,
            speaker: "shmrun".into(),
        };
        let outlets = Outlets::new(Output::Capture, &[vec![Kind::Out, Kind::Err]]).unwrap();
        Run::new(terms, Pes::silent(2).0, None, outlets)
    }

    #[test]
    fn a_suspicion_waits_until_one_that_is_dying_is_over() {
        let mut run = run(None);
        run.hear(Event::Suspected { pe: 0, message: "PE 1 does not answer".into() });
        run.pes.let_die(1);
        run.move_on(Instant::now() + 2 * SUSPECT);
        assert_eq!(run.report, "");
        let how = "was killed by signal 6 (SIGABRT), core dumped".to_owned();
        run.hear(Event::Died(Notice { pe: 1, pid: 7, how, hint: None, code: 134 }));
        run.move_on(Instant::now() + 2 * SETTLE);
        assert!(run.report.starts_with("PE 1 (pid 7) was killed by signal 6"), "{}", run.report);
    }

    #[test]
    fn a_suspicion_does_not_outlast_the_time_of_the_job() {
        let time = SUSPECT / 2;
        let mut run = run(Some(time));
        run.hear(Event::Suspected { pe: 0, message: "PE 1 does not answer".into() });
        assert!(run.timeout(Instant::now()) <= Some(time));
        run.pes.let_die(1);
        run.move_on(Instant::now() + time);
        assert!(matches!(run.failure, Some((Failure::TimedOut, 124))), "{}", run.report);
    }

    #[test]
    fn output_that_finds_no_room_is_told_of_the_stream_that_it_went_to() {
        let mut run = run(None);
        // Both of a PE's streams go to standard output.
        run.lack_room(Kind::Err, &io::ErrorKind::StorageFull.into());
        let said = "what the PEs print cannot be written to standard output: no storage space; PEs 0, 1 ";
        assert!(run.report.starts_with(said), "{}", run.report);
    }

    /// Whatever others say, it does nothing to a terminal.
    #[test]
    fn what_is_said_prints() {
        let evil = || "\x1b]0;x\x07\r\u{9b}2J".to_owned();
        let notice = || Notice { pe: 0, pid: 1, how: evil(), hint: Some(evil()), code: 1 };
        for event in [
            Event::Aborted { pe: 0, code: 1, message: evil() },
            Event::Suspected { pe: 0, message: evil() },
            Event::Broken { pe: 0, what: evil() },
            Event::Died(notice()),
        ] {
            let mut run = run(None);
            run.hear(event.clone());
            run.move_on(Instant::now() + SUSPECT);
            let report = run.report;
            assert!(report.contains(r"\u{1b}]0;x\u{7}\r\u{9b}2J"), "{report:?} of {event:?}");
            assert!(!report.contains(|c: char| c.is_control() && c != '\n'), "{report:?}");
        }
    }
}
