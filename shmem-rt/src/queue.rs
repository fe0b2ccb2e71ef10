//! Work that PEs take from each other.
//!
//! A PE keeps its items in memory of its own, where pushing and popping is pushing and popping, and lets others have the older
//! half of them in its [`Window`], in symmetric memory. Whoever has nothing looks at the windows of others and takes half
//! of what is there. Who finds nothing tells a few PEs to call it when they have something to give away, and sleeps;
//! these are 1, 2, 4, .. steps further round the ring, so that work spreads to all from wherever it is. That nobody has
//! anything any more is found out by [`Termination`].

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;

use shmem_core::context::{Amo, Initiator, Rma, wait_for};
use shmem_core::data::PlainData;
use shmem_core::object::{Atomic, On, SymBox};
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::text::counted;

use crate::error::Result;
use crate::group::Purpose;
use crate::initial::zeroed;
use crate::termination::Termination;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Most items in a window: a half of a word counts them.
const MOST: usize = u32::MAX as usize;

/// Most PEs that are looked at before this one sleeps, besides those that call it.
const LOOKS: usize = 16;

impl<L: ThreadLevel> World<L> {
    /// Makes a queue of work for all PEs. Each pushes items and takes the next one; who has none takes some from
    /// others. Collective.
    ///
    /// A PE lets others have up to `window` of its items at a time, from symmetric memory of that many. The rest of them lies in
    /// memory of its own, which grows as it has to: a queue is never full. A few dozen are a good window; of work that
    /// comes in few large items, a few.
    ///
    /// The nodes of a tree, each of which is found by whoever has time:
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let mut queue = world.work_queue::<u32>(64)?;
    ///     if world.my_pe() == 0 {
    ///         queue.push(world, 10);                      // the root, of height 10
    ///     }
    ///     let mut nodes = 0_u64;
    ///     while let Some(height) = queue.next(world) {    // `None`: nobody has anything any more
    ///         nodes += 1;
    ///         if height > 0 {
    ///             queue.push(world, height - 1);
    ///             queue.push(world, height - 1);
    ///         }
    ///     }
    ///     world.sum(&mut nodes);
    ///     assert_eq!(nodes, 2047);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the default heap has no room: the same error on every PE.
    ///
    /// # Panics
    ///
    /// If `window` is 0, or more than `u32::MAX`.
    #[track_caller]
    pub fn work_queue<T: PlainData>(&self, window: usize) -> Result<WorkQueue<T>> {
        assert!(
            (1..=MOST).contains(&window),
            "a work queue with a window of {window} items: others can take from 1 to {MOST} of a PE's items at a time"
        );
        let subject =
            || format!("a window of {} of {}", counted(window, "item"), show_size(size_of::<T>() as u64));
        let arguments = [window as u64, size_of::<T>() as u64, align_of::<T>() as u64];
        let purpose = Purpose::of_memory("work_queue", &arguments, &subject);
        self.team().agree_on(self.endpoint(), &purpose);
        Ok(WorkQueue {
            me: self.me(),
            own: VecDeque::new(),
            window: Window::new(self, window)?,
            termination: Termination::new(self, true)?,
            first: self.my_pe(),
        })
    }
}

/// Items of work, of which each is done once, by whichever PE has time. From [`World::work_queue`].
///
/// A PE does its own items youngest first, and others take its oldest ones: of work that divides itself, they take the large
/// pieces, and few items wait at any time. Nothing more is said of the order.
///
/// What is pushed is copied to whoever does it, so an item is plain data: a number, an index, a range. Results go where the
/// program puts them.
///
/// # Panics
///
/// All methods panic if the queue is that of another PE. Only PEs that are threads of one process can come to that.
pub struct WorkQueue<T> {
    me: Pe,
    /// Items that nobody else sees, oldest first.
    own: VecDeque<T>,
    window: Window<T>,
    termination: Termination,
    /// The PE that is looked at first.
    first: usize,
}

impl<T: PlainData> WorkQueue<T> {
    /// Adds an item.
    #[inline]
    #[track_caller]
    pub fn push<L: ThreadLevel>(&mut self, world: &World<L>, item: T) {
        self.check(world);
        self.own.push_back(item);
        self.offer(world, self.own.len() / 2);
    }

    /// An item to work on: one of this PE, or one that it takes from another. Waits while this PE has nothing and others do,
    /// who may push more. `None` on all PEs when nobody has anything any more: all PEs call this until then, and meet
    /// in it. Afterwards the queue may be used again.
    #[inline]
    #[track_caller]
    pub fn next<L: ThreadLevel>(&mut self, world: &World<L>) -> Option<T> {
        self.check(world);
        let item = self.pop(world);
        if item.is_some() { item } else { self.find(world, Location::caller()) }
    }

    #[inline]
    fn pop<L: ThreadLevel>(&mut self, world: &World<L>) -> Option<T> {
        if self.own.is_empty() {
            self.window.take(world, world.me(), &mut self.own);
        }
        let item = self.own.pop_back()?;
        // Whoever works on one needs none of the others now.
        self.offer(world, self.own.len().div_ceil(2));
        Some(item)
    }

    #[inline]
    fn offer<L: ThreadLevel>(&mut self, world: &World<L>, items: usize) {
        if items > 0 && world.n_pes() > 1 {
            self.window.fill(world, &mut self.own, items);
        }
    }

    #[cold]
    fn find<L: ThreadLevel>(&mut self, world: &World<L>, location: &'static Location<'static>) -> Option<T> {
        self.termination.rest(world, world.pes());
        loop {
            let calls = self.window.calls(world);
            for _ in 0..LOOKS.min(world.n_pes() - 1) {
                let victim = self.turn(world);
                if self.steal(world, victim) {
                    return self.pop(world);
                }
            }
            let sources: Vec<_> = self.window.sources(world).collect();
            for (step, source) in sources {
                world.fetch_or(self.window.word(source, Word::Hungry), 1 << step);
                // It may have been given something to give away before it was asked.
                if self.steal(world, source) {
                    return self.pop(world);
                }
            }
            let Self { window, termination, .. } = &*self;
            let called = || termination.is_over(world) || window.calls(world) != calls;
            let subject = || "this PE has nothing, and others do not rest".to_owned();
            wait_for(world.endpoint(), "next", location, None, called, subject);
            if termination.is_over(world) {
                self.termination.end(world, location);
                return None;
            }
        }
    }

    /// Takes items of another PE, if it lets others have any. Says whether it has; otherwise this PE rests.
    fn steal<L: ThreadLevel>(&mut self, world: &World<L>, victim: Pe) -> bool {
        if !self.window.has_any(world, victim) {
            return false;
        }
        // Before it is taken, so that it is always with somebody who does not rest.
        self.termination.resume(world);
        let has = self.window.take(world, victim, &mut self.own);
        if !has {
            self.termination.rest(world, world.pes());
        }
        has
    }

    /// The next PE to look at, which is another one.
    fn turn<L: ThreadLevel>(&mut self, world: &World<L>) -> Pe {
        let (pes, me) = (world.n_pes(), world.my_pe());
        self.first = (self.first + 1) % pes;
        if self.first == me {
            self.first = (self.first + 1) % pes;
        }
        world.pe(self.first).unwrap_or_else(|_| unreachable!("a number below that of the PEs"))
    }

    #[inline]
    #[track_caller]
    fn check<L: ThreadLevel>(&self, world: &World<L>) {
        assert!(self.me == world.me(), "this is the queue of PE {}: make one here", self.me);
        world.endpoint().require_open(Location::caller());
    }
}

impl<T> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkQueue (PE {}, {})", self.me, counted(self.own.len(), "item"))
    }
}

/// Words from one to the next, which are on lines of their own.
const LINE: usize = 16;

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
struct Window<T> {
    items: SymBox<[T]>,
    words: SymBox<[Atomic<u64>]>,
    /// Steps round the ring of PEs to those at which a PE waits: 1, 2, 4, ..
    reach: u32,
}

impl<T: PlainData> Window<T> {
    /// Collective.
    #[track_caller]
    fn new<L: ThreadLevel>(world: &World<L>, items: usize) -> Result<Self> {
        let words = world.alloc(zeroed(4 * LINE))?;
        let reach = world.n_pes().next_power_of_two().ilog2();
        Ok(Self { items: world.alloc(zeroed(items))?, words, reach })
    }

    /// Fills this PE's window with its oldest items, at most `most`, if it is empty, and calls who waits for them.
    fn fill<L: ThreadLevel>(&self, world: &World<L>, from: &mut VecDeque<T>, most: usize) {
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

    fn has_any<L: ThreadLevel>(&self, world: &World<L>, pe: Pe) -> bool {
        let (first, end) = split(world.fetch(self.word(pe, Word::Span)));
        first < end
    }

    /// Takes half of what is in the window of a PE and adds it to the own: the oldest items of another PE, and the youngest of
    /// this one. Says whether there was anything.
    fn take<L: ThreadLevel>(&self, world: &World<L>, pe: Pe, into: &mut VecDeque<T>) -> bool {
        let (word, is_own) = (self.word(pe, Word::Span), pe == world.me());
        let mut found = world.fetch(word);
        let taken = loop {
            let (first, end) = split(found);
            if first >= end {
                return false;
            }
            let half = (end - first).div_ceil(2);
            let (taken, left) = match is_own {
                true => (end - half..end, span(first, end - half)),
                false => (first..first + half, span(first + half, end)),
            };
            let before = world.compare_swap(word, found, left);
            if before == found {
                break taken;
            }
            found = before;
        };
        let mut items = vec![T::zeroed(); taken.len()];
        world.get(&mut items, self.items.on(pe).index(taken));
        if !is_own {
            // Behind the copy: then the owner may write there again.
            world.add(self.word(pe, Word::Copied), items.len() as u64);
        }
        into.extend(items);
        true
    }

    /// The PEs at which this one waits: each calls it when it has filled its window. It may have done so before.
    fn sources<L: ThreadLevel>(&self, world: &World<L>) -> impl Iterator<Item = (u32, Pe)> {
        (0..self.reach).map(|step| (step, self.away(world, step, true)))
    }

    fn calls<L: ThreadLevel>(&self, world: &World<L>) -> u64 {
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
