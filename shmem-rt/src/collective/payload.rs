//! Payloads: data that nodes exchange in the messages of a barrier.
//!
//! Members of a node read each other's contributions in place. A contribution from another node arrives once for the whole node: in its
//! mirror, a buffer on its first member, which all of its members read. The last member to arrive acts for its node. It gathers what
//! its members contribute, and sends it with the words of the barrier. So only first members receive messages, and one round of messages
//! carries synchronisation and data.
//!
//! Data for all nodes go by the [rounds](Round) of a dissemination: [`Blocks`](super::blocks::Blocks) unchanged, and
//! [`PartialResults`](super::partial_results::PartialResults) of reductions as [covers](super::cover) of the ranks combined so far. Data for one
//! node each ([`Parts`](super::parts::Parts)) go straight there, and their messages replace the rounds.
//!
//! Each round brings the signature of one node before. The member that acts for a node compares it with its own before it begins the
//! next round. So a member that has the word of a round knows that all nodes it has heard of, directly or through others, have the same
//! signature.
//!
//! # Why nobody waits for acknowledgements
//!
//! There are two sets of words and buffers, which barriers use in turn. In a barrier a node sends another at most one message, and the
//! receiver waits for its word. So a member that has left a barrier has received all messages of that barrier, and knows that all nodes
//! have entered it.
//!
//! Take a sender in barrier `n`. It has left `n - 1`, so all nodes have entered that and left `n - 2`, the last one that used the same set.
//! Its messages have arrived, and members have read them, because they read what a barrier brought before they enter the next one. At
//! most two messages from one node to another are under way, one in each set, and their order does not matter. Within a message the data
//! arrive before the word ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

use shmem_core::sync::STATEMENT_WORDS;

use super::rooms;
use super::schedule::Round;
use crate::group::Collective;

/// Contributions end at multiples of it, so that no number is cut.
pub(super) const GRAIN: usize = 16;

/// What goes with the words of the rounds.
pub(super) trait Payload {
    /// What whoever acts for a node has come for, if that is compared word for word.
    fn signature(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        None
    }

    /// Before the rounds, for whoever acts for a node: all of its members have contributed.
    fn prepare(&mut self, collective: &Collective<'_>) {
        _ = collective;
    }

    /// What is sent in a round.
    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message;

    /// The round's message has come, and its word is what it must be.
    fn receive(&mut self, collective: &Collective<'_>, round: Round) {
        _ = (collective, round);
    }

    /// Behind the rounds, before the members of the node go on.
    fn finish(&mut self, collective: &Collective<'_>) {
        _ = collective;
    }
}

/// Bytes for another node.
pub(super) struct Message {
    /// Where they lie. They stay until the operation that sends them returns.
    pub(super) source: *const u8,
    /// How many there are.
    pub(super) bytes: usize,
    /// Where they go on the node's first member, from the start of its slot: to a room of the runtime that has as many.
    pub(super) to: usize,
}

impl Message {
    /// No bytes.
    pub(super) const EMPTY: Self = Self { source: core::ptr::null(), bytes: 0, to: 0 };
}

/// No payload: members synchronise.
pub(super) struct Nothing;

impl Payload for Nothing {
    fn send(&mut self, _: &Collective<'_>, _: Round) -> Message {
        Message::EMPTY
    }
}

/// What whoever acts for a node has come for, word for word.
pub(super) struct Signature<'w> {
    pub(super) words: &'w [u64; STATEMENT_WORDS],
    /// Which of the two sets of rooms.
    pub(super) half: usize,
}

impl Payload for Signature<'_> {
    fn signature(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        Some(self.words)
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let to = rooms::signature(collective.team, self.half, round.number);
        Message { source: self.words.as_ptr().cast(), bytes: size_of_val(self.words), to }
    }
}
