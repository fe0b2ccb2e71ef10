//! A unit: an endpoint, its completion queue and its counter.
//!
//! Every operation asks for delivery to be complete before it counts (`FI_DELIVERY_COMPLETE`): otherwise a
//! provider may count what still lies in a buffer of its own. Operations are counted; those that keep a record
//! are reported as well. So what a unit has started is complete when the counter has come up to
//! the number of operations started, whoever looks.
//!
//! A unit has a lock. Where the [`Lane`](crate::transport::Lane) says that one thread uses it, nobody but the
//! progress thread ever meets that thread there, and only while it is elsewhere: the lock costs two
//! instructions on a line of its own. In return any thread may wait for what another has started.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::Fabric;
use super::domain::{Domain, made};
use super::error::OfiError;
use super::object::Object;
use super::record::{Free, Purpose, Record, Records};
use super::stall::Stall;
use super::wire::{self, Arrival, Moved};
use crate::libfabric::bindings::*;
use crate::libfabric::calls;

/// Records of a unit: most operations under way whose completion is reported.
const RECORDS: usize = 256;

/// Completions read at a time.
const COMPLETIONS: usize = 16;

/// What was found in a queue.
struct Read {
    any: bool,
    arrivals: [Arrival; COMPLETIONS],
    arrived: usize,
}

/// An operation, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    pub(super) operation: &'static str,
    pub(super) pe: usize,
    pub(super) bytes: usize,
}

/// How an operation is handed to the provider.
pub(super) struct Posting<'u> {
    pub(super) endpoint: *mut fid_ep,
    /// What the operation keeps, if it keeps anything.
    pub(super) record: Option<&'u Record>,
    /// Description of the records' memory, where local memory must be registered.
    pub(super) description: *mut c_void,
    /// What the completion carries back.
    pub(super) context: *mut c_void,
    pub(super) flags: u64,
}

/// A unit. Fields are closed in order.
#[repr(align(128))]
pub(super) struct Unit {
    endpoint: Object<fid_ep>,
    counter: Object<fid_cntr>,
    queue: Object<fid_cq>,
    registered: Option<Object<fid_mr>>,
    records: Records,
    free: Mutex<Free>,
    /// Operations started.
    started: AtomicU64,
    /// Looks of the program's own threads at what has come: it changes while one of them polls.
    looks: AtomicU64,
    /// What becomes readable when something arrives, where the provider has that.
    arrival: Option<RawFd>,
}

impl Unit {
    /// Opens an endpoint. `wakes`: whether a thread is to sleep on its queue.
    ///
    /// # Safety
    ///
    /// The domain must outlive the unit.
    pub(super) unsafe fn open(domain: &Domain, wakes: bool) -> Result<Self, OfiError> {
        let refused = |call| move |error| domain.refused(call, error);
        // SAFETY: all zeroes ask for nothing.
        let mut attributes: fi_cq_attr = unsafe { core::mem::zeroed() };
        attributes.format = FI_CQ_FORMAT_MSG;
        attributes.wait_obj = if wakes { FI_WAIT_FD } else { FI_WAIT_NONE };
        attributes.size = 2 * RECORDS + domain.demands.queue + wire::COMPLETIONS;
        let queue = made(|queue| {
            // SAFETY: an open domain; the attributes are read during the call.
            unsafe { calls::cq_open(domain.raw(), &raw mut attributes, queue, core::ptr::null_mut()) }
        });
        // SAFETY: it was opened just now, from a domain that outlives it (caller).
        let queue = unsafe { Object::new(queue.map_err(refused("fi_cq_open"))?) };
        // SAFETY: all zeroes ask for nothing.
        let mut attributes: fi_cntr_attr = unsafe { core::mem::zeroed() };
        attributes.events = FI_CNTR_EVENTS_COMP;
        attributes.wait_obj = FI_WAIT_NONE;
        let counter = made(|counter| {
            // SAFETY: as for the queue.
            unsafe { calls::cntr_open(domain.raw(), &raw mut attributes, counter, core::ptr::null_mut()) }
        });
        // SAFETY: as for the queue.
        let counter = unsafe { Object::new(counter.map_err(refused("fi_cntr_open"))?) };
        let endpoint = made(|endpoint| {
            // SAFETY: an open domain, and the entry that it was opened by.
            unsafe { calls::endpoint(domain.raw(), domain.entry(), endpoint, core::ptr::null_mut()) }
        });
        // SAFETY: as for the queue; what it is bound to below is closed after it.
        let endpoint: Object<fid_ep> = unsafe { Object::new(endpoint.map_err(refused("fi_endpoint"))?) };
        let selective = u64::from(FI_TRANSMIT) | FI_SELECTIVE_COMPLETION;
        let bindings = [
            (domain.addresses().raw().cast::<fid>(), 0),
            (queue.raw().cast(), selective),
            (queue.raw().cast(), u64::from(FI_RECV)),
            (counter.raw().cast(), u64::from(FI_READ | FI_WRITE)),
        ];
        for (to, flags) in bindings {
            // SAFETY: open objects of one domain, and an endpoint that is not enabled yet.
            let error = unsafe { calls::bind(endpoint.raw().cast(), to, flags) };
            if error != 0 {
                return Err(domain.refused("fi_ep_bind", -error));
            }
        }
        // SAFETY: an endpoint with all that it needs.
        let error = unsafe { calls::control(endpoint.raw().cast(), FI_ENABLE, core::ptr::null_mut()) };
        if error != 0 {
            return Err(domain.refused("fi_enable", -error));
        }
        let records = Records::new(RECORDS);
        let registered = match domain.demands.local {
            true => {
                // SAFETY: the records are dropped after it.
                let registered = unsafe { domain.register_local(records.memory()) };
                Some(registered.map_err(refused("fi_mr_reg"))?)
            }
            false => None,
        };
        let arrival = wakes.then(|| descriptor_of(&queue)).transpose().map_err(refused("fi_control"))?;
        let free = Mutex::new(Free::new(RECORDS));
        let (started, looks) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { endpoint, counter, queue, registered, records, free, started, looks, arrival })
    }

    pub(super) fn endpoint(&self) -> &Object<fid_ep> {
        &self.endpoint
    }

    /// Readable when something has arrived, if there is such a thing.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: it belongs to the queue, which is open for as long as the unit.
        self.arrival.map(|descriptor| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// How often threads of the program have looked.
    pub(super) fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// Not a read-modify-write: a look that is lost among others does not matter.
    #[inline(always)]
    fn looked(&self) {
        self.looks.store(self.looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Calls the provider while nobody else does.
    pub(super) fn exclusively<R>(&self, call: impl FnOnce() -> R) -> R {
        let _held = self.lock();
        call()
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A unit, as somebody works on it.
#[derive(Clone, Copy)]
pub(super) struct Port<'f> {
    pub(super) fabric: &'f Fabric,
    pub(super) unit: &'f Unit,
}

impl Port<'_> {
    /// Starts an operation that is counted and keeps nothing.
    ///
    /// # Safety
    ///
    /// As [`start_with`](Self::start_with).
    #[inline]
    pub(super) unsafe fn start(&self, what: What, attempt: impl FnMut(&Posting<'_>) -> isize) {
        if self.fabric.domain.demands.contexts {
            // SAFETY: the caller's promise.
            unsafe { self.start_with(what, Purpose::Counted, |_| {}, attempt) };
            return;
        }
        let posting = Posting {
            endpoint: self.unit.endpoint.raw(),
            record: None,
            description: core::ptr::null_mut(),
            context: core::ptr::null_mut(),
            flags: u64::from(FI_DELIVERY_COMPLETE),
        };
        self.post(what, &posting, attempt);
    }

    /// Starts an operation that keeps a record, which `prepare` fills in. Gives its number.
    ///
    /// # Safety
    ///
    /// `attempt` must hand one operation to the provider, with the context and at least the flags of the posting, and
    /// give its answer. What the operation reads and writes locally must stay until it is complete.
    #[inline]
    pub(super) unsafe fn start_with(
        &self,
        what: What,
        purpose: Purpose,
        prepare: impl FnOnce(&Record),
        attempt: impl FnMut(&Posting<'_>) -> isize,
    ) -> u32 {
        let mut stall = Stall::new(&self.fabric);
        let number = loop {
            // The lock is given back before progress is made.
            let taken = self.unit.lock().take(&self.unit.records, purpose);
            if let Some(number) = taken {
                break number;
            }
            self.drive(&stall);
            stall.pause(self.completed(), || format!("room for {what}", what = self.describe(what)));
        };
        let record = self.unit.records.get(number);
        prepare(record);
        let posting = Posting {
            endpoint: self.unit.endpoint.raw(),
            record: Some(record),
            description: self.unit.registered.as_ref().map_or(core::ptr::null_mut(), |memory| {
                // SAFETY: registered memory that is open.
                unsafe { (*memory.raw()).mem_desc }
            }),
            context: record.context(),
            flags: u64::from(FI_DELIVERY_COMPLETE | FI_COMPLETION),
        };
        self.post(what, &posting, attempt);
        number
    }

    #[inline]
    fn post(&self, what: What, posting: &Posting<'_>, mut attempt: impl FnMut(&Posting<'_>) -> isize) {
        let mut stall = Stall::new(&self.fabric);
        loop {
            let held = self.unit.lock();
            let answer = attempt(posting);
            if answer == 0 {
                let started = self.unit.started.load(Ordering::Relaxed);
                self.unit.started.store(started + 1, Ordering::Release);
                return;
            }
            drop(held);
            if answer != -(FI_EAGAIN as isize) {
                self.fabric.fail(&self.describe(what), &self.fabric.domain.library.describe(answer as i64));
            }
            self.drive(&stall);
            stall.pause(self.completed(), || self.describe(what));
        }
    }

    /// Waits for an operation that is awaited; gives its record to `read` and frees it.
    #[inline]
    pub(super) fn wait_for<R>(&self, number: u32, what: What, read: impl FnOnce(&Record) -> R) -> R {
        let mut stall = Stall::new(&self.fabric);
        let record = self.unit.records.get(number);
        while !record.is_done() {
            self.drive(&stall);
            stall.pause(self.completed(), || self.describe(what));
        }
        let result = read(record);
        self.unit.lock().give_back(number);
        result
    }

    /// Waits until all that has been started is complete. Operations that others start from now on need not be
    /// waited for.
    #[inline]
    pub(super) fn quiet(&self) {
        let started = self.unit.started.load(Ordering::Acquire);
        let mut stall = Stall::new(&self.fabric);
        loop {
            let completed = self.completed();
            if completed >= started {
                return;
            }
            if stall.is_eighth() {
                self.drive(&stall);
            }
            stall.pause(completed, || {
                format!("{} of {started} operations of this PE are complete", completed)
            });
        }
    }

    /// Operations that are complete. Makes progress.
    #[inline(always)]
    pub(super) fn completed(&self) -> u64 {
        self.unit.looked();
        self.count()
    }

    fn count(&self) -> u64 {
        let _held = self.unit.lock();
        // SAFETY: an open counter.
        unsafe { calls::cntr_read(self.unit.counter.raw()) }
    }

    /// Reads completions, here and now and then on the unit that others address.
    #[inline]
    pub(super) fn drive(&self, stall: &Stall<'_>) {
        self.progress();
        if stall.is_eighth() {
            self.fabric.progress();
        }
    }

    /// Whether an operation is under way. Makes progress.
    pub(super) fn is_under_way(&self) -> bool {
        let started = self.unit.started.load(Ordering::Acquire);
        started > self.count()
    }

    /// Whether everything that has come was read, so that what comes next wakes who sleeps.
    pub(super) fn may_sleep(&self) -> bool {
        let mut queue = self.unit.queue.raw().cast::<fid>();
        // SAFETY: an open fabric, and an open queue of it that can be waited for.
        unsafe { calls::trywait(self.fabric.domain.fabric(), &raw mut queue, 1) == 0 }
    }

    /// Reads what has been reported, unless somebody else does, and takes the messages that have arrived. Says
    /// whether there was anything.
    #[inline]
    pub(super) fn progress(&self) -> bool {
        self.unit.looked();
        self.serve()
    }

    /// The same for the progress thread, which is none of the program's.
    #[inline]
    pub(super) fn serve(&self) -> bool {
        let read = match self.unit.free.try_lock() {
            Ok(mut free) => self.read(&mut free),
            Err(TryLockError::Poisoned(poisoned)) => self.read(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        };
        // The lock is given back before messages are carried out.
        if read.arrived > 0 || self.fabric.engine.owes() {
            self.fabric.take(&read.arrivals[..read.arrived]);
        }
        read.any
    }

    fn read(&self, free: &mut Free) -> Read {
        let mut found = Read { any: false, arrivals: [Arrival::default(); COMPLETIONS], arrived: 0 };
        let mut entries = [const { core::mem::MaybeUninit::<fi_cq_msg_entry>::uninit() }; COMPLETIONS];
        let to = entries.as_mut_ptr().cast::<c_void>();
        // SAFETY: an open queue of entries of that format, and room for as many.
        let read = unsafe { calls::cq_read(self.unit.queue.raw(), to, COMPLETIONS) };
        if read <= 0 {
            if read != -(FI_EAGAIN as isize) && read != 0 {
                self.report_failure(read);
            }
            return found;
        }
        found.any = true;
        for entry in &entries[..read as usize] {
            // SAFETY: the queue has written so many entries.
            let entry = unsafe { entry.assume_init_ref() };
            if let Some(number) = self.unit.records.find(entry.op_context) {
                match free.complete(&self.unit.records, number) {
                    Purpose::Event(stream) => self.fabric.streams.ended(stream),
                    Purpose::Awaited | Purpose::Counted => {}
                }
                continue;
            }
            match self.fabric.buffers.find(entry.op_context) {
                Some(Moved::Left(number)) => self.fabric.buffers.give_back(number),
                Some(Moved::Arrived(arrival)) => {
                    found.arrivals[found.arrived] = arrival.of(entry.len);
                    found.arrived += 1;
                }
                None => {}
            }
        }
        found
    }

    #[cold]
    fn report_failure(&self, read: isize) -> ! {
        // SAFETY: all zeroes are an entry, with no room for data of the provider's own.
        let mut entry: fi_cq_err_entry = unsafe { core::mem::zeroed() };
        // SAFETY: an open queue, and an entry of the version that the domain was opened with.
        let found = unsafe { calls::cq_readerr(self.unit.queue.raw(), &raw mut entry, 0) };
        let error = if found > 0 { i64::from(entry.err) } else { read as i64 };
        self.fabric.fail("an operation", &self.fabric.domain.library.describe(error))
    }

    fn describe(&self, what: What) -> String {
        let What { operation, pe, bytes } = what;
        format!("{operation} of {bytes} bytes with PE {pe} ({})", self.fabric.domain.place_of(pe))
    }
}

/// What becomes readable when a queue has something.
fn descriptor_of(queue: &Object<fid_cq>) -> Result<RawFd, c_int> {
    let mut descriptor: RawFd = -1;
    let to = (&raw mut descriptor).cast();
    // SAFETY: an open queue that was asked for a descriptor, and room for one.
    match unsafe { calls::control(queue.raw().cast(), FI_GETWAIT, to) } {
        0 => Ok(descriptor),
        error => Err(-error),
    }
}
