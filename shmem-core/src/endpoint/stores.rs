//! Which tokens may write.

use super::Initiator;

/// A token that may write to other PEs: the world, and every context that was not made with the option
/// NOSTORE. Puts, signals and updates ask for it; gets, fetches, `fence` and `quiet` do not.
///
/// Source: OpenSHMEM 1.6, `SHMEM_CTX_NOSTORE`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations that write",
    label = "not a token that writes",
    note = "puts, signals and updates need a token: the `World`, or a context bound to it that is not of kind `NoStore<K>`"
)]
pub trait Stores: Initiator {}

impl<I: Stores + ?Sized> Stores for &I {}
impl<I: Stores + ?Sized> Stores for &mut I {}
