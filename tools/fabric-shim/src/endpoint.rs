//! Endpoints: what is checked of each call that moves data, and when it is given to the real endpoint.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::address::{Addresses, Ports, port_of};
use crate::at_once::{self, Count};
use crate::counter::Counter;
use crate::demand::Atomics;
use crate::information::Parts;
use crate::object::{Standing, Wrapper};
use crate::operation::{Call, Operation, list};
use crate::progress::Keeps;
use crate::queue::{self, Queue};
use crate::random;
use crate::real::{Real, failure, refusal};
use crate::shared::Shared;
use crate::violation::violation;

mod rules;
mod table;

use rules::Limits;

/// Calls refused with `EAGAIN` in a row, without any progress in between, after which a user waits for ever.
const PATIENCE: u32 = 1_000_000;

/// Of how many updates one gets lost, where atomics are not coherent.
const LOST: u64 = 16;

/// An endpoint.
#[repr(C)]
pub(crate) struct Endpoint {
    seen: fid_ep,
    core: Arc<Core>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Endpoint {
    type Seen = fid_ep;
}

impl Standing for Endpoint {
    fn real(&self) -> Real<fid_ep> {
        self.core.real
    }
}

/// What queues and counters need of an endpoint.
#[derive(Debug)]
pub(crate) struct Core {
    real: Real<fid_ep>,
    domain: Arc<Shared>,
    limits: Limits,
    /// Flags of calls that take none, for receives.
    receive_flags: u64,
    /// Sends stay in order.
    orders_sends: bool,
    transmit: OnceLock<Stream>,
    receive: OnceLock<Stream>,
    ports: OnceLock<Arc<Ports>>,
    /// Where writes that are complete at once are counted.
    count: OnceLock<Arc<Count>>,
    kept: Mutex<Kept>,
    storm: Mutex<Storm>,
    updates: AtomicU64,
}

/// A queue that completions go to.
#[derive(Debug)]
struct Stream {
    queue: Arc<queue::Core>,
    selective: bool,
}

/// Operations that are kept for later.
#[derive(Debug)]
struct Kept {
    operations: Vec<Operation>,
    open: bool,
}

/// Refusals of the call that comes next.
#[derive(Debug, Default)]
struct Storm {
    refused: usize,
    progressed: bool,
    in_vain: u32,
}

impl Endpoint {
    /// Stands for a real one.
    pub(crate) fn new(
        real: Real<fid_ep>,
        context: *mut c_void,
        info: &Parts<'_>,
        domain: Arc<Shared>,
    ) -> Self {
        domain.endpoints.fetch_add(1, Ordering::Relaxed);
        let core = Core {
            real,
            domain,
            limits: Limits::announced(info),
            receive_flags: info.rx.op_flags,
            orders_sends: info.tx.msg_order & u64::from(FI_ORDER_SAS) != 0,
            transmit: OnceLock::new(),
            receive: OnceLock::new(),
            ports: OnceLock::new(),
            count: OnceLock::new(),
            kept: Mutex::new(Kept { operations: Vec::new(), open: true }),
            storm: Mutex::default(),
            updates: AtomicU64::new(0),
        };
        Self { seen: table::endpoint(context), core: Arc::new(core) }
    }

    /// What queues and counters need of it.
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Binds one of the shim's objects.
    ///
    /// # Safety
    ///
    /// It must be open.
    unsafe fn bind(&self, to: *mut fid, flags: u64) -> c_int {
        // SAFETY: an open object (caller).
        let class = unsafe { (*to).fclass };
        let real: *mut fid = if class == FI_CLASS_CQ as usize {
            // SAFETY: of that class, the shim hands out its own only.
            let queue = unsafe { Queue::behind(to.cast()) };
            queue.core().served().add(self.core.clone());
            let selective = flags & FI_SELECTIVE_COMPLETION != 0;
            for (bit, stream) in [(FI_TRANSMIT, &self.core.transmit), (FI_RECV, &self.core.receive)] {
                if flags & u64::from(bit) != 0 {
                    _ = stream.set(Stream { queue: queue.core().clone(), selective });
                }
            }
            queue.real().as_ptr().cast()
        } else if class == FI_CLASS_CNTR as usize {
            // SAFETY: of that class, the shim hands out its own only.
            let counter = unsafe { Counter::behind(to.cast()) };
            counter.served().add(self.core.clone());
            if flags & u64::from(FI_WRITE) != 0 {
                _ = self.core.count.set(counter.at_once().clone());
            }
            counter.real().as_ptr().cast()
        } else if class == FI_CLASS_AV as usize {
            // SAFETY: of that class, the shim hands out its own only.
            let addresses = unsafe { Addresses::behind(to.cast()) };
            _ = self.core.ports.set(addresses.ports().clone());
            addresses.real().as_ptr().cast()
        } else {
            return failure(FI_EINVAL);
        };
        // SAFETY: open objects, which the user binds.
        unsafe { calls::bind(self.core.real.as_ptr().cast(), real, flags) }
    }
}

impl Keeps for Core {
    fn progress(&self) {
        if self.domain.demands.eagain > 0 {
            self.storm.lock().expect("a panic ends the process").progressed = true;
        }
        if !self.domain.demands.reorder {
            return;
        }
        let mut kept = self.kept.lock().expect("a panic ends the process");
        let tries = if kept.open { kept.operations.len() } else { 0 };
        for _ in 0..tries {
            if random::coin() {
                continue;
            }
            let chosen = random::below(kept.operations.len());
            // SAFETY: the endpoint is open, and the operation has not completed: its buffers are there.
            let result = unsafe { kept.operations[chosen].issue(self.real) };
            match result {
                0 => drop(kept.operations.swap_remove(chosen)),
                again if again == refusal(FI_EAGAIN) => return,
                error => violation(
                    "reorder",
                    format_args!(
                        "{} failed with {error} when its turn came",
                        kept.operations[chosen].call.name()
                    ),
                ),
            }
        }
    }

    fn is_behind(&self) -> bool {
        !self.kept.lock().expect("a panic ends the process").operations.is_empty()
    }
}

impl Core {
    /// Whether the port that it is to listen at is another one's.
    fn is_taken(&self) -> bool {
        self.domain.enabled.fetch_add(1, Ordering::Relaxed) < self.domain.demands.taken
    }

    /// The port that it listens at.
    pub(crate) fn port(&self) -> u16 {
        // SAFETY: plain data, for which all zeroes are a value.
        let mut address: libc::sockaddr_storage = unsafe { core::mem::zeroed() };
        let mut length = size_of_val(&address);
        let place = (&raw mut address).cast::<c_void>();
        // SAFETY: an open endpoint, and room for the largest address.
        let result = unsafe { calls::getname(self.real.as_ptr(), place, &raw mut length) };
        if result != 0 {
            violation(
                "FI_MR_ENDPOINT",
                "memory is bound to an endpoint that has no address yet; fi_enable comes before fi_mr_bind",
            );
        }
        // SAFETY: the provider's addresses are socket addresses.
        unsafe { port_of(place) }.0
    }

    /// Takes one call of the user's.
    ///
    /// # Safety
    ///
    /// The endpoint must be open, the buffers stay as libfabric asks until completion, and so must the context
    /// where contexts are demanded.
    unsafe fn take(&self, mut operation: Operation) -> isize {
        if self.refuses_now() {
            return refusal(FI_EAGAIN);
        }
        self.check(&operation);
        let atomics = self.domain.demands.atomics;
        if operation.call.is_atomic() && atomics == Atomics::Missing {
            return refusal(FI_ENOSYS);
        }
        let counted = operation.is_update() && atomics == Atomics::Lost;
        if counted && self.updates.fetch_add(1, Ordering::Relaxed) % LOST == LOST - 1 {
            operation.lose_update();
        }
        let stream = self.completes(&operation);
        if let Some(stream) = stream {
            if !stream.queue.owe(operation.call == Call::Receive) {
                return refusal(FI_EAGAIN);
            }
            // SAFETY: the caller's promise.
            unsafe { self.domain.contexts.begin(operation.context) };
        }
        if self.keeps(&operation) {
            operation.keep_injected();
            self.kept.lock().expect("a panic ends the process").operations.push(operation);
            return 0;
        }
        // SAFETY: the caller's promise.
        let result = unsafe { operation.issue(self.real) };
        if result == 0 {
            return 0;
        }
        if counted {
            self.updates.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(stream) = stream {
            stream.queue.paid();
            // SAFETY: begun above.
            unsafe { self.domain.contexts.end(operation.context) };
        }
        result
    }

    /// Completes a write before it returns.
    ///
    /// # Safety
    ///
    /// The message must be as libfabric's manual page asks.
    unsafe fn write_at_once(&self, message: *const fi_msg_rma, flags: u64) -> isize {
        // SAFETY: the caller's promise.
        let message = unsafe { &*message };
        // SAFETY: the caller's promise.
        let local = unsafe { list(message.msg_iov, message.iov_count) };
        // SAFETY: readable until completion (caller), which comes below.
        unsafe { at_once::copy(local) };
        let stream = self.transmit.get();
        let asked = flags & u64::from(FI_COMPLETION) != 0;
        if let Some(stream) = stream.filter(|stream| !stream.selective || asked) {
            stream.queue.reports().add(message.context);
        }
        self.count.get().into_iter().for_each(|count| count.add());
        0
    }

    /// Whether the next call is one that fails although nothing is wrong with it: so many times, with progress
    /// in between.
    fn refuses_now(&self) -> bool {
        let times = self.domain.demands.eagain;
        if times == 0 {
            return false;
        }
        let mut storm = self.storm.lock().expect("a panic ends the process");
        if storm.refused == 0 || storm.progressed {
            if storm.refused == times {
                *storm = Storm::default();
                return false;
            }
            *storm = Storm { refused: storm.refused + 1, ..Storm::default() };
            return true;
        }
        storm.in_vain += 1;
        if storm.in_vain == PATIENCE {
            violation(
                "eagain",
                format_args!(
                    "{PATIENCE} calls were repeated after FI_EAGAIN without reading a queue or a counter of the \
                     endpoint; without progress nothing will change"
                ),
            );
        }
        true
    }

    /// The queue that gets a completion of the operation, if one does.
    fn completes(&self, operation: &Operation) -> Option<&Stream> {
        let stream = if operation.call == Call::Receive { &self.receive } else { &self.transmit };
        let asked = operation.flags & u64::from(FI_COMPLETION) != 0;
        stream.get().filter(|stream| !stream.selective || asked)
    }

    /// Whether it is one that is kept for later.
    fn keeps(&self, operation: &Operation) -> bool {
        let ordered = operation.call == Call::Send && self.orders_sends;
        self.domain.demands.reorder && operation.call != Call::Receive && !ordered
    }

    /// Closes the real endpoint; what is still kept is lost, as what a provider has queued.
    ///
    /// # Safety
    ///
    /// Nobody must use it afterwards.
    unsafe fn close(&self) -> c_int {
        let mut kept = self.kept.lock().expect("a panic ends the process");
        // SAFETY: an open endpoint; `progress` leaves it alone from here on.
        let result = unsafe { calls::close(self.real.as_ptr().cast()) };
        if result == 0 {
            *kept = Kept { operations: Vec::new(), open: false };
            self.domain.endpoints.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }
}
