//! What nodes bring each other at a meeting.
//!
//! Members of a node read each other's contributions where they lie. Those of other nodes come once for the
//! whole node, to its mirror: room on its first member, where all of its members read them. Whoever comes last
//! on a node acts for it: it puts together what its node has, and sends it with the words of the
//! meeting, so that only first members are written to, and meeting and bringing are one round of messages.
//!
//! What there is for all goes by the [rounds](Round) of a census: [`Blocks`](super::blocks::Blocks) as they are,
//! [sums](super::sum::Sum) as the [covers](super::cover) of those that have been added up, and
//! [prefixes](super::prefix::Prefix) as covers of lower ranks. What there is for each
//! ([`Parts`](super::parts::Parts)) goes straight there, and is the meeting itself.
//!
//! A statement is for who comes to know it first: each round brings that of one node before, and whoever acts for a
//! node compares it with its own before it begins the next round. Who has the word of a round therefore knows, by what
//! came in the rounds before on the way to it, that all nodes of which it has heard have stated the same.
//!
//! # Why nobody waits for acknowledgements
//!
//! There are two sets of words and rooms, which meetings take in turn. A node sends one message to another at a meeting,
//! or none, and each is waited for there by its word: who has left a meeting has what was sent to it. And who has left it
//! knows that all nodes have come to it. So when somebody sends at a meeting, all have come to the one before and have left the
//! one before that, which is the last that used the same set: what was sent to it has arrived, and has been read,
//! because members come to a meeting when they have read what the one before has brought. At most two messages from one
//! node to another are under way, one in each set, and it does not matter in which order they arrive. Within a
//! message the data is there when the word is ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

use shmem_core::sync::STATEMENT_WORDS;

use super::census::Round;
use super::rooms;
use crate::group::Collective;

/// Contributions end at multiples of it, so that no number is cut.
pub(super) const GRAIN: usize = 16;

/// What goes with the words of the rounds.
pub(super) trait Passing {
    /// What whoever acts for a node has come for, if that is what is passed on.
    fn statement(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        None
    }

    /// Before the rounds, for whoever acts for a node: all of its members have contributed.
    fn prepare(&mut self, collective: &Collective<'_>) {
        _ = collective;
    }

    /// What is sent in a round.
    fn load(&mut self, collective: &Collective<'_>, round: Round) -> Load;

    /// The round's message has come, and its word is what it must be.
    fn unload(&mut self, collective: &Collective<'_>, round: Round) {
        _ = (collective, round);
    }

    /// Behind the rounds, before the members of the node go on.
    fn finish(&mut self, collective: &Collective<'_>) {
        _ = collective;
    }
}

/// Bytes for another node.
pub(super) struct Load {
    /// Where they lie. They stay until the operation that sends them returns.
    pub(super) source: *const u8,
    /// How many there are.
    pub(super) bytes: usize,
    /// Where they go on the node's first member, from the start of its slot: to a room of the runtime that has as many.
    pub(super) to: usize,
}

impl Load {
    /// No bytes.
    pub(super) const NOTHING: Self = Self { source: core::ptr::null(), bytes: 0, to: 0 };
}

/// Nothing is brought: members meet.
pub(super) struct Nothing;

impl Passing for Nothing {
    fn load(&mut self, _: &Collective<'_>, _: Round) -> Load {
        Load::NOTHING
    }
}

/// What whoever acts for a node has come for, word for word.
pub(super) struct Stated<'w> {
    /// The words.
    pub(super) words: &'w [u64; STATEMENT_WORDS],
    /// Which of the two sets of rooms.
    pub(super) half: usize,
}

impl Passing for Stated<'_> {
    fn statement(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        Some(self.words)
    }

    fn load(&mut self, collective: &Collective<'_>, round: Round) -> Load {
        let to = rooms::brought(collective.team, self.half, round.number);
        Load { source: self.words.as_ptr().cast(), bytes: size_of_val(self.words), to }
    }
}
