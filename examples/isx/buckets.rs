//! The exchange: each PE has a bucket, a range of keys, and room for what comes into it.

use std::ops::Range;

use shmem::prelude::*;

use crate::radix;

partitions! {
    /// Room for the bucket of a single PE. Memory is taken for what is used of it.
    buckets { size = "1G" }
}

/// Keys for which room was taken in this PE's bucket since it was emptied.
#[symmetric]
static TAKEN: Atomic<usize>;

/// The calling PE's bucket, and what it needs to fill those of all.
pub(crate) struct Buckets {
    bucket: SymBox<[u32]>,
    /// The calling PE's keys, bucket by bucket; then room for the sort.
    dealt: Vec<u32>,
    /// Those of its bucket, when they are sorted.
    sorted: Vec<u32>,
}

impl Buckets {
    /// Room for a share of so many keys. Collective.
    pub(crate) fn new(world: &World, keys: usize) -> Result<Self> {
        // Keys are random: twice what comes on average, and more where that is little. What comes
        // behind the end would stop the program.
        let most = 2 * keys.div_ceil(world.n_pes()) + 64;
        let bucket = world.alloc_in::<buckets, _>(shmem::zeroed(most.min(keys)))?;
        Ok(Self { bucket, dealt: Vec::new(), sorted: Vec::new() })
    }

    /// Sorts the keys of all PEs; gives those that lie in the bucket of the calling one. Collective.
    pub(crate) fn sort(&mut self, world: &mut World, keys: &[u32]) -> &[u32] {
        self.send(world, keys);
        // All have come when the phase begins.
        world.local((&TAKEN, &self.bucket), |(taken, bucket)| {
            let keys = &bucket[..std::mem::take(taken.value_mut())];
            self.sorted.resize(keys.len(), 0);
            self.dealt.resize(keys.len(), 0);
            radix::sort(keys, &mut self.sorted, &mut self.dealt);
        });
        &self.sorted
    }

    /// Puts keys into the buckets that they belong to.
    fn send(&mut self, world: &World, keys: &[u32]) {
        let parts = deal(keys, world.n_pes(), &mut self.dealt);
        // Each begins with itself, lest they all wait for the first.
        let (pes, me) = (world.pes().iter(), world.my_pe());
        for pe in pes.clone().skip(me).chain(pes.take(me)) {
            let keys = &self.dealt[parts[pe.number()].clone()];
            let first = world.fetch_add(TAKEN.on(pe), keys.len());
            world.put(self.bucket.on(pe).index(first..first + keys.len()), keys);
        }
    }
}

/// The PE in whose bucket a key lies.
pub(crate) fn owner(key: u32, pes: usize) -> usize {
    ((u64::from(key) * pes as u64) >> u32::BITS) as usize
}

/// Lays keys bucket by bucket; gives where each bucket's lie.
fn deal(keys: &[u32], pes: usize, dealt: &mut Vec<u32>) -> Vec<Range<usize>> {
    let mut counts = vec![0; pes];
    keys.iter().for_each(|key| counts[owner(*key, pes)] += 1);
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    let mut parts: Vec<Range<usize>> =
        ends.zip(&counts).map(|(end, count)| end - count..end - count).collect();
    dealt.resize(keys.len(), 0);
    for key in keys {
        let part = &mut parts[owner(*key, pes)];
        dealt[part.end] = *key;
        part.end += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_key_lies_among_those_of_its_owner(
            keys in proptest::collection::vec(any::<u32>(), 0..200), pes in 1..20_usize,
        ) {
            let mut dealt = vec![7; 3];
            let parts = deal(&keys, pes, &mut dealt);
            let mut next = 0;
            for (pe, part) in parts.into_iter().enumerate() {
                prop_assert_eq!(part.start, next);
                next = part.end;
                let expected: Vec<u32> = keys.iter().copied().filter(|key| owner(*key, pes) == pe).collect();
                prop_assert_eq!(&dealt[part], expected);
            }
            prop_assert_eq!(next, keys.len());
        }
    }

    #[test]
    fn ranges_of_buckets_follow_each_other() {
        assert_eq!([0, 1 << 31, u32::MAX].map(|key| owner(key, 3)), [0, 1, 2]);
        assert!((1..1000).all(|n| owner(n << 22, 7) >= owner((n - 1) << 22, 7)));
    }
}
