//! Non-blocking transfers.
//!
//! The buffer of a transfer must stay valid until the transfer is complete. No destructor can guarantee that, because a value can
//! be forgotten. Three forms of transfer guarantee it in other ways:
//!
//! * A [`Scope`] has transfers whose buffers are borrowed for longer than the scope. It ends in a quiet, also when it unwinds or
//!   the process exits ([`under_way`](crate::transport::under_way)). A scope cannot be forgotten, because it is a closure.
//! * A [`Pending`] transfer owns its buffer. If it is forgotten, its buffer is leaked.
//! * [`put_from`](NonBlocking::put_from) and [`get_into`](NonBlocking::get_into) have symmetric memory as their buffer, which lives
//!   as long as the token (the world, context or session that issues them). They are complete after the token's quiet.
//!
//! The endpoint tracks completion, so nothing is allocated, and there is no list of transfers.

mod owned;
mod scope;

pub use owned::{Buffer, Pending};
pub use scope::Scope;

use core::panic::Location;

use super::remote_place::{Place, SlicePlace, check_len};
use crate::endpoint::{Initiator, Stores};
use crate::object::Here;
use crate::observe::Family;
use crate::symmetric_data::Contents;

/// Non-blocking transfers.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{NonBlocking, On, Stores};
///
/// /// Sends a row while it fetches another, and computes meanwhile.
/// fn exchange(world: &impl Stores, to: On<'_, [f64]>, row: &[f64], from: On<'_, [f64]>) -> Vec<f64> {
///     let mut other = vec![0.0; from.len()];
///     let energy = world.scope(|s| {
///         s.put(to, row);
///         s.get(&mut other[..], from);
///         row.iter().map(|x| x * x).sum::<f64>()
///     });
///     // Here both are complete.
///     other.push(energy);
///     other
/// }
/// ```
pub trait NonBlocking: Initiator {
    /// Calls `body`, which starts operations on the scope. When `scope` returns or unwinds, these operations are complete. Until
    /// then their buffers are borrowed from the environment of the closure.
    ///
    /// Other operations of the token are completed as well. If completion fails, the process is aborted, because other PEs may
    /// still write to memory that is about to be reused.
    ///
    /// Source: OpenSHMEM 1.6, the routines named `_nbi`, and `shmem_quiet`.
    #[track_caller]
    fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env, Self>) -> R,
    ) -> R {
        scope::run(self, Location::caller(), body)
    }

    /// Starts writing `buffer` to a place. [`wait`](Pending::wait) returns the buffer when the data is visible to every PE.
    ///
    /// # Panics
    ///
    /// If the buffer and the place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put_nbi`.
    #[track_caller]
    fn put_owned<B: Buffer, P: SlicePlace<B::Item>>(&self, place: P, buffer: B) -> Pending<'_, B>
    where
        Self: Stores,
    {
        Pending::put(self.endpoint(), place, buffer)
    }

    /// Starts reading a place into `buffer`. [`wait`](Pending::wait) returns the buffer when the data has arrived.
    ///
    /// # Panics
    ///
    /// If the buffer and the place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_get_nbi`.
    #[track_caller]
    fn get_owned<B: Buffer, P: SlicePlace<B::Item>>(&self, buffer: B, place: P) -> Pending<'_, B> {
        Pending::get(self.endpoint(), buffer, place)
    }

    /// Starts writing the calling PE's copy of an object, or a part of it, to a place. The token's next quiet completes the
    /// transfer: the copy has been read, and the data is visible to every PE.
    ///
    /// # Panics
    ///
    /// If the source and the place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put_nbi`.
    #[inline(always)]
    #[track_caller]
    fn put_from<P: Place>(&self, place: P, source: Here<'_, P::Contents>)
    where
        Self: Stores,
    {
        check_len(place, source.len());
        let from = source.as_ptr().cast::<<P::Contents as Contents>::Item>();
        // SAFETY: `source` has the place's number of items (`check_len`), in symmetric memory, which outlives the endpoint.
        unsafe { place.put_from(self.endpoint(), from, Family::PutNbi) };
    }

    /// Starts reading a place into the calling PE's copy of an object, or a part of it. The data has arrived when the token is
    /// quiet.
    ///
    /// # Panics
    ///
    /// If the place and the destination differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_get_nbi`.
    #[inline(always)]
    #[track_caller]
    fn get_into<P: Place>(&self, into: Here<'_, P::Contents>, place: P) {
        check_len(place, into.len());
        let to = into.as_ptr().cast::<<P::Contents as Contents>::Item>();
        // SAFETY: `into` has the place's number of items (`check_len`), in symmetric memory, which outlives the endpoint. Outside
        // `World::local` and `World::frozen`, any PE may write to symmetric memory.
        unsafe { place.get_into(self.endpoint(), to, Family::GetNbi) };
    }
}

impl<I: Initiator + ?Sized> NonBlocking for I {}
