//! Work stealing between PEs.
//!
//! A PE offers the older half of its items in its *window*, a buffer in symmetric memory ([`StealBuffer`]). An idle PE steals
//! half of the items in another PE's window. If it finds no items, it sleeps, after it has asked the PEs that are 1, 2, 4, ..
//! steps further round the ring to notify it when they fill their windows (lifelines; Saraswat et al. 2011).
//! [`Termination`] detects that all items are done.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;

use shmem_core::context::{Amo, Initiator, Rma, wait_for};
use shmem_core::object::{Atomic, On, SymBox};
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;
use shmem_core::text::counted;

use crate::error::Result;
use crate::group::CallSignature;
use crate::initial_contents::zeroed;
use crate::termination_detection::Termination;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Upper limit on the items that a PE offers (its window), because their positions are stored in half a word.
const MOST: usize = u32::MAX as usize;

/// Upper limit on the victims that an idle PE tries before it asks its lifelines (certain PEs) to notify it.
const LOOKS: usize = 16;

impl<L: ThreadLevel> World<L> {
    /// Makes a queue of work items for all PEs. A PE pushes and pops items, and steals from others if it has none. Collective.
    ///
    /// A PE offers up to `window` of its items to other PEs, in symmetric memory. Good values are a few dozen, or less
    /// if items are large. The PE's other items are in private memory, so a queue is never full.
    ///
    /// An example in which idle PEs visit the nodes of a tree:
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
    ///     while let Some(height) = queue.next(world) {    // `None`: all items are done
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
    /// If the default heap has too little free memory. The error is the same on every PE.
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
        let signature = CallSignature::of_memory("work_queue", &arguments, &subject);
        self.team().agree_on(self.endpoint(), &signature);
        Ok(WorkQueue {
            me: self.me(),
            own: VecDeque::new(),
            window: StealBuffer::new(self, window)?,
            termination: Termination::new(self, true)?,
            first: self.my_pe(),
        })
    }
}

/// A distributed queue of work items. Each item is returned once, to any PE. From [`World::work_queue`].
///
/// A PE pops its own items youngest first. Other PEs steal its oldest items, which are the largest if items divide into
/// smaller ones. No other order is guaranteed.
///
/// # Panics
///
/// All methods panic if another PE has made the queue, which is possible among PEs that are threads of one process.
pub struct WorkQueue<T> {
    me: Pe,
    /// Items in private memory, oldest first.
    own: VecDeque<T>,
    window: StealBuffer<T>,
    termination: Termination,
    /// Number of the PE from which this PE last tried to steal.
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

    /// Returns an item of this PE, or steals one of another PE. Blocks while there is none but another PE may still have some.
    /// Returns `None` on all PEs when all items are done. Every PE must repeat the call until it returns `None`; this
    /// last call is a barrier. Afterwards the queue can be used again.
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
                world.fetch_or(self.window.word(source, Word::Waiters), 1 << step);
                // `source` may have filled its window just before the request, without a notification.
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

    /// Steals items from another PE's window. Returns whether the window had items.
    fn steal<L: ThreadLevel>(&mut self, world: &World<L>, victim: Pe) -> bool {
        let (first, end) = split(world.fetch(self.window.word(victim, Word::Span)));
        if first >= end {
            return false;
        }
        // `resume` comes before `take`, because a PE with items must count as active in termination detection.
        self.termination.resume(world);
        let has = self.window.take(world, victim, &mut self.own);
        if !has {
            self.termination.rest(world, world.pes());
        }
        has
    }

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

/// Distance between control words, in words, so that each has a cache line (and its neighbour) of its own.
const LINE: usize = 16;

#[derive(Clone, Copy)]
enum Word {
    /// Range of the items that are left in the window: its start in the upper half of the word, its end in the lower half.
    Span,
    /// Number of claimed items that other PEs have copied.
    Copied,
    /// PEs that wait for items of this PE. Bit `d` stands for the PE 2^d steps before this PE in the ring.
    Waiters,
    /// Number of notifications by other PEs that have filled their windows.
    Calls,
}

/// A buffer of each PE in symmetric memory, from which other PEs steal items.
///
/// The owner fills its window when the window is empty and thieves have copied all claimed items. A PE claims items by
/// one compare-and-swap of the word `Span`: a thief at the start of the range, the owner at its end. So each item is
/// claimed once. The thief then copies the claimed items, and adds their number to the word `Copied`.
struct StealBuffer<T> {
    items: SymBox<[T]>,
    words: SymBox<[Atomic<u64>]>,
    /// Number of PEs that an idle PE asks for a notification: the PEs 1, 2, 4, .. steps away.
    reach: u32,
}

impl<T: PlainData> StealBuffer<T> {
    #[track_caller]
    fn new<L: ThreadLevel>(world: &World<L>, items: usize) -> Result<Self> {
        let words = world.alloc(zeroed(4 * LINE))?;
        let reach = world.n_pes().next_power_of_two().ilog2();
        Ok(Self { items: world.alloc(zeroed(items))?, words, reach })
    }

    /// Fills this PE's window, if it is empty, with at most `most` of the oldest items of `from`. Notifies the PEs that wait.
    fn fill<L: ThreadLevel>(&self, world: &World<L>, from: &mut VecDeque<T>, most: usize) {
        let me = world.me();
        let (first, end) = split(world.fetch(self.word(me, Word::Span)));
        if first != end || world.fetch(self.word(me, Word::Copied)) != first as u64 {
            return;
        }
        let filled: Vec<T> = from.drain(..most.min(self.items.len())).collect();
        self.items.here(world).index(..filled.len()).copy_from(&filled);
        world.set(self.word(me, Word::Copied), 0);
        world.set(self.word(me, Word::Span), span(0, filled.len()));
        let hungry = self.word(me, Word::Waiters);
        if world.fetch(hungry) != 0 {
            let bits = world.swap(hungry, 0);
            for step in (0..self.reach).filter(|step| bits & (1 << step) != 0) {
                world.inc(self.word(self.away(world, step, false), Word::Calls));
            }
        }
    }

    /// Moves half of a window's items into `into`: another PE's oldest, or this PE's youngest. Returns whether it had any.
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
            // `Copied` changes after the copy, because the owner may fill the window again as soon as all items were copied.
            world.add(self.word(pe, Word::Copied), items.len() as u64);
        }
        into.extend(items);
        true
    }

    fn sources<L: ThreadLevel>(&self, world: &World<L>) -> impl Iterator<Item = (u32, Pe)> {
        (0..self.reach).map(|step| (step, self.away(world, step, true)))
    }

    fn calls<L: ThreadLevel>(&self, world: &World<L>) -> u64 {
        self.words.here(world).index(Word::Calls as usize * LINE).__look()
    }

    fn word(&self, pe: Pe, word: Word) -> On<'_, Atomic<u64>> {
        self.words.on(pe).index(word as usize * LINE)
    }

    /// Returns the PE at distance 2^`step` in the ring of PEs, in the order of their numbers: after this PE if `behind`, or else
    /// before it.
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
