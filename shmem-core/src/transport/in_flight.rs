//! Transfers that use memory of the program while its code runs.
//!
//! Such memory is borrowed by a function, which completes the transfers before it ends ([`under_way`]). A function ends by return
//! or by unwinding; a destructor covers both. Or program code that the function calls ends the process: `exit` destroys the
//! thread-locals of the calling thread, one of which may own the memory, while the transfers continue. So each thread has a list of
//! its transfers, which `exit` completes before it destroys anything ([`run_first`]).
//!
//! Blocking transfers run no code of the program and are not in the list. The library may end the process during one, when the job
//! cannot continue: it calls no `exit` and destroys nothing ([`end`](crate::process_exit::end)), so late data is written to memory that still
//! exists.
//!
//! `exit` destroys neither thread-locals of other threads nor anything on a stack. A thread that ends the process while another one has
//! borrowed its thread-locals is outside this module, as with `std::thread::scope`.

use core::cell::Cell;
use core::ptr::NonNull;

use super::Completes;
use crate::planted_fault::mutant;
use crate::process_exit::run_first;

/// Transfers of one function: a link of the thread's list, on the stack.
struct Open<'q> {
    quiet: &'q dyn Fn(),
    /// Neighbouring links of functions that have not ended. Functions on several stacks of one thread may end in any order.
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
/// `open` must not move until an [`End`] of `open` has been dropped, or for ever.
unsafe fn enter(open: &Open<'_>) {
    let this = Some(NonNull::from(open).cast());
    let older = LAST.replace(this);
    open.older.set(older);
    // SAFETY: a link in the list has not ended, so it exists.
    older.inspect(|older| unsafe { older.as_ref() }.newer.set(this));
}

/// Removes a link from the list when it is dropped.
struct End<'o, 'q>(&'o Open<'q>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        let (older, newer) = (self.0.older.get(), self.0.newer.get());
        // SAFETY: a link of the list, whose `End` has not been dropped, so it has not moved since `enter`.
        older.inspect(|older| unsafe { older.as_ref() }.newer.set(newer));
        match newer {
            // SAFETY: a link of the list, whose `End` has not been dropped, so it has not moved since `enter`.
            Some(newer) => unsafe { newer.as_ref() }.older.set(older),
            None => LAST.set(older),
        }
    }
}

/// Completes the transfers of this thread, when the process is about to exit. A thread that ends otherwise has none.
fn complete() {
    while let Some(open) = LAST.get() {
        // SAFETY: no `End` of it has been dropped, so it has not moved since `enter`: a function's frame stays until its end.
        let Open { quiet, older, .. } = unsafe { open.as_ref() };
        drop(Completes(quiet));
        LAST.set(older.get());
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
