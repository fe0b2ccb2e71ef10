//! What a job answers to its PEs.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use super::channel::{Packet, Sender};
use super::job::Job;
use super::member::{Member, Outgoing};
use super::rendezvous::{Met, Mismatch};
use super::wire::{MAX_DESCRIPTORS, Reply, Request, VERSION};

impl Job {
    /// Takes a packet from the socket of a PE.
    pub(super) fn take(&mut self, pe: usize, packet: Packet) {
        let Some(sender) = packet.sender else { return };
        let joined = self.members[pe].joined();
        match Request::decode(&packet.bytes) {
            Ok(Request::Hello { version, job, pe: as_pe }) => self.greet(pe, sender, (version, job, as_pe)),
            // A process that the PE forked holds the same socket, and does not speak for the PE.
            _ if joined.is_some_and(|pid| pid != sender.pid) => {}
            Ok(request) if joined.is_some() => self.answer(pe, request, packet.descriptors),
            _ => {
                let what = format!(
                    "process {} wrote what is no message of the library's to the socket that {} names",
                    sender.pid,
                    super::SOCKET
                );
                self.break_off(pe, &what);
            }
        }
    }

    fn greet(&mut self, pe: usize, sender: Sender, (version, job, as_pe): (u32, u64, u32)) {
        let user = rustix::process::getuid().as_raw();
        let member = &mut self.members[pe];
        let reason = if version != VERSION {
            format!(
                "the program speaks version {version} of the launcher's protocol, and this launcher {VERSION}: build both from the same shmem-rt"
            )
        } else if job != self.spawner.job || as_pe as usize != pe {
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
                    let hosts = self.spawner.hosts.clone();
                    member.send(Outgoing::new(&Reply::Welcome { hosts }, vec![lifeline]));
                }
                Err(error) => self.break_off(pe, &format!("it could not be greeted: {error}")),
            }
            return;
        };
        member.send(Outgoing::new(&Reply::Refused { reason }, Vec::new()));
    }

    fn answer(&mut self, pe: usize, request: Request, descriptors: Vec<OwnedFd>) {
        let met: Result<Option<Met<OwnedFd>>, Mismatch> = match request {
            Request::Hello { .. } => Ok(None),
            Request::Put { key, value } => {
                self.meeting.put(pe, key, value);
                Ok(None)
            }
            Request::Fence => self.meeting.fence(pe),
            Request::Share { last } => {
                let member = &mut self.members[pe];
                if member.memory.is_none() {
                    member.memory = descriptors.first().and_then(|first| first.try_clone().ok());
                }
                self.meeting.share(pe, descriptors, last)
            }
            Request::Abort { code, message } => {
                self.abort(pe, code, message);
                Ok(None)
            }
            Request::Finish => {
                self.members[pe].finished = true;
                Ok(None)
            }
        };
        match met {
            Ok(None) => {}
            Ok(Some(Met::Fence(packets))) => {
                let packets: Vec<Outgoing> = packets.into_iter().map(Outgoing::encoded).collect();
                for member in &mut self.members {
                    packets.iter().for_each(|packet| member.send(packet.clone()));
                    member.flush();
                }
            }
            Ok(Some(Met::Share(lists))) => self.hand_round(lists),
            Err(mismatch) => self.break_off(pe, &mismatch.to_string()),
        }
    }

    /// Sends each PE the descriptors of the others on its host.
    fn hand_round(&mut self, lists: Vec<Vec<OwnedFd>>) {
        let hosts = &self.spawner.hosts;
        let mut all = BTreeMap::new();
        for (host, list) in hosts.iter().zip(&lists) {
            *all.entry(*host).or_insert(0) += list.len();
        }
        for ((member, host), own) in self.members.iter_mut().zip(hosts).zip(&lists) {
            let coming = (all[host] - own.len()) as u32;
            member.send(Outgoing::new(&Reply::Sharing { descriptors: coming }, Vec::new()));
        }
        for (from, mut list) in lists.into_iter().enumerate() {
            loop {
                let rest = list.split_off(list.len().min(MAX_DESCRIPTORS));
                let chunk = std::mem::replace(&mut list, rest);
                let last = list.is_empty();
                let packet = Outgoing::new(&Reply::Shared { pe: from as u32, last }, chunk);
                for (to, member) in self.members.iter_mut().enumerate() {
                    if to != from && hosts[to] == hosts[from] {
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
