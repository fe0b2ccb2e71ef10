//! The PEs of one host, as the launcher next to them sees them.
//!
//! Here PEs are started, answered, read when they print, and seen to end. Nothing is decided: what happens becomes an
//! [`Event`], and what is to happen comes as an [`Order`] from the [run](super::run), which is in the same process or at
//! the other end of a connection.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use rustix::process::Signal;

use super::channel::{Packet, Sender};
use super::error::LaunchError;
use super::member::{Member, Outgoing};
use super::message::{Description, Event, Order};
use super::rendezvous::{Met, Mismatch, Rendezvous};
use super::report::{Standing, ended_with};
use super::spawn::{Before, Spawner};
use super::wire::{MAX_DESCRIPTORS, Reply, Request, VERSION};

/// How long a PE may be out of reach while the process that started it goes on.
const LOST: Duration = Duration::from_millis(500);

/// How often what gives no sign is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Most packets that are taken from a PE before another one's turn comes.
const TURN: usize = 64;

/// Most packets that are taken from a PE whose process has ended: more than a socket holds, so that what it said last is
/// heard, and an end of what other processes write to the same socket.
const LAST_TURN: usize = 1 << 16;

/// Most answers that wait for a PE to read them, before it is told apart from one that is slow.
const UNREAD: usize = 64;

/// What a PE has done that takes another one to be lost.
const SUSPECTS: &str = "could not go on, because another PE or its host seemed to be lost";

/// The PEs of a host.
#[derive(Debug)]
pub(crate) struct HostPes {
    spawner: Spawner,
    members: Vec<Member>,
    meeting: Rendezvous<OwnedFd>,
    events: Vec<Event>,
}

impl HostPes {
    /// Starts the PEs; if one cannot be started, none is left.
    pub(crate) fn start(description: Description, before: Before) -> Result<Self, LaunchError> {
        let pes = description.pes();
        let (spawner, remark) = Spawner::new(description, before)?;
        let mut started = Self {
            members: Vec::with_capacity(pes.len()),
            spawner,
            meeting: Rendezvous::new(pes.clone()),
            events: remark.into_iter().map(|what| Event::Remarked { what }).collect(),
        };
        for pe in pes {
            match started.spawner.spawn(pe) {
                Ok(spawned) => started.members.push(Member::new(pe, spawned)),
                Err(source) => {
                    started.kill();
                    return Err(LaunchError::Spawn { pe, source });
                }
            }
        }
        Ok(started)
    }

    /// The numbers of its PEs, in their order.
    pub(crate) fn pes(&self) -> Vec<usize> {
        self.members.iter().map(Member::number).collect()
    }

    /// Ends all PEs, and waits until they have.
    pub(crate) fn kill(&mut self) {
        self.obey(&Order::Signal { signal: Signal::KILL.as_raw(), except: None });
        while !self.members.iter().all(Member::is_over) {
            std::thread::sleep(LOOK);
            self.members.iter_mut().for_each(Member::reap);
        }
    }

    /// Descriptors to wait on, each with a number for [`serve`](Self::serve). Those of output only if
    /// there is room for it.
    pub(crate) fn poll_list(&self, room: bool) -> Vec<(usize, PollFd<'_>)> {
        let members = self.members.iter().enumerate();
        members.flat_map(|(i, member)| member.poll_list(room).into_iter().map(move |fd| (i, fd))).collect()
    }

    /// How long it may be waited on them.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let must_look = |member: &Member| member.must_be_asked() || member.is_lost();
        self.members.iter().any(must_look).then_some(LOOK)
    }

    /// Deals with what was ready, and gives what has happened.
    pub(crate) fn serve(&mut self, ready: &[usize], room: bool) -> Vec<Event> {
        for i in 0..self.members.len() {
            if ready.contains(&i) || self.members[i].must_be_asked() {
                if room {
                    self.pump_one(i, false);
                }
                self.serve_one(i);
            }
        }
        self.tell_ends(Instant::now());
        std::mem::take(&mut self.events)
    }

    /// What the PEs have printed so far.
    pub(crate) fn pump(&mut self) -> Vec<Event> {
        (0..self.members.len()).for_each(|i| self.pump_one(i, true));
        let (printed, others) =
            std::mem::take(&mut self.events).into_iter().partition(|e| matches!(e, Event::Printed { .. }));
        self.events = others;
        printed
    }

    /// What each PE does.
    pub(crate) fn standings(&self) -> Vec<(usize, Standing)> {
        let waits = |member: &Member| self.meeting.is_waiting(member.number());
        self.members.iter().map(|member| (member.number(), member.standing(waits(member)))).collect()
    }

    /// Does as it is told.
    pub(crate) fn obey(&mut self, order: &Order) {
        match order {
            Order::Deliver { packet, last } => {
                let packet = Outgoing::encoded(packet);
                self.members.iter_mut().for_each(|member| member.send(packet.clone()));
                if *last {
                    self.meeting.release();
                    self.members.iter_mut().for_each(Member::flush);
                }
            }
            Order::Signal { signal, except } => {
                let Some(signal) = Signal::from_named_raw(*signal) else { return };
                let all = self.members.iter().filter(|member| Some(member.number()) != *except);
                all.for_each(|member| member.signal(signal));
            }
            Order::Look => {
                let printed = self.pump();
                self.events.extend(printed);
                self.events.push(Event::Standings(self.standings()));
            }
            Order::Close { pe, kind } => {
                let member = self.members.iter_mut().find(|member| member.number() == *pe);
                let sources = member.map(|member| &mut member.sources).into_iter().flatten();
                sources.filter(|source| source.kind == *kind).for_each(|source| source.close());
            }
            Order::Hold { kind, held } => {
                let sources = self.members.iter_mut().flat_map(|member| &mut member.sources);
                sources.filter(|source| source.kind == *kind).for_each(|source| source.held = *held);
            }
            // How it begins and ends is the affair of who has started them.
            Order::Start(_) | Order::End => {}
        }
    }

    fn serve_one(&mut self, i: usize) {
        self.members[i].reap();
        let most = if self.members[i].ended.is_some() { LAST_TURN } else { TURN };
        for _ in 0..most {
            match self.members[i].receive() {
                Ok(Some(packet)) => self.take(i, packet),
                Ok(None) => break,
                Err(error) => {
                    self.break_off(i, format!("its packet could not be received: {error}"));
                    break;
                }
            }
        }
        self.members[i].flush();
    }

    /// Takes what a PE has printed, `also_held` where there is no room for it.
    fn pump_one(&mut self, i: usize, also_held: bool) {
        let member = &mut self.members[i];
        let pe = member.number();
        for source in member.sources.iter_mut().filter(|source| also_held || !source.held) {
            let (kind, bytes) = (source.kind, source.pump());
            if !bytes.is_empty() {
                self.events.push(Event::Printed { pe, kind, bytes });
            }
        }
    }

    fn tell_ends(&mut self, now: Instant) {
        for i in 0..self.members.len() {
            let member = &mut self.members[i];
            // Of one that is dying it is told how, once it is over.
            let lost = member.lost_since(now).is_some_and(|since| now >= since + LOST)
                && member.held() != Some(Standing::Dying);
            let died = !member.reported.death && (lost || member.died());
            let absent = !died && !member.reported.absence && !member.reported.death && member.stayed_away();
            let over = !member.reported.over && member.is_over();
            member.reported.death |= died;
            member.reported.absence |= absent;
            member.reported.over |= over;
            let (pe, death) = (member.number(), member.death());
            if died || absent || over {
                // What it has printed comes before what is said about it.
                self.pump_one(i, true);
            }
            if died {
                self.events.push(Event::Died(death.notice()));
            }
            if absent {
                self.events.push(Event::StayedAway(death.notice()));
            }
            if over {
                self.events.push(Event::Over { pe });
            }
        }
    }

    /// Takes a packet from the socket of a PE.
    fn take(&mut self, i: usize, packet: Packet) {
        let Some(sender) = packet.sender else { return };
        let joined = self.members[i].joined();
        match Request::decode(&packet.bytes) {
            Ok(Request::Hello { version, job, pe }) => self.greet(i, sender, (version, job, pe)),
            // A process that the PE forked holds the same socket, and does not speak for the PE.
            _ if joined.is_some_and(|pid| pid != sender.pid) => {}
            Ok(request) if joined.is_some() => self.answer(i, request, packet.descriptors),
            _ => {
                let what = format!(
                    "process {} wrote what is no message of the library's to the socket that {} names",
                    sender.pid,
                    super::SOCKET
                );
                self.break_off(i, what);
            }
        }
    }

    fn greet(&mut self, i: usize, sender: Sender, (version, job, as_pe): (u32, u64, u32)) {
        let user = rustix::process::getuid().as_raw();
        let member = &mut self.members[i];
        let pe = member.number();
        let reason = if version != VERSION {
            format!(
                "the program speaks version {version} of the launcher's protocol, and this launcher {VERSION}: build both from the same shmem-rt"
            )
        } else if job != self.spawner.description.number || as_pe as usize != pe {
            format!("{} and the socket belong to different jobs or PEs", super::JOB)
        } else if sender.uid != user {
            format!("the program runs as user {}, and the launcher as user {user}", sender.uid)
        } else if member.finished {
            format!("PE {pe} has left the job already: one process per PE")
        } else if let Some(pid) = member.joined() {
            format!("PE {pe} is process {pid} already: one process per PE")
        } else {
            let lifeline = member.lifeline.given.try_clone();
            member.join(sender);
            match lifeline {
                Ok(lifeline) => {
                    let hosts = self.spawner.description.hosts.clone();
                    member.send(Outgoing::new(&Reply::Welcome { hosts }, vec![lifeline]));
                    self.events.push(Event::Joined { pe, pid: sender.pid });
                }
                Err(error) => self.break_off(i, format!("it could not be greeted: {error}")),
            }
            return;
        };
        member.send(Outgoing::new(&Reply::Refused { reason }, Vec::new()));
        member.flush();
        if member.backlog() > UNREAD {
            let what = "its processes ask again and again to be taken for it, and read no answer; see what else the \
                        program starts";
            self.break_off(i, what.to_owned());
        }
    }

    fn answer(&mut self, i: usize, request: Request, descriptors: Vec<OwnedFd>) {
        let pe = self.members[i].number();
        if matches!(request, Request::Fence | Request::Share { .. }) && !self.may_go_on(i) {
            let what = "it is at the next step of the start before it has heard how the last one ended; look which \
                        program speaks to the launcher in its position";
            return self.break_off(i, what.to_owned());
        }
        let met: Result<Option<Met<OwnedFd>>, Mismatch> = match request {
            Request::Hello { .. } => Ok(None),
            Request::Put { key, value } => {
                if let Err(too_much) = self.meeting.put(pe, key, value) {
                    self.break_off(i, too_much.to_string());
                }
                Ok(None)
            }
            Request::Fence => self.meeting.fence(pe),
            Request::Share { last } => {
                let member = &mut self.members[i];
                if member.memory.is_none() {
                    member.memory = descriptors.first().and_then(|first| first.try_clone().ok());
                }
                self.meeting.share(pe, descriptors, last)
            }
            Request::Abort { code, message } => {
                self.give_up(i, ended_with(code, &message), Event::Aborted { pe, code, message });
                self.members[i].ignore();
                Ok(None)
            }
            Request::Suspect { message } if self.members[i].aborted.is_none() => {
                self.give_up(i, SUSPECTS.to_owned(), Event::Suspected { pe, message });
                Ok(None)
            }
            Request::Finish if !self.members[i].finished => {
                self.members[i].finished = true;
                self.events.push(Event::Finished { pe });
                Ok(None)
            }
            // It has said so.
            Request::Suspect { .. } | Request::Finish => Ok(None),
        };
        match met {
            Ok(None) => {}
            Ok(Some(Met::Fence(values))) => self.events.push(Event::Fenced { values, last: true }),
            Ok(Some(Met::Share(lists))) => self.hand_round(lists),
            Err(mismatch) => self.break_off(i, mismatch.to_string()),
        }
    }

    /// Whether a PE may be at a new step: who waits in one, or has not been sent all of the last, is not.
    fn may_go_on(&mut self, i: usize) -> bool {
        let member = &mut self.members[i];
        member.flush();
        !self.meeting.is_waiting(member.number()) && member.backlog() == 0
    }

    /// A PE wants the job to end, and will not go on itself.
    fn give_up(&mut self, i: usize, standing: String, event: Event) {
        self.members[i].aborted = Some(standing);
        let printed = self.pump();
        self.events.extend(printed);
        self.events.push(event);
    }

    /// Sends each PE the descriptors of the others.
    fn hand_round(&mut self, lists: Vec<Vec<OwnedFd>>) {
        let all: usize = lists.iter().map(Vec::len).sum();
        for (member, own) in self.members.iter_mut().zip(&lists) {
            let coming = (all - own.len()) as u32;
            member.send(Outgoing::new(&Reply::Sharing { descriptors: coming }, Vec::new()));
        }
        for (from, mut list) in lists.into_iter().enumerate() {
            let number = self.members[from].number();
            loop {
                let rest = list.split_off(list.len().min(MAX_DESCRIPTORS));
                let chunk = std::mem::replace(&mut list, rest);
                let last = list.is_empty();
                let packet = Outgoing::new(&Reply::Shared { pe: number as u32, last }, chunk);
                for (to, member) in self.members.iter_mut().enumerate() {
                    if to != from {
                        member.send(packet.clone());
                    }
                }
                if last {
                    break;
                }
            }
        }
        self.members.iter_mut().for_each(Member::flush);
    }

    /// The launcher and a PE do not understand each other: that is told once, and nothing more is taken from it.
    fn break_off(&mut self, i: usize, what: String) {
        let pe = self.members[i].number();
        self.members[i].ignore();
        self.events.push(Event::Broken { pe, what });
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::net::{Shutdown, shutdown};
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::super::Output;
    use super::super::channel::Channel;
    use super::super::output::{Kind, Source};
    use super::super::spawn::{Lifeline, Spawned};
    use super::*;
    use crate::env::Bind;

    /// PEs that wait for the end of their input, which is that of the test, and their ends of the sockets: the test speaks
    /// for them. It joins as all of them, so they cannot be killed.
    fn pes(count: usize) -> (HostPes, Vec<Channel>) {
        let description = Description {
            program: "cat".into(),
            arg0: "cat".into(),
            args: Vec::new(),
            environment: Vec::new(),
            directory: None,
            number: 7,
            hosts: vec![0; count],
            host: 0,
            pretends: false,
            bind: Bind::None,
            output: Output::Capture,
            pipes: Vec::new(),
            debugger: None,
            attach_wait: false,
        };
        let mut ends = Vec::new();
        let member = |pe| {
            let (channel, theirs) = Channel::pair().unwrap();
            let (given, held) = pipe_with(PipeFlags::CLOEXEC).unwrap();
            let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            ends.push(theirs);
            let lifeline = Lifeline { _held: held, given };
            Member::new(pe, Spawned { child, channel, lifeline, sources: Vec::new() })
        };
        let pes = HostPes {
            meeting: Rendezvous::new(description.pes()),
            members: description.pes().into_iter().map(member).collect(),
            spawner: Spawner::new(description, Before::default()).unwrap().0,
            events: Vec::new(),
        };
        (pes, ends)
    }

    fn hello(version: u32, pe: u32) -> Request {
        Request::Hello { version, job: 7, pe }
    }

    /// Says it again and again, as often as there is room, for some turns; gives what has happened.
    fn flood(host: &mut HostPes, end: &Channel, request: &Request) -> Vec<Event> {
        let packet = request.encode();
        let mut events = Vec::new();
        for _ in 0..20 {
            while end.try_send(&packet, &[]).unwrap() {}
            events.extend(host.serve(&[0], true));
        }
        events
    }

    fn broken(events: &[Event]) -> Vec<&str> {
        let what = events.iter().map(|event| match event {
            Event::Broken { what, .. } => what.as_str(),
            other => panic!("{other:?}"),
        });
        what.collect()
    }

    #[test]
    fn who_reads_no_answer_is_broken_off_once() {
        let (mut host, ends) = pes(2);
        let events = flood(&mut host, &ends[0], &hello(VERSION + 1, 0));
        let [what] = broken(&events)[..] else { panic!("{events:?}") };
        assert!(what.starts_with("its processes ask again and again"), "{what}");
        assert!(host.members[0].backlog() <= UNREAD + 1);
    }

    #[test]
    fn who_talks_on_keeps_no_other_from_its_turn() {
        let (mut host, ends) = pes(2);
        let finish = |pe: usize| {
            ends[pe].send(&hello(VERSION, pe as u32).encode(), &[]).unwrap();
            ends[pe].send(&Request::Finish.encode(), &[]).unwrap();
        };
        let fill = || (0..).take_while(|_| ends[0].try_send(&Request::Finish.encode(), &[]).unwrap()).count();
        finish(0);
        assert_eq!(host.serve(&[0], true).last(), Some(&Event::Finished { pe: 0 }));
        assert!(fill() > TURN);
        finish(1);
        let events = host.serve(&[0, 1], true);
        assert_eq!(events.last(), Some(&Event::Finished { pe: 1 }));
        assert!(!events.contains(&Event::Finished { pe: 0 }), "it has said so");
        assert_eq!(fill(), TURN, "so many were taken");
    }

    #[test]
    fn a_step_begins_when_the_last_one_is_over() {
        let (mut host, ends) = pes(2);
        ends[0].send(&hello(VERSION, 0).encode(), &[]).unwrap();
        assert_eq!(host.serve(&[0], true).len(), 1, "it has joined");
        let events = flood(&mut host, &ends[0], &Request::Fence);
        let [what] = broken(&events)[..] else { panic!("{events:?}") };
        assert!(what.starts_with("it is at the next step of the start before"), "{what}");
    }

    #[test]
    fn what_finds_no_room_is_left_where_it_is() {
        let (mut host, _ends) = pes(1);
        let (read, write) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        host.members[0].sources.push(Source::new(Kind::Out, read));
        rustix::io::write(&write, b"words").unwrap();
        host.obey(&Order::Hold { kind: Kind::Out, held: true });
        let held = host.poll_list(true).len();
        assert_eq!(host.serve(&[0], true), []);
        for kind in [Kind::Err, Kind::Out] {
            host.obey(&Order::Hold { kind, held: kind == Kind::Err });
        }
        assert_eq!(host.poll_list(true).len(), held + 1);
        let printed = Event::Printed { pe: 0, kind: Kind::Out, bytes: b"words".to_vec() };
        assert_eq!(host.serve(&[0], true), [printed]);
    }

    /// On a busy machine a process ends long after its last word.
    #[test]
    fn who_gives_up_is_not_lost() {
        for (last, is_lost) in [(Request::Suspect { message: "why".into() }, false), (Request::Fence, true)] {
            let (mut host, mut ends) = pes(1);
            let end = ends.remove(0);
            end.send(&hello(VERSION, 0).encode(), &[]).unwrap();
            end.send(&last.encode(), &[]).unwrap();
            // Not by dropping it: a test that starts a process at this moment lends it a copy until it runs its program.
            shutdown(&end, Shutdown::Both).unwrap();
            let mut events = host.serve(&[0], true);
            let now = Instant::now();
            host.tell_ends(now);
            host.tell_ends(now + LOST);
            events.append(&mut host.events);
            let has_died = events.iter().any(|event| matches!(event, Event::Died(_)));
            assert_eq!(has_died, is_lost, "{events:?}");
        }
    }

    #[test]
    fn what_is_no_message_is_told_once() {
        let (mut host, ends) = pes(1);
        while ends[0].try_send(b"\xff", &[]).unwrap() {}
        let mut events = host.serve(&[0], true);
        events.extend(host.serve(&[0], true));
        assert_eq!(broken(&events).len(), 1);
    }
}
