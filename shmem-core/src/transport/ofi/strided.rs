//! The cost model that chooses how blocks are sent: in messages to the target's engine, or by an operation for each block.
//!
//! A message is one operation for any number of blocks, but the processors of both PEs copy every byte once more. A [cost
//! model](Row) predicts the faster way, after LogGP (Alexandrov et al., 1995), with terms for packing. Its numbers are compiled in
//! for known providers; `shmem-perf ofi --costs` measures them.

use std::sync::OnceLock;

use super::engine::Limits;
use super::provider::Known;
use crate::text::named;

/// The engine's limits for a provider; the provider may report lower ones.
pub fn limits_of(provider: &str) -> Limits {
    Known::about(provider).limits
}

static FORCED: OnceLock<Row> = OnceLock::new();

/// Makes all providers use the costs `row`, so that one way to transfer blocks is always chosen, and measured. Called before the
/// first transfer.
pub fn force(row: Row) {
    // A second call is ignored, because PEs that are threads all pass the same row.
    _ = FORCED.set(row);
}

/// The costs for all providers, if [`force`] has set them.
pub(super) fn forced() -> Option<&'static Row> {
    FORCED.get()
}

/// The costs that are assumed for a provider.
pub fn row_of(provider: &str) -> Row {
    *forced().unwrap_or(&Row::of(provider))
}

/// Number and size of a transfer's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Number of blocks.
    pub count: usize,
    /// Bytes of each block.
    pub bytes: usize,
}

named! {
    /// Ways to transfer blocks. Among equally fast ones, the last is chosen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Way {
        /// Blocks are packed into messages.
        Messages = "messages",
        /// An operation for each block.
        Each = "each",
    }
}

/// Costs of a provider's operations, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Time from the last operation's start to completion of all: `a` in [`time`](Self::time).
    pub latency: u64,
    /// Additional time of a message, for which the target's engine wakes up and answers: `e` in [`time`](Self::time).
    pub engine: u64,
    /// Time for each operation: `o` in [`time`](Self::time).
    pub operation: u64,
    /// Time for each byte on the wire: `G` in [`time`](Self::time).
    pub byte: u64,
    /// Time for each byte that is copied: `g` in [`time`](Self::time).
    pub copy: u64,
    /// Time for each block that is packed: `c_pack` in [`time`](Self::time).
    pub pack: u64,
    /// Time for each block that is unpacked: `c_unpack` in [`time`](Self::time).
    pub unpack: u64,
}

impl Row {
    /// The provider tcp;ofi_rxm, measured between two processes of one machine.
    pub const TCP: Self = Self {
        latency: 6_000_000,
        engine: 7_000_000,
        operation: 6_000_000,
        byte: 175,
        copy: 50,
        pack: 1_500,
        unpack: 1_500,
    };

    /// Hardware that accesses the target's memory without the target's processor. An operation is cheap, but a message wakes a
    /// thread of the target. Modelled, not measured.
    pub const HARDWARE: Self = Self {
        latency: 2_000_000,
        engine: 5_000_000,
        operation: 200_000,
        byte: 80,
        copy: 100,
        pack: 1_500,
        unpack: 1_500,
    };

    /// The compiled-in row of a provider.
    pub fn of(provider: &str) -> Self {
        Known::about(provider).row
    }

    /// Time until blocks are remotely visible, in picoseconds. A message has room for `message` bytes of data. `None`: messages
    /// have no room.
    ///
    /// ```text
    /// each:      a + n o                      + n b G
    /// messages:  a + e + ceil(n b / message) o + n (c_pack + c_unpack) + n b (G + 2 g)
    /// ```
    ///
    /// There are `n` blocks of `b` bytes. The first operation counts as `o`, too.
    pub fn time(&self, way: Way, blocks: Blocks, message: usize) -> Option<u64> {
        let (count, bytes) = (blocks.count as u64, (blocks.count as u64).saturating_mul(blocks.bytes as u64));
        let sum = |terms: &[(u64, u64)]| {
            terms
                .iter()
                .fold(self.latency, |sum, (times, cost)| sum.saturating_add(times.saturating_mul(*cost)))
        };
        Some(match way {
            Way::Each => sum(&[(count, self.operation), (bytes, self.byte)]),
            Way::Messages if message == 0 => return None,
            Way::Messages => sum(&[
                (1, self.engine),
                (bytes.div_ceil(message as u64), self.operation),
                (count, self.pack.saturating_add(self.unpack)),
                (bytes, self.byte.saturating_add(self.copy.saturating_mul(2))),
            ]),
        })
    }

    /// The fastest way to transfer `blocks` by messages with room for `message` bytes, or singly.
    pub fn choose(&self, blocks: Blocks, message: usize) -> Way {
        let time = |way: &Way| self.time(*way, blocks, message).unwrap_or(u64::MAX);
        Way::ALL.into_iter().rev().min_by_key(time).unwrap_or(Way::Each)
    }

    /// Whether one message with data and signal is faster than a write, its completion, and then the signal.
    pub fn prefers_one_message(&self, bytes: usize) -> bool {
        let apart = self.latency.saturating_mul(2).saturating_add(self.operation);
        let copies = (bytes as u64).saturating_mul(self.copy.saturating_mul(2));
        self.engine.saturating_add(copies) <= apart
    }
}
