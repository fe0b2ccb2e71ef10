//! The shim's endpoints. They check calls that move data, refuse or delay some, and pass the others to the real endpoint.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::address::{Ports, port_of};
use crate::delayed::Delayed;
use crate::demand::demands;
use crate::immediate_completion::{self, Count};
use crate::information::Parts;
use crate::object::{Object, ObjectState, failure, refusal};
use crate::operation::{Call, Operation, RECEIVE, SEND, WRITE, list};
use crate::queue::{Counter, Queue};
use crate::shared::Shared;

mod rules;
mod table;

/// Number of refusals with `EAGAIN`, without progress in between, after which the shim takes the user to be in an endless loop.
const PATIENCE: u32 = 1_000_000;

/// With `FABRIC_SHIM=atomics_lost`, every sixteenth update is lost.
const LOST: u64 = 16;

pub(crate) struct Endpoint {
    domain: Arc<Shared>,
    /// Limits and message orders of transmits, from the endpoint's `fi_info`.
    transmits: fi_tx_attr,
    max_msg_size: usize,
    /// Default flags of receives, because `fi_recv` has no argument for flags.
    receive_flags: u64,
    /// The queue for completions of transmits that have the flag `FI_COMPLETION`.
    transmit: OnceLock<Arc<Queue>>,
    receive: OnceLock<Arc<Queue>>,
    ports: OnceLock<Arc<Ports>>,
    count: OnceLock<Arc<Count>>,
    kept: Arc<Delayed>,
    storm: Mutex<EagainState>,
    updates: AtomicU64,
}

/// Refusals by `FABRIC_SHIM=eagain=3` (for example) since a call last passed. `refused` counts the first one, and the first one
/// after each progress; `in_vain` counts the others since the last progress.
#[derive(Default)]
struct EagainState {
    refused: usize,
    in_vain: u32,
}

impl ObjectState for Arc<Endpoint> {
    type Seen = fid_ep;

    fn close(&self, _address: usize, close: impl FnOnce() -> c_int) -> c_int {
        let result = self.kept.close(close);
        if result == 0 {
            self.domain.endpoints.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }
}

impl Endpoint {
    /// Returns a new endpoint: the structure for users, and the shim's state.
    pub(crate) fn new(
        real: *mut fid_ep,
        context: *mut c_void,
        info: &Parts<'_>,
        domain: &Arc<Shared>,
    ) -> (fid_ep, Arc<Self>) {
        domain.endpoints.fetch_add(1, Ordering::Relaxed);
        let endpoint = Self {
            domain: Arc::clone(domain),
            transmits: *info.tx,
            max_msg_size: info.endpoint.max_msg_size,
            receive_flags: info.rx.op_flags,
            transmit: OnceLock::new(),
            receive: OnceLock::new(),
            ports: OnceLock::new(),
            count: OnceLock::new(),
            kept: Arc::new(Delayed::new(real)),
            storm: Mutex::default(),
            updates: AtomicU64::new(0),
        };
        (table::seen(context), Arc::new(endpoint))
    }

    /// Binds a queue, a counter or an address vector of the shim to this endpoint.
    ///
    /// # Safety
    ///
    /// `to` must be open.
    unsafe fn bind(&self, to: *mut fid, flags: u64) -> c_int {
        // SAFETY: `to` is open (caller).
        let class = unsafe { (*to).fclass };
        let real: *mut fid = match class as u32 {
            FI_CLASS_CQ => {
                // SAFETY: `to` is open (caller), and the shim makes every object of class `FI_CLASS_CQ` as an `Arc<Queue>`.
                let queue = unsafe { Object::<Arc<Queue>>::behind(to) };
                queue.served.add(&self.kept);
                for (bit, bound) in [(FI_TRANSMIT, &self.transmit), (FI_RECV, &self.receive)] {
                    if flags & u64::from(bit) != 0 {
                        _ = bound.set(Arc::clone(queue));
                    }
                }
                queue.real().cast()
            }
            FI_CLASS_CNTR => {
                // SAFETY: `to` is open (caller), and the shim makes every object of class `FI_CLASS_CNTR` as a `Counter`.
                let counter = unsafe { Object::<Counter>::behind(to) };
                counter.served.add(&self.kept);
                if flags & u64::from(FI_WRITE) != 0 {
                    _ = self.count.set(Arc::clone(&counter.at_once));
                }
                counter.real().cast()
            }
            FI_CLASS_AV => {
                // SAFETY: `to` is open (caller), and the shim makes every object of class `FI_CLASS_AV` as an `Arc<Ports>`.
                let ports = unsafe { Object::<Arc<Ports>>::behind(to) };
                _ = self.ports.set(Arc::clone(ports));
                ports.real().cast()
            }
            _ => return failure(FI_EINVAL),
        };
        // SAFETY: both real objects are open, because the user binds the shim's open objects.
        unsafe { calls::bind(self.kept.real.as_ptr().cast(), real, flags) }
    }

    fn is_taken(&self) -> bool {
        demands().taken.is_some_and(|times| self.domain.enabled.fetch_add(1, Ordering::Relaxed) < times)
    }

    pub(crate) fn port(&self) -> u16 {
        // SAFETY: `sockaddr_storage` consists of integers, for which zero is valid.
        let mut address: libc::sockaddr_storage = unsafe { core::mem::zeroed() };
        let mut length = size_of_val(&address);
        let place = (&raw mut address).cast::<c_void>();
        // SAFETY: the endpoint is open, and `place` has `length` bytes.
        let result = unsafe { calls::getname(self.kept.real.as_ptr(), place, &raw mut length) };
        if result != 0 {
            violation!(
                "FI_MR_ENDPOINT",
                "memory is bound to an endpoint that has no address yet; fi_enable comes before fi_mr_bind"
            );
        }
        // SAFETY: `getname` has written a socket address to `place`.
        unsafe { port_of(place) }.0
    }

    /// Checks the user's call, then refuses or delays it, or passes it to the real endpoint. The user keeps the endpoint open
    /// during the call, and buffers and context until completion ([`Operation`]).
    fn take(&self, mut operation: Operation) -> isize {
        if self.refuses_now() {
            return refusal(FI_EAGAIN);
        }
        self.check(&operation);
        if operation.is_atomic() && demands().atomics_missing {
            return refusal(FI_ENOSYS);
        }
        let counted = operation.is_update() && demands().atomics_lost;
        if counted && self.updates.fetch_add(1, Ordering::Relaxed) % LOST == LOST - 1 {
            operation.lose_update();
        }
        let queue = self.reports(operation.call, operation.flags);
        if let Some(queue) = queue {
            if !queue.owe(operation.call == RECEIVE) {
                return refusal(FI_EAGAIN);
            }
            // SAFETY: the user keeps the context until completion (`Operation`).
            unsafe { self.domain.contexts.begin(operation.context) };
        }
        if self.keeps(&operation) {
            operation.keep_injected();
            self.kept.add(operation);
            return 0;
        }
        // SAFETY: the endpoint is open during the call, and the user keeps the buffers until completion (`Operation`).
        let result = unsafe { operation.issue(self.kept.real.as_ptr()) };
        if result == 0 {
            return 0;
        }
        if counted {
            self.updates.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(queue) = queue {
            queue.paid();
            // SAFETY: `begin` was called with this context above.
            unsafe { self.domain.contexts.end(operation.context) };
        }
        result
    }

    /// Completes a write before the call returns.
    ///
    /// # Safety
    ///
    /// The message must fulfil the rules of libfabric's manual page.
    unsafe fn write_at_once(&self, message: *const fi_msg_rma, flags: u64) -> isize {
        // SAFETY: the message is valid (caller).
        let message = unsafe { &*message };
        // SAFETY: the message has `iov_count` local buffers at `msg_iov` (caller).
        let local = unsafe { list(message.msg_iov, message.iov_count) };
        // SAFETY: local buffers are readable until completion (caller), and the write completes below.
        unsafe { immediate_completion::copy(local) };
        if let Some(queue) = self.reports(WRITE, flags) {
            queue.report(message.context);
        }
        self.count.get().into_iter().for_each(|count| count.add());
        0
    }

    /// Returns whether `FABRIC_SHIM=eagain=3` (for example) makes this call fail. Calls that are repeated without progress count as
    /// one refusal.
    fn refuses_now(&self) -> bool {
        let Some(times) = demands().eagain else { return false };
        let mut storm = self.storm.lock();
        if self.kept.progressed.swap(false, Ordering::Relaxed) || storm.refused == 0 {
            let is_over = storm.refused == times;
            *storm = EagainState { refused: if is_over { 0 } else { storm.refused + 1 }, in_vain: 0 };
            return !is_over;
        }
        storm.in_vain += 1;
        if storm.in_vain == PATIENCE {
            violation!(
                "eagain",
                "{PATIENCE} calls were repeated after FI_EAGAIN without reading a queue or a counter of the endpoint; \
                 without progress nothing will change"
            );
        }
        true
    }

    /// Returns the queue that will report the operation's completion, if any.
    fn reports(&self, call: Call, flags: u64) -> Option<&Arc<Queue>> {
        if call == RECEIVE {
            return self.receive.get();
        }
        self.transmit.get().filter(|_| flags & u64::from(FI_COMPLETION) != 0)
    }

    /// Returns whether the shim delays an operation, so that operations are reordered.
    fn keeps(&self, operation: &Operation) -> bool {
        let ordered = operation.call == SEND && self.transmits.msg_order & u64::from(FI_ORDER_SAS) != 0;
        demands().reorder && operation.call != RECEIVE && !ordered
    }
}
