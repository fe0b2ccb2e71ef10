//! The table: consecutive words for each PE, and the updates.

use shmem::On;
use shmem::prelude::*;

use crate::stream::Stream;

partitions! {
    /// Room for what a single PE has of the table. Memory is taken for what is used of it.
    tables { size = "1G" }
}

/// The size of the table, and how often it is updated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The table has `1 << log2` words.
    pub(crate) log2: u32,
    /// Updates for each word, on average.
    pub(crate) rounds: u64,
    /// Updates that are known before they are made.
    pub(crate) ahead: usize,
}

impl Size {
    pub(crate) fn words(self) -> usize {
        1 << self.log2
    }

    /// Of all PEs together.
    pub(crate) fn updates(self) -> u64 {
        self.rounds << self.log2
    }

    /// The word that a random number updates.
    #[inline]
    fn index(self, random: u64) -> usize {
        random as usize & (self.words() - 1)
    }
}

/// The calling PE's part of the table, and where the others are.
pub(crate) struct Table {
    words: SymBox<[Atomic<u64>]>,
    size: Size,
    /// Each PE, and the first of its words.
    parts: Vec<(Pe, usize)>,
}

impl Table {
    /// The table in which every word is its own index. Collective.
    pub(crate) fn new(world: &mut World, size: Size) -> Result<Self> {
        let pes = world.n_pes();
        let parts: Vec<_> =
            world.pes().iter().map(|pe| (pe, (pe.number() << size.log2).div_ceil(pes))).collect();
        let words = world.alloc_in::<tables, _>(shmem::zeroed::<Atomic<u64>>(size.words().div_ceil(pes)))?;
        let first = parts[world.my_pe()].1;
        world.local(&words, |words| {
            for (index, word) in (first..).zip(words) {
                *word.value_mut() = index as u64;
            }
        });
        Ok(Self { words, size, parts })
    }

    /// The calling PE's share of the updates. All of them are there behind a barrier.
    pub(crate) fn update(&self, world: &World) {
        let (me, pes, updates) = (world.my_pe() as u64, world.n_pes() as u64, self.size.updates());
        let [first, end] = [me, me + 1].map(|pe| updates * pe / pes);
        let mut stream = Stream::behind(first).take((end - first) as usize);
        if self.size.ahead == 1 {
            return stream.for_each(|random| world.xor(self.word(self.size.index(random)), random));
        }
        // One block with each PE; the last words of some blocks are nobody's.
        let (all, block) = (self.words.over(world.team(), Block), self.words.len());
        let (mut randoms, mut list) = (Vec::new(), Vec::new());
        loop {
            randoms.clear();
            randoms.extend(stream.by_ref().take(self.size.ahead));
            if randoms.is_empty() {
                return;
            }
            list.clear();
            list.extend(randoms.iter().map(|random| {
                let index = self.size.index(*random);
                let (pe, first) = self.part(index);
                pe.number() * block + index - first
            }));
            world.xor_each(all.at(&list), &randoms);
        }
    }

    /// A word of the table, wherever it is.
    #[inline]
    fn word(&self, index: usize) -> On<'_, Atomic<u64>> {
        let (pe, first) = self.part(index);
        self.words.on(pe).index(index - first)
    }

    /// Whose a word is, and the first word of that PE.
    #[inline]
    fn part(&self, index: usize) -> (Pe, usize) {
        // Without a division: there are as many words as a power of two.
        self.parts[(index * self.parts.len()) >> self.size.log2]
    }

    /// A word of the table, whoever has it.
    pub(crate) fn fetch(&self, world: &World, index: usize) -> u64 {
        world.fetch(self.word(index))
    }

    /// The sum of what `of` makes of the words, each with its index. Collective.
    pub(crate) fn sum(&self, world: &mut World, of: impl Fn(usize, u64) -> u64) -> u64 {
        let me = world.my_pe();
        let first = self.parts[me].1;
        let end = self.parts.get(me + 1).map_or(self.size.words(), |part| part.1);
        let mut sum = world.local(&self.words, |words| {
            let numbers = (first..end).zip(words).map(|(index, word)| of(index, word.value()));
            numbers.fold(0, u64::wrapping_add)
        });
        world.sum(&mut sum);
        sum
    }
}

/// The same table in one process.
pub(crate) struct Serial {
    words: Vec<u64>,
    size: Size,
}

impl Serial {
    pub(crate) fn new(size: Size) -> Self {
        Self { words: (0..size.words() as u64).collect(), size }
    }

    /// All updates.
    pub(crate) fn update(&mut self) {
        let Self { words, size } = self;
        let mask = words.len() - 1;
        for random in Stream::behind(0).take(size.updates() as usize) {
            words[random as usize & mask] ^= random;
        }
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}
