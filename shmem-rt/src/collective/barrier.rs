//! The checked barrier, with which every blocking collective begins.
//!
//! **On a node** each member polls one cache line of each other member ([`BarrierLines`](shmem_core::sync::BarrierLines)), or adds
//! to a counter of the node's first member ([`NodeBarrier`](shmem_core::sync::NodeBarrier)). The choice depends on the team alone.
//! So members that call different operations use the same words, and the mismatch is found.
//!
//! **Between nodes** the last member to arrive acts for its node, in a dissemination of ceil(log2(nodes))
//! [rounds](super::schedule::Round). Then it releases its node. Where each node has data for each other node, the messages with
//! these data replace the rounds ([`Parts`](super::barrier_payload::Parts)).
//!
//! **Check.** Every step carries the fingerprint of the operation: a hash and, in separate bits, whether the operation
//! opens a [phase](crate::phase) (`World::local` or `World::frozen`). Between nodes a word grows by
//! `fingerprint * 2^16 + 1`, so one comparison checks both the arrival and the operation.

use std::panic::Location;
use std::sync::atomic::Ordering;

use shmem_core::context::{Endpoint, Initiator, RemotePath};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::segment_table::SYSTEM;
use shmem_core::sync::{Arrival, SIGNATURE_WORDS, Shown};
use shmem_core::system_area::TeamArea;
use shmem_core::transport::{Remote, SignalOp, Until};

use super::barrier_payload::{Message, Nothing, Payload, direct, word_of};
use super::compared_argument::Argument;
use super::mismatch::MismatchLocation;
use super::request::{Started, Task};
use super::schedule::Round;
use crate::group::{BarrierKind, CallSignature, Collective, Operation, Team};

impl Team {
    /// Blocks until all members have called `barrier`, and makes all their earlier operations visible to all members.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_barrier_all`, `shmem_quiet` and `shmem_team_sync`.
    #[track_caller]
    pub fn barrier(&self, token: &(impl Initiator + ?Sized)) {
        // Transfers to other nodes need a quiet. Stores to this node become visible by the arrival at the barrier.
        if self.job.network.far.is_some() {
            self.job.quiet_all();
        }
        let location = Location::caller();
        self.meet_once(token.endpoint(), Operation::of(Family::TeamBarrier), Some(location));
    }

    /// Blocks until all members have called `sync`. Stores to this node are then visible; transfers to other nodes may be
    /// incomplete.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_sync`.
    #[track_caller]
    pub fn sync(&self, token: &(impl Initiator + ?Sized)) {
        let location = Location::caller();
        self.meet_once(token.endpoint(), Operation::of(Family::TeamSync), Some(location));
    }

    /// Starts a barrier and returns. After a [wait](Started::wait) for the barrier all members have started it, and their earlier
    /// operations are visible, as after a [`barrier`](Self::barrier).
    ///
    /// All members must start the same collectives of a team in the same order, between the same blocking collectives. Otherwise
    /// the job ends with an error text that names both calls. Started collectives may be waited for in any order, or dropped. A
    /// team has up to four of them under way, and the start of a fifth blocks until the first is complete. Otherwise a start waits
    /// for no other member, except [`start_alltoall`](Self::start_alltoall) in teams of more than 1025 members.
    ///
    /// Source: MPI 4.1, `MPI_Ibarrier`.
    #[doc(alias = "MPI_Ibarrier")]
    #[track_caller]
    pub fn start_barrier<'t>(&'t self, token: &'t (impl Initiator + ?Sized)) -> Started<'t, ()> {
        if self.job.network.far.is_some() {
            self.job.quiet_all();
        }
        let (argument, task) = (Argument::of::<()>(self, token, None), Task::of(None, Vec::new()));
        argument.start(Family::StartBarrier, [], &String::new, (0, task), |_| ())
    }

    /// Runs a barrier as a collective of its own. `location` is the call of the program, or None for a barrier of the runtime.
    pub(crate) fn meet_once(
        &self,
        endpoint: &Endpoint,
        operation: Operation,
        location: Option<&'static Location<'static>>,
    ) {
        let signature =
            CallSignature { operation, opens: false, arguments: &[], subject: &String::new, location };
        self.enter(endpoint, location).meet(&signature);
    }
}

impl Collective<'_> {
    /// Blocks until all members have entered the barrier. Ends the job unless all pass the same signature: operation and arguments.
    pub(crate) fn meet(&self, signature: &CallSignature<'_>) {
        self.barrier_with(signature, &mut Nothing);
    }

    /// Runs [`meet`](Self::meet), with a payload in the messages between nodes.
    pub(super) fn barrier_with(&self, signature: &CallSignature<'_>, payload: &mut dyn Payload) {
        let count = self.count();
        if self.endpoint.observer().is_some() {
            self.tell_signature(signature, count);
        }
        let words = payload.signature_words().copied();
        if let Some(words) = &words {
            let mine = self.team.system_at(self.endpoint, self.endpoint.me());
            mine.teams[self.team.index].signatures[half(count)].write(words);
        }
        // Members that have started different numbers of collectives are a mismatch, so the number is hashed too. Its low 32 bits
        // suffice, because the numbers of two members are close. The low 16 bits of `mark` remain the flag `CallSignature::opens`.
        let started = u64::from(self.team.started() as u32);
        let mark = signature.fingerprint() ^ (started << 16);
        match self.team.barrier_kind {
            BarrierKind::Lines => self.barrier_by_lines(signature, mark, count),
            BarrierKind::Counter => self.barrier_by_counter(signature, mark, count, payload),
        }
        self.compare_on_the_node(signature, count, words.as_ref());
    }

    /// Ends the job unless all members of this node have the same call signature. Does nothing without a signature.
    fn compare_on_the_node(
        &self,
        signature: &CallSignature<'_>,
        count: u64,
        words: Option<&[u64; SIGNATURE_WORDS]>,
    ) {
        let Some(words) = words else { return };
        let Self { team, endpoint, .. } = *self;
        let signatures = |pe: &Pe| &team.system_at(endpoint, *pe).teams[team.index].signatures[half(count)];
        if !team.neighbours().iter().all(|pe| signatures(pe).equals(words)) {
            self.disagree(signature, count, MismatchLocation::Here);
        }
    }

    fn barrier_by_lines(&self, signature: &CallSignature<'_>, mark: u64, count: u64) {
        let Self { team, endpoint, .. } = *self;
        let lines = |pe: Pe| &team.system_at(endpoint, pe).teams[team.index].lines;
        let mine = lines(endpoint.me());
        mine.show(count, mark);
        let mut missing = team.neighbours().iter().copied().filter(|pe| *pe != endpoint.me());
        missing.clone().for_each(|pe| team.system_at(endpoint, pe).doorbell.ring());
        mine.take_next(count);
        let (mut next, mut differs) = (missing.next(), false);
        let arrived = || {
            while let Some(pe) = next {
                match lines(pe).shown(count, mark) {
                    Shown::Nothing => return false,
                    Shown::Equal => next = missing.next(),
                    Shown::Different => {
                        differs = true;
                        return true;
                    }
                }
            }
            true
        };
        let bell = &team.system_at(endpoint, endpoint.me()).doorbell;
        self.wait_until(
            arrived,
            |timeout, done| {
                self.refuse_strays(signature, count);
                bell.sleep(timeout, done);
            },
            || self.activity(signature, count),
        );
        if differs {
            self.disagree(signature, count, MismatchLocation::Here);
        }
    }

    fn barrier_by_counter(
        &self,
        signature: &CallSignature<'_>,
        mark: u64,
        count: u64,
        payload: &mut dyn Payload,
    ) {
        let Self { team, endpoint, .. } = *self;
        let area = team.area(endpoint);
        match area.node.arrive(team.neighbours().len(), mark) {
            Arrival::Early(generation) => self.wait_until(
                || area.node.is_open(generation),
                |timeout, _| {
                    self.refuse_strays(signature, count);
                    area.node.sleep(generation, timeout);
                },
                || self.activity(signature, count),
            ),
            Arrival::Last => {
                if team.node_count() > 1 {
                    self.meet_nodes(area, signature, (mark << 16) | 1, count, payload);
                }
                area.node.open();
            }
            Arrival::Mismatch => self.disagree(signature, count, MismatchLocation::Here),
        }
    }

    /// Synchronises with other nodes; called by the last member to arrive on this node. Sends the payload's straight
    /// messages (which bypass the rounds), one to each node at `payload.distances()`. Then runs dissemination rounds,
    /// unless all other nodes got such a message.
    fn meet_nodes(
        &self,
        area: &TeamArea,
        signature: &CallSignature<'_>,
        word: u64,
        count: u64,
        payload: &mut dyn Payload,
    ) {
        let team = self.team;
        let (nodes, set) = (team.node_count(), half(count));
        // Compare before sending, because other nodes get one word that stands for all members of this node.
        self.compare_on_the_node(signature, count, payload.signature_words());
        let distances = payload.distances();
        let messages = distances.len() as u64;
        for distance in distances {
            let to = team.leader((team.node + distance) % nodes);
            self.send(to, payload.direct(self, distance), direct(team, set), word);
        }
        if messages + 1 < nodes as u64 {
            payload.prepare(self);
            for round in Round::all(nodes) {
                self.go_round(area, signature, (word, count), payload, (round, messages == 0));
            }
            payload.finish(self);
        }
        if messages == 0 {
            return;
        }
        let expected = &area.expected_direct[set];
        let all = expected.load(Ordering::Relaxed).wrapping_add(word.wrapping_mul(messages));
        // The low 16 bits count the messages, if there are at most 65,535 nodes.
        let counted = |shown: u64| shown as u16 == all as u16 && nodes <= usize::from(u16::MAX);
        let arrived = &area.direct[set];
        self.wait_for_nodes(signature, count, || {
            let shown = arrived.load(Ordering::SeqCst);
            shown == all || counted(shown)
        });
        if arrived.load(Ordering::Acquire) != all {
            self.disagree(signature, count, MismatchLocation::Elsewhere);
        }
        expected.store(all, Ordering::Relaxed);
    }

    /// Runs one dissemination round. `nothing_direct`: this barrier has no straight messages, so the arrival of one is a
    /// mismatch.
    fn go_round(
        &self,
        area: &TeamArea,
        signature: &CallSignature<'_>,
        (word, count): (u64, u64),
        payload: &mut dyn Payload,
        (round, nothing_direct): (Round, bool),
    ) {
        let (team, nodes, set) = (self.team, self.team.node_count(), half(count));
        let Round { number, distance, .. } = round;
        let to = team.leader((team.node + distance) % nodes);
        let message = payload.send(self, round);
        self.send(to, message, word_of(team, set, number), word);
        let known = area.expected_direct[set].load(Ordering::Relaxed);
        let strayed = || nothing_direct && area.direct[set].load(Ordering::Relaxed) != known;
        let before = area.expected[set][number].load(Ordering::Relaxed);
        let (expected, arrived) = (before.wrapping_add(word), &area.rounds[set][number]);
        self.wait_for_nodes(signature, count, || arrived.load(Ordering::SeqCst) != before || strayed());
        let shown = arrived.load(Ordering::Acquire);
        if shown == before {
            self.disagree(signature, count, MismatchLocation::Elsewhere);
        }
        let equals = |words| area.remote_signatures[set][number].equals(words);
        if shown != expected || !payload.signature_words().is_none_or(equals) {
            self.disagree(signature, count, MismatchLocation::On((team.node + nodes - distance) % nodes));
        }
        area.expected[set][number].store(expected, Ordering::Relaxed);
        payload.receive(self, round);
    }

    /// Sends a message to the first member of another node, then adds `more` to the word at offset `word` there.
    fn send(&self, to: Pe, message: Message, word: usize, more: u64) {
        let far = self.far();
        let word = Remote { pe: to, segment: SYSTEM, offset: word };
        let there = Remote { offset: message.to, ..word };
        let (add, until) = (SignalOp::Add(more), Until::Return);
        // SAFETY: `word` is the offset of an aligned `AtomicU64` in the system area of every PE. The message's source is readable
        // and unchanged until this call returns. Its target is a runtime buffer of at least `message.bytes` bytes (`Message`).
        unsafe {
            far.transport.put_signal(far.channel, there, message.source, message.bytes, word, add, until);
        }
    }

    fn wait_for_nodes(&self, signature: &CallSignature<'_>, count: u64, is_there: impl Fn() -> bool) {
        let Self { team, endpoint, .. } = *self;
        let system = team.system_at(endpoint, team.leader(team.node));
        self.wait_until(
            is_there,
            |timeout, done| {
                self.refuse_strays(signature, count);
                system.doorbell.sleep(timeout, done);
            },
            || self.activity(signature, count),
        );
    }

    fn far(&self) -> &RemotePath {
        let far = self.team.job.network.barriers.as_ref();
        far.unwrap_or_else(|| unreachable!("several nodes have a transport"))
    }
}

/// Returns the index of the set of words and buffers that barrier `count` uses: two sets alternate.
fn half(count: u64) -> usize {
    (count % 2) as usize
}
