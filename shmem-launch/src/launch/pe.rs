//! [`PeProcess`]: the launcher's state of one PE.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::rc::Rc;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::pe_record;
use super::protocol::ToPe;
use super::report::{Death, PeState, end_of};
use super::socket::{Channel, Packet, is_readable};
use crate::codec;

/// The kernel's `PF_SIGNALED`, a flag of a thread that a signal has killed.
const SIGNALED: u32 = 0x400;

#[derive(Debug)]
pub(crate) struct PeProcess {
    pe: usize,
    child: Child,
    /// A pidfd of the child, readable when the child has ended.
    handle: Option<OwnedFd>,
    channel: Option<Channel>,
    outbox: VecDeque<Outgoing>,
    /// Whether packets of this PE are ignored.
    unheard: bool,
    joined: Option<Joined>,
    /// The PE's end of the lifeline, a pipe without data. The launcher's end closes when the launcher dies.
    pub(crate) lifeline: Rc<OwnedFd>,
    _held: OwnedFd,
    /// The first descriptor that the PE shared: memory that contains its [record](pe_record).
    pub(crate) memory: Option<Rc<OwnedFd>>,
    pub(crate) finished: bool,
    /// Description of the PE's abort, if the PE has aborted the job.
    pub(crate) aborted: Option<String>,
    pub(crate) ended: Option<ExitStatus>,
    lost: Option<Instant>,
    pub(crate) death_told: bool,
}

/// A packet to be sent to one or several PEs.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) bytes: Rc<[u8]>,
    pub(crate) descriptors: Vec<Rc<OwnedFd>>,
}

/// The process that has joined the job as the PE: the child, or a descendant of the child.
#[derive(Debug)]
struct Joined {
    pid: u32,
    /// A pidfd of the process, readable when the process has ended. `None` if the process is the child, or if there are no pidfds.
    handle: Option<OwnedFd>,
    gone: bool,
}

impl PeProcess {
    /// Returns the state of a PE that was just started as `child`. The pair is the PE's end and the launcher's end of the lifeline.
    pub(crate) fn new(pe: usize, child: Child, channel: Channel, (given, held): (OwnedFd, OwnedFd)) -> Self {
        Self {
            pe,
            handle: open(child.id()),
            child,
            channel: Some(channel),
            outbox: VecDeque::new(),
            unheard: false,
            joined: None,
            lifeline: Rc::new(given),
            _held: held,
            memory: None,
            finished: false,
            aborted: None,
            ended: None,
            lost: None,
            death_told: false,
        }
    }

    pub(crate) fn poll_list(&self) -> Vec<PollFd<'_>> {
        let mut list = Vec::new();
        // An ignored channel is left out, because `poll` would always report it once it is closed. It is kept while packets must be
        // sent.
        let heard = |_: &&Channel| !self.unheard || !self.outbox.is_empty();
        if let Some(channel) = self.channel.as_ref().filter(heard) {
            let input = if self.unheard { PollFlags::empty() } else { PollFlags::IN };
            let output = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            list.push(PollFd::new(channel, input | output));
        }
        let child = self.handle.iter().filter(|_| self.ended.is_none());
        let joined =
            self.joined.iter().filter(|joined| !joined.gone).filter_map(|joined| joined.handle.as_ref());
        list.extend(child.chain(joined).map(|handle| PollFd::new(handle, PollFlags::IN)));
        list
    }

    /// Returns whether the child has no pidfd, so that the launcher must check regularly whether the child has ended.
    pub(crate) fn must_be_asked(&self) -> bool {
        self.handle.is_none() && self.ended.is_none()
    }

    pub(crate) fn receive(&mut self) -> io::Result<Option<Packet>> {
        let Some(channel) = self.channel.as_ref().filter(|_| !self.unheard) else { return Ok(None) };
        match channel.try_receive() {
            Ok(None) => self.channel = None,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return result,
        }
        Ok(None)
    }

    pub(crate) fn ignore(&mut self) {
        self.unheard = true;
    }

    pub(crate) fn backlog(&self) -> usize {
        self.outbox.len()
    }

    pub(crate) fn send(&mut self, packet: Outgoing) {
        self.outbox.push_back(packet);
    }

    pub(crate) fn reply(&mut self, reply: &ToPe, descriptors: Vec<Rc<OwnedFd>>) {
        self.send(Outgoing { bytes: codec::encode(reply).into(), descriptors });
    }

    /// Sends queued packets until the socket is full. Drops them if the PE's end is closed.
    pub(crate) fn flush(&mut self) {
        while let (Some(channel), Some(packet)) = (&self.channel, self.outbox.front()) {
            match channel.try_send(&packet.bytes, &packet.descriptors) {
                Ok(true) => drop(self.outbox.pop_front()),
                Ok(false) => return,
                Err(_) => self.outbox.clear(),
            }
        }
        if self.channel.is_none() {
            self.outbox.clear();
        }
    }

    pub(crate) fn join(&mut self, pid: u32) {
        let handle = (pid != self.child.id()).then(|| open(pid)).flatten();
        self.joined = Some(Joined { pid, handle, gone: false });
    }

    pub(crate) fn joined(&self) -> Option<u32> {
        self.joined.as_ref().map(|joined| joined.pid)
    }

    /// Finds out which of the PE's processes have ended. Packets that they sent before can still be received.
    pub(crate) fn reap(&mut self) {
        if self.ended.is_none() {
            self.ended = end_of(&mut self.child);
        }
        if let Some(joined) = &mut self.joined
            && let Some(handle) = &joined.handle
        {
            joined.gone = joined.gone || is_readable(handle);
        }
    }

    /// Returns whether the process that joined has ended, or `None` if no process has joined.
    fn has_gone(&self) -> Option<bool> {
        let joined = self.joined.as_ref()?;
        Some(match joined.handle {
            Some(_) => joined.gone,
            None if joined.pid == self.child.id() => self.ended.is_some(),
            None => self.channel.is_none() || self.unheard,
        })
    }

    /// Returns whether the PE cannot be reached, although the child still runs. False for a PE that has finished or aborted.
    pub(crate) fn is_lost(&self) -> bool {
        let out_of_reach = self.has_gone().is_some_and(|gone| gone || self.channel.is_none());
        out_of_reach && !self.finished && self.aborted.is_none() && self.ended.is_none()
    }

    /// Returns since when the PE [is lost](Self::is_lost), or `None` if it is not.
    pub(crate) fn lost_since(&mut self, now: Instant) -> Option<Instant> {
        self.lost = self.is_lost().then(|| self.lost.unwrap_or(now));
        self.lost
    }

    /// Returns whether the child and the process that joined have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some() && self.has_gone() != Some(false)
    }

    pub(crate) fn died(&self) -> bool {
        let Some(status) = self.ended else { return false };
        let left_early = self.has_gone() == Some(true) && !self.finished;
        self.aborted.is_none() && (!status.success() || left_early)
    }

    /// Returns the state of the PE's process if the process is stopped, traced or dying.
    pub(crate) fn held(&self) -> Option<PeState> {
        held(self.joined().unwrap_or(self.child.id()))
            .filter(|_| self.has_gone() != Some(true) && !self.is_over())
    }

    pub(crate) fn stayed_away(&self) -> bool {
        self.ended.is_some() && self.joined.is_none()
    }

    pub(crate) fn death(&self) -> Death {
        Death { pe: self.pe, started: self.child.id(), joined: self.joined(), status: self.ended }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if self.ended.is_none() {
            // The process ID still belongs to the child, because the child was not yet waited for.
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
        if let Some(Joined { handle: Some(handle), gone: false, .. }) = &self.joined {
            let _ = pidfd_send_signal(handle, signal);
        }
    }

    pub(crate) fn state(&self, exchanging: bool) -> PeState {
        if let Some(said) = &self.aborted {
            PeState::Ended(said.clone())
        } else if self.death_told || self.died() {
            PeState::Ended(self.death().how())
        } else if self.finished {
            PeState::Finished
        } else if self.joined.is_none() && self.ended.is_some() {
            PeState::Ended("ended without joining the job".into())
        } else if let Some(held) = self.held() {
            held
        } else if self.joined.is_none() {
            PeState::NotJoined
        } else if exchanging {
            PeState::Exchanging
        } else {
            self.memory.as_deref().map_or(PeState::Starting, pe_record::read)
        }
    }
}

/// Returns a pidfd, readable when the process has ended. Kernels before 5.3, and some containers, have no pidfds.
fn open(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok()
}

/// Returns the state of a process that is stopped, traced or dying, by `/proc/PID/stat` (proc(5)).
pub fn held(pid: u32) -> Option<PeState> {
    state_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn state_in(stat: &str) -> Option<PeState> {
    // The second field is a name in parentheses, which may contain any characters.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let (state, flags) = (fields.next()?, fields.nth(5)?.parse::<u32>().ok()?);
    match state {
        // In a killed process the first thread may end long before the last thread, and then the state letter says little.
        _ if flags & SIGNALED != 0 => Some(PeState::Dying),
        "T" => Some(PeState::Stopped),
        "t" => Some(PeState::Traced),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_held_by_what_the_kernel_says() {
        let stat =
            |state: &str, flags: u32| state_in(&format!("7 (a) T b) {state} 1 7 7 0 -1 {flags} 132 0 0\n"));
        assert_eq!([stat("S", 0x40_0000), stat("R", 0), stat("Z", 0x4)], [None, None, None]);
        assert_eq!([stat("T", 0), stat("t", 0)], [Some(PeState::Stopped), Some(PeState::Traced)]);
        assert_eq!(
            [stat("D", 0x40_0604), stat("T", 0x400), stat("Z", 0x404)],
            [const { Some(PeState::Dying) }; 3]
        );
        assert_eq!([state_in(""), state_in("7 (a"), state_in("7 (a) S 1")], [const { None }; 3]);
        assert_eq!(held(std::process::id()), None);
    }
}
