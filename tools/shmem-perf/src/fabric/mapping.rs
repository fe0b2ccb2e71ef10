//! Threads with contexts of their own, against bare threads with endpoints of their own.

use std::sync::Arc;

use shmem_core::context::NonBlocking;
use shmem_core::endpoint::Stores;
use shmem_core::object::On;

use super::operation::LESS;
use super::{Bare, Lane, Peer};
use crate::rounds::{self, Rounds};
use crate::samples::Samples;

/// Numbers of threads that are measured where no others are asked for.
pub const THREADS: [usize; 2] = [1, 2];

/// The most that there may be.
pub const MOST_THREADS: usize = 64;

/// Bytes of memory that so many threads need.
pub fn room(threads: usize) -> usize {
    BATCHES.iter().map(Batch::room).max().unwrap_or(0) * threads
}

/// What a thread does between two quiets.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Bytes of each put.
    pub bytes: usize,
    /// Puts.
    pub in_flight: usize,
    /// Batches in one sample.
    passes: u64,
}

/// From small ones, of which the issue is what costs, to large ones.
pub const BATCHES: [Batch; 3] = [
    Batch { bytes: 8, in_flight: 64, passes: 16_u64.div_ceil(LESS as u64) },
    Batch { bytes: 4 << 10, in_flight: 64, passes: 8_u64.div_ceil(LESS as u64) },
    Batch { bytes: 64 << 10, in_flight: 16, passes: 4_u64.div_ceil(LESS as u64) },
];

impl Batch {
    /// Bytes that a thread writes.
    pub fn room(&self) -> usize {
        self.bytes * self.in_flight
    }

    /// One batch of thread `number` and its quiet, through the library.
    ///
    /// # Panics
    ///
    /// If `place` has no room for so many threads, or `own` not for the batch.
    pub fn through<I: Stores>(&self, token: &I, place: On<'_, [u8]>, own: &[u8], number: usize) {
        let start = number * self.room();
        token.scope(|scope| {
            for (k, source) in own[..self.room()].chunks(self.bytes).enumerate() {
                scope.put(place.index(start + k * self.bytes..start + (k + 1) * self.bytes), source);
            }
        });
    }

    fn by_hand(&self, lane: &Lane, peer: &Peer, number: usize) {
        let start = number * self.room();
        for at in (start..start + self.room()).step_by(self.bytes) {
            lane.put(peer, at, at, self.bytes);
        }
        lane.quiet();
    }
}

/// Batches of `threads` threads, against as many bare threads with an endpoint each: nanoseconds for each
/// put of a thread. `thread` is what each thread does, by its number: it makes what it puts through, and
/// calls [`Turns::run`] with its batch.
///
/// # Panics
///
/// If the provider gives no endpoint, or fails.
pub fn against_bare(
    (bare, peer): (&Arc<Bare>, Peer),
    threads: usize,
    batch: &Batch,
    repetitions: usize,
    thread: impl Fn(usize, &Turns<'_>) + Sync,
) -> Samples {
    // Many threads take turns, so that a sample is long anyhow.
    let passes = (batch.passes.div_ceil(threads as u64), batch.in_flight);
    rounds::in_turn(threads, passes, repetitions, |number, rounds| {
        let lane = Lane::open(bare).unwrap_or_else(|error| panic!("{error}"));
        thread(number, &Turns { rounds, lane, peer, batch, number });
    })
}

/// The turns of one thread.
pub struct Turns<'a> {
    rounds: &'a Rounds,
    lane: Lane,
    peer: Peer,
    batch: &'a Batch,
    number: usize,
}

impl Turns<'_> {
    /// Takes part, with `batch` as the thread's batch through the library.
    pub fn run(&self, mut batch: impl FnMut()) {
        let Self { rounds, lane, peer, number, .. } = self;
        rounds.run(|_| batch(), |_| self.batch.by_hand(lane, peer, *number));
    }
}
