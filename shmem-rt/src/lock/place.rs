//! What can be locked.

use shmem_core::object::{Lock, On, SymBox, Symmetric};
use shmem_core::pe::Pe;

/// What [`World::lock`](crate::World::lock) takes: `&LOCK`, or `(&LOCKS, k)` for one of an array of locks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a lock",
    label = "not a lock",
    note = "locks are `&LOCK` of `#[symmetric] static LOCK: Lock;` or of an allocated `Lock`, and `(&LOCKS, k)` of an array of them"
)]
pub trait LockPlace<'a>: sealed::Sealed {
    /// The copy on a PE.
    #[doc(hidden)]
    fn __on(self, pe: Pe) -> On<'a, Lock>;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for &Symmetric<Lock> {}

impl<'a> LockPlace<'a> for &'a Symmetric<Lock> {
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.on(pe)
    }
}

impl sealed::Sealed for &SymBox<Lock> {}

impl<'a> LockPlace<'a> for &'a SymBox<Lock> {
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.on(pe)
    }
}

impl<const N: usize> sealed::Sealed for (&Symmetric<[Lock; N]>, usize) {}

impl<'a, const N: usize> LockPlace<'a> for (&'a Symmetric<[Lock; N]>, usize) {
    #[track_caller]
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.0.on(pe).index(self.1)
    }
}

impl sealed::Sealed for (&SymBox<[Lock]>, usize) {}

impl<'a> LockPlace<'a> for (&'a SymBox<[Lock]>, usize) {
    #[track_caller]
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.0.on(pe).index(self.1)
    }
}
