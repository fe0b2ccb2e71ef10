//! Transfers that use memory of the program while its code runs.
//!
//! A function borrows such memory, and completes the transfers before it ends ([`under_way`]). If it returns or unwinds, a
//! destructor completes them. But program code that the function calls may also call `exit`, which destroys the thread-locals of
//! the calling thread. One of them may own the memory, while the transfers continue. So each thread has a list of its transfers,
//! which `exit` completes before it destroys anything ([`run_first`]).
//!
//! Blocking transfers are not in the list, because they run no code of the program. When the job cannot continue, the library may
//! end the process during a blocking transfer. It does not call `exit` then, and destroys nothing
//! ([`end`](crate::process_exit::end)), so late data is written to memory that still exists.
//!
//! `exit` destroys neither thread-locals of other threads nor anything on a stack. One case is not covered: a thread calls `exit`
//! while another thread has transfers in memory that it borrowed from the first one's thread-locals, as with `std::thread::scope`.

use core::cell::Cell;
use core::ptr::NonNull;

use crate::planted_fault::mutant;
use crate::process_exit::run_first;

/// The transfers of one function: a link of the thread's list, on the stack.
struct Open<'q> {
    quiet: &'q dyn Fn(),
    /// The previous link of the list. Its function has not ended either. If a thread switches between several stacks, functions may
    /// end in any order.
    older: Link,
    newer: Link,
}

type Link = Cell<Option<NonNull<Open<'static>>>>;

thread_local! {
    static LAST: Link = const { Cell::new(None) };
}

/// Runs `body`, which starts transfers with memory of the program, and completes them by `quiet`: when `body` returns or
/// unwinds, or when it ends the process by `exit`. If `quiet` unwinds, the process is aborted.
pub fn under_way<R>(quiet: impl Fn(), body: impl FnOnce() -> R) -> R {
    let open = Open { quiet: &quiet, older: Cell::new(None), newer: Cell::new(None) };
    // SAFETY: `End` is dropped before `open`, and `open` does not move.
    unsafe { enter(&open) };
    // Dropped after `_quiet`: removes `open` from the list.
    let _end = End(&open);
    let _quiet = Completes(&quiet);
    if !mutant("exit-without-quiet") {
        run_first(complete);
    }
    body()
}

/// Adds a link to the list.
///
/// # Safety
///
/// `open` must not move before an [`End`] of `open` is dropped, or ever if none is.
unsafe fn enter(open: &Open<'_>) {
    let this = Some(NonNull::from(open).cast());
    let older = LAST.replace(this);
    open.older.set(older);
    // SAFETY: `older` is in the list, so its function has not ended, and the link exists.
    older.inspect(|older| unsafe { older.as_ref() }.newer.set(this));
}

/// Removes a link from the list when it is dropped.
struct End<'o, 'q>(&'o Open<'q>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        let (older, newer) = (self.0.older.get(), self.0.newer.get());
        // SAFETY: the link is in the list, so its `End` was not dropped, and the link has not moved since `enter`.
        older.inspect(|older| unsafe { older.as_ref() }.newer.set(newer));
        match newer {
            // SAFETY: the link is in the list, so its `End` was not dropped, and the link has not moved since `enter`.
            Some(newer) => unsafe { newer.as_ref() }.older.set(older),
            None => LAST.set(older),
        }
    }
}

/// Completes this thread's transfers when the process is about to exit. If a thread ends otherwise, its functions have completed
/// theirs.
fn complete() {
    while let Some(open) = LAST.get() {
        // SAFETY: no `End` of `open` was dropped, so it has not moved since `enter`: a function's frame stays until its end.
        let Open { quiet, older, .. } = unsafe { open.as_ref() };
        drop(Completes(quiet));
        LAST.set(older.get());
    }
}

/// Completes transfers when dropped, on return or on unwinding, because their memory is about to be reused. If completing them
/// unwinds, the process aborts, because transfers may still use the memory.
pub(crate) struct Completes<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for Completes<F> {
    fn drop(&mut self) {
        let failed = Incomplete;
        (self.0)();
        core::mem::forget(failed);
    }
}

/// Aborts the process when dropped: a thread that waits for transfers has unwound, and the transfers may still use its memory.
pub(crate) struct Incomplete;

impl Drop for Incomplete {
    fn drop(&mut self) {
        eprintln!("shmem: transfers could not be completed; others may still use their buffers");
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    #[cfg(not(miri))]
    use crate::fixture::aborts;

    #[test]
    fn unwinding_completes_transfers_as_a_return_does() {
        let quiets = Cell::new(0);
        let count = || quiets.set(quiets.get() + 1);
        under_way(count, || assert_eq!(quiets.get(), 0));
        assert_eq!(quiets.get(), 1);
        catch_unwind(AssertUnwindSafe(|| under_way(count, || panic!("inside")))).unwrap_err();
        assert_eq!(quiets.get(), 2);
        assert_eq!(LAST.get(), None);
    }

    /// Links end in any order, as on several stacks.
    #[test]
    fn an_exit_completes_transfers_that_have_not_ended() {
        let quiets = Cell::new(0);
        let first = || quiets.set(quiets.get() | 1);
        let second = || quiets.set(quiets.get() | 2);
        let link = |quiet| Open { quiet, older: Cell::new(None), newer: Cell::new(None) };
        for ended in [None, Some(0), Some(1)] {
            quiets.set(0);
            let both: [Open<'_>; 2] = [link(&first), link(&second)];
            // SAFETY: of each an `End` is dropped below, or `complete` takes it out.
            both.iter().for_each(|open| unsafe { enter(open) });
            if let Some(ended) = ended {
                drop(End(&both[ended]));
            }
            complete();
            assert_eq!(quiets.get(), [3, 2, 1][ended.map_or(0, |ended| ended + 1)]);
            assert_eq!(LAST.get(), None);
        }
    }

    /// Caught by nobody, whoever would.
    #[test]
    #[cfg(not(miri))]
    fn a_failed_completion_ends_the_process() {
        aborts("transfers could not be completed", || {
            _ = catch_unwind(|| under_way(|| panic!("the network is gone"), || ()));
        });
    }
}
