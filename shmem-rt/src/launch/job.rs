//! A running job: one thread that waits for packets, output, ends of processes and signals, and
//! decides when the job is over.
//!
//! A PE that ends badly ends the job. The launcher first lets the others settle for a moment, so that
//! it can say what they were waiting for, and so that a mistake that all PEs make at once is told
//! once; then it tells, asks the rest to end, and ends it. A PE that has left the job in order cannot
//! make others wait any more: its exit code counts, but the others go on to their own end if they
//! have left too.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::error::LaunchError;
use super::member::Member;
use super::rendezvous::Rendezvous;
use super::report::{Death, Standing, standings};
use super::signals::{self, Received, Signals};
use super::spawn::Spawner;
use super::{Failure, Outcome, Output};

/// How long the others may go on after a death, until all of them wait.
const SETTLE: Duration = Duration::from_millis(250);

/// Between SIGTERM and SIGKILL after a death.
const GRACE: Duration = Duration::from_millis(200);

/// Between a signal of the user's and SIGKILL: programs may want to save something.
const GRACE_OF_USER: Duration = Duration::from_secs(2);

/// How long a PE may be out of reach while the process that started it goes on.
const LOST: Duration = Duration::from_millis(500);

/// How often what gives no sign is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Bytes of a message that still reads as one sentence, in two lines of a terminal; a longer one has a
/// line for each clause.
const ONE_SENTENCE: usize = 160;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// Somebody has died; the others are let go on until then.
    Settling(Instant),
    /// All have been asked to end, and are killed then.
    Ending(Instant),
    Killed,
}

/// A job.
pub(crate) struct Job {
    pub(super) spawner: Spawner,
    pub(super) members: Vec<Member>,
    pub(super) meeting: Rendezvous<OwnedFd>,
    signals: Option<Signals>,
    deadline: Option<(Instant, Duration)>,
    phase: Phase,
    deaths: Vec<Death>,
    failure: Option<(Failure, u8)>,
    report: String,
}

impl Job {
    /// Starts all PEs; if one cannot be started, none is left.
    pub(crate) fn start(
        spawner: Spawner,
        signals: Option<Signals>,
        time: Option<Duration>,
    ) -> Result<Self, LaunchError> {
        let deadline = time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        let meeting = Rendezvous::new(spawner.hosts.len());
        let mut job = Self {
            members: Vec::with_capacity(spawner.hosts.len()),
            spawner,
            meeting,
            signals,
            deadline,
            phase: Phase::Running,
            deaths: Vec::new(),
            failure: None,
            report: String::new(),
        };
        for pe in 0..job.spawner.hosts.len() {
            match job.spawner.spawn(pe) {
                Ok(spawned) => job.members.push(Member::new(pe, spawned)),
                Err(source) => {
                    job.end(None, Duration::ZERO, None);
                    job.wait_for_all();
                    return Err(LaunchError::Spawn { pe, source });
                }
            }
        }
        Ok(job)
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Outcome {
        self.wait_for_all();
        if matches!(self.phase, Phase::Settling(_)) {
            self.tell_deaths();
        }
        self.pump();
        self.members.iter_mut().flat_map(|m| &mut m.streams).for_each(|stream| stream.finish());
        let apart = self.members.iter().all(Member::stayed_away) && self.spawner.hosts.len() > 1;
        if self.failure.is_none() && apart {
            self.say(&format!(
                "{} copies of `{}` ran, and none of them joined the job: each was alone",
                self.spawner.hosts.len(),
                self.spawner.name.display()
            ));
        }
        let outputs = self.members.into_iter().map(|member| {
            let mut streams = member.streams.into_iter().map(|stream| stream.into_bytes());
            super::Printed {
                out: streams.next().unwrap_or_default(),
                err: streams.next().unwrap_or_default(),
            }
        });
        let outputs = outputs.collect();
        let (failure, code) = self.failure.map_or((None, 0), |(failure, code)| (Some(failure), code));
        Outcome { code, failure, report: self.report, outputs }
    }

    fn wait_for_all(&mut self) {
        while !self.members.iter().all(Member::is_over) {
            let ready = self.sleep();
            while let Some(signal) = self.signals.as_ref().and_then(Signals::next) {
                self.heed(signal);
            }
            for pe in ready {
                self.serve(pe);
            }
            self.move_on(Instant::now());
        }
    }

    /// Waits until something happens; gives the PEs that it happened to.
    fn sleep(&self) -> Vec<usize> {
        let mut list = Vec::new();
        let mut owners = Vec::new();
        for (pe, member) in self.members.iter().enumerate() {
            list.extend(member.poll_list());
            owners.resize(list.len(), pe);
        }
        if let Some(signals) = &self.signals {
            list.push(PollFd::new(signals, PollFlags::IN));
        }
        let timeout = self.timeout(Instant::now()).map(|timeout| Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        match poll(&mut list, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing to wait with (no memory in the kernel): look again a little later.
            Err(_) => std::thread::sleep(LOOK),
        }
        let mut ready: Vec<usize> =
            owners.iter().zip(&list).filter(|(_, fd)| !fd.revents().is_empty()).map(|(&pe, _)| pe).collect();
        ready.extend((0..self.members.len()).filter(|&pe| self.members[pe].must_be_asked()));
        ready.sort_unstable();
        ready.dedup();
        ready
    }

    fn timeout(&self, now: Instant) -> Option<Duration> {
        let must_look = self.members.iter().any(Member::must_be_asked);
        let settling = matches!(self.phase, Phase::Settling(_));
        let lost = self.members.iter().any(Member::is_lost);
        let look = (must_look || settling || lost).then_some(now + LOOK);
        let phase = match self.phase {
            Phase::Settling(until) | Phase::Ending(until) => Some(until),
            Phase::Running => self.deadline.map(|(at, _)| at),
            Phase::Killed => None,
        };
        let next = [look, phase].into_iter().flatten().min()?;
        // Rounded up: not to wake before it is time.
        Some(next.saturating_duration_since(now) + Duration::from_micros(1))
    }

    fn serve(&mut self, pe: usize) {
        let member = &mut self.members[pe];
        member.streams.iter_mut().for_each(|stream| stream.pump());
        member.reap();
        loop {
            match self.members[pe].receive() {
                Ok(Some(packet)) => self.take(pe, packet),
                Ok(None) => break,
                Err(error) => {
                    self.break_off(pe, &format!("its packet could not be received: {error}"));
                    break;
                }
            }
        }
        self.members[pe].flush();
    }

    /// What time brings: deaths, the end of patience.
    fn move_on(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Running | Phase::Settling(_)) {
            self.note_deaths(now);
        }
        match self.phase {
            Phase::Running => {
                if let Some((at, time)) = self.deadline
                    && now >= at
                {
                    let text = format!("the job has run for the {time:?} it was given");
                    self.break_down(&text, Failure::TimedOut, 124, GRACE, Some(Signal::TERM));
                }
            }
            Phase::Settling(until) => {
                let settled = (0..self.members.len()).all(|pe| {
                    self.members[pe].is_over() || self.members[pe].standing(self.waits(pe)).is_at_rest()
                });
                if now >= until || settled {
                    self.tell_deaths();
                }
            }
            Phase::Ending(until) if now >= until => {
                self.phase = Phase::Killed;
                self.members.iter().for_each(|member| member.signal(Signal::KILL));
            }
            Phase::Ending(_) | Phase::Killed => {}
        }
    }

    fn waits(&self, pe: usize) -> bool {
        self.meeting.is_waiting(pe)
    }

    fn note_deaths(&mut self, now: Instant) {
        let some_joined = self.members.iter().any(|member| member.joined().is_some());
        for member in self.members.iter_mut().filter(|member| !member.noted) {
            let lost = member.lost_since(now).is_some_and(|since| now >= since + LOST);
            if lost || member.died() || (some_joined && member.stayed_away()) {
                member.noted = true;
                self.deaths.push(member.death());
                if self.phase == Phase::Running && self.failure.is_none() {
                    self.phase = Phase::Settling(now + SETTLE);
                }
            }
        }
    }

    fn tell_deaths(&mut self) {
        self.phase = Phase::Running;
        let Some(first) = self.deaths.first().copied() else { return };
        let mut text = format!("{} {}", first.who(), first.how());
        if let Some(hint) = first.hint() {
            text.push_str(&format!(": {hint}"));
        }
        let failure = Failure::Died { pe: first.pe, how: first.how() };
        self.fail(&text, failure, first.code(), Some(first.pe));
        let all_left = self.members.iter().all(|member| member.finished || member.is_over());
        if !all_left {
            self.end(Some(Signal::TERM), GRACE, None);
        }
    }

    /// A PE ends the job.
    pub(super) fn abort(&mut self, pe: usize, code: i32, message: String) {
        if matches!(self.phase, Phase::Ending(_) | Phase::Killed) {
            return;
        }
        let with = format!("ended the job with code {code}");
        let said = if message.is_empty() { with } else { format!("{with}: {message}") };
        self.members[pe].aborted = Some(said.clone());
        if !matches!(self.phase, Phase::Running) || self.failure.is_some() {
            return;
        }
        let code8 = if code != 0 && code & 0xff == 0 { 1 } else { (code & 0xff) as u8 };
        if code != 0 || !message.is_empty() {
            self.pump();
            let pid = self.members[pe].joined().unwrap_or_default();
            self.say(&format!("PE {pe} (pid {pid}) {said}"));
        }
        self.failure = Some((Failure::Aborted { pe, code, message }, code8));
        self.end(Some(Signal::TERM), GRACE, Some(pe));
    }

    /// The launcher and a PE do not understand each other.
    pub(super) fn break_off(&mut self, pe: usize, what: &str) {
        let failure = Failure::Broken { pe, what: what.into() };
        self.break_down(&format!("PE {pe}: {what}"), failure, 1, GRACE, Some(Signal::TERM));
    }

    fn heed(&mut self, signal: Received) {
        if signal.number == libc::SIGQUIT {
            let clauses = standings(&self.standings(None));
            self.say(&format!("the PEs now:\n  {}", clauses.join("\n  ")));
            return;
        }
        // At the prompt of a debugger that key is the debugger's.
        if self.spawner.debugger.is_some() && signal.number == libc::SIGINT {
            return;
        }
        if matches!(self.phase, Phase::Ending(_) | Phase::Killed) {
            self.phase = Phase::Ending(Instant::now());
            return;
        }
        let pass_on = (!signal.by_terminal).then(|| Signal::from_named_raw(signal.number)).flatten();
        let text = format!("ended by {}", signals::name(signal.number));
        let failure = Failure::Interrupted { signal: signal.number };
        let code = 128u8.saturating_add(signal.number as u8);
        self.break_down(&text, failure, code, GRACE_OF_USER, pass_on);
    }

    /// Tells why the job ends, and ends it.
    fn break_down(
        &mut self,
        text: &str,
        failure: Failure,
        code: u8,
        grace: Duration,
        signal: Option<Signal>,
    ) {
        if matches!(self.phase, Phase::Ending(_) | Phase::Killed) {
            return;
        }
        self.fail(text, failure, code, None);
        self.end(signal, grace, None);
    }

    fn fail(&mut self, text: &str, failure: Failure, code: u8, without: Option<usize>) {
        if self.failure.is_some() {
            return;
        }
        self.pump();
        let mut text = text.to_owned();
        let others = standings(&self.standings(without));
        let bytes = text.len() + others.iter().map(String::len).sum::<usize>();
        let separator = if bytes < ONE_SENTENCE { "; " } else { "\n  " };
        for clause in others {
            text.push_str(separator);
            text.push_str(&clause);
        }
        self.say(&text);
        self.failure = Some((failure, code));
    }

    /// What the PEs do, but for one.
    fn standings(&self, without: Option<usize>) -> Vec<(usize, Standing)> {
        let pes = (0..self.members.len()).filter(|&pe| Some(pe) != without);
        pes.map(|pe| (pe, self.members[pe].standing(self.waits(pe)))).collect()
    }

    /// Asks all PEs but one to end, by the signal if they have not got one yet, and sees to it that
    /// they do.
    fn end(&mut self, signal: Option<Signal>, grace: Duration, except: Option<usize>) {
        self.phase = Phase::Ending(Instant::now() + grace);
        if let Some(signal) = signal {
            let all = self.members.iter().enumerate().filter(|&(pe, _)| Some(pe) != except);
            all.for_each(|(_, member)| member.signal(signal));
        }
    }

    /// What PEs have printed comes before what the launcher says about them.
    fn pump(&mut self) {
        self.members.iter_mut().flat_map(|member| &mut member.streams).for_each(|stream| stream.pump());
    }

    fn say(&mut self, text: &str) {
        if self.spawner.output != Output::Capture {
            super::say(text);
        }
        self.report.push_str(text);
        self.report.push('\n');
    }
}
