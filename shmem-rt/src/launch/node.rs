//! The PEs of one host, as the launcher next to them sees them.
//!
//! A node starts its PEs, talks to them, reads what they print and notices how they end. It decides
//! nothing: what happens becomes an [`Event`], and what is to happen comes as an [`Order`] from the
//! [job](super::job), which is in the same process or at the other end of a connection.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use rustix::process::Signal;

use super::description::Description;
use super::error::LaunchError;
use super::member::{Member, Outgoing};
use super::output::Kind;
use super::rendezvous::Rendezvous;
use super::report::{Notice, Standing};
use super::spawn::{Before, Spawner};
use super::wire::Value;

/// How long a PE may be out of reach while the process that started it goes on.
const LOST: Duration = Duration::from_millis(500);

/// How often what gives no sign is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// What has happened on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A process has joined as the PE.
    Joined { pe: usize, pid: u32 },
    /// What the host's PEs have put before a fence; `last`: all of them are there.
    Fenced { values: Vec<Value>, last: bool },
    /// A PE has printed.
    Printed { pe: usize, kind: Kind, bytes: Vec<u8> },
    /// A PE ends the job.
    Aborted { pe: usize, code: i32, message: String },
    /// A PE cannot go on, because another one or its host seems to be lost.
    Suspected { pe: usize, message: String },
    /// A PE has left the job in order.
    Finished { pe: usize },
    /// A PE has ended as it should not.
    Died(Notice),
    /// A PE has ended without ever having joined, which may be in order.
    StayedAway(Notice),
    /// No process of the PE runs any more.
    Over { pe: usize },
    /// A PE and the launcher do not understand each other.
    Broken { pe: usize, what: String },
    /// What each PE does: the answer to [`Order::Look`].
    Standings(Vec<(usize, Standing)>),
    /// The PEs could not be started.
    Failed { what: String, code: u8 },
}

/// What is to happen on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Starts the PEs.
    Start(Box<Description>),
    /// A packet for every PE; `last`: the fence is over.
    Deliver { packet: Vec<u8>, last: bool },
    /// A signal for all PEs but one.
    Signal { signal: i32, except: Option<usize> },
    /// Asks what each PE does.
    Look,
    /// Nobody reads what the PE prints there.
    Close { pe: usize, kind: Kind },
    /// The job is over.
    End,
}

/// The PEs of a host.
#[derive(Debug)]
pub(crate) struct Node {
    pub(super) spawner: Spawner,
    pub(super) members: Vec<Member>,
    pub(super) meeting: Rendezvous<OwnedFd>,
    pub(super) events: Vec<Event>,
}

impl Node {
    /// Starts the PEs; if one cannot be started, none is left.
    pub(crate) fn start(description: Description, before: Before) -> Result<Self, LaunchError> {
        let pes = description.pes();
        let spawner = description.spawner(before)?;
        let mut node = Self {
            members: Vec::with_capacity(pes.len()),
            spawner,
            meeting: Rendezvous::new(pes.clone()),
            events: Vec::new(),
        };
        for pe in pes {
            match node.spawner.spawn(pe) {
                Ok(spawned) => node.members.push(Member::new(pe, spawned)),
                Err(source) => {
                    node.kill();
                    return Err(LaunchError::Spawn { pe, source });
                }
            }
        }
        Ok(node)
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
                    self.pump_one(i);
                }
                self.serve_one(i);
            }
        }
        self.tell_ends(Instant::now());
        std::mem::take(&mut self.events)
    }

    /// What the PEs have printed so far.
    pub(crate) fn pump(&mut self) -> Vec<Event> {
        (0..self.members.len()).for_each(|i| self.pump_one(i));
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
            // How it begins and ends is the affair of who has the node.
            Order::Start(_) | Order::End => {}
        }
    }

    fn serve_one(&mut self, i: usize) {
        self.members[i].reap();
        loop {
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

    fn pump_one(&mut self, i: usize) {
        let member = &mut self.members[i];
        let pe = member.number();
        for source in &mut member.sources {
            let (kind, bytes) = (source.kind, source.pump());
            if !bytes.is_empty() {
                self.events.push(Event::Printed { pe, kind, bytes });
            }
        }
    }

    fn tell_ends(&mut self, now: Instant) {
        for i in 0..self.members.len() {
            let member = &mut self.members[i];
            let lost = member.lost_since(now).is_some_and(|since| now >= since + LOST);
            let died = !member.told.death && (lost || member.died());
            let absent = !died && !member.told.absence && !member.told.death && member.stayed_away();
            let over = !member.told.over && member.is_over();
            member.told.death |= died;
            member.told.absence |= absent;
            member.told.over |= over;
            let (pe, death) = (member.number(), member.death());
            if died || absent || over {
                // What it has printed comes before what is said about it.
                self.pump_one(i);
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

    /// The launcher and a PE do not understand each other.
    pub(super) fn break_off(&mut self, i: usize, what: String) {
        let pe = self.members[i].number();
        self.events.push(Event::Broken { pe, what });
    }
}
