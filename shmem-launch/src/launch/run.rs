//! A running job: one thread that waits for what happens on its hosts and for signals, and decides
//! when the job is over.
//!
//! Whether a host is this one or another makes no difference here, but for time: what PEs of another
//! host do is asked for, and the answer is waited for, though not for long.
//!
//! Nothing else waits for who reads the output: while it pauses, PEs are kept from printing more, and all else goes on.

mod ending;
mod phase;

use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use self::phase::{Cause, GRACE_OF_USER, Phase, Suspicion};
use super::host::Host;
use super::host_pes::LOOK;
use super::message::{Event, Order};
use super::output::{Kind, Outlets, Printer};
use super::rendezvous::Assembly;
use super::report::{Notice, Standing};
use super::signals::Signals;
use super::{Failure, Outcome, Output, timespec};
use crate::say::line;

/// What is known of a PE.
#[derive(Debug, Default)]
struct Seat {
    joined: Option<u32>,
    finished: bool,
    over: bool,
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
    /// What the launcher is called.
    pub(crate) speaker: String,
}

/// A job that runs.
#[derive(Debug)]
pub(crate) struct Run {
    terms: Terms,
    hosts: Vec<Host>,
    seats: Vec<Seat>,
    assembly: Assembly,
    signals: Option<Signals>,
    outlets: Outlets,
    deadline: Option<Instant>,
    phase: Phase,
    /// Until when the hosts may answer the user's question what their PEs do.
    asked: Option<Instant>,
    deaths: Vec<Notice>,
    failure: Option<(Failure, u8)>,
    remarks: Vec<String>,
    report: String,
}

impl Run {
    /// Of the hosts whose PEs have been started.
    pub(crate) fn new(terms: Terms, hosts: Vec<Host>, signals: Option<Signals>, outlets: Outlets) -> Self {
        let printers = |pe: usize| -> Vec<Printer> {
            let tag = match terms.output {
                Output::Inherit => Some(String::new()),
                Output::Tag => Some(format!("[{pe}] ")),
                Output::Capture => None,
            };
            vec![Printer::new(Kind::Out, tag.clone()), Printer::new(Kind::Err, tag)]
        };
        Self {
            seats: (0..terms.pes).map(|pe| Seat { printers: printers(pe), ..Seat::default() }).collect(),
            deadline: terms.time.and_then(|time| Instant::now().checked_add(time)),
            assembly: Assembly::new(hosts.len()),
            terms,
            hosts,
            signals,
            outlets,
            phase: Phase::Running,
            asked: None,
            deaths: Vec::new(),
            failure: None,
            remarks: Vec::new(),
            report: String::new(),
        }
    }

    /// Sees it to its end.
    pub(crate) fn finish(mut self) -> Outcome {
        self.wait_for_all();
        match std::mem::replace(&mut self.phase, Phase::Running) {
            Phase::Settling(_) => self.tell_deaths(),
            Phase::Suspecting(_, suspicion) => self.believe(suspicion),
            Phase::Asking(_, cause) => self.conclude(cause),
            Phase::Running | Phase::Ending(_) | Phase::Killed(_) => {}
        }
        self.hosts.iter_mut().for_each(|host| host.order(&Order::End));
        for host in 0..self.hosts.len() {
            match self.hosts[host].dismiss() {
                Ok(events) => events.into_iter().for_each(|event| self.hear(host, event)),
                Err(stranger) => self.distrust(host, stranger),
            }
        }
        (0..self.seats.len()).for_each(|pe| self.print_rest(pe));
        // What PEs have printed, and that it could not be written, comes before anything that is said.
        self.write_rest(Kind::Out);
        let apart = self.seats.iter().all(|seat| seat.stayed_away) && self.seats.len() > 1;
        if self.failure.is_none() && apart {
            self.say(&format!(
                "{} copies of `{}` ran, and none of them joined the job: each was alone",
                self.seats.len(),
                self.terms.program.display()
            ));
        }
        self.write_rest(Kind::Err);
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
            self.heed_outlets();
            self.move_on(Instant::now());
        }
    }

    /// PEs whose output finds no room wait with it.
    fn heed_outlets(&mut self) {
        self.outlets.hush();
        for (kind, held) in self.outlets.turned() {
            self.hosts.iter_mut().for_each(|host| host.order(&Order::Hold { kind, held }));
        }
        for kind in [Kind::Out, Kind::Err] {
            if let Some(Err(error)) = self.outlets.end(kind) {
                self.lack_room(kind, &error);
            }
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
        self.wait(&mut list, self.timeout(Instant::now()));
        let mut ready = vec![Vec::new(); self.hosts.len()];
        for (&(host, number), fd) in owners.iter().zip(&list) {
            if !fd.revents().is_empty() {
                ready[host].push(number);
            }
        }
        ready
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

    /// Something has happened on a host.
    fn hear(&mut self, host: usize, event: Event) {
        match event {
            Event::Joined { pe, pid } => self.seats[pe].joined = Some(pid),
            Event::Fenced { values, last } => match self.assembly.bring(host, values, last) {
                Ok(packets) => self.deliver(packets.unwrap_or_default()),
                Err(too_much) => {
                    let gone = self.hosts[host].give_up().unwrap_or_default();
                    self.leave_out(gone);
                    self.blame(host, too_much.to_string(), 1);
                }
            },
            Event::Printed { pe, kind, bytes } => {
                let printers = self.seats[pe].printers.iter_mut().find(|printer| printer.kind == kind);
                let lines = printers.map(|printer| printer.take(&bytes)).unwrap_or_default();
                match self.outlets.write(kind, lines) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        self.hosts[host].order(&Order::Close { pe, kind });
                    }
                    Err(error) => self.lack_room(kind, &error),
                    Ok(()) => {}
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
            Event::Over { pe } => {
                self.print_rest(pe);
                self.seats[pe].over = true;
            }
            Event::Broken { pe, what } => {
                let failure = Failure::Broken { pe, what: what.clone() };
                self.break_down(Cause::new(format!("PE {pe}: {what}"), failure, 1));
            }
            Event::Standings(standings) => self.hosts[host].answer(standings),
            Event::Failed { what, code } => {
                self.leave_out(self.hosts[host].pes().to_vec());
                self.blame(host, what, code);
            }
            // Of several hosts the same is said once.
            Event::Remarked { what } if self.remarks.contains(&what) => {}
            Event::Remarked { what } => {
                self.say(&what);
                self.remarks.push(what);
            }
        }
    }

    /// A PE prints nothing more: what is left is its last line.
    fn print_rest(&mut self, pe: usize) {
        let printers = self.seats[pe].printers.iter_mut();
        let write = |printer: &mut Printer| {
            Some((printer.kind, self.outlets.write(printer.kind, printer.finish()).err()?))
        };
        let errors: Vec<_> = printers.filter_map(write).collect();
        errors.iter().for_each(|(kind, error)| self.lack_room(*kind, error));
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
        if self.seats.iter().all(|seat| seat.over) {
            self.say(&what);
            self.failure = Some((Failure::Output { what }, 1));
        } else {
            self.break_down(Cause::new(what.clone(), Failure::Output { what }, 1));
        }
    }

    /// The fence is over: these packets are for every PE.
    fn deliver(&mut self, packets: Vec<Vec<u8>>) {
        let mut rest = packets.len();
        for packet in packets {
            rest -= 1;
            let order = Order::Deliver { packet, last: rest == 0 };
            self.hosts.iter_mut().for_each(|host| host.order(&order));
        }
    }

    /// What the PEs do, but for one.
    fn standings(&self, without: Option<usize>) -> Vec<(usize, Standing)> {
        let mut all: Vec<_> = self.hosts.iter().flat_map(Host::standings).collect();
        all.retain(|(pe, _)| Some(*pe) != without);
        all.sort_by_key(|(pe, _)| *pe);
        all
    }

    /// What PEs have printed comes before what the launcher says about them.
    fn pump(&mut self) {
        for host in 0..self.hosts.len() {
            let events = self.hosts[host].pump();
            events.into_iter().for_each(|event| self.hear(host, event));
        }
    }

    /// A PE, as messages name it.
    fn who(&self, pe: usize, pid: u32) -> String {
        let host = self.hosts.iter().find(|host| host.pes().contains(&pe));
        match host.and_then(Host::name) {
            Some(host) => format!("PE {pe} (pid {pid} on {host})"),
            None => format!("PE {pe} (pid {pid})"),
        }
    }

    /// Whether it is known what all PEs do.
    fn all_have_answered(&self) -> bool {
        self.hosts.iter().all(Host::has_answered)
    }

    /// All that a job's launcher says, wherever it has it from.
    fn say(&mut self, text: &str) {
        if self.terms.output != Output::Capture {
            // If nobody reads messages any more, nobody can be told.
            let _ =
                self.outlets.write(Kind::Err, line(&format!("{}: {text}", self.terms.speaker)).into_bytes());
        }
        self.report.push_str(&line(text));
    }
}

#[cfg(test)]
mod tests {
    use super::ending::{ANSWER, SETTLE, SUSPECT};
    use super::*;
    use crate::launch::remote::Remote;
    use crate::launch::wire::Value;

    /// A job of two PEs on another host, whose launcher has said this.
    fn run(events: &[Event]) -> Run {
        within(None, events)
    }

    /// The same, which may run for so long.
    fn within(time: Option<Duration>, events: &[Event]) -> Run {
        let host = Host::there(Remote::saying("other", events), vec![0, 1]);
        let terms = Terms {
            program: "program".into(),
            pes: 2,
            output: Output::Capture,
            debugged: false,
            time,
            speaker: "shmrun".into(),
        };
        let outlets = Outlets::new(Output::Capture, &[vec![Kind::Out, Kind::Err]]).unwrap();
        Run::new(terms, vec![host], None, outlets)
    }

    #[test]
    fn who_speaks_for_others_is_told_and_not_believed() {
        let over = [Event::Over { pe: 0 }, Event::Over { pe: 1 }];
        for (late, failed) in [(1, false), (999, true)] {
            let mut run = run(&[Event::Finished { pe: late }]);
            over.iter().for_each(|event| run.hear(0, event.clone()));
            let outcome = run.finish();
            assert_eq!((outcome.code, outcome.failure.is_some()), (u8::from(failed), failed));
            let said = if failed { "host other: its launcher speaks for PEs of other hosts\n" } else { "" };
            assert_eq!(outcome.report, said);
        }
    }

    #[test]
    fn a_host_that_never_comes_to_an_end_is_named() {
        let mut run = run(&[]);
        let value = |i: usize| Value { pe: 1, key: i.to_string(), value: vec![0; 32 << 10] };
        let more = (0..99).map(|i| Event::Fenced { values: vec![value(i)], last: false });
        more.for_each(|event| run.hear(0, event));
        let said = "host other: PE 1 offers its launcher more than 1048576 bytes between two fences";
        assert!(run.report.starts_with(said), "{}", run.report);
        assert_eq!(run.report.matches("offers its launcher").count(), 1);
    }

    #[test]
    fn a_suspicion_waits_until_one_that_is_dying_is_over() {
        let mut run = run(&[]);
        run.hear(0, Event::Suspected { pe: 0, message: "PE 1 does not answer".into() });
        run.hear(0, Event::Standings(vec![(1, Standing::Dying)]));
        run.move_on(Instant::now() + 2 * SUSPECT);
        assert_eq!(run.report, "");
        let how = "was killed by signal 6 (SIGABRT), core dumped".to_owned();
        run.hear(0, Event::Died(Notice { pe: 1, pid: 7, how, hint: None, code: 134 }));
        run.move_on(Instant::now() + 2 * SETTLE);
        assert!(run.report.starts_with("PE 1 (pid 7 on other) was killed by signal 6"), "{}", run.report);
    }

    #[test]
    fn a_suspicion_does_not_outlast_the_time_of_the_job() {
        let time = SUSPECT / 2;
        let mut run = within(Some(time), &[]);
        run.hear(0, Event::Suspected { pe: 0, message: "PE 1 does not answer".into() });
        assert!(run.timeout(Instant::now()) <= Some(time));
        run.hear(0, Event::Standings(vec![(1, Standing::Dying)]));
        // Over, and behind the answers of the hosts.
        (0..2).for_each(|_| run.move_on(Instant::now() + time + ANSWER));
        assert!(matches!(run.failure, Some((Failure::TimedOut, 124))), "{}", run.report);
    }

    #[test]
    fn output_that_finds_no_room_is_told_of_the_stream_that_it_went_to() {
        let mut run = run(&[]);
        (0..2).for_each(|pe| run.hear(0, Event::Over { pe }));
        // Both of a PE's streams go to standard output.
        run.lack_room(Kind::Err, &io::ErrorKind::StorageFull.into());
        assert_eq!(run.report, "what the PEs print cannot be written to standard output: no storage space\n");
    }

    /// Whatever others say, it does nothing to a terminal.
    #[test]
    fn what_is_said_prints() {
        let evil = || "\x1b]0;x\x07\r\u{9b}2J".to_owned();
        let notice = || Notice { pe: 0, pid: 1, how: evil(), hint: Some(evil()), code: 1 };
        for event in [
            Event::Failed { what: evil(), code: 1 },
            Event::Aborted { pe: 0, code: 1, message: evil() },
            Event::Suspected { pe: 0, message: evil() },
            Event::Broken { pe: 0, what: evil() },
            Event::Died(notice()),
            Event::Broken { pe: 0, what: "what another one does is said, too".into() },
        ] {
            let mut run = run(&[]);
            run.hear(0, event.clone());
            run.hear(0, Event::Standings(vec![(1, Standing::Ended(evil()))]));
            run.move_on(Instant::now() + SUSPECT);
            let report = run.report;
            assert!(report.contains(r"\u{1b}]0;x\u{7}\r\u{9b}2J"), "{report:?} of {event:?}");
            assert!(!report.contains(|c: char| c.is_control() && c != '\n'), "{report:?}");
        }
    }
}
