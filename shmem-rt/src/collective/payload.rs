//! What nodes bring each other in the rounds of a barrier.
//!
//! Members of a node read each other's contributions where they lie. Those of other nodes come once for the whole node, to its mirror:
//! room on its first member, where all of its members read them. The last member to arrive acts for its node. It puts together what
//! its node has, and sends it with the words of the barrier. So only first members are written to, and synchronisation and data are one
//! round of messages.
//!
//! Data for all nodes go by the [rounds](Round) of a dissemination: [`Blocks`](super::blocks::Blocks) as they are, and
//! [`PartialResults`](super::partial_results::PartialResults) of reductions as the [covers](super::cover) of those that have been
//! combined. Data for each node ([`Parts`](super::parts::Parts)) go straight there, and are the barrier themselves.
//!
//! A signature is compared by who comes to know it first: each round brings that of one node before, and whoever acts for a node
//! compares it with its own before it begins the next round. Who has the word of a round therefore knows, by what came in the rounds
//! before on the way to it, that all nodes of which it has heard have the same signature.
//!
//! # Why nobody waits for acknowledgements
//!
//! There are two sets of words and rooms, which barriers use in turn. A node sends one message to another at a barrier, or none, and
//! each is waited for there by its word: who has left a barrier has what was sent to it. And who has left it knows that all nodes have
//! come to it. So when somebody sends at a barrier, all have come to the one before and have left the one before that, which is the last
//! that used the same set: what was sent to it has arrived, and has been read, because members come to a barrier when they have read
//! what the one before has brought. At most two messages from one node to another are under way, one in each set, and it does not
//! matter in which order they arrive. Within a message the data is there when the word is
//! ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

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
