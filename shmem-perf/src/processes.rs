//! What the machine gains by several processes: how far as many of them, each with memory of its own, are faster than
//! one, where nobody waits for anybody. No program whose speed is that of memory gains more.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::samples::Samples;
use shmem::World;
use shmem::thread::ThreadLevel;

/// What the processes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// They copy memory, from its beginning to its end.
    Copy,
    /// They change random words, each by an exclusive or.
    Update,
    /// They do the same by atomic operations, and the one process that does all without.
    AtomicUpdate,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Copy, Self::Update, Self::AtomicUpdate];

    /// As it stands in a case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "memcpy",
            Self::Update => "random",
            Self::AtomicUpdate => "random-atomic",
        }
    }

    /// What is compared with what.
    pub const fn compared(self) -> &'static str {
        match self {
            Self::Copy => "memcpy by all PEs, each a share of its own, against one that copies all",
            Self::Update => {
                "exclusive ors of random words by all PEs, each in a share of its own, against one for all"
            }
            Self::AtomicUpdate => {
                "atomic exclusive ors of random words by all PEs, each in a share of its own, against one for all that \
                 needs no atomic ones"
            }
        }
    }
}

/// Words that are copied, and words that are changed, in a sample: some ten milliseconds.
const WORDS: [usize; 2] = if cfg!(debug_assertions) { [1 << 10, 1 << 10] } else { [1 << 24, 1 << 21] };

/// The memory of a process.
#[derive(Default)]
struct Memory {
    from: Vec<u64>,
    to: Vec<u64>,
    table: Vec<AtomicU64>,
    random: u64,
}

impl Memory {
    fn new(work: Work, words: usize, pe: usize) -> Self {
        let random = 1 + pe as u64;
        match work {
            Work::Copy => Self { from: vec![1; words], to: vec![2; words], ..Self::default() },
            Work::Update | Work::AtomicUpdate => {
                let table = (0..words as u64).map(AtomicU64::new).collect();
                Self { table, random, ..Self::default() }
            }
        }
    }

    /// Copies the first words so often that it makes at least `count`.
    fn copy(&mut self, words: usize, count: usize) {
        let (from, to) = (&self.from[..words], &mut self.to[..words]);
        (0..count.div_ceil(words)).for_each(|_| black_box(&mut *to).copy_from_slice(black_box(from)));
    }

    /// Changes so many of the first words.
    fn update(&mut self, words: usize, count: usize, change: impl Fn(&AtomicU64, u64)) {
        let table = &self.table[..words];
        for _ in 0..count {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            // Somewhere in it, without a division.
            let index = (u128::from(self.random) * words as u128) >> 64;
            change(&table[index as usize], self.random);
        }
    }

    fn work(&mut self, work: Work, words: usize, count: usize) {
        match work {
            Work::Copy => self.copy(words, count),
            // As a store of its own, it costs what it costs in an array of numbers.
            Work::Update => self.update(words, count, |word, random| {
                word.store(word.load(Ordering::Relaxed) ^ random, Ordering::Relaxed);
            }),
            Work::AtomicUpdate => self.update(words, count, |word, random| {
                word.fetch_xor(random, Ordering::Relaxed);
            }),
        }
    }
}

/// Milliseconds in which all PEs do some work together, each its share of it on a share of `bytes` of its own,
/// against those in which PE 0 does all of it on all of them, while the others sleep. All PEs call it.
pub fn against_one<L: ThreadLevel>(
    world: &World<L>,
    work: Work,
    bytes: usize,
    repetitions: usize,
) -> Samples {
    let (first, pes) = (world.my_pe() == 0, world.n_pes());
    let all = bytes / size_of::<u64>();
    let share = all / pes;
    let mut memory = Memory::new(work, if first { all } else { share }, world.my_pe());
    let (alone, count) = match work {
        Work::Copy => (work, WORDS[0].max(all)),
        Work::Update | Work::AtomicUpdate => (Work::Update, WORDS[1]),
    };
    let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let mut samples = Samples::new();
    for pair in 0..=repetitions {
        // All are awake behind the first one.
        world.barrier_all();
        world.barrier_all();
        let start = Instant::now();
        memory.work(work, share, count / pes);
        world.barrier_all();
        let together = milliseconds(start);
        let start = Instant::now();
        if first {
            memory.work(alone, all, count);
        }
        // The first pair pays for first touches.
        if pair > 0 {
            samples.push(together, milliseconds(start));
        }
    }
    samples
}
