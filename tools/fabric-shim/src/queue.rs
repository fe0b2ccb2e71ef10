//! Completion queues.
//!
//! A small queue has room for few completions. Where the user has asked that resources be managed, more operations
//! are refused until completions have been read. Otherwise there is room for what its user has asked room for, and
//! who has more operations in flight overruns it, which hardware punishes with the loss of completions. Where
//! completions come in any order, some wait here for a while.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::at_once::{self, Reports};
use crate::object::{Standing, Wrapper, close, control, identity, table};
use crate::progress::Served;
use crate::random;
use crate::real::{Real, refusal};
use crate::shared::Shared;
use crate::violation::violation;

/// Words of the largest entry.
const MOST_WORDS: usize = size_of::<fi_cq_tagged_entry>() / 8;

/// Completions that wait at most, where they are reordered.
const MOST_WAITING: usize = 16;

/// A completion queue.
#[repr(C)]
pub(crate) struct Queue {
    seen: fid_cq,
    core: Arc<Core>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Queue {
    type Seen = fid_cq;
}

impl Standing for Queue {
    fn real(&self) -> Real<fid_cq> {
        self.core.real
    }
}

/// What endpoints need of a queue.
#[derive(Debug)]
pub(crate) struct Core {
    real: Real<fid_cq>,
    domain: Arc<Shared>,
    served: Served,
    /// Bytes of an entry.
    entry: usize,
    /// Completions that there is room for, where overruns are looked for.
    room: Option<usize>,
    /// Completions that have not been read yet, of operations in flight as well.
    owed: AtomicUsize,
    /// Entries that wait, each in as many words as the largest has.
    waiting: Mutex<Vec<[u64; MOST_WORDS]>>,
    /// Writes that were complete at once.
    reports: Reports,
}

static BASE: fi_ops = table!(fi_ops { close: close::<Queue>, control: control::<Queue> });

static OPERATIONS: fi_ops_cq = table!(fi_ops_cq { read, readerr, strerror });

impl Queue {
    /// Stands for a real one.
    pub(crate) fn new(
        real: Real<fid_cq>,
        context: *mut c_void,
        attributes: &fi_cq_attr,
        domain: Arc<Shared>,
    ) -> Self {
        let entry = match attributes.format {
            FI_CQ_FORMAT_MSG => size_of::<fi_cq_msg_entry>(),
            FI_CQ_FORMAT_DATA => size_of::<fi_cq_data_entry>(),
            FI_CQ_FORMAT_TAGGED => size_of::<fi_cq_tagged_entry>(),
            _ => size_of::<fi_cq_entry>(),
        };
        let room = domain.demands.cq.map(|entries| match attributes.size {
            0 => entries,
            asked if domain.managed => entries.min(asked),
            asked => asked,
        });
        let core = Core {
            real,
            domain,
            served: Served::default(),
            entry,
            room,
            owed: AtomicUsize::new(0),
            waiting: Mutex::default(),
            reports: Reports::default(),
        };
        let fid = identity(FI_CLASS_CQ, context, &BASE);
        Self { seen: fid_cq { fid, ops: (&raw const OPERATIONS).cast_mut() }, core: Arc::new(core) }
    }

    /// What endpoints need of it.
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

impl Core {
    /// The endpoints that it is bound to.
    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    /// Reports of writes that were complete at once.
    pub(crate) fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Whether the shim keeps something whose completion is or will be here.
    pub(crate) fn is_behind(&self) -> bool {
        !self.waiting.lock().expect("a panic ends the process").is_empty() || self.served.is_behind()
    }

    /// An operation begins that will complete here; `false`, where it has to wait until completions are read.
    pub(crate) fn owe(&self, is_receive: bool) -> bool {
        let owed = self.owed.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(room) = self.room.filter(|room| owed > *room) else { return true };
        if !self.domain.managed {
            violation(
                "cq",
                format_args!(
                    "{owed} completions may come before one is read, to a queue of {room}; resource_mgmt is \
                     FI_RM_DISABLED: nobody but the user guards it against an overrun"
                ),
            );
        }
        // What has arrived waits in the network until there is room.
        if !is_receive {
            self.paid();
        }
        is_receive
    }

    /// An operation was refused, or its completion read.
    #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
    pub(crate) fn paid(&self) {
        _ = self.owed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |owed| owed.checked_sub(1));
    }

    /// A completion is read.
    fn completed(&self, context: *mut c_void) {
        self.paid();
        // SAFETY: what the shim does not know is left alone; what it knows has begun, and its words are there
        // until this completion is read.
        unsafe { self.domain.contexts.end(context) };
    }

    /// Reads reports of writes that were complete at once; says how many there were.
    ///
    /// # Safety
    ///
    /// There must be room for `count` entries.
    unsafe fn read_at_once(&self, entries: *mut c_void, count: usize) -> usize {
        self.reports.read(count, |at, context| {
            let mut words = [0_u64; MOST_WORDS];
            // Each format begins with the context and, but for the shortest, the flags.
            words[0] = context.expose_provenance() as u64;
            words[1] = u64::from(FI_RMA | FI_WRITE);
            let place = entries.wrapping_byte_add(at * self.entry).cast::<u8>();
            // SAFETY: room for `count` entries of this many bytes (caller), which the words have.
            unsafe { place.copy_from_nonoverlapping(words.as_ptr().cast(), self.entry) };
        })
    }

    /// Reads completions as they come.
    ///
    /// # Safety
    ///
    /// There must be room for `count` entries.
    unsafe fn read(&self, entries: *mut c_void, count: usize) -> isize {
        // SAFETY: an open queue, and room for as many entries (caller).
        let read = unsafe { calls::cq_read(self.real.as_ptr(), entries, count) };
        for index in 0..usize::try_from(read).unwrap_or(0) {
            let entry = entries.wrapping_byte_add(index * self.entry);
            // SAFETY: the library has written so many entries; each begins with the context.
            self.completed(unsafe { entry.cast::<*mut c_void>().read_unaligned() });
        }
        read
    }

    /// Reads completions in any order, with delays.
    ///
    /// # Safety
    ///
    /// There must be room for `count` entries.
    unsafe fn read_reordered(&self, entries: *mut c_void, count: usize) -> isize {
        let mut waiting = self.waiting.lock().expect("a panic ends the process");
        let mut result = refusal(FI_EAGAIN);
        while waiting.len() < MOST_WAITING {
            let mut entry = [0_u64; MOST_WORDS];
            // SAFETY: an open queue, and room for the largest entry.
            result = unsafe { calls::cq_read(self.real.as_ptr(), entry.as_mut_ptr().cast(), 1) };
            if result != 1 {
                break;
            }
            waiting.push(entry);
        }
        if waiting.is_empty() {
            return result;
        }
        let mut given = 0;
        while given < count && !waiting.is_empty() && random::coin() {
            let chosen = random::below(waiting.len());
            let entry = waiting.swap_remove(chosen);
            let place = entries.wrapping_byte_add(given * self.entry).cast::<u8>();
            // SAFETY: room for `count` entries of this many bytes (caller), which the entry has.
            unsafe { place.copy_from_nonoverlapping(entry.as_ptr().cast(), self.entry) };
            self.completed(core::ptr::with_exposed_provenance_mut(entry[0] as usize));
            given += 1;
        }
        if given == 0 { refusal(FI_EAGAIN) } else { given.cast_signed() }
    }
}

unsafe extern "C" fn read(queue: *mut fid_cq, entries: *mut c_void, count: usize) -> isize {
    // SAFETY: libfabric calls this with a queue of the shim's, which is open.
    let core = unsafe { Queue::behind(queue) }.core();
    if at_once::is_on() {
        // SAFETY: the user's room for the entries.
        return match unsafe { core.read_at_once(entries, count) } {
            0 => refusal(FI_EAGAIN),
            read => read.cast_signed(),
        };
    }
    core.served.progress();
    if core.domain.demands.reorder && count > 0 {
        // SAFETY: the user's room for the entries.
        unsafe { core.read_reordered(entries, count) }
    } else {
        // SAFETY: the user's room for the entries.
        unsafe { core.read(entries, count) }
    }
}

unsafe extern "C" fn readerr(queue: *mut fid_cq, entry: *mut fi_cq_err_entry, flags: u64) -> isize {
    // SAFETY: libfabric calls this with a queue of the shim's, which is open.
    let core = unsafe { Queue::behind(queue) }.core();
    // SAFETY: an open queue, and the user's place for the entry.
    let read = unsafe { calls::cq_readerr(core.real.as_ptr(), entry, flags) };
    if read == 1 {
        // SAFETY: the library has filled it in.
        core.completed(unsafe { (*entry).op_context });
    }
    read
}

unsafe extern "C" fn strerror(
    queue: *mut fid_cq,
    error: c_int,
    data: *const c_void,
    text: *mut c_char,
    length: usize,
) -> *const c_char {
    // SAFETY: libfabric calls this with a queue of the shim's, which is open.
    let real = unsafe { Queue::behind(queue) }.core.real;
    // SAFETY: an open queue, and the user's place for the text.
    unsafe { calls::cq_strerror(real.as_ptr(), error, data, text, length) }
}
