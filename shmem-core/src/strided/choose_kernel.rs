//! Choice of the kernel for a pattern by measured thresholds, and the settings of plans made at run time.
//!
//! The choice follows the behaviour of caches. Five rules are tried in this order; all other patterns are moved as rows
//! ([`Kernel`] has a variant for each way):
//!
//! 1. A transfer of half the last-level cache or more, in whole cache lines or long blocks, is streamed: its destination is not
//!    read.
//! 2. Blocks up to a cache line, at a stride that is a large power of two, are throttled on processors where that gains: idle
//!    stores, all to one cached line, slow down the loop. Such blocks map to few sets of the first-level cache, and the blocks of
//!    a set, if they are more than its ways, evict each other.
//! 3. Blocks up to a cache line, on more pages than the TLB has entries, are throttled. They wait for translations, while their
//!    lines evict each other.
//! 4. Small blocks at one small stride on both sides are a span: whole vectors are stored under a mask.
//! 5. Words at every second or third place on one side, dense on the other, are shuffled: vectors are permuted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use super::kernel::{Kernel, Maker};
use super::loop_nest::{Level, Pattern};
use super::published_algorithms::Algorithm;

pub(super) const LINE: usize = 64;
/// Number of sets of a first-level cache, on nearly every processor.
pub(super) const SETS: usize = 64;
/// Minimum number of blocks per set at which blocks are throttled: more than a set has ways.
const CROWD: usize = 16;
/// Upper limit on the blocks that are throttled for few sets. The cache lines of more blocks come from memory anyway.
const MOST: usize = 1 << 14;
/// Blocks of at most this size in bytes, if they are fewer than twice [`CROWD`], are always moved as rows.
const SHORT: usize = 1024;
const PAGE: usize = 4096;
/// Bytes of each store of a throttled block.
const PIECE: usize = 16;
/// Bytes of the last-level cache that one PE can count on.
const CACHE: usize = 16 << 20;
/// Minimum size of a streamed block, in bytes, unless blocks are whole cache lines.
const LONG: usize = 512;
/// Minimum size of a row for a span or for shuffles, in bytes: the mean of the row's sizes in source and destination.
const DENSE: usize = 2048;

/// Thresholds that depend on the processor. A plan made at compile time uses [`DEFAULT`](Self::DEFAULT). If its blocks are
/// throttled, the kernel is chosen again when the plan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// If all blocks map to one set of the cache, each gets idle stores until it has one store more than this. If they map to
    /// more sets, this is divided by their number. With 0, blocks that map to few sets are not throttled.
    pub throttle: u8,
    /// Minimum number of pages, of both sides together, at which blocks at a large stride are throttled: the entries of a TLB.
    pub pages: usize,
    /// Number of idle stores, which only take time, after each block at a large stride; half as many if several blocks share a
    /// page on one side.
    pub far: u8,
}

impl Thresholds {
    /// Thresholds of plans made at compile time, which throttle blocks if that is faster on any of the processors.
    pub const DEFAULT: Self = Self { throttle: 8, pages: 2048, far: 8 };

    /// Returns the thresholds that were measured on processors of a maker. For blocks that map to few sets, throttling halves the
    /// time on AMD's Zen 4 and 5, and doubles it on Intel's Sapphire Rapids. For blocks on more pages than a TLB has entries,
    /// throttling is faster on all three, on Intel's with fewer idle stores and from fewer pages on.
    pub(super) const fn of(maker: Maker) -> Self {
        match maker {
            Maker::Amd => Self { pages: 3072, ..Self::DEFAULT },
            Maker::Other => Self { throttle: 0, far: 4, ..Self::DEFAULT },
        }
    }
}

/// Returns the kernel for a pattern that is not contiguous.
pub const fn choose(pattern: &Pattern, thresholds: &Thresholds) -> Kernel {
    let [_, inner] = pattern.inner();
    select(pattern.block(), pattern.count(), inner, thresholds)
}

/// As [`choose`], for blocks in one loop.
#[inline]
pub(super) const fn choose_row(block: usize, row: Level, thresholds: &Thresholds) -> Kernel {
    select(block, row.count, row, thresholds)
}

/// Returns the kernel for `count` blocks. `row` is the innermost loop.
#[inline]
const fn select(block: usize, count: usize, row: Level, thresholds: &Thresholds) -> Kernel {
    // So few blocks match no rule.
    if count < 2 * CROWD && block <= SHORT {
        return Kernel::Rows;
    }
    if block >= LINE && is_streamed(block, count, row) {
        return Kernel::Stream;
    }
    if let Some(touches) = touches(block, row, thresholds) {
        return Kernel::Throttled(touches);
    }
    if let Some(touches) = far_touches(block, count, row, thresholds) {
        return Kernel::Throttled(touches);
    }
    if row.to <= LINE && row.count.saturating_mul(row.to.saturating_add(row.from)) >= 2 * DENSE {
        if is_span(block, row) {
            return Kernel::Span;
        }
        if is_shuffled(block, row) {
            return Kernel::Shuffle;
        }
    }
    Kernel::Rows
}

const fn is_streamed(block: usize, count: usize, row: Level) -> bool {
    let whole = (block | row.to).is_multiple_of(LINE);
    // Bytes of the cache lines of both sides.
    let bytes = count.saturating_mul(advance(block, row.to).saturating_add(advance(block, row.from)));
    (whole || block >= LONG) && bytes >= CACHE / 2
}

/// Returns the bytes of cache lines that each further block needs.
const fn advance(block: usize, stride: usize) -> usize {
    if stride < LINE { stride } else { block.div_ceil(LINE).saturating_mul(LINE) }
}

/// Returns the number of idle stores after each block; `None` if blocks map to too many sets to be throttled.
const fn touches(block: usize, row: Level, thresholds: &Thresholds) -> Option<u8> {
    // Returns early for most strides: only multiples of 8 cache lines map to 8 sets or fewer.
    let crowded = row.to.is_multiple_of(8 * LINE) || row.from.is_multiple_of(8 * LINE);
    if !crowded || thresholds.throttle == 0 || block > LINE || row.count < 2 * CROWD || row.count > MOST {
        return None;
    }
    let sets = if sets(row.to) < sets(row.from) { sets(row.to) } else { sets(row.from) };
    // With 8 sets, only short blocks gain.
    let few = sets <= 4 || (sets <= 8 && block <= LINE / 2);
    if !few || row.count < CROWD * sets {
        return None;
    }
    let stores = 1 + thresholds.throttle as usize / sets;
    Some(stores.saturating_sub(block.div_ceil(PIECE)) as u8)
}

/// Returns the number of idle stores after each block; `None` if blocks are on too few pages to be throttled.
const fn far_touches(block: usize, count: usize, row: Level, thresholds: &Thresholds) -> Option<u8> {
    // Returns early for most transfers: each block adds at most one page on each side.
    if count.saturating_mul(2) < thresholds.pages {
        return None;
    }
    let nearer = if row.to < row.from { row.to } else { row.from };
    // If lines evict each other, fetching them takes longer than the translations, unless there are a quarter more pages.
    let further = if sets(row.to) <= 4 || sets(row.from) <= 4 { thresholds.pages / 4 } else { 0 };
    // A dense source is not throttled, because its lines arrive one by one anyway.
    if block > LINE
        || (row.to < PAGE / 2 && row.from < PAGE / 2)
        || row.from <= LINE
        || pages(row.to, count).saturating_add(pages(row.from, count)).saturating_sub(further)
            < thresholds.pages
    {
        return None;
    }
    Some(if nearer >= PAGE { thresholds.far } else { thresholds.far.div_ceil(2) })
}

const fn pages(stride: usize, count: usize) -> usize {
    if stride >= PAGE { count } else { count.saturating_mul(stride) / PAGE }
}

/// Returns the number of sets of the first-level cache to which blocks at a stride map.
pub(super) const fn sets(stride: usize) -> usize {
    if !stride.is_multiple_of(LINE) || stride == 0 {
        return SETS;
    }
    let zeros = (stride / LINE).trailing_zeros();
    if zeros >= SETS.trailing_zeros() { 1 } else { SETS >> zeros }
}

/// Whether blocks are close enough together for masked copies of whole vectors.
const fn is_span(block: usize, row: Level) -> bool {
    let close = row.to <= 16 || (row.to <= 24 && !block.is_power_of_two());
    row.to == row.from && close && (block | row.to).is_multiple_of(4)
}

/// Whether words of 4 or 8 bytes are dense on one side, and at every second or third place on the other.
const fn is_shuffled(block: usize, row: Level) -> bool {
    let (dense, sparse) = if row.to == block { (row.to, row.from) } else { (row.from, row.to) };
    (block == 4 || block == 8) && dense == block && (sparse == 2 * block || sparse == 3 * block)
}

/// The algorithm and the thresholds of plans made at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// The algorithm of transfers.
    pub algorithm: Algorithm,
    /// Thresholds for the choice of a kernel.
    pub thresholds: Thresholds,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::of(Maker::find())
    }
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

static DEFAULT: LazyLock<Settings> = LazyLock::new(Settings::default);

impl Settings {
    /// Makes these the settings of the process, if none were installed before. Until then, the defaults hold.
    pub fn install(self) {
        // Only the first call counts: PEs that are threads of one process all install equal settings.
        if SETTINGS.set(self).is_ok() {
            IS_FIXED.store(self.algorithm != Algorithm::Auto, Ordering::Relaxed);
        }
    }
}

/// Whether an algorithm other than [`Algorithm::Auto`] is set. It is outside the settings because every short transfer reads it.
static IS_FIXED: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub(super) fn follows_auto() -> bool {
    !IS_FIXED.load(Ordering::Relaxed)
}

/// Returns the settings of the process.
#[inline]
pub fn settings() -> &'static Settings {
    SETTINGS.get().unwrap_or_else(|| &DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Thresholds = Thresholds::of(Maker::Amd);
    const INTEL: Thresholds = Thresholds::of(Maker::Other);

    /// Layouts of applications and of the borders of each rule: bytes of a block, count, strides there and here.
    #[test]
    fn layouts_have_the_kernels_that_were_fastest_for_them() {
        use Kernel::{Rows, Shuffle, Span, Stream, Throttled as Held};
        const COLUMN: Kernel = choose(&Pattern::blocks(8, 1024, 8256, 8256), &T);
        assert_eq!(COLUMN, Rows, "while compiling, too");
        let (half, pages) = (CACHE / 2, T.pages / 2);
        let (lines, long) = (half / 2 / LINE, half / 2 / LONG);
        // Lines are missed before pages: then it takes more pages.
        let (few, more) = (INTEL.pages / 2, INTEL.pages / 2 / 4 * 5);
        let even = |block, count, stride, chosen| (T, block, count, (stride, stride), chosen);
        let intel = |count, stride, chosen| (INTEL, 8, count, (stride, stride), chosen);
        let cases = [
            even(8, 1024, 8192, Held(8)),
            even(32, 1024, 8192, Held(7)),
            even(32, 250, 1024, Held(1)),
            (T, 8, 1024, (8, 8192), Held(8)),
            (T, 8, 1024, (8192, 8), Held(8)),
            even(8, 1000, 24, Rows),
            even(8, 1000, 16, Span),
            even(4, 1000, 8, Span),
            (T, 4, 1000, (4, 8), Shuffle),
            (T, 8, 1000, (24, 8), Shuffle),
            even(16384, 10, 20480, Rows),
            even(65, 4096, 8192, Rows),
            even(128, 4096, 8208, Rows),
            // Streams: half the cache, of whole lines or of long blocks.
            even(LINE, lines, 2 * LINE, Stream),
            even(LINE, lines - 1, 2 * LINE, Rows),
            even(LINE, lines, 2 * LINE + 8, Rows),
            even(LONG, long, 9 * LINE + 8, Stream),
            even(LONG - 8, long, 9 * LINE + 8, Rows),
            // Few blocks do not crowd a set, and very many come from memory.
            even(8, 2 * CROWD - 1, 8192, Rows),
            even(8, 4 * CROWD - 1, 1024, Rows),
            even(8, 4 * CROWD, 1024, Held(2)),
            even(8, MOST + 1, 1024, Rows),
            even(64, 256, 8192, Held(5)),
            // More pages than a TLB has entries.
            even(8, pages, 8208, Held(8)),
            even(8, pages - 1, 8208, Rows),
            (T, 8, 4096, (8, 8208), Held(4)),
            (T, 8, 4096, (8208, 8), Rows),
            // Where crowded sets do no harm, pages alone count.
            intel(1024, 8192, Rows),
            intel(few, 8256, Held(4)),
            intel(few - 1, 8256, Rows),
            intel(more, 8192, Held(4)),
            intel(more - 1, 8192, Rows),
        ];
        // The fewer the sets, the stronger is the brake.
        let sets = [(256, 0), (512, 1), (2048, 4), (4096, 8), (1 << 20, 8), (3 * 1024, 2), (5 * 4096, 8)];
        let held = |stores| if stores == 0 { Rows } else { Held(stores) };
        let sets = sets.map(|(stride, stores)| even(8, 256, stride, held(stores)));
        for (thresholds, block, count, (to, from), chosen) in cases.into_iter().chain(sets) {
            let found = choose(&Pattern::blocks(block, count, to, from), &thresholds);
            assert_eq!(found, chosen, "{count} x {block} bytes, strides {to} <- {from}");
        }
    }
}
