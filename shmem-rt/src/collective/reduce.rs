//! Reductions, and the steps through scratch that all collectives with data take.

use std::panic::Location;

use bytemuck::Pod;
use shmem_core::context::{Endpoint, Initiator};
use shmem_core::data::{Contents, PlainData};
use shmem_core::pe::Pe;
use shmem_core::system::{SCRATCH_BYTES, SystemArea, TeamArea};
use shmem_core::transport::Remote;

use super::barrier::Purpose;
use super::broadcast::bytes_of;
use crate::team::{Collective, Team};

/// What can be reduced: a number, or an array of what can be reduced, element by element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    note = "sum, min and max take the integers, f32 and f64, and arrays and slices of them"
)]
pub trait Reducible: PlainData + sealed::Sealed {
    /// What it is made of.
    type Number: Number;
}

/// A number that can be reduced: a power of two of bytes, at most 16, so that no piece of scratch ends
/// inside one.
pub trait Number: Pod + sealed::Sealed {
    /// The sum; integers wrap.
    fn added(self, other: Self) -> Self;

    /// The smaller one; a NaN loses.
    fn lesser(self, other: Self) -> Self;

    /// The larger one; a NaN loses.
    fn greater(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl<T: Sealed, const N: usize> Sealed for [T; N] {}
}

impl<T: Reducible, const N: usize> Reducible for [T; N]
where
    [T; N]: Pod,
{
    type Number = T::Number;
}

macro_rules! numbers {
    ($($t:ident: $added:path, $lesser:path, $greater:path;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Reducible for $t {
            type Number = $t;
        }

        impl Number for $t {
            fn added(self, other: Self) -> Self {
                $added(self, other)
            }

            fn lesser(self, other: Self) -> Self {
                $lesser(self, other)
            }

            fn greater(self, other: Self) -> Self {
                $greater(self, other)
            }
        }
    )*};
}
macro_rules! integers {
    ($($t:ident)*) => {
        numbers! { $($t: $t::wrapping_add, Ord::min, Ord::max;)* }
    };
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
numbers! {
    f32: core::ops::Add::add, f32::min, f32::max;
    f64: core::ops::Add::add, f64::min, f64::max;
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        impl Team {$(
            $(#[$doc])*
            ///
            /// `data` is a number, an array or a slice, of the same length on all members; each element
            /// becomes the result over all members, combined in the order of ranks, on all of them.
            ///
            /// Source: OpenSHMEM 1.6, `shmem_*_reduce`.
            #[track_caller]
            pub fn $name<T>(&self, token: &(impl Initiator + ?Sized), data: &mut T)
            where
                T: Contents<Item: Reducible> + ?Sized,
            {
                self.reduce(token.endpoint(), stringify!($name), data, $op, Location::caller());
            }
        )*}
    };
}
reductions! {
    /// Sum over all members.
    sum = Number::added;
    /// Minimum over all members.
    min = Number::lesser;
    /// Maximum over all members.
    max = Number::greater;
}

impl Team {
    /// Combines `data` of all members by `op`, in the order of ranks.
    fn reduce<T, N: Number>(
        &self,
        endpoint: &Endpoint,
        operation: &'static str,
        data: &mut T,
        op: impl Fn(N, N) -> N,
        location: &'static Location<'static>,
    ) where
        T: Contents<Item: Reducible<Number = N>> + ?Sized,
    {
        let bytes = size_of_val(data);
        let name = core::any::type_name::<N>();
        let arguments = [bytes as u64, size_of::<N>() as u64];
        let subject = || format!("{} x {name}", bytes / size_of::<N>());
        let purpose = Purpose {
            operation,
            opens: false,
            arguments: &arguments,
            subject: &subject,
            location: Some(location),
        };
        self.enter(endpoint).reduce_for(&purpose, bytes_of(data), op);
    }
}

impl Collective<'_> {
    /// Combines the numbers in `data`, for a purpose of the caller's.
    pub(crate) fn reduce_for<N: Number>(
        &self,
        purpose: &Purpose<'_>,
        data: &mut [u8],
        op: impl Fn(N, N) -> N,
    ) {
        let Self { team, endpoint } = *self;
        let mut theirs = vec![0; data.len().min(SCRATCH_BYTES)];
        for (step, piece) in Steps::of(self, data) {
            step.contribute(endpoint, piece);
            self.meet(purpose);
            for (rank, pe) in team.members().iter().enumerate() {
                let theirs = &mut theirs[..piece.len()];
                step.read(endpoint, *pe, theirs);
                if rank == 0 {
                    piece.copy_from_slice(theirs);
                } else {
                    combine(piece, theirs, &op);
                }
            }
        }
    }
}

/// Combines two pieces, which consist of whole numbers.
fn combine<N: Number>(into: &mut [u8], from: &[u8], op: impl Fn(N, N) -> N) {
    let size = size_of::<N>();
    for (into, from) in into.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
        let result = op(bytemuck::pod_read_unaligned(into), bytemuck::pod_read_unaligned(from));
        into.copy_from_slice(bytemuck::bytes_of(&result));
    }
}

/// One step: one half of every member's scratch.
pub(super) struct Step {
    offset: usize,
}

/// The pieces of `data` and the step for each.
pub(super) struct Steps;

impl Steps {
    /// At least one step, so that empty data meets as well.
    pub(super) fn of<'d>(
        collective: &Collective<'_>,
        data: &'d mut [u8],
    ) -> impl Iterator<Item = (Step, &'d mut [u8])> {
        let empty = data.is_empty().then(Default::default);
        data.chunks_mut(SCRATCH_BYTES).chain(empty).map(|piece| (Step::next(collective), piece))
    }
}

impl Step {
    /// The next step. Which half it takes follows from the number of steps so far, which is the same on
    /// all members: all take as many for one collective.
    pub(super) fn next(collective: &Collective<'_>) -> Self {
        let base = core::mem::offset_of!(SystemArea, teams)
            + collective.team.index() * size_of::<TeamArea>()
            + core::mem::offset_of!(TeamArea, scratch);
        let half = (collective.next_step() % 2) as usize;
        Self { offset: base + half * SCRATCH_BYTES }
    }

    /// Writes the calling PE's contribution.
    pub(super) fn contribute(&self, endpoint: &Endpoint, data: &[u8]) {
        let to = endpoint.mine(self.offset);
        // SAFETY: the scratch half has `SCRATCH_BYTES` bytes, a piece at most that many; nobody
        // reads it now: its last readers have since met this PE for the step in between, and no other
        // thread of this PE is in a collective.
        unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    }

    /// Reads a member's contribution, after the meeting.
    pub(super) fn read(&self, endpoint: &Endpoint, pe: Pe, into: &mut [u8]) {
        if let Some(from) = endpoint.mapped(pe, self.offset) {
            // SAFETY: the scratch half of a PE on this node; its owner wrote it before the meeting
            // and writes it again only after the meeting of the next step.
            unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        } else if let Some(far) = endpoint.far_if_any() {
            let from = Remote { pe, segment: shmem_core::segment::SYSTEM, offset: self.offset };
            // SAFETY: as above; `into` is an exclusive reference.
            unsafe { far.transport.get(far.channel, into.as_mut_ptr(), from, into.len()) };
        }
    }
}
