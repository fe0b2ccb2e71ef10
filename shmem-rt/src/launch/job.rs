//! A running job: one thread that waits for what happens on its hosts and for signals, and decides
//! when the job is over.
//!
//! A PE that ends badly ends the job. The launcher first lets the others settle for a moment, so that
//! it can say what they were waiting for, and so that a mistake that all PEs make at once is told
//! once; then it tells, asks the rest to end, and ends it. A PE that has left the job in order cannot
//! make others wait any more: its exit code counts, but the others go on to their own end if they
//! have left too.
//!
//! What a PE notices of another one's end, or of a network's, is an effect. Who knows the cause may be
//! later: a host that is lost kills its own PEs, and their peers hear of that at once. So a suspicion waits
//! for a moment, and gives way to a death, to the loss of a host, and to a PE that ends the job of its own.
//!
//! Whether a host is this one or another makes no difference here, but for time: what PEs of another
//! host do is asked for, and the answer is waited for, though not for long.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::ending::{Cause, Suspicion};
use super::host::Host;
use super::node::{Event, LOOK, Order};
use super::output::{Kind, Printer};
use super::rendezvous::Assembly;
use super::report::{Notice, Standing, standings};
use super::signals::Signals;
use super::{Failure, Outcome, Output, timespec};

/// How long another host may take to say that all its PEs have been killed. It is left to itself then:
/// the end of the connection ends them.
const LAST: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) enum Phase {
    Running,
    /// Somebody has died; the others are let go on until then.
    Settling(Instant),
    /// A PE cannot go on because somebody else seems to be lost; who knows more may say so until then.
    Suspecting(Instant, Suspicion),
    /// The job is to end; hosts may say until then what their PEs do.
    Asking(Instant, Cause),
    /// All have been asked to end, and are killed then.
    Ending(Instant),
    /// All have been killed; who has not said so by then is given up.
    Killed(Instant),
}

/// What is known of a PE.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) joined: Option<u32>,
    pub(super) finished: bool,
    pub(super) over: bool,
    stayed_away: bool,
    /// Its end without having joined, until it is told as a death.
    absence: Option<Notice>,
    printers: Vec<Printer>,
}

/// What is the same on all hosts.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) program: OsString,
    pub(crate) pes: usize,
    pub(crate) output: Output,
    pub(crate) debugged: bool,
    pub(crate) time: Option<Duration>,
}

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(super) terms: Terms,
    pub(super) hosts: Vec<Host>,
    pub(super) seats: Vec<Seat>,
    assembly: Assembly,
    signals: Option<Signals>,
    deadline: Option<Instant>,
    pub(super) phase: Phase,
    /// Until when the hosts may answer the user's question what their PEs do.
    pub(super) asked: Option<Instant>,
    pub(super) deaths: Vec<Notice>,
    pub(super) failure: Option<(Failure, u8)>,
    report: String,
}

impl Job {
    /// Of the hosts whose PEs have been started.
    pub(crate) fn new(terms: Terms, hosts: Vec<Host>, signals: Option<Signals>) -> Self {
        let printers = |pe: usize| -> Vec<Printer> {
            let tag = (terms.output == Output::Tag).then(|| format!("[{pe}] "));
            match terms.output {
                Output::Inherit => Vec::new(),
                _ => vec![Printer::new(Kind::Out, tag.clone()), Printer::new(Kind::Err, tag)],
            }
        };
        Self {
            seats: (0..terms.pes).map(|pe| Seat { printers: printers(pe), ..Seat::default() }).collect(),
            deadline: terms.time.and_then(|time| Instant::now().checked_add(time)),
            assembly: Assembly::new(hosts.len()),
            terms,
            hosts,
            signals,
            phase: Phase::Running,
            asked: None,
            deaths: Vec::new(),
            failure: None,
            report: String::new(),
        }
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Outcome {
        self.wait_for_all();
        match std::mem::replace(&mut self.phase, Phase::Running) {
            Phase::Settling(_) => self.tell_deaths(),
            Phase::Suspecting(_, suspicion) => self.believe(suspicion),
            Phase::Asking(_, cause) => self.conclude(cause),
            Phase::Running | Phase::Ending(_) | Phase::Killed(_) => {}
        }
        self.hosts.iter_mut().for_each(|host| host.order(&Order::End));
        for host in 0..self.hosts.len() {
            let events = self.hosts[host].dismiss();
            events.into_iter().for_each(|event| self.hear(host, event));
        }
        self.seats.iter_mut().flat_map(|seat| &mut seat.printers).for_each(Printer::finish);
        let apart = self.seats.iter().all(|seat| seat.stayed_away) && self.seats.len() > 1;
        if self.failure.is_none() && apart {
            self.say(&format!(
                "{} copies of `{}` ran, and none of them joined the job: each was alone",
                self.seats.len(),
                self.terms.program.display()
            ));
        }
        let outputs = self.seats.into_iter().map(|seat| {
            let mut streams = seat.printers.into_iter().map(Printer::into_bytes);
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
        while !self.seats.iter().all(|seat| seat.over) {
            let ready = self.sleep();
            while let Some(signal) = self.signals.as_ref().and_then(Signals::next) {
                self.heed(signal);
            }
            for (host, ready) in ready.iter().enumerate() {
                let (events, loss) = self.hosts[host].serve(ready);
                events.into_iter().for_each(|event| self.hear(host, event));
                if let Some(what) = loss {
                    self.lose(host, what);
                }
            }
            self.move_on(Instant::now());
        }
    }

    /// Waits until something happens; gives for each host what was ready.
    fn sleep(&self) -> Vec<Vec<usize>> {
        let mut list = Vec::new();
        let mut owners = Vec::new();
        for (host, of_host) in self.hosts.iter().enumerate() {
            for (number, fd) in of_host.poll_list() {
                owners.push((host, number));
                list.push(fd);
            }
        }
        if let Some(signals) = &self.signals {
            list.push(PollFd::new(signals, PollFlags::IN));
        }
        let timeout = self.timeout(Instant::now()).map(timespec);
        match poll(&mut list, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing to wait with (no memory in the kernel): look again a little later.
            Err(_) => std::thread::sleep(LOOK),
        }
        let mut ready = vec![Vec::new(); self.hosts.len()];
        for (&(host, number), fd) in owners.iter().zip(&list) {
            if !fd.revents().is_empty() {
                ready[host].push(number);
            }
        }
        ready
    }

    fn timeout(&self, now: Instant) -> Option<Duration> {
        let hosts = self.hosts.iter().filter_map(|host| host.patience()).min();
        let settling = matches!(self.phase, Phase::Settling(_)).then_some(LOOK);
        let phase = match self.phase {
            Phase::Settling(until) | Phase::Asking(until, _) | Phase::Suspecting(until, _) => Some(until),
            Phase::Ending(until) | Phase::Killed(until) if until > now => Some(until),
            Phase::Running => self.deadline,
            Phase::Ending(_) | Phase::Killed(_) => None,
        };
        let until = [phase, self.asked].into_iter().flatten().min();
        let next = [hosts, settling, until.map(|at| at.saturating_duration_since(now))];
        next.into_iter().flatten().min()
    }

    /// Something has happened on a host.
    fn hear(&mut self, host: usize, event: Event) {
        match event {
            Event::Joined { pe, pid } => self.seats[pe].joined = Some(pid),
            Event::Fenced { values, last } => {
                let packets = self.assembly.bring(host, values, last).unwrap_or_default();
                let mut rest = packets.len();
                for packet in packets {
                    rest -= 1;
                    let order = Order::Deliver { packet, last: rest == 0 };
                    self.hosts.iter_mut().for_each(|host| host.order(&order));
                }
            }
            Event::Printed { pe, kind, bytes } => {
                let printer = self.seats[pe].printers.get_mut(usize::from(kind == Kind::Err));
                if printer.is_some_and(|printer| !printer.take(&bytes)) {
                    self.hosts[host].order(&Order::Close { pe, kind });
                }
            }
            Event::Aborted { pe, code, message } => self.abort(pe, code, message),
            Event::Suspected { pe, message } => self.suspect(Suspicion { pe, message }),
            Event::Finished { pe } => self.seats[pe].finished = true,
            Event::Died(notice) => self.note(notice),
            Event::StayedAway(notice) => {
                let seat = &mut self.seats[notice.pe];
                seat.stayed_away = true;
                seat.absence = Some(notice);
            }
            Event::Over { pe } => self.seats[pe].over = true,
            Event::Broken { pe, what } => {
                let failure = Failure::Broken { pe, what: what.clone() };
                self.break_down(Cause::new(format!("PE {pe}: {what}"), failure, 1));
            }
            Event::Standings(standings) => self.hosts[host].answer(standings),
            Event::Failed { what, code } => {
                let name = self.hosts[host].name().unwrap_or_default().to_owned();
                self.leave_out(self.hosts[host].pes().to_vec());
                let text = format!("host {name}: {what}");
                self.break_down(Cause::new(text, Failure::Host { host: name, what }, code));
            }
        }
    }

    /// A host cannot be reached any more.
    fn lose(&mut self, host: usize, what: String) {
        let (host, pes) = (&self.hosts[host], self.hosts[host].pes().to_vec());
        let name = host.name().unwrap_or_default().to_owned();
        let missed = pes.iter().any(|&pe| !self.seats[pe].over);
        self.leave_out(pes);
        if missed {
            let text = format!("host {name} is lost: {what}");
            self.break_down(Cause::new(text, Failure::Host { host: name, what }, 1));
        }
    }

    /// These PEs are not waited for any more.
    fn leave_out(&mut self, pes: Vec<usize>) {
        pes.into_iter().for_each(|pe| self.seats[pe].over = true);
    }

    /// What time brings: deaths, the end of patience.
    fn move_on(&mut self, now: Instant) {
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
        match std::mem::replace(&mut self.phase, Phase::Running) {
            Phase::Running => {
                if let (Some(at), Some(time)) = (self.deadline, self.terms.time)
                    && now >= at
                {
                    let text = format!("the job has run for the {time:?} it was given");
                    self.break_down(Cause::new(text, Failure::TimedOut, 124));
                }
            }
            Phase::Settling(until) if now >= until || self.is_settled() => self.tell_deaths(),
            Phase::Suspecting(until, suspicion) if now >= until => self.believe(suspicion),
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

    /// What the PEs do, but for one.
    pub(super) fn standings(&self, without: Option<usize>) -> Vec<(usize, Standing)> {
        let mut all: Vec<_> = self.hosts.iter().flat_map(Host::standings).collect();
        all.retain(|(pe, _)| Some(*pe) != without);
        all.sort_by_key(|(pe, _)| *pe);
        all
    }

    /// What PEs have printed comes before what the launcher says about them.
    pub(super) fn pump(&mut self) {
        for host in 0..self.hosts.len() {
            let events = self.hosts[host].pump();
            events.into_iter().for_each(|event| self.hear(host, event));
        }
    }

    /// A PE, as messages name it.
    pub(super) fn who(&self, pe: usize, pid: u32) -> String {
        let host = self.hosts.iter().find(|host| host.pes().contains(&pe));
        match host.and_then(Host::name) {
            Some(host) => format!("PE {pe} (pid {pid} on {host})"),
            None => format!("PE {pe} (pid {pid})"),
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        if self.terms.output != Output::Capture {
            super::say(text);
        }
        self.report.push_str(text);
        self.report.push('\n');
    }
}
