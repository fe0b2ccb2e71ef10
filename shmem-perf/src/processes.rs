//! What the machine gains by several processes: how far as many of them, each with memory of its own, are faster than
//! one, where nobody waits for anybody. No program whose speed is that of memory gains more.

use std::hint::black_box;
use std::time::Instant;

use super::samples::Samples;
use shmem::World;
use shmem::thread::ThreadLevel;

/// What the processes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// They copy memory, from its beginning to its end.
    Copy,
    /// They change random words, each by an exclusive or, which is not atomic.
    Update,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Copy, Self::Update];

    /// As it stands in a case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "memcpy",
            Self::Update => "random",
        }
    }

    /// In words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Copy => "memcpy",
            Self::Update => "exclusive ors of random words",
        }
    }

    /// So many words of work are a sample: some ten milliseconds.
    const fn words(self) -> usize {
        if cfg!(debug_assertions) {
            return 1 << 12;
        }
        match self {
            Self::Copy => 1 << 24,
            Self::Update => 1 << 21,
        }
    }

    fn pass(self, memory: &mut Memory, words: usize, count: usize) {
        let (from, to) = (&memory.from[..words], &mut memory.to[..words]);
        match self {
            Self::Copy => {
                (0..count / words).for_each(|_| black_box(&mut *to).copy_from_slice(black_box(from)))
            }
            Self::Update => {
                for _ in 0..count {
                    memory.random ^= memory.random << 13;
                    memory.random ^= memory.random >> 7;
                    memory.random ^= memory.random << 17;
                    // Somewhere in it, without a division.
                    let index = (u128::from(memory.random) * words as u128 >> 64) as usize;
                    to[index] ^= memory.random;
                }
            }
        }
    }
}

/// That of one process, its own.
struct Memory {
    from: Vec<u64>,
    to: Vec<u64>,
    random: u64,
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
    let mine = if first { all } else { share };
    let mut memory = Memory { from: vec![1; mine], to: vec![2; mine], random: 1 + world.my_pe() as u64 };
    let count = work.words().max(all);
    let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let mut samples = Samples::new();
    for pair in 0..=repetitions {
        // All are awake behind the first one.
        world.barrier_all();
        world.barrier_all();
        let start = Instant::now();
        work.pass(&mut memory, share, count / pes);
        world.barrier_all();
        let together = milliseconds(start);
        let start = Instant::now();
        if first {
            work.pass(&mut memory, all, count);
        }
        // The first pair pays for first touches.
        if pair > 0 {
            samples.push(together, milliseconds(start));
        }
    }
    black_box(memory.to);
    samples
}
