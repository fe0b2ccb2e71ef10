//! The shim's completion queues and counters.
//!
//! `FABRIC_SHIM=cq=16` limits a queue to 16 entries. If the user asks for resource management, a full queue refuses operations
//! until completions are read. Otherwise a queue has the size that the user asks for, if any, and an operation whose completion
//! would not fit ends the process, because hardware would lose that completion. `FABRIC_SHIM=reorder` delays completions.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::sync::Arc;

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::below;
use crate::delayed::Served;
use crate::demand::demands;
use crate::immediate_completion::{self, Count};
use crate::object::{ObjectState, Real, called, close, identity, refusal, table};
use crate::shared::Shared;

/// Upper limit on the completions that a queue delays.
const MOST_WAITING: usize = 16;

/// The shim's state for a completion queue. Its entries have the format `fi_cq_data_entry`.
pub(crate) struct Queue {
    real: Real<fid_cq>,
    domain: Arc<Shared>,
    pub(crate) served: Served,
    /// Upper limit on `owed`; `None` if overruns are not checked.
    room: Option<usize>,
    /// Completions that have not been read, including those of operations in flight.
    owed: AtomicUsize,
    /// Completions that the shim delays, and completions of writes that were complete at once.
    waiting: Mutex<VecDeque<Completion>>,
}

struct Completion(fi_cq_data_entry);

// SAFETY: the shim does not dereference the pointers of a completion, and only passes them on.
unsafe impl Send for Completion {}

const EMPTY: fi_cq_data_entry =
    fi_cq_data_entry { op_context: null_mut(), flags: 0, len: 0, buf: null_mut(), data: 0 };

impl ObjectState for Arc<Queue> {
    type Seen = fid_cq;
}

impl Queue {
    /// Returns a new queue: the structure for users, and the shim's state. `entries` is the size that the user asks for, or 0.
    pub(crate) fn new(
        real: *mut fid_cq,
        context: *mut c_void,
        entries: usize,
        domain: &Arc<Shared>,
    ) -> (fid_cq, Arc<Self>) {
        let room = demands().cq.map(|most| match entries {
            0 => most,
            asked if domain.managed => most.min(asked),
            asked => asked,
        });
        let queue = Self {
            real: Real::new(real),
            domain: Arc::clone(domain),
            served: Served::default(),
            room,
            owed: AtomicUsize::new(0),
            waiting: Mutex::default(),
        };
        let ops = table!(fi_ops { close: close::<Arc<Queue>>, control });
        let seen =
            fid_cq { fid: identity(FI_CLASS_CQ, context, ops), ops: table!(fi_ops_cq { read, readerr }) };
        (seen, Arc::new(queue))
    }

    /// Returns whether the shim delays a completion of this queue, or an operation of an endpoint that is bound to the queue.
    pub(crate) fn is_behind(&self) -> bool {
        !self.waiting.lock().is_empty() || self.served.is_behind()
    }

    /// Adds the completion of a write that was complete at once.
    pub(crate) fn report(&self, op_context: *mut c_void) {
        let flags = u64::from(FI_RMA | FI_WRITE);
        self.waiting.lock().push_back(Completion(fi_cq_data_entry { op_context, flags, ..EMPTY }));
    }

    /// Counts an operation that this queue will report; returns `false` to refuse the operation, because the queue is full.
    pub(crate) fn owe(&self, is_receive: bool) -> bool {
        let owed = self.owed.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(room) = self.room.filter(|room| owed > *room) else { return true };
        if !self.domain.managed {
            violation!(
                "cq",
                "{owed} completions may come before one is read, to a queue of {room}; resource_mgmt is \
                 FI_RM_DISABLED: nobody but the user guards it against an overrun"
            );
        }
        // A receive is accepted in spite of a full queue: its message waits in the network until there is space.
        if !is_receive {
            self.paid();
        }
        is_receive
    }

    /// Uncounts an operation that was refused, or whose completion was read.
    #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
    pub(crate) fn paid(&self) {
        _ = self.owed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |owed| owed.checked_sub(1));
    }

    fn completed(&self, context: *mut c_void) {
        self.paid();
        // SAFETY: `end` ignores an address that is no known context. A known one was passed to `begin`, and the user must keep it
        // until this completion is read.
        unsafe { self.domain.contexts.end(context) };
    }

    /// Reads completions: in order; or, with `FABRIC_SHIM=reorder`, in random order and delayed; or only those of writes that
    /// completed at once, while that mode is on.
    ///
    /// # Safety
    ///
    /// `entries` must be writable for `count` entries.
    unsafe fn read(&self, entries: *mut fi_cq_data_entry, count: usize) -> isize {
        let is_at_once = immediate_completion::is_on();
        if !is_at_once {
            self.served.progress();
        }
        if !is_at_once && !demands().reorder {
            // SAFETY: the queue is open, and `entries` has space for `count` entries (caller).
            let read = unsafe { calls::cq_read(self.real.as_ptr(), entries.cast(), count) };
            for index in 0..usize::try_from(read).unwrap_or(0) {
                // SAFETY: the library has written `read` entries, and `index` is less.
                self.completed(unsafe { (*entries.wrapping_add(index)).op_context });
            }
            return read;
        }
        let mut waiting = self.waiting.lock();
        let mut result = refusal(FI_EAGAIN);
        while !is_at_once && waiting.len() < MOST_WAITING {
            let mut entry = EMPTY;
            // SAFETY: the queue is open, and `entry` has space for one entry.
            result = unsafe { calls::cq_read(self.real.as_ptr(), (&raw mut entry).cast(), 1) };
            if result != 1 {
                break;
            }
            waiting.push_back(Completion(entry));
        }
        if waiting.is_empty() {
            return result;
        }
        let mut given = 0;
        while given < count && !waiting.is_empty() && (is_at_once || below(2) == 0) {
            let chosen = if is_at_once { 0 } else { below(waiting.len()) };
            let Completion(entry) = waiting.remove(chosen).expect("one of those that wait");
            // SAFETY: `given` is less than `count`, and `entries` has space for `count` entries (caller).
            unsafe { entries.wrapping_add(given).write(entry) };
            if !is_at_once {
                self.completed(entry.op_context);
            }
            given += 1;
        }
        if given == 0 { refusal(FI_EAGAIN) } else { given.cast_signed() }
    }
}

called! {
    fn control(queue: Arc<Queue> as fid, command: c_int, argument: *mut c_void) -> c_int {
        // SAFETY: the queue is open. The other arguments are the user's, unchanged.
        unsafe { calls::control(queue.real().cast(), command, argument) }
    }

    fn read(queue: Arc<Queue> as fid_cq, entries: *mut c_void, count: usize) -> isize {
        // SAFETY: the user passes space for `count` entries.
        unsafe { queue.read(entries.cast(), count) }
    }

    fn readerr(queue: Arc<Queue> as fid_cq, entry: *mut fi_cq_err_entry, flags: u64) -> isize {
        // SAFETY: the queue is open, and the user passes space for an entry.
        let read = unsafe { calls::cq_readerr(queue.real(), entry, flags) };
        if read == 1 {
            // SAFETY: the library has filled in `entry`.
            queue.completed(unsafe { (*entry).op_context });
        }
        read
    }

    fn count(counter: Counter as fid_cntr) -> u64 {
        counter.at_once.total(|| {
            counter.served.progress();
            // SAFETY: the counter is open.
            unsafe { calls::cntr_read(counter.real()) }
        })
    }
}

#[derive(Default)]
pub(crate) struct Counter {
    pub(crate) served: Served,
    pub(crate) at_once: Arc<Count>,
}

impl ObjectState for Counter {
    type Seen = fid_cntr;
}

impl Counter {
    /// Returns a new counter: the structure for users, and the shim's state.
    pub(crate) fn new(context: *mut c_void) -> (fid_cntr, Self) {
        let fid = identity(FI_CLASS_CNTR, context, table!(fi_ops { close: close::<Counter> }));
        (fid_cntr { fid, ops: table!(fi_ops_cntr { read: count }) }, Self::default())
    }
}
