//! How a job ends before its time: what is noted, asked, told, and done then.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Failure;
use super::host::Host;
use super::job::{Job, Phase};
use super::node::Order;
use super::report::{Notice, ended_with, standings};
use super::signals::{self, Received};

/// How long the others may go on after a death, until all of them wait.
const SETTLE: Duration = Duration::from_millis(250);

/// How long a suspicion waits for somebody who knows more.
const SUSPECT: Duration = Duration::from_secs(1);

/// How long hosts may take to say what their PEs do.
const ANSWER: Duration = Duration::from_millis(500);

/// Between SIGTERM and SIGKILL after a death.
const GRACE: Duration = Duration::from_millis(200);

/// Between a signal of the user's and SIGKILL: programs may want to save something.
const GRACE_OF_USER: Duration = Duration::from_secs(2);

/// Bytes of a message that still reads as one sentence, in two lines of a terminal; a longer one has a
/// line for each clause.
const ONE_SENTENCE: usize = 160;

/// Why a job ends that could go on.
#[derive(Debug)]
pub(super) struct Cause {
    text: String,
    failure: Failure,
    code: u8,
    grace: Duration,
    signal: Option<Signal>,
    /// Whether the PEs of this host have the signal already.
    by_terminal: bool,
}

impl Cause {
    /// Something that has gone wrong.
    pub(super) fn new(text: String, failure: Failure, code: u8) -> Self {
        Self { text, failure, code, grace: GRACE, signal: Some(Signal::TERM), by_terminal: false }
    }
}

/// Why a PE takes another one, or its host, to be lost.
#[derive(Debug)]
pub(super) struct Suspicion {
    pub(super) pe: usize,
    pub(super) message: String,
}

impl Job {
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

    /// Whether it is known what all PEs do.
    pub(super) fn all_have_answered(&self) -> bool {
        self.hosts.iter().all(Host::has_answered)
    }

    /// Whether all PEs will stay as they are until something happens to them.
    pub(super) fn is_settled(&mut self) -> bool {
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
        if code != 0 || !message.is_empty() {
            self.pump();
            let who = self.who(pe, self.seats[pe].joined.unwrap_or_default());
            self.say(&format!("{who} {}", ended_with(code, &message)));
        }
        self.failure = Some((Failure::Aborted { pe, code, message }, code8));
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

    /// It is known, or has been waited for long enough.
    pub(super) fn conclude(&mut self, cause: Cause) {
        self.fail(&cause.text, cause.failure, cause.code, None);
        self.end(cause.signal, cause.by_terminal, cause.grace, None);
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
