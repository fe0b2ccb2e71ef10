//! A generic library over symmetric memory: a vector distributed over all PEs.
//!
//! Each PE stores one block of elements. Any PE reads and writes single elements by global index. In a phase, which is
//! collective, each PE changes its own block as a plain slice. `docs/guide/src/libraries.md` explains the trait bounds.
//!
//! A program that normalises a vector:
//!
//! ```
//! use distributed_vector::DistributedVector;
//! use shmem::prelude::*;
//!
//! #[shmem::main]
//! fn main(world: &mut World) -> Result<()> {
//!     let vector = DistributedVector::zeroed(world, 1000)?;
//!     vector.map(world, |index, _| (index % 10) as f64);
//!     let norm = vector.dot(world, &vector).sqrt();
//!     vector.map(world, |_, x| x / norm);
//!     assert!((vector.dot(world, &vector) - 1.0).abs() < 1e-12);
//!     Ok(())
//! }
//! ```
#![forbid(unsafe_code)]

use std::ops::Range;

use shmem::Number;
use shmem::prelude::*;

/// A vector in blocks of equal length, one on each PE. The blocks of the last PEs may be shorter, or empty.
///
/// The vector owns its memory and borrows nothing, so a struct can store it, and it can live across phases.
#[derive(Debug)]
pub struct DistributedVector<T: PlainData> {
    /// This PE's block. The allocation has equal length on all PEs, although the last PEs may use only a part.
    block: SymBox<[T]>,
    /// The PE that stores each block.
    owners: Vec<Pe>,
    /// Number of elements on all PEs together.
    len: usize,
    /// The global indices of this PE's block.
    mine: Range<usize>,
}

impl<T: PlainData> DistributedVector<T> {
    /// Returns a vector of `len` elements, whose bytes are all zero. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory: the same error on every PE.
    pub fn zeroed<L: ThreadLevel>(world: &World<L>, len: usize) -> Result<Self> {
        let each = len.div_ceil(world.n_pes());
        let owners = world.pes().iter().collect();
        let [start, end] = [0, 1].map(|behind| len.min((world.my_pe() + behind) * each));
        Ok(Self { block: world.alloc(zeroed(each))?, owners, len, mine: start..end })
    }

    /// Returns the number of elements on all PEs together.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the vector has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the global indices of the calling PE's block.
    pub fn mine(&self) -> Range<usize> {
        self.mine.clone()
    }

    /// Reads an element, whichever PE stores it. `token` is a world of any thread level, or a context.
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    #[track_caller]
    pub fn get(&self, token: &impl Initiator, index: usize) -> T {
        token.g(self.place(index))
    }

    /// Writes an element, whichever PE stores it. Other PEs see the value after the next barrier, or after a `quiet` of `token`.
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    #[track_caller]
    pub fn put(&self, token: &impl Stores, index: usize, value: T) {
        token.p(self.place(index), value);
    }

    /// Replaces each element by `change(index, element)`. Collective.
    #[track_caller]
    pub fn map<L: ThreadLevel>(&self, world: &mut World<L>, change: impl Fn(usize, T) -> T) {
        world.local(&self.block, |block| {
            for (index, item) in self.mine().zip(block) {
                *item = change(index, *item);
            }
        });
    }

    #[track_caller]
    fn place(&self, index: usize) -> On<'_, T> {
        assert!(index < self.len, "index {index} is beyond the end: the vector has {} elements", self.len);
        let each = self.block.len();
        self.block.on(self.owners[index / each]).index(index % each)
    }
}

impl<T: Number> DistributedVector<T> {
    /// Returns the sum of all elements, on all PEs. Collective.
    #[track_caller]
    pub fn sum<L: ThreadLevel>(&self, world: &mut World<L>) -> T {
        let mut sum = world
            .frozen(&self.block, |block| block[..self.mine.len()].iter().copied().fold(T::ZERO, T::added));
        world.sum(&mut sum);
        sum
    }

    /// Returns the dot product, on all PEs. `other` may be this vector. Collective.
    ///
    /// # Panics
    ///
    /// If `other` has another length.
    #[track_caller]
    pub fn dot<L: ThreadLevel>(&self, world: &mut World<L>, other: &Self) -> T {
        assert_eq!(self.len, other.len, "two vectors of different lengths");
        let mut sum = world.frozen((&self.block, &other.block), |(left, right)| {
            let products = left.iter().zip(right).map(|(left, right)| left.multiplied(*right));
            products.take(self.mine.len()).fold(T::ZERO, T::added)
        });
        world.sum(&mut sum);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths with empty, short and full blocks on three PEs.
    const LENGTHS: [usize; 8] = [0, 1, 2, 3, 4, 7, 9, 100];

    #[shmem::test(pes = 3)]
    fn every_element_is_where_every_pe_looks_for_it(world: &mut World) {
        for len in LENGTHS {
            let vector = DistributedVector::<u32>::zeroed(world, len).unwrap();
            let (me, pes) = (world.my_pe(), world.n_pes());
            // Each PE writes every third element, whoever has it.
            (me..len).step_by(pes).for_each(|index| vector.put(world, index, 1 + index as u32));
            world.barrier_all();
            let found: Vec<u32> = (0..len).map(|index| vector.get(world, index)).collect();
            assert_eq!(found, (1..=len as u32).collect::<Vec<_>>());
            let mut all = vector.mine().len();
            world.sum(&mut all);
            assert_eq!(all, len, "each element has one owner");
        }
    }

    #[shmem::test(pes = 3)]
    fn maps_and_sums_are_those_of_a_vec(world: &mut World) {
        for len in LENGTHS {
            let mut model: Vec<u64> = (0..len as u64).map(|index| index * index + 3).collect();
            let vector = DistributedVector::zeroed(world, len).unwrap();
            vector.map(world, |index, _| index as u64 * index as u64 + 3);
            assert_eq!(vector.sum(world), model.iter().sum::<u64>());
            assert_eq!(vector.dot(world, &vector), model.iter().map(|item| item * item).sum::<u64>());
            vector.map(world, |index, item| 2 * item + index as u64 + 1);
            model.iter_mut().zip(0..).for_each(|(item, index)| *item = 2 * *item + index + 1);
            let found: Vec<u64> = (0..len).map(|index| vector.get(world, index)).collect();
            assert_eq!(found, model);
            // What lies behind the last element of a short block is none of the vector.
            assert_eq!(vector.sum(world), model.iter().sum::<u64>());
            assert_eq!(vector.dot(world, &vector), model.iter().map(|item| item * item).sum::<u64>());
        }
    }

    #[shmem::test(pes = 3)]
    fn worlds_of_other_levels_and_contexts_are_tokens_too(world: &mut World<Multiple>) {
        let vector = DistributedVector::zeroed(world, 30).unwrap();
        vector.map(world, |index, _| index as i64);
        std::thread::scope(|scope| {
            let (vector, world) = (&vector, &*world);
            for thread in 0..2 {
                scope.spawn(move || {
                    let context = world.create_ctx::<Private>().unwrap();
                    let bound = context.bind(world);
                    // Every index once.
                    let mine = (world.my_pe() * 2 + thread..30).step_by(6);
                    mine.for_each(|index| vector.put(&bound, index, -vector.get(&bound, index)));
                    bound.quiet();
                });
            }
        });
        assert_eq!(vector.sum(world), -(0..30).sum::<i64>());
    }

    #[shmem::test(pes = 3)]
    #[should_panic(expected = "index 7 is beyond the end: the vector has 7 elements")]
    fn an_index_beyond_the_end_is_refused(world: &mut World) {
        let vector = DistributedVector::<u8>::zeroed(world, 7).unwrap();
        vector.get(world, 7);
    }
}
