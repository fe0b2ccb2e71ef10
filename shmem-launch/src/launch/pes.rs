//! [`Pes`]: starts the PEs of a job, answers their requests, and notices their ends. A failure becomes an [`Event`] for
//! [`run`](super::run), which decides whether the job ends.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use rustix::net::UCred;
use rustix::process::{Signal, Uid};

use super::Launch;
use super::error::LaunchError;
use super::exchange_server::{Met, Rendezvous, distribute, pack};
use super::output::Forwarders;
use super::pe::{Outgoing, PeProcess};
use super::protocol::{ToLauncher, ToPe, VERSION};
use super::report::{Death, PeState, ended_with};
use super::socket::Packet;
use super::spawn::Spawner;
use crate::codec;

/// Time that a PE may be unreachable while the process that the launcher started for it still runs. After that it counts as dead.
const LOST: Duration = Duration::from_millis(500);

/// Polling interval for processes without a pidfd, for PEs that cannot be reached, and while PEs settle after a death.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Upper limit on the packets received from one PE at a time, so that a PE that writes without end cannot starve other PEs.
const TURN: usize = 1 << 16;

/// Upper limit on the answers that wait for a PE to read them. Beyond it the PE is ignored.
const UNREAD: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Aborted { pe: usize, code: i32, message: String },
    Died(Death),
    Broken { pe: usize, what: String },
}

#[derive(Debug)]
pub(crate) struct Pes {
    spawner: Spawner,
    members: Vec<PeProcess>,
    rendezvous: Rendezvous<Rc<OwnedFd>>,
    events: Vec<Event>,
}

impl Pes {
    /// Starts all PEs. If a PE cannot be started, kills the others.
    pub(crate) fn start(spawner: Spawner, forwarders: &mut Forwarders) -> Result<Self, LaunchError> {
        let mut started = Self::of(spawner);
        for pe in 0..started.job().pes {
            match started.spawner.spawn(pe, forwarders) {
                Ok(member) => started.members.push(member),
                Err(error) => {
                    started.kill();
                    return Err(error);
                }
            }
        }
        forwarders.open();
        Ok(started)
    }

    fn of(spawner: Spawner) -> Self {
        let rendezvous = Rendezvous::new(spawner.hosts.iter().copied().enumerate());
        Self { spawner, members: Vec::new(), rendezvous, events: Vec::new() }
    }

    pub(crate) fn job(&self) -> &Launch {
        &self.spawner.job
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL, None);
        while !self.members.iter().all(PeProcess::is_over) {
            std::thread::sleep(LOOK);
            self.members.iter_mut().for_each(PeProcess::reap);
        }
    }

    /// Returns the descriptors to wait for, each with its PE's number, as [`serve`](Self::serve) expects.
    pub(crate) fn poll_list(&self) -> Vec<(usize, PollFd<'_>)> {
        let members = self.members.iter().enumerate();
        members.flat_map(|(pe, member)| member.poll_list().into_iter().map(move |fd| (pe, fd))).collect()
    }

    pub(crate) fn patience(&self) -> Option<Duration> {
        let must_look = |member: &PeProcess| member.must_be_asked() || member.is_lost();
        self.members.iter().any(must_look).then_some(LOOK)
    }

    /// Serves the PEs whose descriptors are ready. Returns failures.
    pub(crate) fn serve(&mut self, ready: &[usize]) -> Vec<Event> {
        for pe in 0..self.members.len() {
            if ready.contains(&pe) || self.members[pe].must_be_asked() {
                self.serve_one(pe);
            }
        }
        self.tell_ends(Instant::now());
        std::mem::take(&mut self.events)
    }

    pub(crate) fn state_clauses(&self) -> Vec<(usize, PeState)> {
        let state = |(pe, member): (usize, &PeProcess)| (pe, member.state(self.rendezvous.is_waiting(pe)));
        self.members.iter().enumerate().map(state).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn process(&self, pe: usize) -> Option<u32> {
        self.members[pe].joined()
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.members.iter().any(|member| member.joined().is_some())
    }

    pub(crate) fn is_over(&self, pe: usize) -> bool {
        self.members[pe].is_over()
    }

    pub(crate) fn are_over(&self) -> bool {
        self.members.iter().all(PeProcess::is_over)
    }

    /// Returns whether every PE has left the job or ended, so that no PE can wait for another PE.
    pub(crate) fn have_left(&self) -> bool {
        self.members.iter().all(|member| member.finished || member.is_over())
    }

    pub(crate) fn signal(&self, signal: Signal, except: Option<usize>) {
        let all = self.members.iter().enumerate().filter(|(pe, _)| Some(*pe) != except);
        all.for_each(|(_, member)| member.signal(signal));
    }

    fn serve_one(&mut self, pe: usize) {
        self.members[pe].reap();
        for _ in 0..TURN {
            match self.members[pe].receive() {
                Ok(Some(packet)) => self.take(pe, packet),
                Ok(None) => break,
                Err(error) => {
                    self.break_off(pe, format!("its packet could not be received: {error}"));
                    break;
                }
            }
        }
        self.members[pe].flush();
    }

    fn tell_ends(&mut self, now: Instant) {
        let has_begun = self.has_begun();
        for pe in 0..self.members.len() {
            let member = &mut self.members[pe];
            // A dying process is reported when it has ended, because its exit status tells the cause.
            let lost = member.lost_since(now).is_some_and(|since| now >= since + LOST)
                && member.held() != Some(PeState::Dying);
            // A PE that ends without joining has died, unless no PE has joined: the program may not use the library.
            let died = lost || member.died() || has_begun && member.stayed_away();
            let died = died && !std::mem::replace(&mut member.death_told, true);
            if died {
                self.events.push(Event::Died(member.death()));
            }
        }
    }

    fn take(&mut self, pe: usize, packet: Packet) {
        let Some(UCred { pid, uid, .. }) = packet.sender else { return };
        let pid = pid.as_raw_nonzero().get().cast_unsigned();
        let joined = self.members[pe].joined();
        match codec::decode(&packet.bytes) {
            Ok(ToLauncher::Hello { version, job, pe: claimed }) => {
                self.greet(pe, (pid, uid), (version, job, claimed))
            }
            // Ignore other processes than the PE, because a process that the PE has forked has the same socket.
            _ if joined.is_some_and(|joined| joined != pid) => {}
            Ok(request) if joined.is_some() => self.answer(pe, request, packet.descriptors),
            _ => {
                let socket = super::SOCKET;
                let what = format!(
                    "process {pid} wrote what is no message of the library's to the socket that {socket} names"
                );
                self.break_off(pe, what);
            }
        }
    }

    fn greet(&mut self, pe: usize, (pid, user): (u32, Uid), (version, job, as_pe): (u32, u64, u32)) {
        let ours = rustix::process::getuid();
        let member = &mut self.members[pe];
        let reason = if version != VERSION {
            format!(
                "the program speaks version {version} of the launcher's protocol, and this launcher {VERSION}: build both from the same shmem-rt"
            )
        } else if job != self.spawner.number || as_pe as usize != pe {
            format!("{} and the socket belong to different jobs or PEs", super::JOB)
        } else if user != ours {
            let [user, ours] = [user, ours].map(Uid::as_raw);
            format!("the program runs as user {user}, and the launcher as user {ours}")
        } else if member.finished {
            format!("PE {pe} has left the job already: one process per PE")
        } else if let Some(pid) = member.joined() {
            format!("PE {pe} is process {pid} already: one process per PE")
        } else {
            member.join(pid);
            let hosts = self.spawner.hosts.clone();
            return member.reply(&ToPe::Welcome { hosts }, vec![Rc::clone(&member.lifeline)]);
        };
        member.reply(&ToPe::Refused { reason }, Vec::new());
        member.flush();
        if member.backlog() > UNREAD {
            let what = "its processes ask again and again to be taken for it, and read no answer; see what else the \
                        program starts";
            self.break_off(pe, what.to_owned());
        }
    }

    fn answer(&mut self, pe: usize, request: ToLauncher, descriptors: Vec<OwnedFd>) {
        if matches!(request, ToLauncher::Fence | ToLauncher::Share { .. }) && !self.may_go_on(pe) {
            let what = "it is at the next step of the start before it has heard how the last one ended; look which \
                        program speaks to the launcher in its position";
            return self.break_off(pe, what.to_owned());
        }
        match request {
            ToLauncher::Hello { .. } => {}
            ToLauncher::Abort { code, message } => {
                self.members[pe].aborted = Some(ended_with(code, &message));
                self.members[pe].ignore();
                self.events.push(Event::Aborted { pe, code, message });
            }
            ToLauncher::Finish => self.members[pe].finished = true,
            ToLauncher::Put { .. } | ToLauncher::Fence | ToLauncher::Share { .. } => {
                let descriptors: Vec<_> = descriptors.into_iter().map(Rc::new).collect();
                if let (ToLauncher::Share { .. }, None) = (&request, &self.members[pe].memory) {
                    self.members[pe].memory = descriptors.first().cloned();
                }
                match self.rendezvous.take(pe, request, descriptors) {
                    Ok(None) => {}
                    Ok(Some(Met::Fence(values))) => self.deliver(&pack(values)),
                    Ok(Some(Met::Share(lists))) => {
                        for (to, reply, descriptors) in distribute(&lists) {
                            self.members[to].reply(&reply, descriptors.into_iter().cloned().collect());
                        }
                        lists.iter().for_each(|(pe, _)| self.members[*pe].flush());
                    }
                    Err(fault) => self.break_off(pe, fault),
                }
            }
        }
    }

    /// Returns whether a PE may begin a fence or a share (of descriptors): no earlier one is pending, and all packets to the PE
    /// were sent.
    fn may_go_on(&mut self, pe: usize) -> bool {
        let member = &mut self.members[pe];
        member.flush();
        member.backlog() == 0 && !self.rendezvous.is_waiting(pe)
    }

    fn deliver(&mut self, packets: &[Vec<u8>]) {
        for packet in packets {
            let packet = Outgoing { bytes: packet.as_slice().into(), descriptors: Vec::new() };
            self.members.iter_mut().for_each(|member| member.send(packet.clone()));
        }
        self.members.iter_mut().for_each(PeProcess::flush);
    }

    /// Reports that a PE has violated the protocol, and ignores its packets from now on.
    fn break_off(&mut self, pe: usize, what: String) {
        self.members[pe].ignore();
        self.events.push(Event::Broken { pe, what });
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::net::{Shutdown, shutdown};
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::super::posix_signals::Before;
    use super::super::socket::Channel;
    use super::*;

    impl Pes {
        /// PEs that end with the test, and their ends of the sockets, over which the test sends requests.
        pub(crate) fn silent(job: Launch) -> (Self, Vec<Channel>) {
            let mut pes = Self::of(Spawner::new(job, Vec::new(), None, Before::take(None)).unwrap().0);
            let mut ends = Vec::new();
            for pe in 0..pes.job().pes {
                let (channel, theirs) = Channel::pair().unwrap();
                let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
                ends.push(theirs);
                pes.members.push(PeProcess::new(pe, child, channel, pipe_with(PipeFlags::CLOEXEC).unwrap()));
            }
            (pes, ends)
        }
    }

    fn silent(pes: usize) -> (Pes, Vec<Channel>) {
        Pes::silent(Launch::new("cat", pes))
    }

    fn hello(host: &Pes, version: u32, pe: u32) -> Vec<u8> {
        codec::encode(&ToLauncher::Hello { version, job: host.spawner.number, pe })
    }

    fn says(end: &Channel, packet: &[u8]) -> bool {
        end.try_send(packet, &[] as &[OwnedFd]).unwrap()
    }

    /// Sends a packet as often as there is room, for some turns.
    fn flood(host: &mut Pes, end: &Channel, packet: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..20 {
            while says(end, packet) {}
            events.extend(host.serve(&[0]));
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
        let (mut host, ends) = silent(2);
        let hello = hello(&host, VERSION + 1, 0);
        let events = flood(&mut host, &ends[0], &hello);
        let [what] = broken(&events)[..] else { panic!("{events:?}") };
        assert!(what.starts_with("its processes ask again and again"), "{what}");
    }

    #[test]
    fn a_step_begins_when_the_last_one_is_over() {
        let (mut host, ends) = silent(2);
        assert!(says(&ends[0], &hello(&host, VERSION, 0)));
        assert_eq!(host.serve(&[0]), []);
        assert!(host.has_begun());
        assert!(says(&ends[1], b"\xff\xff"));
        let events = host.serve(&[1]);
        assert!(broken(&events)[0].contains("wrote what is no message of the library's"), "{events:?}");
        let events = flood(&mut host, &ends[0], &codec::encode(&ToLauncher::Fence));
        let [what] = broken(&events)[..] else { panic!("{events:?}") };
        assert!(what.starts_with("it is at the next step of the start before"), "{what}");
    }

    #[test]
    fn who_gives_up_is_not_lost() {
        for (last, is_lost) in
            [(ToLauncher::Abort { code: 1, message: "why".into() }, false), (ToLauncher::Fence, true)]
        {
            let (mut host, mut ends) = silent(1);
            let end = ends.remove(0);
            assert!(says(&end, &hello(&host, VERSION, 0)) && says(&end, &codec::encode(&last)));
            // A drop would not close it if another test has forked at this moment.
            shutdown(&end, Shutdown::Both).unwrap();
            let mut events = host.serve(&[0]);
            let now = Instant::now();
            host.tell_ends(now);
            host.tell_ends(now + LOST);
            events.append(&mut host.events);
            let has_died = events.iter().any(|event| matches!(event, Event::Died(_)));
            assert_eq!(has_died, is_lost, "{events:?}");
        }
    }
}
