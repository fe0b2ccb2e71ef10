//! What a reduction combines with: a function over tiles of bytes, so that one engine serves every type and operation, of Rust
//! and of C.

use core::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use bytemuck::Pod;
use shmem_core::primitive::mutant;

use crate::group::{Collective, Purpose};

/// An operation on items of some bytes.
pub(super) trait Reduction {
    /// Bytes of an item.
    fn size(&self) -> usize;

    /// Whether the result is the same in whatever order items are combined.
    fn is_exact(&self) -> bool;

    /// Writes `left` combined with `right`, item by item, to `into`. Without `left`, the left operands are in `into`. All have the same
    /// number of whole items, of any alignment.
    fn combine(&self, into: &mut [u8], left: Option<&[u8]>, right: &[u8]);

    /// Makes results of what was combined: of all NaNs one.
    fn settle(&self, _results: &mut [u8]) {}
}

/// An operation on values of a type.
#[derive(Clone, Copy)]
pub(super) struct Typed<N, O, S> {
    op: O,
    settled: S,
    is_exact: bool,
    items: PhantomData<fn(N)>,
}

impl<N: Pod, O: Fn(N, N) -> N, S: Fn(N) -> N> Typed<N, O, S> {
    pub(super) fn new(op: O, settled: S, is_exact: bool) -> Self {
        Self { op, settled, is_exact, items: PhantomData }
    }
}

impl<N: Pod, O: Fn(N, N) -> N, S: Fn(N) -> N> Reduction for Typed<N, O, S> {
    fn size(&self) -> usize {
        size_of::<N>()
    }

    fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn combine(&self, into: &mut [u8], left: Option<&[u8]>, right: &[u8]) {
        require_same(into, right);
        let (into, right) = (into.chunks_exact_mut(size_of::<N>()), right.chunks_exact(size_of::<N>()));
        let both = |left: &[u8], right: &[u8]| {
            (self.op)(bytemuck::pod_read_unaligned(left), bytemuck::pod_read_unaligned(right))
        };
        match left {
            Some(left) => {
                let operands = left.chunks_exact(size_of::<N>()).zip(right);
                into.zip(operands).for_each(|(into, (left, right))| {
                    into.copy_from_slice(bytemuck::bytes_of(&both(left, right)));
                });
            }
            None => into.zip(right).for_each(|(into, right)| {
                let both = both(into, right);
                into.copy_from_slice(bytemuck::bytes_of(&both));
            }),
        }
    }

    fn settle(&self, results: &mut [u8]) {
        if mutant("nan-unsettled") {
            return;
        }
        for result in results.chunks_exact_mut(size_of::<N>()) {
            let settled = (self.settled)(bytemuck::pod_read_unaligned(result));
            result.copy_from_slice(bytemuck::bytes_of(&settled));
        }
    }
}

/// Requires as many operands as results.
pub(super) fn require_same(into: &[u8], operands: &[u8]) {
    assert!(into.len() == operands.len(), "a tile of {} bytes, and one of {}", into.len(), operands.len());
}

/// An operation of the program. A panic inside it ends the job, since the others are in the same collective.
pub(super) struct Guarded<'g, O> {
    pub(super) op: O,
    pub(super) collective: &'g Collective<'g>,
    pub(super) purpose: &'g Purpose<'g>,
}

impl<O: Reduction> Reduction for Guarded<'_, O> {
    fn size(&self) -> usize {
        self.op.size()
    }

    fn is_exact(&self) -> bool {
        self.op.is_exact()
    }

    fn combine(&self, into: &mut [u8], left: Option<&[u8]>, right: &[u8]) {
        let combine = AssertUnwindSafe(|| self.op.combine(into, left, right));
        if let Err(payload) = catch_unwind(combine) {
            // To drop it may panic again.
            core::mem::forget(payload);
            self.refuse();
        }
    }
}

impl<O> Guarded<'_, O> {
    #[cold]
    fn refuse(&self) -> ! {
        let Purpose { operation, subject, location, .. } = self.purpose;
        let location = location.unwrap_or(const { Location::caller() });
        let said = format!(
            "a panic inside the operation of `{}({})` at {}:{} ends the job: other PEs are in the same collective",
            operation.name(),
            subject(),
            location.file(),
            location.line()
        );
        self.collective.team.job.abort(101, &said)
    }
}
