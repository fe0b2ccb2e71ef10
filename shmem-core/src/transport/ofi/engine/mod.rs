//! Messages between PEs, for what one operation of a network interface cannot do.
//!
//! Everything but a write or a read of contiguous bytes is a message, which the target's engine carries out.
//!
//! ```text
//! initiator                                    target
//! put, update, list   --one message, a place in the window-->  arrived: carried out at once
//!                     <--acknowledgement, many in one message--  drain: what is owed is sent
//! put of the patient                            arrived: carried out at once
//!                     <--acknowledgement, of many--              hurry: when there is nothing else to do
//! get, list that reads --request-->             arrived: queued, or carried out
//!                     <--data, into its destination--            drain
//! long put or list    --written to a slot that was lent-->       landed: as above
//!                     <--acknowledgement, and the slot--         drain
//! ```
//!
//! * **Windows.** So many messages may be unanswered for each pair of PEs ([`Limits::window`]). Who wants to send more makes progress
//!   until an answer comes. What a target keeps for a sender is bounded by that. Answers to lists are kept until they are sent, since
//!   old values cannot be found again: fewer of them may be unanswered ([`Limits::lists`]), and they are short.
//! * **No deadlock.** What arrives is always taken: it is carried out, or queued where the window leaves room for it. Answers that
//!   find no room on the wire wait in those queues, and nothing waits for them but whoever asked. Answers are not answered.
//! * **No order.** A message says all that is needed to carry it out. A transfer of more bytes than a message has is cut into parts
//!   that may arrive in any order. What must come after something else is sent when that has been acknowledged.
//! * **Nothing is allocated** per operation, but for lists: messages are put together in the wire's buffers, requests and
//!   what is owed lie in tables that grow to the window and stay.
//! * **Trust.** Each message has a token, which follows from the job's [secret](super::Secret) for its sender and its receiver.
//!   One without is a stranger's: it is dropped and [counted](Engine::strangers). What has one is read as what it is, bytes: a
//!   message that does not fit together, or names memory that is not registered, is a [`Fault`], with which the job ends.
//!
//! The engine knows no network: it is given a [`Wire`], and the bytes that have arrived.

mod acknowledgements;
mod arrival;
mod bounce;
mod initiate;
mod limits;
mod message;
mod requests;
mod wire;

use std::collections::VecDeque;
use std::sync::OnceLock;

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

pub(crate) use bounce::{Region, SLOTS, Slot};
#[cfg(test)]
pub(crate) use initiate::Initiator;
pub(crate) use limits::LEAST_MESSAGE;
pub(crate) use limits::Limits;
pub(crate) use message::TOKEN;
pub(crate) use wire::{Fault, Sent, Wire};

use acknowledgements::{Listing, Pending};
use bounce::{Borrowed, Borrowers};
use message::Sender;
use requests::Requests;

use super::secret::Secret;
use super::sparse::Sparse;
use super::streams::Streams;
use crate::exclusion::{Mutex, RwLock};
use crate::segment::MAX_SEGMENTS;
use crate::transport::Channel;
use crate::transport::target::Target;

/// What there is of another PE; made when it is first needed.
type Entry = OnceLock<Box<Peer>>;

/// One PE's end of all messages. See the [module](self).
pub(crate) struct Engine {
    me: u32,
    limits: Limits,
    peers: Sparse<Entry>,
    pes: usize,
    pub(super) streams: Streams,
    segments: RwLock<[Option<Target>; MAX_SEGMENTS]>,
    creditors: Mutex<VecDeque<u32>>,
    /// How many those are: a look at it costs no lock.
    owing: AtomicUsize,
    late: Mutex<Vec<u32>>,
    borrowers: Borrowers,
    secret: Secret,
    strangers: AtomicU64,
}

/// What this PE and another have to do with each other.
struct Peer {
    /// Who sends to the other: this PE.
    sender: Sender,
    /// The token of what comes from it.
    receives: u64,
    requests: Mutex<Requests>,
    pending: Mutex<Pending>,
    borrowed: Mutex<Borrowed>,
}

impl Engine {
    /// The engine of PE `me` of `pes`, in the job with that secret.
    pub(crate) fn new(me: usize, pes: usize, limits: Limits, secret: Secret) -> Self {
        assert!(
            limits.window > 0 && limits.least() >= LEAST_MESSAGE,
            "{limits:?} leave no room for a message"
        );
        Self {
            me: me as u32,
            limits,
            peers: Sparse::new(pes),
            pes,
            streams: Streams::new(),
            segments: RwLock::new([None; MAX_SEGMENTS]),
            creditors: Mutex::default(),
            owing: AtomicUsize::new(0),
            late: Mutex::default(),
            borrowers: Borrowers::default(),
            secret,
            strangers: AtomicU64::new(0),
        }
    }

    pub(crate) fn me(&self) -> usize {
        self.me as usize
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Lets others reach a segment of this PE.
    pub(crate) fn register(&self, segment: u32, target: Target) {
        let mut segments = self.segments.write();
        let before = segments[segment as usize].replace(target);
        assert!(before.is_none(), "segment {segment} of PE {} is registered already", self.me);
    }

    /// Lets nobody reach a segment any more. Returns when nobody is at it.
    pub(crate) fn forget(&self, segment: u32) {
        self.segments.write()[segment as usize] = None;
    }

    /// Whether every message of a channel has been answered: what it has written is remotely visible, and what it has read is here.
    pub(crate) fn is_quiet(&self, channel: Channel) -> bool {
        self.streams.get(channel).is_answered()
    }

    /// The PEs that have not answered all, and how many messages each: for reports.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (usize, u32)> {
        let each =
            self.peers.iter().filter_map(|(pe, peer)| Some((pe, peer.get()?.requests.lock().unanswered())));
        each.filter(|&(_, unanswered)| unanswered > 0)
    }

    pub(crate) fn unanswered_by(&self, pe: usize) -> u32 {
        self.met(pe).map_or(0, |peer| peer.requests.lock().unanswered())
    }

    /// Messages that were dropped, because no PE of this job has sent them.
    pub(crate) fn strangers(&self) -> u64 {
        self.strangers.load(Ordering::Relaxed)
    }

    /// Sends what is owed, as far as there is room. To be called after [`arrived`](Self::arrived), and as long as
    /// something [is owed](Self::owes).
    pub(crate) fn drain(&self, wire: &dyn Wire) -> Result<(), Fault> {
        for _ in 0..self.owing.load(Ordering::Acquire) {
            let Some(creditor) = self.creditors.lock().pop_front() else { break };
            self.owing.fetch_sub(1, Ordering::Relaxed);
            if self.answer(wire, creditor)? == Sent::Full {
                self.enlist(creditor);
            }
        }
        Ok(())
    }

    /// Whether somebody waits for an answer that found no room.
    pub(crate) fn owes(&self) -> bool {
        self.owing.load(Ordering::Relaxed) > 0
    }

    /// Sends the acknowledgements that linger, as far as there is room; the rest is owed as everything else is. To be called now and
    /// then, and before nobody looks for a while.
    pub(crate) fn hurry(&self, wire: &dyn Wire) -> Result<(), Fault> {
        let next = || self.late.lock().pop();
        while let Some(creditor) = next() {
            if self.peer(creditor as usize).pending.lock().hurry() == Listing::Now {
                self.enlist(creditor);
            }
        }
        self.drain(wire)
    }

    fn enlist(&self, creditor: u32) {
        self.creditors.lock().push_back(creditor);
        self.owing.fetch_add(1, Ordering::Release);
    }

    /// What there is of a PE, if there was a message.
    fn met(&self, pe: usize) -> Option<&Peer> {
        self.peers.get(pe)?.get().map(Box::as_ref)
    }

    fn peer(&self, pe: usize) -> &Peer {
        self.peers.entry(pe).get_or_init(|| {
            let (other, me) = (pe as u32, self.me);
            Box::new(Peer {
                sender: Sender { pe: me, token: token(&self.secret, me, other) },
                receives: token(&self.secret, other, me),
                requests: Mutex::default(),
                pending: Mutex::default(),
                borrowed: Mutex::default(),
            })
        })
    }
}

fn token(secret: &Secret, from: u32, to: u32) -> u64 {
    secret.number("the token of a message", from, to)
}

#[cfg(test)]
pub(super) mod tests;
