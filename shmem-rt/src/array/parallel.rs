//! Loops over arrays on the nodes of their chunks. With feature `rayon`; without it, loops over views
//! are serial, and `std::thread::scope` over [`ArrayMut::chunks_mut`] is what is left.
//!
//! [`par_iter`](ParArray::par_iter) and its relatives are `rayon`'s parallel iterators, with all that these
//! can do, but for one thing: the array is not cut by halves, which would give threads parts of any chunk.
//! It is cut into chunks first, each goes to the threads of its node, and there it is cut by halves.

use core::ops::Range;

use rayon::iter::plumbing::{Reducer, UnindexedConsumer};
use rayon::iter::{IndexedParallelIterator, Once, ParallelIterator, Zip, once};
use shmem_core::array::{ArrayMut, ArrayRef, ChunkIter, ChunkIterMut, ChunkMut, ChunkRef, Chunking, Storage};

use super::split::{Indexed, Ranges, Split, Splitting};
use super::threads::NodePools;

/// Items of an array, chunk by chunk on the nodes of the chunks: a parallel iterator of `rayon`.
///
/// Items that are collected come in the order of the chunks, and inside each in row-major order.
#[must_use = "parallel iterators do nothing until they are used"]
pub struct Chunkwise<'p, P, const D: usize> {
    pools: &'p NodePools,
    chunking: Chunking<D>,
    /// The node and the items of each chunk.
    chunks: Vec<(Option<u32>, P)>,
}

impl<'p, P, const D: usize> Chunkwise<'p, P, D> {
    /// Of the node and the items of each chunk.
    fn new(
        pools: &'p NodePools,
        chunking: &Chunking<D>,
        chunks: impl Iterator<Item = (Option<u32>, P)>,
    ) -> Self {
        Self { pools, chunking: *chunking, chunks: chunks.collect() }
    }
}

impl<P: ParallelIterator, const D: usize> ParallelIterator for Chunkwise<'_, P, D> {
    type Item = P::Item;

    fn drive_unindexed<C: UnindexedConsumer<P::Item>>(self, consumer: C) -> C::Result {
        let (mut consumers, mut reducers) = (Vec::new(), Vec::new());
        share(consumer, self.chunks.len(), &mut consumers, &mut reducers);
        let mut results: Vec<Option<C::Result>> = self.chunks.iter().map(|_| None).collect();
        let parts = self.chunks.into_iter().zip(consumers).zip(&mut results);
        self.pools.run(parts.map(|(((node, items), consumer), result)| {
            (node, move || *result = Some(items.drive_unindexed(consumer)))
        }));
        let mut results = results.into_iter().flatten();
        let first = results.next().unwrap_or_else(|| unreachable!("an array has a chunk"));
        results.zip(reducers).fold(first, |left, (right, reducer)| reducer.reduce(left, right))
    }
}

/// Makes `count` consumers of one, in order, and what joins the results of neighbours. By halves: some
/// consumers number their places so, and run out of numbers if they are cut from one end.
fn share<I, C: UnindexedConsumer<I>>(
    consumer: C,
    count: usize,
    consumers: &mut Vec<C>,
    reducers: &mut Vec<C::Reducer>,
) {
    if count > 1 {
        let left = consumer.split_off_left();
        reducers.push(consumer.to_reducer());
        share(left, count / 2, consumers, reducers);
        share(consumer, count - count / 2, consumers, reducers);
    } else {
        consumers.push(consumer);
    }
}

impl<'p, P: IndexedParallelIterator, const D: usize> Chunkwise<'p, P, D> {
    /// These items with those of another array, pair by pair.
    ///
    /// ```text
    /// a.par_iter_mut(&pools).zip(b.par_iter(&pools)).for_each(|(a, b)| *a += *b);
    /// ```
    ///
    /// # Panics
    ///
    /// If the arrays have not the same shape and the same chunks. The storages may differ.
    #[track_caller]
    pub fn zip<Q: IndexedParallelIterator>(self, other: Chunkwise<'p, Q, D>) -> Chunkwise<'p, Zip<P, Q>, D> {
        let Self { pools, chunking, chunks } = self;
        assert!(
            chunking == other.chunking,
            "arrays that are iterated together must have the same shape and chunks: one has {:?} in {} chunks, \
             the other {:?} in {}",
            chunking.shape(),
            chunking.chunks(),
            other.chunking.shape(),
            other.chunking.chunks()
        );
        let pairs = chunks.into_iter().zip(other.chunks);
        let chunks = pairs.map(|((node, mine), (_, others))| (node, mine.zip(others))).collect();
        Chunkwise { pools, chunking, chunks }
    }
}

/// The indices of a chunk, in parallel.
pub type ParIndices<const D: usize> = Splitting<<[Range<usize>; D] as Ranges>::Indices>;

/// Elements with their indices, in parallel.
pub type ParIndexed<E, const D: usize> = Splitting<Indexed<<[Range<usize>; D] as Ranges>::Indices, E>>;

impl<'p, E: Split<Item: Send>, const D: usize> Chunkwise<'p, Splitting<E>, D>
where
    [Range<usize>; D]: Ranges,
{
    /// The elements with their indices in the array in front: `usize` in one dimension, else `[usize; D]`.
    ///
    /// ```text
    /// a.par_iter_mut(&pools).indexed().for_each(|(i, a)| *a = i);
    /// a.par_iter_mut(&pools).indexed().zip(b.par_iter(&pools)).for_each(|((i, a), b)| *a = i * b);
    /// ```
    pub fn indexed(self) -> Chunkwise<'p, ParIndexed<E, D>, D> {
        let Self { pools, chunking, chunks } = self;
        let chunks = chunks.into_iter().enumerate().map(|(chunk, (node, Splitting(items)))| {
            (node, Splitting(Indexed { indices: chunking.range(chunk).indices(), items }))
        });
        Chunkwise::new(pools, &chunking, chunks)
    }
}

/// Parallel loops over an array that is open for reading ([`ArrayRef`], [`ArrayMut`]).
///
/// ```no_run
/// use rayon::prelude::*;
/// use shmem::array::{ParArray, ParArrayMut};
/// use shmem::prelude::*;
///
/// # #[shmem::main]
/// # fn main(world: &mut World) -> Result<()> {
/// let a = world.array([1 << 20]).zeroed::<f64>()?;
/// let b = world.array([1 << 20]).filled(1.0)?;
/// let pools = world.node_pools()?;
/// let sum: f64 = world.local((&a, &b), |(mut a, b)| {
///     a.par_iter_mut(&pools).indexed().for_each(|(i, a)| *a = i as f64);
///     a.par_iter_mut(&pools).zip(b.par_iter(&pools)).for_each(|(a, b)| *a += *b);
///     a.par_iter(&pools).sum()
/// });
/// # Ok(())
/// # }
/// ```
///
/// Phases stay sound as they are with `rayon`'s own iterators: closures get parts of what the phase lends.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), parallel iteration over arrays, domains, and both zipped.
pub trait ParArray<T, const D: usize> {
    /// The elements.
    fn par_iter<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Splitting<ChunkIter<'v, T>>, D>;

    /// The chunks, each as one item: for loops of one's own over its elements, indices, or slices.
    fn par_chunks<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkRef<'v, T, D>>, D>;

    /// The indices, each on the node of the chunk that it is in.
    fn par_indices<'p>(&self, pools: &'p NodePools) -> Chunkwise<'p, ParIndices<D>, D>
    where
        [Range<usize>; D]: Ranges;
}

/// Parallel loops over an array that is open exclusively ([`ArrayMut`]).
///
/// Elements that are arrays, and chunks, can be iterated in parallel in turn, with `rayon`'s own iterators:
/// inside a closure these run on the threads of the same node.
///
/// ```no_run
/// # use rayon::prelude::*;
/// # use shmem::array::{Multi, ParArrayMut};
/// # use shmem::prelude::*;
/// # #[shmem::main]
/// # fn main(world: &mut World) -> Result<()> {
/// let a = world.array([8]).storage(Multi).zeroed::<[i64; 1 << 20]>()?;
/// let pools = world.node_pools()?;
/// world.local(&a, |mut a| {
///     a.par_iter_mut(&pools).indexed().for_each(|(i, row)| {
///         row.par_iter_mut().enumerate().for_each(|(j, value)| *value = (i * j) as i64);
///     });
/// });
/// # Ok(())
/// # }
/// ```
pub trait ParArrayMut<T, const D: usize>: ParArray<T, D> {
    /// The elements, exclusively.
    fn par_iter_mut<'v>(
        &'v mut self,
        pools: &'v NodePools,
    ) -> Chunkwise<'v, Splitting<ChunkIterMut<'v, T>>, D>;

    /// The chunks, exclusively, each as one item.
    fn par_chunks_mut<'v>(&'v mut self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkMut<'v, T, D>>, D>;
}

macro_rules! arrays {
    ($($array:ident)*) => {$(
        impl<T: Sync, const D: usize, S: Storage> ParArray<T, D> for $array<'_, T, D, S> {
            fn par_iter<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Splitting<ChunkIter<'v, T>>, D> {
                let chunks = self.chunks().map(|chunk| (chunk.node(), Splitting(chunk.iter())));
                Chunkwise::new(pools, self.chunking(), chunks)
            }

            fn par_chunks<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkRef<'v, T, D>>, D> {
                Chunkwise::new(pools, self.chunking(), self.chunks().map(|chunk| (chunk.node(), once(chunk))))
            }

            fn par_indices<'p>(&self, pools: &'p NodePools) -> Chunkwise<'p, ParIndices<D>, D>
            where
                [Range<usize>; D]: Ranges,
            {
                let indices = self.chunks().map(|chunk| (chunk.node(), Splitting(chunk.ranges().indices())));
                Chunkwise::new(pools, self.chunking(), indices)
            }
        }
    )*};
}
arrays!(ArrayRef ArrayMut);

impl<T: Send + Sync, const D: usize, S: Storage> ParArrayMut<T, D> for ArrayMut<'_, T, D, S> {
    fn par_iter_mut<'v>(
        &'v mut self,
        pools: &'v NodePools,
    ) -> Chunkwise<'v, Splitting<ChunkIterMut<'v, T>>, D> {
        let chunking = *self.chunking();
        let chunks = self.chunks_mut().map(|chunk| (chunk.node(), Splitting(chunk.into_iter_mut())));
        Chunkwise::new(pools, &chunking, chunks)
    }

    fn par_chunks_mut<'v>(&'v mut self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkMut<'v, T, D>>, D> {
        let chunking = *self.chunking();
        let chunks = self.chunks_mut().map(|chunk| (chunk.node(), once(chunk)));
        Chunkwise::new(pools, &chunking, chunks)
    }
}
