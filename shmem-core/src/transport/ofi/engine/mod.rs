//! The message engine, for operations that one call of the provider cannot do.
//!
//! Such operations are sent as messages, which the target's engine carries out. The *window* of a sender is the number of messages
//! to one PE that it may have unanswered. A *patient* sender (a barrier of the runtime) calls quiet only after its last
//! operation, so acknowledgements to it may be late.
//!
//! ```text
//! initiator                                    target
//! put, update, list   --one message, a place in the window-->  arrived: carried out at once
//!                     <--acknowledgement, many in one message--  drain: pending answers are sent
//! put, patient sender                           arrived: carried out at once
//!                     <--acknowledgement, of many--              flush_answers: before a thread sleeps
//! get, list that reads --request-->             arrived: queued, or carried out
//!                     <--data, into its destination--            drain
//! long put or list    --written to a slot that was lent-->       landed: as above
//!                     <--acknowledgement, and the slot--         drain
//! ```
//!
//! * **Flow control.** A sender whose window ([`Limits::window`]) is full makes progress until an answer comes. So the memory for
//!   each sender is bounded. The target copies the results of a list and keeps them until they are sent, since old values cannot be
//!   found later. So fewer lists may be unanswered ([`Limits::lists`]), and their results are short.
//! * **No deadlock.** A message that arrives is carried out at once, or queued; the window bounds the queue. Answers for which the
//!   wire has no room wait in queues, and only the PE that asked waits for them. Answers are not answered.
//! * **No order.** A message contains all that is needed to carry it out. A longer transfer is cut into parts that may arrive in
//!   any order. A message that must come after another is sent when the other is acknowledged.
//! * **No allocation** per operation, except for lists. Messages are encoded in the wire's buffers. Requests and pending answers
//!   are in tables, which grow up to the window's size and are kept.
//! * **Trust.** Each message has a token, derived from the job's [secret](super::Secret) for its sender and its receiver. A message
//!   without a valid token is dropped and [counted](Engine::strangers). The other fields are checked: a message that is
//!   inconsistent, or names memory that is not registered, is a [`MessageError`], with which the job ends.
//!
//! The engine does not access a network. It is given a [`Wire`], and the bytes of messages that have arrived.

mod acknowledgements;
mod arrival;
mod bounce_slots;
mod flow_control;
mod initiate;
mod message;
mod wire;

use std::collections::VecDeque;
use std::sync::OnceLock;

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub(crate) use bounce_slots::{BounceSlot, Region, SLOTS};
pub(crate) use flow_control::Limits;
#[cfg(test)]
pub(crate) use initiate::Initiator;
pub(crate) use message::TOKEN;
pub(crate) use wire::{MessageError, Sent, Wire};

use acknowledgements::Pending;
use bounce_slots::{Borrowed, Borrowers};
use flow_control::{LEAST_MESSAGE, Requests};
use message::Sender;

use super::job_secret::Secret;
use super::sparse::Sparse;
use super::streams::Streams;
use crate::exclusion::{Mutex, RwLock};
use crate::segment_table::MAX_SEGMENTS;
use crate::transport::Channel;
use crate::transport::target::Target;

/// The message engine of one PE. See the [module](self).
pub(crate) struct Engine {
    pub(crate) me: u32,
    pub(crate) limits: Limits,
    /// State for each other PE, made when it is first needed.
    peers: Sparse<OnceLock<Box<Peer>>>,
    pes: usize,
    pub(super) streams: Streams,
    segments: RwLock<[Option<Target>; MAX_SEGMENTS]>,
    /// PEs to which answers are pending.
    answer_queue: Mutex<VecDeque<u32>>,
    /// Length of `answer_queue`, readable without the lock.
    owing: AtomicUsize,
    /// Whether acknowledgements linger: they are kept back until [`flush_answers`](Self::flush_answers) or the next answer.
    lingers: AtomicBool,
    borrowers: Borrowers,
    secret: Secret,
    strangers: AtomicU64,
}

struct Peer {
    /// This PE, as the sender of messages to the other PE.
    sender: Sender,
    /// The token of messages from the other PE.
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
            answer_queue: Mutex::default(),
            owing: AtomicUsize::new(0),
            lingers: AtomicBool::new(false),
            borrowers: Borrowers::default(),
            secret,
            strangers: AtomicU64::new(0),
        }
    }

    /// Registers a segment of this PE, which messages may then name.
    pub(crate) fn register(&self, segment: u32, target: Target) {
        let mut segments = self.segments.write();
        let before = segments[segment as usize].replace(target);
        assert!(before.is_none(), "segment {segment} of PE {} is registered already", self.me);
    }

    /// Forgets a segment. Returns when no message is being carried out in the segment.
    pub(crate) fn forget(&self, segment: u32) {
        self.segments.write()[segment as usize] = None;
    }

    /// Whether every message of a channel was answered, so that its writes are remotely visible and its reads complete.
    pub(crate) fn is_quiet(&self, channel: Channel) -> bool {
        self.streams.get(channel).is_answered()
    }

    /// The PEs that have not answered messages of this PE, and the number of these messages for each.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (usize, u32)> {
        let each =
            self.peers.iter().filter_map(|(pe, peer)| Some((pe, peer.get()?.requests.lock().unanswered())));
        each.filter(|&(_, unanswered)| unanswered > 0)
    }

    pub(crate) fn unanswered_by(&self, pe: usize) -> u32 {
        self.met(pe).map_or(0, |peer| peer.requests.lock().unanswered())
    }

    /// The number of messages that were dropped because no PE of this job has sent them.
    pub(crate) fn strangers(&self) -> u64 {
        self.strangers.load(Ordering::Relaxed)
    }

    /// Sends pending answers, as far as the wire has room. Called after [`arrived`](Self::arrived), and while [`owes`](Self::owes).
    pub(crate) fn drain(&self, wire: &dyn Wire) -> Result<(), MessageError> {
        for _ in 0..self.owing.load(Ordering::Acquire) {
            let Some(owed) = self.answer_queue.lock().pop_front() else { break };
            self.owing.fetch_sub(1, Ordering::Relaxed);
            if self.answer(wire, owed)? == Sent::Full {
                self.enlist(owed);
            }
        }
        Ok(())
    }

    /// Whether an answer to another PE is pending.
    pub(crate) fn owes(&self) -> bool {
        self.owing.load(Ordering::Relaxed) > 0
    }

    /// Sends the acknowledgements that linger, as far as the wire has room. The rest become pending. Called regularly and before
    /// sleep.
    pub(crate) fn flush_answers(&self, wire: &dyn Wire) -> Result<(), MessageError> {
        if self.lingers.swap(false, Ordering::Acquire) {
            for (pe, peer) in self.peers.iter() {
                if peer.get().is_some_and(|peer| peer.pending.lock().flush_answers()) {
                    self.enlist(pe as u32);
                }
            }
        }
        self.drain(wire)
    }

    fn enlist(&self, owed: u32) {
        self.answer_queue.lock().push_back(owed);
        self.owing.fetch_add(1, Ordering::Release);
    }

    /// The state for a PE, if messages were exchanged with it.
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
