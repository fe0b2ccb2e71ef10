//! How a job comes to its end: the phases that it goes through once something has happened to it, and what is told of that.
//!
//! A PE that ends badly ends the job. The launcher first lets the others settle for a moment, so that
//! it can say what they were waiting for, and so that a mistake that all PEs make at once is told
//! once; then it tells, asks the rest to end, and ends it. A PE that has left the job in order cannot
//! make others wait any more: its exit code counts, but the others go on to their own end if they
//! have left too.
//!
//! What a PE notices of another one's end, or of a network's, is an effect. Who knows the cause may be
//! later: a host that is lost kills its own PEs, and their peers hear of that at once. So a suspicion waits
//! for a moment, and gives way to a death, to the loss of a host, and to a PE that ends the job of its own. A PE that
//! a signal has ended may take long to be over, because the kernel writes its core dump: until then the suspicion waits.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Run;
use super::phase::{Cause, GRACE, GRACE_OF_USER, Phase, Suspicion};
use crate::launch::Failure;
use crate::launch::host::{Host, Stranger};
use crate::launch::host_pes::LOOK;
use crate::launch::message::Order;
use crate::launch::report::{Notice, Standing, ended_with, standings};
use crate::launch::signals::{self, Received};

/// How long another host may take to say that all its PEs have been killed. It is left to itself then:
/// the end of the connection ends them.
const LAST: Duration = Duration::from_secs(5);

/// How long the others may go on after a death, until all of them wait.
pub(super) const SETTLE: Duration = Duration::from_millis(250);

/// How long a suspicion waits for somebody who knows more.
pub(super) const SUSPECT: Duration = Duration::from_secs(1);

/// How long hosts may take to say what their PEs do.
pub(super) const ANSWER: Duration = Duration::from_millis(500);

/// Bytes of a message that still reads as one sentence, in two lines of a terminal; a longer one has a
/// line for each clause.
const ONE_SENTENCE: usize = 160;

impl Run {
    /// How long it may be waited for what happens.
    pub(super) fn timeout(&self, now: Instant) -> Option<Duration> {
        let hosts = self.hosts.iter().filter_map(|host| host.patience()).min();
        let settling = matches!(self.phase, Phase::Settling(_)).then_some(LOOK);
        let phase = match self.phase {
            Phase::Settling(until) | Phase::Asking(until, _) => Some(until),
            Phase::Suspecting(until, _) => [Some(until), self.deadline].into_iter().flatten().min(),
            Phase::Ending(until) | Phase::Killed(until) if until > now => Some(until),
            Phase::Running => self.deadline,
            Phase::Ending(_) | Phase::Killed(_) => None,
        };
        let until = [phase, self.asked].into_iter().flatten().min();
        let next = [hosts, settling, until.map(|at| at.saturating_duration_since(now))];
        next.into_iter().flatten().min()
    }

    /// What time brings: deaths, the end of patience.
    pub(super) fn move_on(&mut self, now: Instant) {
        if self.seats.iter().any(|seat| seat.joined.is_some()) {
            let absences = self.seats.iter_mut().filter_map(|seat| seat.absence.take());
            let absences: Vec<Notice> = absences.collect();
            absences.into_iter().for_each(|notice| self.note(notice));
        }
        if let Some(until) = self.asked
            && (now >= until || self.all_have_answered())
        {
            self.asked = None;
            let clauses = standings(&self.standings(None));
            self.say(&format!("the PEs now:\n  {}", clauses.join("\n  ")));
        }
        // A PE may be dying for long: a core dump ends when its file system lets it.
        if matches!(self.phase, Phase::Running | Phase::Suspecting(..))
            && let (Some(at), Some(time)) = (self.deadline, self.terms.time)
            && now >= at
        {
            self.phase = Phase::Running;
            let text = format!("the job has run for the {time:?} it was given");
            self.break_down(Cause::new(text, Failure::TimedOut, 124));
        }
        match std::mem::replace(&mut self.phase, Phase::Running) {
            Phase::Running => {}
            Phase::Settling(until) if now >= until || self.is_settled() => self.tell_deaths(),
            Phase::Suspecting(until, suspicion) if now >= until => {
                let is_dying = |(_, standing): &(usize, Standing)| *standing == Standing::Dying;
                if self.standings(None).iter().any(is_dying) {
                    self.suspect(suspicion);
                } else {
                    self.believe(suspicion);
                }
            }
            Phase::Asking(until, cause) if now >= until || self.all_have_answered() => self.conclude(cause),
            Phase::Ending(until) if now >= until => {
                self.phase = Phase::Killed(now + LAST);
                let kill = Order::Signal { signal: Signal::KILL.as_raw(), except: None };
                self.hosts.iter_mut().for_each(|host| host.order(&kill));
            }
            Phase::Killed(until) if now >= until => {
                self.phase = Phase::Killed(until);
                let gone = self.hosts.iter_mut().filter_map(Host::give_up).flatten().collect();
                self.leave_out(gone);
            }
            unchanged => self.phase = unchanged,
        }
    }

    /// A PE has died.
    pub(super) fn note(&mut self, notice: Notice) {
        if matches!(self.phase, Phase::Running | Phase::Settling(_) | Phase::Suspecting(..)) {
            self.deaths.push(notice);
        }
        if matches!(self.phase, Phase::Running | Phase::Suspecting(..)) && self.failure.is_none() {
            self.phase = Phase::Settling(Instant::now() + SETTLE);
            self.hosts.iter_mut().for_each(Host::look);
        }
    }

    /// Whether all PEs will stay as they are until something happens to them.
    fn is_settled(&mut self) -> bool {
        if !self.all_have_answered() {
            return false;
        }
        let standings = self.hosts.iter().flat_map(Host::standings);
        let settled = standings.into_iter().all(|(pe, s)| self.seats[pe].over || s.is_at_rest());
        if !settled {
            self.hosts.iter_mut().for_each(Host::look);
        }
        settled
    }

    /// Says who has died, and ends the job if somebody might wait for them.
    pub(super) fn tell_deaths(&mut self) {
        self.phase = Phase::Running;
        let Some(first) = self.deaths.first().cloned() else { return };
        let who = self.who(first.pe, first.pid);
        let hint = first.hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        let failure = Failure::Died { pe: first.pe, how: first.how.clone() };
        self.fail(&format!("{who} {}{hint}", first.how), failure, first.code, Some(first.pe));
        if !self.seats.iter().all(|seat| seat.finished || seat.over) {
            self.end(Some(Signal::TERM), false, GRACE, None);
        }
    }

    /// A PE cannot go on, and who is to blame may be told by others.
    pub(super) fn suspect(&mut self, suspicion: Suspicion) {
        if matches!(self.phase, Phase::Running) && self.failure.is_none() {
            self.phase = Phase::Suspecting(Instant::now() + SUSPECT, suspicion);
            self.hosts.iter_mut().for_each(Host::look);
        }
    }

    /// Nobody has known more.
    pub(super) fn believe(&mut self, suspicion: Suspicion) {
        self.phase = Phase::Running;
        self.abort(suspicion.pe, 1, suspicion.message);
    }

    /// A PE ends the job.
    pub(super) fn abort(&mut self, pe: usize, code: i32, message: String) {
        if !matches!(self.phase, Phase::Running | Phase::Suspecting(..)) || self.failure.is_some() {
            return;
        }
        let code8 = if code != 0 && code & 0xff == 0 { 1 } else { (code & 0xff) as u8 };
        let text = (code != 0 || !message.is_empty()).then(|| ended_with(code, &message));
        self.failure = Some((Failure::Aborted { pe, code, message }, code8));
        if let Some(text) = text {
            self.pump();
            let who = self.who(pe, self.seats[pe].joined.unwrap_or_default());
            self.say(&format!("{who} {text}"));
        }
        self.end(Some(Signal::TERM), false, GRACE, Some(pe));
    }

    /// A signal has come to the launcher.
    pub(super) fn heed(&mut self, signal: Received) {
        if signal.number == libc::SIGQUIT {
            self.asked = Some(Instant::now() + ANSWER);
            self.hosts.iter_mut().for_each(Host::look);
            return;
        }
        // At the prompt of a debugger that key is the debugger's.
        if self.terms.debugged && signal.number == libc::SIGINT {
            return;
        }
        if matches!(self.phase, Phase::Ending(_) | Phase::Killed(_)) {
            self.phase = Phase::Ending(Instant::now());
            return;
        }
        self.break_down(Cause {
            text: format!("ended by {}", signals::name(signal.number)),
            failure: Failure::Interrupted { signal: signal.number },
            code: 128u8.saturating_add(signal.number as u8),
            grace: GRACE_OF_USER,
            signal: Signal::from_named_raw(signal.number),
            by_terminal: signal.by_terminal,
        });
    }

    /// Ends the job, once it is known what the PEs were doing.
    pub(super) fn break_down(&mut self, cause: Cause) {
        if matches!(self.phase, Phase::Asking(..) | Phase::Ending(_) | Phase::Killed(_)) {
            return;
        }
        self.hosts.iter_mut().for_each(Host::look);
        if self.all_have_answered() {
            self.conclude(cause);
        } else {
            self.phase = Phase::Asking(Instant::now() + ANSWER, cause);
        }
    }

    /// The job ends for what a host did or could not do.
    pub(super) fn blame(&mut self, host: usize, what: String, code: u8) {
        let name = self.hosts[host].name().unwrap_or_default().to_owned();
        let text = format!("host {name}: {what}");
        self.break_down(Cause::new(text, Failure::Host { host: name, what }, code));
    }

    /// A host cannot be reached any more.
    pub(super) fn lose(&mut self, host: usize, what: String) {
        let (host, pes) = (&self.hosts[host], self.hosts[host].pes().to_vec());
        let name = host.name().unwrap_or_default().to_owned();
        let missed = pes.iter().any(|&pe| !self.seats[pe].over);
        self.leave_out(pes);
        if missed {
            let text = format!("host {name} is lost: {what}");
            self.break_down(Cause::new(text, Failure::Host { host: name, what }, 1));
        }
    }

    /// Of what a host told after the end nothing is believed; all PEs are done.
    pub(super) fn distrust(&mut self, host: usize, stranger: Stranger) {
        if self.failure.is_none() {
            let (host, what) = (self.hosts[host].name().unwrap_or_default().to_owned(), stranger.to_string());
            self.say(&format!("host {host}: {what}"));
            self.failure = Some((Failure::Host { host, what }, 1));
        }
    }

    /// These PEs are not waited for any more.
    pub(super) fn leave_out(&mut self, pes: Vec<usize>) {
        pes.into_iter().for_each(|pe| self.seats[pe].over = true);
    }

    /// It is known, or has been waited for long enough.
    pub(super) fn conclude(&mut self, cause: Cause) {
        self.fail(&cause.text, cause.failure, cause.code, None);
        self.end(cause.signal, cause.by_terminal, cause.grace, None);
    }

    fn fail(&mut self, text: &str, failure: Failure, code: u8, without: Option<usize>) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some((failure, code));
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
    }

    /// Asks all PEs but one to end, by the signal if they have not got one yet, and sees to it that
    /// they do.
    fn end(&mut self, signal: Option<Signal>, by_terminal: bool, grace: Duration, except: Option<usize>) {
        self.phase = Phase::Ending(Instant::now() + grace);
        let Some(signal) = signal else { return };
        let order = Order::Signal { signal: signal.as_raw(), except };
        let to_be_told = self.hosts.iter_mut().filter(|host| !(by_terminal && host.is_here()));
        to_be_told.for_each(|host| host.order(&order));
    }
}
