//! What others may take of a PE's items.

use std::collections::VecDeque;

use shmem_core::context::{Amo, Rma};
use shmem_core::data::PlainData;
use shmem_core::object::{Atomic, On, SymBox};
use shmem_core::pe::Pe;

use crate::error::Result;
use crate::initial::zeroed;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Words from one to the next, which are on lines of their own.
const LINE: usize = 16;

/// The words of a window.
#[derive(Clone, Copy)]
enum Word {
    /// Which items are left: the first one in the upper half, and the one behind the last.
    Span,
    /// How many of the items that others have claimed they have brought home.
    Copied,
    /// Which PEs wait for items here: bit d is that of the PE that comes 2^d before.
    Hungry,
    /// How often somebody has told this PE to look again.
    Calls,
}

/// The windows of all PEs: some items of each, in symmetric memory.
///
/// The owner fills its window when nothing is left in it and nobody copies from it. Until then the items stay where they
/// are, and who claims some does so by one change of the span: others from its beginning, the owner from its end. So
/// each is claimed once. What was claimed is copied afterwards, and then said to be.
pub(super) struct Window<T> {
    items: SymBox<[T]>,
    words: SymBox<[Atomic<u64>]>,
    /// Steps round the ring of PEs to those at which a PE waits: 1, 2, 4, ..
    reach: u32,
}

impl<T: PlainData> Window<T> {
    /// Collective.
    ///
    /// # Errors
    ///
    /// If the default heap has no room.
    #[track_caller]
    pub(super) fn new<L: ThreadLevel>(world: &World<L>, items: usize) -> Result<Self> {
        let words = world.alloc(zeroed(4 * LINE))?;
        let reach = world.n_pes().next_power_of_two().ilog2();
        Ok(Self { items: world.alloc(zeroed(items))?, words, reach })
    }

    /// Fills this PE's window with its oldest items, at most `most`, if it is empty, and calls who waits for them.
    pub(super) fn fill<L: ThreadLevel>(&self, world: &World<L>, from: &mut VecDeque<T>, most: usize) {
        let me = world.me();
        let (first, end) = split(world.fetch(self.word(me, Word::Span)));
        // Of the items before the first one all were claimed by others.
        if first != end || world.fetch(self.word(me, Word::Copied)) != first as u64 {
            return;
        }
        let filled: Vec<T> = from.drain(..most.min(self.items.len())).collect();
        self.items.here(world).index(..filled.len()).copy_from(&filled);
        world.set(self.word(me, Word::Copied), 0);
        world.set(self.word(me, Word::Span), span(0, filled.len()));
        let hungry = self.word(me, Word::Hungry);
        if world.fetch(hungry) != 0 {
            let bits = world.swap(hungry, 0);
            for step in (0..self.reach).filter(|step| bits & (1 << step) != 0) {
                world.inc(self.word(self.away(world, step, false), Word::Calls));
            }
        }
    }

    /// Takes back half of what is left in this PE's window, the youngest, and adds it to its own.
    pub(super) fn take_back<L: ThreadLevel>(&self, world: &World<L>, into: &mut VecDeque<T>) {
        let claim = self.claim(world, world.me(), |first, end| (first, end - (end - first).div_ceil(2)));
        if let Some(((_, end), (_, kept))) = claim {
            let mut items = vec![T::zeroed(); end - kept];
            self.items.here(world).index(kept..end).copy_to(&mut items);
            into.extend(items);
        }
    }

    /// Whether a PE's window has something.
    pub(super) fn has_any<L: ThreadLevel>(&self, world: &World<L>, pe: Pe) -> bool {
        let (first, end) = split(world.fetch(self.word(pe, Word::Span)));
        first < end
    }

    /// Takes half of what is in the window of another PE, the oldest, and adds it to the own. Says whether there was
    /// anything.
    pub(super) fn steal<L: ThreadLevel>(&self, world: &World<L>, pe: Pe, into: &mut VecDeque<T>) -> bool {
        let claim = self.claim(world, pe, |first, end| (first + (end - first).div_ceil(2), end));
        let Some(((first, _), (kept, _))) = claim else { return false };
        let mut items = vec![T::zeroed(); kept - first];
        world.get(&mut items, self.items.on(pe).index(first..kept));
        // Behind the copy: then the owner may write there again.
        world.add(self.word(pe, Word::Copied), items.len() as u64);
        into.extend(items);
        true
    }

    /// Changes the span of a PE's window as long as there is anything in it; gives it as it was, and as it is.
    fn claim<L: ThreadLevel>(
        &self,
        world: &World<L>,
        pe: Pe,
        rest: impl Fn(usize, usize) -> (usize, usize),
    ) -> Option<((usize, usize), (usize, usize))> {
        let word = self.word(pe, Word::Span);
        let mut found = world.fetch(word);
        loop {
            let (first, end) = split(found);
            if first >= end {
                return None;
            }
            let left = rest(first, end);
            let before = world.compare_swap(word, found, span(left.0, left.1));
            if before == found {
                return Some(((first, end), left));
            }
            found = before;
        }
    }

    /// The PEs at which this one waits.
    pub(super) fn sources<L: ThreadLevel>(&self, world: &World<L>) -> impl Iterator<Item = (u32, Pe)> {
        (0..self.reach).map(|step| (step, self.away(world, step, true)))
    }

    /// Says that this PE waits for the items of one of its [`sources`](Self::sources): whatever that one fills its window with
    /// afterwards, it calls. It may have filled it before.
    pub(super) fn ask<L: ThreadLevel>(&self, world: &World<L>, (step, source): (u32, Pe)) {
        world.fetch_or(self.word(source, Word::Hungry), 1 << step);
    }

    /// How often this PE was called.
    pub(super) fn calls<L: ThreadLevel>(&self, world: &World<L>) -> u64 {
        self.words.here(world).index(Word::Calls as usize * LINE).__look()
    }

    fn word(&self, pe: Pe, word: Word) -> On<'_, Atomic<u64>> {
        self.words.on(pe).index(word as usize * LINE)
    }

    /// The PE that comes 2^`step` behind this one, or before it.
    fn away<L: ThreadLevel>(&self, world: &World<L>, step: u32, behind: bool) -> Pe {
        let (pes, distance) = (world.n_pes(), 1 << step);
        let number = world.my_pe() + if behind { distance } else { pes - distance };
        world.pe(number % pes).unwrap_or_else(|_| unreachable!("a number below that of the PEs"))
    }
}

fn span(first: usize, end: usize) -> u64 {
    (first as u64) << 32 | end as u64
}

fn split(span: u64) -> (usize, usize) {
    ((span >> 32) as usize, span as u32 as usize)
}
