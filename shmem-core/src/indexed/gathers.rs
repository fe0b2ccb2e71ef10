//! Reads that a loop finds one by one.
//!
//! As the updates of a [`Batch`](super::Batch) they are kept until they are worth a list. Where an element is to go is borrowed
//! for longer than the loop runs, so nobody can look at it before it is there.

use core::fmt;
use std::panic::Location;

use super::batch::most;
use super::call::{Elements, check_index};
use super::listed::sealed::{Span, Spread};
use super::over::Numbered;
use crate::data::PlainData;
use crate::endpoint::Initiator;
use crate::observe::Family;

/// Runs `body` with reads of elements, which are there when this returns.
#[track_caller]
pub(super) fn run<'env, P: Numbered<Item: PlainData>, R>(
    token: &(impl Initiator + ?Sized),
    from: &P,
    body: impl FnOnce(&mut Gathers<'_, 'env, P::Item>) -> R,
) -> R {
    let (endpoint, place, location) = (token.endpoint(), from.spread(), Location::caller());
    let mut carry = |indices: &[usize], found: &mut [P::Item]| {
        let list = Elements { endpoint, place, indices, location };
        // SAFETY: borrowed exclusively, for a call that is over when it returns.
        unsafe { list.gather(found.as_mut_ptr(), found.len(), Family::Gather) };
    };
    let bytes = size_of::<usize>() + size_of::<*mut P::Item>() + size_of::<P::Item>();
    let Span { len, offset, .. } = place.span();
    let mut gathers = Gathers::new((len, offset), most(endpoint, place, bytes), &mut carry);
    let result = body(&mut gathers);
    gathers.hand_over();
    result
}

/// Reads elements, each to where it belongs.
type Carry<'b, T> = &'b mut dyn FnMut(&[usize], &mut [T]);

/// Reads of elements, one by one, of which many go together: from [`Indexed::gathers`](super::Indexed::gathers).
///
/// An index beyond the end is refused at once.
pub struct Gathers<'b, 'env, T> {
    /// Elements that there are.
    len: usize,
    /// Where they begin.
    offset: usize,
    /// Reads that are kept at most.
    most: usize,
    indices: Vec<usize>,
    into: Vec<&'env mut T>,
    found: Vec<T>,
    carry: Carry<'b, T>,
}

impl<'b, 'env, T: PlainData> Gathers<'b, 'env, T> {
    fn new((len, offset): (usize, usize), most: usize, carry: Carry<'b, T>) -> Self {
        Self { len, offset, most, indices: Vec::new(), into: Vec::new(), found: Vec::new(), carry }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads an element to where it is at the end of the call.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub fn get(&mut self, index: usize, into: &'env mut T) {
        check_index(index, self.len, self.offset);
        self.indices.push(index);
        self.into.push(into);
        if self.into.len() == self.most {
            self.hand_over();
        }
    }

    #[cold]
    #[inline(never)]
    fn hand_over(&mut self) {
        let Self { indices, into, found, carry, .. } = self;
        found.resize(indices.len(), T::zeroed());
        carry(indices, found);
        for (into, found) in into.drain(..).zip(&*found) {
            *into = *found;
        }
        indices.clear();
    }
}

impl<T> fmt::Debug for Gathers<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gathers ({} reads of {} elements)", self.into.len(), self.len)
    }
}
