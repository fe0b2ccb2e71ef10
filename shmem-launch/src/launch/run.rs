//! [`Run`]: the event loop of a job. It waits for PEs, their output, and signals, and decides when the job ends.
//!
//! If a PE dies, the launcher ends the job. First it waits until the other PEs settle (sleep or end), so that it can report what
//! they wait for, and reports a mistake that ends all PEs only once. Then it sends SIGTERM to the other PEs, and later SIGKILL. If
//! all other PEs have left the job in order, they end by themselves, and the job's exit code is that of the failed PE.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::error::LaunchError;
use super::output::{Forwarders, StdStream, pipes};
use super::pes::{Event, LOOK, Pes};
use super::posix_signals::{self, Before, Received, Signals};
use super::report::{Death, ended_with, state_clauses};
use super::spawn::Spawner;
use super::{Failure, Launch, Outcome, Output, descriptor_limit, timespec};
use crate::diagnostics::line;

/// Time between SIGTERM and SIGKILL, unless a signal from the user ends the job.
const GRACE: Duration = Duration::from_millis(200);

/// Time between a signal from the user and SIGKILL, in which PEs may save data.
const GRACE_OF_USER: Duration = Duration::from_secs(2);

/// Upper limit on the time that the other PEs get to settle after a death.
const SETTLE: Duration = Duration::from_millis(250);

/// Upper limit on the bytes of a report on one line. A longer report has a line for each clause.
const ONE_SENTENCE: usize = 160;

#[derive(Debug)]
pub(crate) struct Run {
    pes: Pes,
    signals: Option<Signals>,
    forwarders: Forwarders,
    deadline: Option<Instant>,
    phase: Phase,
    death: Option<Death>,
    failure: Option<(Failure, u8)>,
    report: String,
}

#[derive(Debug)]
enum Phase {
    Running,
    /// A PE has died. The other PEs get until this time to settle.
    Settling(Instant),
    /// PEs were asked to end, and are killed at this time. `None` after they were killed.
    Ending(Option<Instant>),
}

impl Launch {
    /// Starts the job on this host and blocks until the job has ended.
    ///
    /// # Errors
    ///
    /// If the job could not be started. A failure of a job that was started is in its [`Outcome`].
    pub fn run(self) -> Result<Outcome, LaunchError> {
        let descriptors = descriptor_limit::prepare(self.pes)?;
        let signals = self.watch_signals.then(Signals::watch).transpose();
        let signals = signals.map_err(LaunchError::system("signals cannot be received"))?;
        let before = Before::take(signals.as_ref());
        let pipes = pipes(self.output, self.pes);
        let mut forwarders = Forwarders::new(self.output, &pipes).map_err(LaunchError::system(
            "no thread can be started that passes output on; raise the limit of this user's processes (ulimit -u) or of data (ulimit -d)",
        ))?;
        let (spawner, remark) = Spawner::new(self, pipes, descriptors, before)?;
        let mut run = Run::new(Pes::start(spawner, &mut forwarders)?, signals, forwarders);
        if let Some(remark) = remark {
            run.say(&remark);
        }
        Ok(run.finish())
    }
}

impl Run {
    pub(crate) fn new(pes: Pes, signals: Option<Signals>, forwarders: Forwarders) -> Self {
        Self {
            deadline: pes.job().time.and_then(|time| Instant::now().checked_add(time)),
            pes,
            signals,
            forwarders,
            phase: Phase::Running,
            death: None,
            failure: None,
            report: String::new(),
        }
    }

    pub(crate) fn finish(mut self) -> Outcome {
        while !self.pes.are_over() {
            let ready = self.sleep();
            while let Some(signal) = self.signals.as_ref().and_then(Signals::next) {
                self.on_signal(signal);
            }
            self.pes.serve(&ready).into_iter().for_each(|event| self.on_event(event));
            self.check_forwarders();
            self.move_on(Instant::now());
        }
        if matches!(self.phase, Phase::Settling(_)) {
            self.tell_death();
        }
        // The PEs' output, and an error in writing it, precede the launcher's last report.
        self.write_rest(StdStream::Out);
        let pes = self.pes.count();
        if self.failure.is_none() && pes > 1 && !self.pes.has_begun() {
            let program = self.pes.job().program.display();
            let text =
                format!("{pes} copies of `{program}` ran, and none of them joined the job: each was alone");
            self.say(&text);
        }
        self.write_rest(StdStream::Err);
        let outputs = match self.pes.job().output {
            Output::Capture => self.forwarders.into_printed(pes),
            Output::Inherit | Output::Tag => Vec::new(),
        };
        let (failure, code) = self.failure.map_or((None, 0), |(failure, code)| (Some(failure), code));
        Outcome { code, failure, report: self.report, outputs }
    }

    fn check_forwarders(&mut self) {
        for kind in [StdStream::Out, StdStream::Err] {
            if let Some(Err(error)) = self.forwarders.end(kind) {
                self.on_write_error(kind, &error);
            }
        }
    }

    /// Blocks until a PE, an output thread or a signal is ready, or a time limit is reached. Returns the PEs that are ready.
    fn sleep(&self) -> Vec<usize> {
        let (owners, mut list): (Vec<usize>, Vec<PollFd<'_>>) = self.pes.poll_list().into_iter().unzip();
        self.wait(&mut list, self.timeout(Instant::now()));
        let ready = owners.into_iter().zip(&list).filter(|(_, fd)| !fd.revents().is_empty());
        ready.map(|(owner, _)| owner).collect()
    }

    fn wait<'f>(&'f self, list: &mut Vec<PollFd<'f>>, timeout: Option<Duration>) {
        list.extend(self.forwarders.poll_list());
        list.extend(self.signals.iter().map(|signals| PollFd::new(signals, PollFlags::IN)));
        match poll(list, timeout.map(timespec).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // `poll` fails if the kernel lacks memory. The loop tries again later.
            Err(_) => std::thread::sleep(LOOK),
        }
    }

    fn timeout(&self, now: Instant) -> Option<Duration> {
        let settling = matches!(self.phase, Phase::Settling(_)).then_some(LOOK);
        let until = match self.phase {
            Phase::Settling(until) => Some(until),
            Phase::Ending(until) => until,
            Phase::Running => self.deadline,
        };
        let next = [self.pes.patience(), settling, until.map(|at| at.saturating_duration_since(now))];
        next.into_iter().flatten().min()
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Aborted { pe, code, message } => self.abort(pe, code, message),
            Event::Died(death) => self.note(death),
            Event::Broken { pe, what } => {
                self.end_with_report(
                    &format!("PE {pe}: {what}"),
                    Failure::Broken { pe, what: what.clone() },
                    1,
                );
            }
        }
    }

    /// Enters the next phase, if its time has come.
    fn move_on(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Running)
            && let (Some(at), Some(time)) = (self.deadline, self.pes.job().time)
            && now >= at
        {
            let text = format!("the job has run for the {time:?} it was given");
            self.end_with_report(&text, Failure::TimedOut, 124);
        }
        match self.phase {
            Phase::Settling(until) if now >= until || self.is_settled() => self.tell_death(),
            Phase::Ending(Some(until)) if now >= until => {
                self.phase = Phase::Ending(None);
                self.pes.signal(Signal::KILL, None);
            }
            _ => {}
        }
    }

    fn note(&mut self, death: Death) {
        if !matches!(self.phase, Phase::Ending(_)) {
            self.death.get_or_insert(death);
        }
        if matches!(self.phase, Phase::Running) && self.failure.is_none() {
            self.phase = Phase::Settling(Instant::now() + SETTLE);
        }
    }

    fn is_settled(&self) -> bool {
        self.pes.state_clauses().into_iter().all(|(pe, state)| self.pes.is_over(pe) || state.is_at_rest())
    }

    /// Reports the PE's death. Ends the job unless all other PEs have left it.
    fn tell_death(&mut self) {
        self.phase = Phase::Running;
        let Some(death) = self.death else { return };
        let (pe, how) = (death.pe, death.how());
        let hint = death.hint().map(|hint| format!(": {hint}")).unwrap_or_default();
        let text = format!("PE {pe} (pid {}) {how}{hint}", death.pid());
        self.fail(&text, Failure::Died { pe, how }, death.code(), Some(pe));
        if !self.pes.have_left() {
            self.end(Some(Signal::TERM), GRACE, None);
        }
    }

    fn abort(&mut self, pe: usize, code: i32, message: String) {
        if !matches!(self.phase, Phase::Running) || self.failure.is_some() {
            return;
        }
        let code8 = if code != 0 && code & 0xff == 0 { 1 } else { (code & 0xff) as u8 };
        let text = (code != 0 || !message.is_empty()).then(|| ended_with(code, &message));
        self.failure = Some((Failure::Aborted { pe, code, message }, code8));
        if let Some(text) = text {
            let pid = self.pes.process(pe).unwrap_or_default();
            self.say(&format!("PE {pe} (pid {pid}) {text}"));
        }
        self.end(Some(Signal::TERM), GRACE, Some(pe));
    }

    fn on_signal(&mut self, Received { number, by_terminal }: Received) {
        if number == libc::SIGQUIT {
            let clauses = state_clauses(&self.pes.state_clauses());
            return self.say(&format!("the PEs now:\n  {}", clauses.join("\n  ")));
        }
        if let Phase::Ending(until) = &mut self.phase {
            *until = until.map(|_| Instant::now());
            return;
        }
        let code = 128u8.saturating_add(number as u8);
        let text = format!("ended by {}", posix_signals::name(number));
        self.fail(&text, Failure::Interrupted { signal: number }, code, None);
        // A signal of a terminal key is not sent on, because the terminal sends it to the PEs as well.
        self.end(Signal::from_named_raw(number).filter(|_| !by_terminal), GRACE_OF_USER, None);
    }

    /// Ends the job unless it is ending already, and reports `text` and what the PEs were doing.
    fn end_with_report(&mut self, text: &str, failure: Failure, code: u8) {
        if !matches!(self.phase, Phase::Ending(_)) {
            self.fail(text, failure, code, None);
            self.end(Some(Signal::TERM), GRACE, None);
        }
    }

    fn fail(&mut self, text: &str, failure: Failure, code: u8, without: Option<usize>) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some((failure, code));
        let mut others = self.pes.state_clauses();
        others.retain(|(pe, _)| Some(*pe) != without);
        let clauses = [vec![text.to_owned()], state_clauses(&others)].concat();
        let bytes: usize = clauses.iter().map(String::len).sum();
        self.say(&clauses.join(if bytes < ONE_SENTENCE { "; " } else { "\n  " }));
    }

    /// Sends a signal to all PEs but `except`. After `grace` all PEs are killed.
    fn end(&mut self, signal: Option<Signal>, grace: Duration, except: Option<usize>) {
        self.phase = Phase::Ending(Some(Instant::now() + grace));
        if let Some(signal) = signal {
            self.pes.signal(signal, except);
        }
    }

    /// Blocks until all output is written to a stream. A slow reader is waited for, but only until a signal or the job's time
    /// limit, or for [`GRACE_OF_USER`] if one of these has ended the job.
    fn write_rest(&mut self, kind: StdStream) {
        let is_asked = matches!(self.failure, Some((Failure::Interrupted { .. } | Failure::TimedOut, _)));
        let until = if is_asked { Some(Instant::now() + GRACE_OF_USER) } else { self.deadline };
        while self.forwarders.close(kind) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let signal = self.signals.as_ref().and_then(Signals::next).map(|signal| signal.number);
            let cut_short = match signal.filter(|signal| *signal != libc::SIGQUIT) {
                Some(signal) => Some((Failure::Interrupted { signal }, 128u8.saturating_add(signal as u8))),
                None => (left == Some(Duration::ZERO)).then_some((Failure::TimedOut, 124)),
            };
            if let Some(cut_short) = cut_short {
                self.failure.get_or_insert(cut_short);
                return;
            }
            self.wait(&mut Vec::new(), left);
        }
        if let Some(Err(error)) = self.forwarders.end(kind) {
            self.on_write_error(kind, &error);
        }
    }

    /// Handles an error in writing output. A closed pipe is not treated as a failure.
    fn on_write_error(&mut self, kind: StdStream, error: &io::Error) {
        if error.kind() == io::ErrorKind::BrokenPipe || self.failure.is_some() {
            return;
        }
        let stream = self.forwarders.stream_of(kind);
        let what = format!("what the PEs print cannot be written to {stream}: {error}");
        if self.pes.are_over() {
            self.say(&what);
            self.failure = Some((Failure::Output { what }, 1));
        } else {
            self.end_with_report(&what, Failure::Output { what: what.clone() }, 1);
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        let job = self.pes.job();
        if job.output != Output::Capture {
            self.forwarders.say(&line(&format!("{}: {text}", job.speaker)));
        }
        self.report.push_str(&line(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let job = Launch::new("cat", 2).capture_output();
        let forwarders = Forwarders::new(Output::Inherit, &[vec![StdStream::Out, StdStream::Err]]).unwrap();
        Run::new(Pes::silent(job).0, None, forwarders)
    }

    #[test]
    fn output_that_finds_no_room_is_told_of_the_stream_that_it_went_to() {
        let mut run = run();
        run.on_write_error(StdStream::Err, &io::ErrorKind::StorageFull.into());
        let said = "what the PEs print cannot be written to standard output: no storage space; PEs 0, 1 ";
        assert!(run.report.starts_with(said), "{}", run.report);
    }

    #[test]
    fn what_is_said_prints() {
        let evil = || "\x1b]0;x\x07\r\u{9b}2J".to_owned();
        for event in
            [Event::Aborted { pe: 0, code: 1, message: evil() }, Event::Broken { pe: 0, what: evil() }]
        {
            let mut run = run();
            run.on_event(event.clone());
            run.move_on(Instant::now());
            let report = run.report;
            assert!(report.contains(r"\u{1b}]0;x\u{7}\r\u{9b}2J"), "{report:?} of {event:?}");
            assert!(!report.contains(|c: char| c.is_control() && c != '\n'), "{report:?}");
        }
    }
}
