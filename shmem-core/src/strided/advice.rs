//! Advice to the program: what makes a transfer slow, that only the program's own arrays can change.
//!
//! Blocks whose distance is a multiple of a large power of two meet in few sets of a first-level cache, and
//! push each other out. No loop avoids that; rows of another length do (`padded!`). [`Advice::of`] looks
//! at the pattern alone, so it is a constant for a constant plan, and a plan without advice costs nothing.
//! What there is to say is said once for each place of the program, by whom the runtime has
//! [installed](install) for it, who adds the remedy in the language of the program.

use core::fmt;
use core::panic::Location;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use super::pattern::{Level, Pattern};
use super::predicate::{LINE, SETS, sets};
use crate::text::counted;

/// Fewer blocks than this have room side by side.
const LEAST_COUNT: usize = 32;

/// A pattern that touches more sets than this has room enough.
const MOST_SETS: usize = 4;

/// Distances that are multiples of this are all between few sets.
const CROWDED: usize = LINE * SETS / MOST_SETS;

/// Blocks of a transfer that meet in few sets of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    side: &'static str,
    count: usize,
    block: usize,
    stride: usize,
    sets: usize,
}

impl Advice {
    /// What is to be said about a pattern: of its destination, or else of its source.
    pub const fn of(pattern: &Pattern) -> Option<Self> {
        let (mut to, mut from) = (0, 0);
        let mut i = 0;
        while i < pattern.levels().len() {
            to |= pattern.levels()[i].to;
            from |= pattern.levels()[i].from;
            i += 1;
        }
        let inner = Level { count: pattern.count(), ..pattern.inner()[1] };
        Self::of_strides(pattern.block(), inner, to, from)
    }

    /// What is to be said about blocks in one loop.
    #[inline(always)]
    pub const fn of_blocks(block: usize, level: Level) -> Option<Self> {
        Self::of_strides(block, level, level.to, level.from)
    }

    /// What is to be said of `inner.count` blocks at the distances of `inner`, in loops whose distances put
    /// together by OR are `to` and `from`.
    #[inline(always)]
    const fn of_strides(block: usize, inner: Level, to: usize, from: usize) -> Option<Self> {
        if inner.count < LEAST_COUNT || (!to.is_multiple_of(CROWDED) && !from.is_multiple_of(CROWDED)) {
            return None;
        }
        Self::of_crowd(block, inner, to, from)
    }

    const fn of_crowd(block: usize, inner: Level, to: usize, from: usize) -> Option<Self> {
        let lines = block.div_ceil(LINE);
        let (to, from) = (lines.saturating_mul(sets(to)), lines.saturating_mul(sets(from)));
        let Level { count, to: to_stride, from: from_stride } = inner;
        if block == 0 {
            None
        } else if to <= MOST_SETS {
            Some(Self { side: "destination", count, block, stride: to_stride, sets: to })
        } else if from <= MOST_SETS {
            Some(Self { side: "source", count, block, stride: from_stride, sets: from })
        } else {
            None
        }
    }

    /// Bytes from one block to the next.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// How many of 64 sets the blocks share.
    pub const fn sets(&self) -> usize {
        self.sets
    }

    /// Has it said, unless it has been for this location, or nobody is there to say it.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub fn give(&self) {
        let Some(adviser) = ADVISER.get() else { return };
        let location = Location::caller();
        let address = core::ptr::from_ref(location) as usize;
        // Most locations find themselves here. Those that share an entry ask the adviser.
        let last = &LAST[address / align_of::<Location<'_>>() % LAST.len()];
        if last.load(Ordering::Relaxed) == address {
            return;
        }
        if adviser(self, location) {
            last.store(address, Ordering::Relaxed);
        }
    }
}

/// Who says it, once for each place of the program. Gives whether the location is one place, about which nothing more is to be
/// said.
pub type Adviser = fn(&Advice, &'static Location<'static>) -> bool;

static ADVISER: OnceLock<Adviser> = OnceLock::new();

/// Addresses of some locations that have been advised.
static LAST: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// Lets advice be given from now on. Only the first call counts.
pub fn install(adviser: Adviser) {
    // Threads that stand for PEs all bring the same.
    let _ = ADVISER.set(adviser);
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { side, count, block, stride, sets } = self;
        let (pitch, sets) = (stride.saturating_add(LINE), counted(*sets, "set"));
        write!(
            f,
            "{count} blocks of {block} bytes lie {stride} bytes apart at the {side}: they share {sets} \
             of {SETS} in a cache and push each other out, which costs several times as much as at {pitch} bytes"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::strided::{Layout, Pattern};

    /// The sets that the lines of all blocks lie in, at the destination and at the source.
    fn touched(pattern: &Pattern) -> [usize; 2] {
        let mut lines = [BTreeSet::new(), BTreeSet::new()];
        pattern.each_block(|to, from| {
            for (lines, at) in lines.iter_mut().zip([to, from]) {
                lines.extend((at / LINE..(at + pattern.block()).div_ceil(LINE)).map(|line| line % SETS));
            }
        });
        lines.map(|lines| lines.len())
    }

    fn stride() -> impl Strategy<Value = usize> {
        prop_oneof![(1..300_usize).prop_map(|lines| lines * LINE), (8..15_u32).prop_map(|n| 1 << n)]
    }

    proptest! {
        #[test]
        fn columns_in_few_sets_are_found(count in 1..200_usize, block in 1..64_usize, to in stride(), from in stride()) {
            let pattern = Pattern::blocks(block, count, to.max(128), from.max(128));
            let few = touched(&pattern).map(|sets| sets <= MOST_SETS && count >= LEAST_COUNT);
            let advice = Advice::of(&pattern);
            prop_assert_eq!(advice.map(|advice| advice.side), match few {
                [true, _] => Some("destination"),
                [false, true] => Some("source"),
                [false, false] => None,
            });
            if let Some(advice) = advice {
                prop_assert_eq!(advice.sets(), touched(&pattern)[usize::from(advice.side == "source")]);
            }
        }

        #[test]
        fn nothing_else_is_complained_about(
            levels in prop::collection::vec((1..20_usize, stride(), stride()), 0..4), block in 1..700_usize,
        ) {
            let (mut to, mut from) = (Layout::block(block, 64), Layout::block(block, 64));
            for (count, a, b) in levels {
                (to, from) = (to.repeated(count, a + 1024), from.repeated(count, b + 1024));
            }
            let pattern = Pattern::join(&to, &from);
            if let Some(advice) = Advice::of(&pattern) {
                let sets = touched(&pattern)[usize::from(advice.side == "source")];
                prop_assert!(pattern.count() >= LEAST_COUNT && sets <= advice.sets() && advice.sets() <= MOST_SETS);
            }
        }
    }

    #[test]
    fn a_face_of_a_cube_is_found_and_a_padded_one_is_not() {
        // [.., .., 0] of `[[[f64; 128]; 128]; 128]`: rows of 1 KiB, planes of 128.
        let face = |row: usize| Layout::block(8, 64).repeated(128, row).repeated(128, 128 * row);
        const CROWDED: Option<Advice> = {
            let face = Layout::block(8, 64).repeated(128, 1024).repeated(128, 128 * 1024);
            Advice::of(&Pattern::join(&face, &face))
        };
        assert_eq!(CROWDED.map(|advice| (advice.sets(), advice.stride())), Some((4, 1024)));
        let padded = Pattern::join(&face(1024 + 64), &face(1024 + 64));
        assert_eq!((Advice::of(&padded), touched(&padded)), (None, [64; 2]));
    }

    #[test]
    fn the_text_says_what_is_slow() {
        let column = Pattern::blocks(8, 1000, 8, 8192);
        assert_eq!(
            Advice::of(&column).unwrap().to_string(),
            "1000 blocks of 8 bytes lie 8192 bytes apart at the source: they share 1 set of 64 in a cache and push \
             each other out, which costs several times as much as at 8256 bytes"
        );
    }
}
