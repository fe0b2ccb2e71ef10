//! Records: state of operations until their completion is reported.
//!
//! A unit (endpoint) has a fixed number of records, so nothing is allocated per operation. A thread that finds no free record makes
//! progress first. A record starts with the context that providers ask for (`FI_CONTEXT`, `FI_CONTEXT2`). So its address is the
//! operation's context, by which a completion names it.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use super::buffers::Pool;
use super::error::OfiError;
use super::posting::OperationInfo;
use super::put_signal::SignalUpdate;
use crate::libfabric::bindings::fi_context2;
use crate::shared;
use crate::transport::Channel;

/// Bytes of a record's buffer. A blocking put of at most that size is injected, or copied to the buffer. A longer one waits for
/// completion, or is copied in pieces if its memory must be registered, but is not.
pub(super) const BUFFER_BYTES: usize = 16 << 10;

/// The action when an operation with a record is complete.
#[derive(Clone, Copy, Debug)]
pub(super) enum OnCompletion {
    /// No action, because a thread waits for the operation, and frees the record.
    Awaited,
    /// Free the record. The unit's counter counts the operation.
    Counted,
    /// Free the record, and count an operation of the channel that is reported (an event) as ended.
    Event(Channel),
    /// Copy the buffer, which has the bytes of a read, to the read's destination. Then act as for `Event`.
    ReadToBuffer(Channel, ReadDestination),
    /// Free the record, and make a signal [due](super::put_signal), because the operation has delivered its data.
    Signalled(SignalUpdate),
}

/// The destination of bytes that were read to a buffer: memory that is writable until a quiet of the channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadDestination(pub(super) *mut u8);

// SAFETY: this is an address. The thread that finds the operation complete writes to it, for the operation's starter.
unsafe impl Send for ReadDestination {}

#[repr(C, align(128))]
pub(super) struct Record {
    /// Memory for the provider. The first field, so that it has the record's address.
    context: UnsafeCell<fi_context2>,
    operands: UnsafeCell<[u64; 2]>,
    result: UnsafeCell<u64>,
    done: AtomicBool,
    buffer: UnsafeCell<[u8; BUFFER_BYTES]>,
}

impl Record {
    pub(super) fn context(&self) -> *mut c_void {
        self.context.get().cast()
    }

    pub(super) fn operands(&self) -> *mut u64 {
        self.operands.get().cast()
    }

    pub(super) fn result(&self) -> *mut u64 {
        self.result.get()
    }

    pub(super) fn buffer(&self) -> *mut u8 {
        self.buffer.get().cast()
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

pub(super) struct Records(Pool);

impl Records {
    pub(super) fn new(count: usize) -> Result<Self, OfiError> {
        Pool::new(count * size_of::<Record>()).map(Self)
    }

    pub(super) fn memory(&self) -> (*mut u8, usize) {
        self.0.memory()
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &Record {
        // SAFETY: the address is a record's, aligned because pages are, and initialised by zeroes. Mutable fields are cells.
        unsafe { &*self.0.start_of(number as usize, size_of::<Record>()).cast() }
    }

    /// The number of the record with this context, if there is one.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<u32> {
        self.0.find(context, size_of::<Record>()).map(|number| number as u32)
    }
}

/// Free records, and the operations of used records. The unit's lock protects them.
///
/// The memory of a record belongs to its holder from [`take`](Self::take) until it is given back, and to the provider while in
/// flight.
pub(super) struct Free {
    free: Vec<u32>,
    used: Box<[Option<(OnCompletion, OperationInfo)>]>,
}

impl Free {
    pub(super) fn new(count: usize) -> Self {
        Self { free: (0..count as u32).rev().collect(), used: vec![None; count].into() }
    }

    #[inline]
    pub(super) fn take(
        &mut self,
        records: &Records,
        on_completion: OnCompletion,
        what: OperationInfo,
    ) -> Option<u32> {
        let number = self.free.pop()?;
        self.used[number as usize] = Some((on_completion, what));
        records.get(number).done.store(false, Ordering::Relaxed);
        Some(number)
    }

    #[inline]
    pub(super) fn give_back(&mut self, number: u32) {
        let before = self.used[number as usize].take();
        debug_assert!(before.is_some(), "record {number} was given back twice");
        self.free.push(number);
    }

    pub(super) fn holder(&self, number: u32) -> Option<OperationInfo> {
        self.used[number as usize].map(|(_, what)| what)
    }

    /// Whether an operation of a channel with a PE is in flight whose completion is reported (an event). Data of puts with a signal
    /// does not count.
    pub(super) fn has(&self, channel: Channel, pe: usize) -> bool {
        self.used.iter().flatten().any(|(on_completion, what)| {
            let of = matches!(on_completion, OnCompletion::Event(of) | OnCompletion::ReadToBuffer(of, _) if *of == channel);
            of && what.pe == pe
        })
    }

    /// Completes the operation of a record: frees the record, unless a thread waits for it. Returns the action.
    #[inline]
    pub(super) fn complete(&mut self, records: &Records, number: u32) -> Option<OnCompletion> {
        let (on_completion, what) = self.used[number as usize]?;
        let record = records.get(number);
        match on_completion {
            OnCompletion::Awaited => {
                record.done.store(true, Ordering::Release);
                return Some(on_completion);
            }
            OnCompletion::ReadToBuffer(_, ReadDestination(into)) => {
                // SAFETY: the operation is complete, and has read `what.bytes` bytes to the buffer. The destination is writable
                // until a quiet returns, which waits until the caller has counted the event as ended.
                unsafe { shared::copy(into, record.buffer(), what.bytes) };
            }
            OnCompletion::Counted | OnCompletion::Event(_) | OnCompletion::Signalled(_) => {}
        }
        self.give_back(number);
        Some(on_completion)
    }
}
