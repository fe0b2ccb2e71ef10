//! What the machine gains by several processes: how far as many of them are faster than one, where nobody waits for
//! anybody. No program whose speed is that of memory gains more.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use shmem::thread::ThreadLevel;
use shmem::{SymBox, World};

use crate::baseline::near;
use crate::samples::Samples;

/// What the processes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// They copy memory of their own, from its beginning to its end.
    Copy,
    /// They change random words of their own, each by an exclusive or.
    Update,
    /// They change random words of one table, by the processor's atomic operations; the one process that does all
    /// needs none.
    SharedUpdate,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Copy, Self::Update, Self::SharedUpdate];

    /// As it stands in a case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "memcpy",
            Self::Update => "random",
            Self::SharedUpdate => "random-shared",
        }
    }

    /// What is compared with what.
    pub const fn compared(self) -> &'static str {
        match self {
            Self::Copy => "memcpy by all PEs, each a share of its own, against one that copies all",
            Self::Update => {
                "exclusive ors of random words by all PEs, each in a share of its own, against one for all"
            }
            Self::SharedUpdate => {
                "atomic exclusive ors of random words of one table by all PEs, against one for all that needs no \
                 atomic ones"
            }
        }
    }
}

/// Words that are copied, and words that are changed, in a sample: some ten milliseconds.
const WORDS: [usize; 2] = if cfg!(debug_assertions) { [1 << 10, 1 << 10] } else { [1 << 24, 1 << 21] };

/// What a process works on.
#[derive(Default)]
struct Memory<'w> {
    from: Vec<u64>,
    to: Vec<u64>,
    /// The words that PEs share: a part on each.
    parts: Vec<&'w [AtomicU64]>,
}

impl Memory<'_> {
    /// Copies the first words so often that it makes at least `count`.
    fn copy(&mut self, words: usize, count: usize) {
        let (from, to) = (&self.from[..words], &mut self.to[..words]);
        (0..count.div_ceil(words)).for_each(|_| black_box(&mut *to).copy_from_slice(black_box(from)));
    }

    fn work(&mut self, work: Work, words: usize, count: usize, seed: u64) {
        match work {
            Work::Copy => self.copy(words, count),
            Work::Update => {
                let table = &mut self.to[..words];
                random(seed).take(count).for_each(|random| table[below(words, random)] ^= random);
            }
            Work::SharedUpdate => random(seed).take(count).for_each(|random| {
                let part = self.parts[below(self.parts.len(), random)];
                part[below(words, random.rotate_left(32))].fetch_xor(random, Ordering::Relaxed);
            }),
        }
    }
}

/// Random numbers: a shift register of Marsaglia's.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let next = |last: &u64| {
        let mut random = last ^ (last << 13);
        random ^= random >> 7;
        Some(random ^ (random << 17))
    };
    std::iter::successors(Some(seed), next)
}

/// A number below `end`, without a division.
fn below(end: usize, random: u64) -> usize {
    ((u128::from(random) * end as u128) >> u64::BITS) as usize
}

/// Milliseconds in which all PEs do some work together, each its share of it on a share of `bytes`, against those in
/// which PE 0 does all of it on as many bytes of its own, while the others sleep. All PEs call it. `shared` is
/// what they share, where they share something.
///
/// # Panics
///
/// If `shared` has fewer words than the share of a PE, or PEs are not on one node.
pub fn against_one<L: ThreadLevel>(
    world: &World<L>,
    work: Work,
    bytes: usize,
    shared: &SymBox<[u64]>,
    repetitions: usize,
) -> Samples {
    let (first, pes) = (world.my_pe() == 0, world.n_pes());
    let (all, seed) = (bytes / size_of::<u64>(), world.my_pe() as u64 + 1);
    let share = all / pes;
    let mine = if first { all } else { share };
    let part = |pe| {
        let words = near(shared.on(pe).index(..share).ptr(world)).cast::<AtomicU64>();
        // SAFETY: as many words lie there as the index has taken, aligned, while the box lives; whatever else
        // the program does with them, no reference says that they do not change.
        unsafe { std::slice::from_raw_parts(words, share) }
    };
    let mut memory = Memory { parts: world.pes().iter().map(part).collect(), ..Memory::default() };
    memory.to = vec![2; mine];
    let (alone, count) = match work {
        Work::Copy => {
            memory.from = vec![1; mine];
            (work, WORDS[0].max(all))
        }
        Work::Update | Work::SharedUpdate => (Work::Update, WORDS[1]),
    };
    let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let mut samples = Samples::new();
    for pair in 0..=repetitions {
        // All are awake behind the first one.
        world.barrier_all();
        world.barrier_all();
        let start = Instant::now();
        memory.work(work, share, count / pes, seed);
        world.barrier_all();
        let together = milliseconds(start);
        let start = Instant::now();
        if first {
            memory.work(alone, all, count, seed);
        }
        // The first pair pays for first touches.
        if pair > 0 {
            samples.push(together, milliseconds(start));
        }
    }
    black_box(memory.to);
    samples
}
