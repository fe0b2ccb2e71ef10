//! What a node answers to its PEs.

use std::os::fd::OwnedFd;

use super::channel::{Packet, Sender};
use super::member::{Member, Outgoing};
use super::node::{Event, Node};
use super::rendezvous::{Met, Mismatch};
use super::report::ended_with;
use super::wire::{MAX_DESCRIPTORS, Reply, Request, VERSION};

/// What a PE has done that takes another one to be lost.
const SUSPECTS: &str = "could not go on, because another PE or its host seemed to be lost";

impl Node {
    /// Takes a packet from the socket of a PE.
    pub(super) fn take(&mut self, i: usize, packet: Packet) {
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
    }

    fn answer(&mut self, i: usize, request: Request, descriptors: Vec<OwnedFd>) {
        let pe = self.members[i].number();
        let met: Result<Option<Met<OwnedFd>>, Mismatch> = match request {
            Request::Hello { .. } => Ok(None),
            Request::Put { key, value } => {
                self.meeting.put(pe, key, value);
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
                Ok(None)
            }
            Request::Suspect { message } => {
                self.give_up(i, SUSPECTS.to_owned(), Event::Suspected { pe, message });
                Ok(None)
            }
            Request::Finish => {
                self.members[i].finished = true;
                self.events.push(Event::Finished { pe });
                Ok(None)
            }
        };
        match met {
            Ok(None) => {}
            Ok(Some(Met::Fence(values))) => self.events.push(Event::Fenced { values, last: true }),
            Ok(Some(Met::Share(lists))) => self.hand_round(lists),
            Err(mismatch) => self.break_off(i, mismatch.to_string()),
        }
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
}
