//! Elements and indices of chunks as `rayon` iterates over them: halved until there is work for all threads.

use core::ops::Range;

use rayon::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use shmem_core::array::{ChunkIter, ChunkIterMut, Indices};

/// An iterator that can be cut in two.
pub trait Split: ExactSizeIterator + DoubleEndedIterator + Send {
    /// The first `count` items, and the others.
    #[doc(hidden)]
    fn cut(self, count: usize) -> (Self, Self)
    where
        Self: Sized;

    /// The next item, where there is one.
    #[doc(hidden)]
    #[inline(always)]
    fn step(&mut self) -> Self::Item {
        self.next().unwrap_or_else(|| unreachable!("there are as many indices as elements"))
    }
}

macro_rules! splits {
    ($([$($generic:tt)*] $name:ty;)*) => {$(
        impl<$($generic)*> Split for $name {
            fn cut(self, count: usize) -> (Self, Self) {
                self.split_at(count)
            }
        }
    )*};
}
splits! {
    ['x, T: Sync] ChunkIter<'x, T>;
    ['x, T: Send] ChunkIterMut<'x, T>;
    [const D: usize] Indices<D>;
}

/// Items with the indices of their elements in front.
///
/// It is a `zip` that a compiler can make a loop over a slice of: `zip` asks both sides for each item whether
/// there is one.
#[derive(Clone, Debug)]
pub struct Indexed<I, E> {
    /// As many as there are items.
    pub(super) indices: I,
    pub(super) items: E,
}

impl<I: Split, E: Split> Iterator for Indexed<I, E> {
    type Item = (I::Item, E::Item);

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.items.next()?;
        Some((self.indices.step(), item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, first: B, mut f: F) -> B {
        let mut indices = self.indices;
        self.items.fold(first, |result, item| f(result, (indices.step(), item)))
    }
}

impl<I: Split, E: Split> DoubleEndedIterator for Indexed<I, E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.indices.next_back().zip(self.items.next_back())
    }
}

impl<I: Split, E: Split> ExactSizeIterator for Indexed<I, E> {}

impl<I: Split, E: Split> Split for Indexed<I, E> {
    fn cut(self, count: usize) -> (Self, Self) {
        let (indices, items) = (self.indices.cut(count), self.items.cut(count));
        (Self { indices: indices.0, items: items.0 }, Self { indices: indices.1, items: items.1 })
    }
}

impl Split for Range<usize> {
    #[inline(always)]
    fn step(&mut self) -> usize {
        let index = self.start;
        self.start += 1;
        index
    }

    fn cut(self, count: usize) -> (Self, Self) {
        let middle = self.start + count;
        (self.start..middle, middle..self.end)
    }
}

/// Ranges in each dimension, and the indices in them: `usize` in one dimension, else `[usize; D]`.
pub trait Ranges {
    /// The indices.
    type Indices: Split<Item: Send>;

    #[doc(hidden)]
    fn indices(self) -> Self::Indices;
}

impl Ranges for [Range<usize>; 1] {
    type Indices = Range<usize>;

    fn indices(self) -> Range<usize> {
        let [range] = self;
        range
    }
}

macro_rules! ranges {
    ($($d:literal)*) => {$(
        impl Ranges for [Range<usize>; $d] {
            type Indices = Indices<$d>;

            fn indices(self) -> Indices<$d> {
                Indices::new(self)
            }
        }
    )*};
}
ranges!(2 3);

/// The items of a [`Split`], in parallel.
#[derive(Clone, Debug)]
pub struct Splitting<I>(pub(super) I);

impl<I: Split> ParallelIterator for Splitting<I>
where
    I::Item: Send,
{
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<I: Split> IndexedParallelIterator for Splitting<I>
where
    I::Item: Send,
{
    fn len(&self) -> usize {
        self.0.len()
    }

    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

impl<I: Split> Producer for Splitting<I>
where
    I::Item: Send,
{
    type Item = I::Item;
    type IntoIter = I;

    fn into_iter(self) -> I {
        self.0
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (front, back) = self.0.cut(index);
        (Self(front), Self(back))
    }
}
