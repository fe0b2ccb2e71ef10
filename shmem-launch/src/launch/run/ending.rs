//! How a job comes to its end: the phases that it goes through once something has happened to it, and what is told of that.
//!
//! A PE that ends badly ends the job. The launcher first lets the others settle for a moment, so that
//! it can say what they were waiting for, and so that a mistake that all PEs make at once is told
//! once; then it tells, asks the rest to end, and ends it. A PE that has left the job in order cannot
//! make others wait any more: its exit code counts, but the others go on to their own end if they
//! have left too.
//!
//! What a PE notices of another one's end is an effect, and the launcher may hear of the cause later. So a suspicion waits
//! for a moment, and gives way to a death, and to a PE that ends the job of its own. A PE that
//! a signal has ended may take long to be over, because the kernel writes its core dump: until then the suspicion waits.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Cause, GRACE, GRACE_OF_USER, Phase, Run, Suspicion};
use crate::launch::Failure;
use crate::launch::pes::LOOK;
use crate::launch::report::{Notice, Standing, ended_with, standings};
use crate::launch::signals::{self, Received};

/// How long the others may go on after a death, until all of them wait.
pub(super) const SETTLE: Duration = Duration::from_millis(250);

/// How long a suspicion waits for somebody who knows more.
pub(super) const SUSPECT: Duration = Duration::from_secs(1);

/// Bytes of a message that still reads as one sentence, in two lines of a terminal; a longer one has a
/// line for each clause.
const ONE_SENTENCE: usize = 160;

impl Run {
    /// How long it may be waited for what happens.
    pub(super) fn timeout(&self, now: Instant) -> Option<Duration> {
        let settling = matches!(self.phase, Phase::Settling(_)).then_some(LOOK);
        let until = match self.phase {
            Phase::Settling(until) => Some(until),
            Phase::Suspecting(until, _) => [Some(until), self.deadline].into_iter().flatten().min(),
            Phase::Ending(until) => until,
            Phase::Running => self.deadline,
        };
        let next = [self.pes.patience(), settling, until.map(|at| at.saturating_duration_since(now))];
        next.into_iter().flatten().min()
    }

    /// What time brings: deaths, the end of patience.
    pub(super) fn move_on(&mut self, now: Instant) {
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
            Phase::Settling(until) if now >= until || self.is_settled() => self.tell_deaths(),
            Phase::Suspecting(until, suspicion) if now >= until => {
                let is_dying = |(_, standing): &(usize, Standing)| *standing == Standing::Dying;
                if self.pes.standings().iter().any(is_dying) {
                    self.suspect(suspicion);
                } else {
                    self.believe(suspicion);
                }
            }
            Phase::Ending(Some(until)) if now >= until => {
                self.phase = Phase::Ending(None);
                self.pes.signal(Signal::KILL, None);
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
        }
    }

    /// Whether all PEs will stay as they are until something happens to them.
    fn is_settled(&self) -> bool {
        self.pes.standings().into_iter().all(|(pe, standing)| self.pes.is_over(pe) || standing.is_at_rest())
    }

    /// Says who has died, and ends the job if somebody might wait for them.
    pub(super) fn tell_deaths(&mut self) {
        self.phase = Phase::Running;
        let Some(first) = self.deaths.first().cloned() else { return };
        let who = format!("PE {} (pid {})", first.pe, first.pid);
        let hint = first.hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        let failure = Failure::Died { pe: first.pe, how: first.how.clone() };
        self.fail(&format!("{who} {}{hint}", first.how), failure, first.code, Some(first.pe));
        if !self.pes.have_left() {
            self.end(Some(Signal::TERM), GRACE, None);
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
        let text = (code != 0 || !message.is_empty()).then(|| ended_with(code, &message));
        self.failure = Some((Failure::Aborted { pe, code, message }, code8));
        if let Some(text) = text {
            let pid = self.pes.process(pe).unwrap_or_default();
            self.say(&format!("PE {pe} (pid {pid}) {text}"));
        }
        self.end(Some(Signal::TERM), GRACE, Some(pe));
    }

    /// A signal has come to the launcher.
    pub(super) fn heed(&mut self, signal: Received) {
        if signal.number == libc::SIGQUIT {
            let clauses = standings(&self.pes.standings());
            return self.say(&format!("the PEs now:\n  {}", clauses.join("\n  ")));
        }
        // At the prompt of a debugger that key is the debugger's.
        if self.terms.debugged && signal.number == libc::SIGINT {
            return;
        }
        if matches!(self.phase, Phase::Ending(Some(_))) {
            self.phase = Phase::Ending(Some(Instant::now()));
            return;
        }
        self.break_down(Cause {
            text: format!("ended by {}", signals::name(signal.number)),
            failure: Failure::Interrupted { signal: signal.number },
            code: 128u8.saturating_add(signal.number as u8),
            grace: GRACE_OF_USER,
            // A key of the terminal has sent it to the PEs, too.
            signal: Signal::from_named_raw(signal.number).filter(|_| !signal.by_terminal),
        });
    }

    /// Ends the job, and says what the PEs were doing.
    pub(super) fn break_down(&mut self, cause: Cause) {
        if !matches!(self.phase, Phase::Ending(_)) {
            self.fail(&cause.text, cause.failure, cause.code, None);
            self.end(cause.signal, cause.grace, None);
        }
    }

    fn fail(&mut self, text: &str, failure: Failure, code: u8, without: Option<usize>) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some((failure, code));
        let mut text = text.to_owned();
        let mut others = self.pes.standings();
        others.retain(|(pe, _)| Some(*pe) != without);
        let others = standings(&others);
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
    fn end(&mut self, signal: Option<Signal>, grace: Duration, except: Option<usize>) {
        self.phase = Phase::Ending(Some(Instant::now() + grace));
        if let Some(signal) = signal {
            self.pes.signal(signal, except);
        }
    }
}
