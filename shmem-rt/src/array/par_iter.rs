//! Parallel loops over arrays, each chunk on threads of its NUMA node. Needs feature `rayon`.
//!
//! [`par_iter`](ParArray::par_iter) and its relatives are parallel iterators of `rayon`. They divide an array into its
//! chunks. The threads of a chunk's node divide the contiguous runs of the chunk among themselves.

use rayon::iter::plumbing::{Reducer, UnindexedConsumer};
use rayon::iter::{IndexedParallelIterator, Once, ParallelIterator, Zip, once};
use rayon::prelude::*;
use rayon::slice::{Iter, IterMut};
use shmem_core::array::{ArrayMut, ArrayRef, ChunkMut, ChunkRef, Chunking, Storage};

use super::first_elements::position;
use super::thread_pools::NodePools;

/// Items of an array, chunk by chunk on the nodes of the chunks: a parallel iterator of `rayon`.
///
/// Collected items are in the order of the chunks, and in row-major order inside each chunk.
#[must_use = "parallel iterators do nothing until they are used"]
pub struct Chunkwise<'p, P, const D: usize> {
    pools: &'p NodePools,
    chunking: Chunking<D>,
    /// Each chunk's node, and one iterator of items for each run of the chunk.
    chunks: Vec<(Option<u32>, Vec<P>)>,
}

impl<P: IndexedParallelIterator, const D: usize> ParallelIterator for Chunkwise<'_, P, D> {
    type Item = P::Item;

    fn drive_unindexed<C: UnindexedConsumer<P::Item>>(self, consumer: C) -> C::Result {
        let (mut consumers, mut reducers) = (Vec::new(), Vec::new());
        share(consumer, self.chunks.len(), &mut consumers, &mut reducers);
        let mut results: Vec<Option<C::Result>> = self.chunks.iter().map(|_| None).collect();
        let parts = self.chunks.into_iter().zip(consumers).zip(&mut results);
        self.pools.run(parts.map(|(((node, runs), consumer), result)| {
            (node, move || *result = Some(runs.into_par_iter().flatten().drive_unindexed(consumer)))
        }));
        let mut results = results.into_iter().flatten();
        let first = results.next().unwrap_or_else(|| unreachable!("an array has a chunk"));
        results.zip(reducers).fold(first, |left, (right, reducer)| reducer.reduce(left, right))
    }
}

/// Splits a consumer into halves until there are `count` consumers. Appends them in order, with the reducers between them.
/// (Consumers may halve a range of positions at each split, which splitting off one at a time would exhaust.)
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
    /// Pairs these items with those of another array.
    ///
    /// ```text
    /// a.par_iter_mut(&pools).zip(b.par_iter(&pools)).for_each(|(a, b)| *a += *b);
    /// ```
    ///
    /// # Panics
    ///
    /// If the shapes or the chunks of the arrays differ. The storages may differ.
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
        let zipped = |(mine, others): (P, Q)| {
            let (items, theirs) = (mine.len(), others.len());
            assert!(
                items == theirs,
                "a chunk has {items} items here and {theirs} there: chunks go with chunks, elements with elements"
            );
            mine.zip(others)
        };
        let chunks = pairs
            .map(|((node, mine), (_, others))| (node, mine.into_iter().zip(others).map(zipped).collect()));
        Chunkwise { pools, chunking, chunks: chunks.collect() }
    }

    /// Pairs each element with its index, as `(index, element)`.
    ///
    /// ```text
    /// a.par_iter_mut(&pools).indexed().for_each(|([i], a)| *a = i);
    /// a.par_iter_mut(&pools).indexed().zip(b.par_iter(&pools)).for_each(|(([i], a), b)| *a = i * b);
    /// ```
    pub fn indexed(
        self,
    ) -> Chunkwise<'p, impl IndexedParallelIterator<Item = ([usize; D], P::Item)> + use<'p, P, D>, D> {
        let nodes: Vec<_> = self.chunks.iter().map(|(node, _)| *node).collect();
        indices(self.pools, self.chunking, nodes).zip(self)
    }
}

/// Returns an iterator over the indices of an array. `nodes` are the nodes of its chunks.
fn indices<const D: usize>(
    pools: &NodePools,
    chunking: Chunking<D>,
    nodes: Vec<Option<u32>>,
) -> Chunkwise<'_, impl IndexedParallelIterator<Item = [usize; D]> + use<D>, D> {
    let shape = chunking.shape();
    let chunks = nodes.into_iter().enumerate().map(|(chunk, node)| {
        let runs = chunking.runs(chunk);
        (node, runs.map(|run| run.into_par_iter().map(move |number| position(shape, number))).collect())
    });
    Chunkwise { pools, chunking, chunks: chunks.collect() }
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
///     a.par_iter_mut(&pools).indexed().for_each(|([i], a)| *a = i as f64);
///     a.par_iter_mut(&pools).zip(b.par_iter(&pools)).for_each(|(a, b)| *a += *b);
///     a.par_iter(&pools).sum()
/// });
/// # Ok(())
/// # }
/// ```
///
/// Source: "NUMA-Aware Array Storage" (Chapel), parallel iteration over arrays, domains, and both zipped.
pub trait ParArray<T, const D: usize> {
    /// Iterates over references to the elements.
    fn par_iter<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Iter<'v, T>, D>;

    /// Iterates over the chunks, each as one item.
    fn par_chunks<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkRef<'v, T, D>>, D>;

    /// Iterates over the indices, each on the node of its chunk.
    fn par_indices<'p>(
        &self,
        pools: &'p NodePools,
    ) -> Chunkwise<'p, impl IndexedParallelIterator<Item = [usize; D]> + use<'p, Self, T, D>, D>;
}

/// Parallel loops over an array that is open exclusively ([`ArrayMut`]).
///
/// Inside a closure, `rayon`'s own iterators over an array element or a chunk run on the threads of the same node.
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
///     a.par_iter_mut(&pools).indexed().for_each(|([i], row)| {
///         row.par_iter_mut().enumerate().for_each(|(j, value)| *value = (i * j) as i64);
///     });
/// });
/// # Ok(())
/// # }
/// ```
pub trait ParArrayMut<T, const D: usize>: ParArray<T, D> {
    /// Iterates over mutable references to the elements.
    fn par_iter_mut<'v>(&'v mut self, pools: &'v NodePools) -> Chunkwise<'v, IterMut<'v, T>, D>;

    /// Iterates over the chunks as mutable items.
    fn par_chunks_mut<'v>(&'v mut self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkMut<'v, T, D>>, D>;
}

/// Returns the number of elements in one contiguous run of a chunk.
fn run_of<const D: usize>(chunking: &Chunking<D>, chunk: usize) -> usize {
    chunking.elements(chunk) / chunking.outer()
}

macro_rules! arrays {
    ($($array:ident)*) => {$(
        impl<'x, T: Sync, const D: usize, S: Storage> ParArray<T, D> for $array<'x, T, D, S> {
            fn par_iter<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Iter<'v, T>, D> {
                let chunking = *self.chunking();
                let chunks = self.chunks().map(|chunk| {
                    let run = run_of(&chunking, chunk.number());
                    // `runs` joins adjacent runs, so they are divided again: `zip` needs equal runs in both arrays.
                    let runs = chunk.runs().flat_map(|runs| runs.chunks_exact(run));
                    (chunk.node(), runs.map(|run| run.par_iter()).collect())
                });
                Chunkwise { pools, chunking, chunks: chunks.collect() }
            }

            fn par_chunks<'v>(&'v self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkRef<'v, T, D>>, D> {
                let chunks = self.chunks().map(|chunk| (chunk.node(), vec![once(chunk)])).collect();
                Chunkwise { pools, chunking: *self.chunking(), chunks }
            }

            fn par_indices<'p>(
                &self,
                pools: &'p NodePools,
            ) -> Chunkwise<'p, impl IndexedParallelIterator<Item = [usize; D]> + use<'p, 'x, T, D, S>, D> {
                indices(pools, *self.chunking(), self.chunks().map(|chunk| chunk.node()).collect())
            }
        }
    )*};
}
arrays!(ArrayRef ArrayMut);

impl<T: Send + Sync, const D: usize, S: Storage> ParArrayMut<T, D> for ArrayMut<'_, T, D, S> {
    fn par_iter_mut<'v>(&'v mut self, pools: &'v NodePools) -> Chunkwise<'v, IterMut<'v, T>, D> {
        let chunking = *self.chunking();
        let chunks = self.chunks_mut().map(|chunk| {
            let (node, run) = (chunk.node(), run_of(&chunking, chunk.number()));
            let runs = chunk.into_runs_mut().flat_map(|runs| runs.chunks_exact_mut(run));
            (node, runs.map(|run| run.par_iter_mut()).collect())
        });
        Chunkwise { pools, chunking, chunks: chunks.collect() }
    }

    fn par_chunks_mut<'v>(&'v mut self, pools: &'v NodePools) -> Chunkwise<'v, Once<ChunkMut<'v, T, D>>, D> {
        let chunking = *self.chunking();
        let chunks = self.chunks_mut().map(|chunk| (chunk.node(), vec![once(chunk)])).collect();
        Chunkwise { pools, chunking, chunks }
    }
}
