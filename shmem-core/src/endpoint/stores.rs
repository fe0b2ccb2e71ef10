//! Which tokens may write.

use super::Initiator;

/// A token that may write to other PEs: the world, and every context that was not made with the option
/// NOSTORE. Puts, signals and updates ask for it; gets, fetches, `fence` and `quiet` do not.
///
/// Source: OpenSHMEM 1.6, `SHMEM_CTX_NOSTORE`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` issues no puts, signals or updates",
    label = "made with the option NOSTORE, or not a token",
    note = "a context of kind `NoStore<K>` reads only; create one of kind `K` to write"
)]
pub trait Stores: Initiator {}

impl<I: Stores + ?Sized> Stores for &I {}
impl<I: Stores + ?Sized> Stores for &mut I {}
