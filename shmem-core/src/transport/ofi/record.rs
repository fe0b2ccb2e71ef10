//! Records: state of operations until their completion is reported.
//!
//! A unit has a fixed number of records: nothing is allocated per operation, and a thread without a free record makes progress
//! first. A record starts with the context that providers ask for (`FI_CONTEXT`, `FI_CONTEXT2`). Its address is the operation's
//! context, which the completion returns.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use super::buffers::Pool;
use super::error::OfiError;
use super::posting::What;
use super::put_signal::SignalUpdate;
use crate::libfabric::bindings::fi_context2;
use crate::shared;
use crate::transport::Channel;

/// Bytes of a record's buffer. Blocking puts of at most that size are copied; longer ones wait for completion.
pub(super) const BUFFER_BYTES: usize = 16 << 10;

/// The actions when an operation is complete.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// None: a thread waits for the operation and frees the record.
    Awaited,
    /// Free the record: the operation is counted.
    Counted,
    /// Free the record, and count an event of a stream as ended.
    Event(Channel),
    /// Copy the buffer, to which bytes were read, to their destination, then as `Event`.
    Landing(Channel, Wanted),
    /// Free the record, and make a signal [due](super::put_signal): the operation has written its data.
    Signalled(SignalUpdate),
}

/// The destination of bytes that were read to a buffer: memory that is writable until a quiet of their stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted(pub(super) *mut u8);

// SAFETY: an address, which is written to by the thread that finds the operation complete, for the thread that has started it.
unsafe impl Send for Wanted {}

#[repr(C, align(128))]
pub(super) struct Record {
    /// The provider's; first, so that it has the record's address.
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
        // SAFETY: a record, aligned since pages are, and initialised by zeroes; all mutable fields are cells.
        unsafe { &*self.0.start_of(number as usize, size_of::<Record>()).cast() }
    }

    /// The record with that context, if there is one.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<u32> {
        self.0.find(context, size_of::<Record>()).map(|number| number as u32)
    }
}

/// Free records, and the purposes of the others, under the lock of the unit.
///
/// The memory of a record is its holder's from [`take`](Self::take) on, and the provider's while the operation is in flight, until the
/// record is given back.
pub(super) struct Free {
    free: Vec<u32>,
    used: Box<[Option<(Purpose, What)>]>,
}

impl Free {
    pub(super) fn new(count: usize) -> Self {
        Self { free: (0..count as u32).rev().collect(), used: vec![None; count].into() }
    }

    #[inline]
    pub(super) fn take(&mut self, records: &Records, purpose: Purpose, what: What) -> Option<u32> {
        let number = self.free.pop()?;
        self.used[number as usize] = Some((purpose, what));
        records.get(number).done.store(false, Ordering::Relaxed);
        Some(number)
    }

    #[inline]
    pub(super) fn give_back(&mut self, number: u32) {
        let before = self.used[number as usize].take();
        debug_assert!(before.is_some(), "record {number} was given back twice");
        self.free.push(number);
    }

    pub(super) fn holder(&self, number: u32) -> Option<What> {
        self.used[number as usize].map(|(_, what)| what)
    }

    /// Whether an event of a stream with a PE is in flight, other than data before a signal.
    pub(super) fn has(&self, channel: Channel, pe: usize) -> bool {
        self.used.iter().flatten().any(|(purpose, what)| {
            let of = matches!(purpose, Purpose::Event(of) | Purpose::Landing(of, _) if *of == channel);
            of && what.pe == pe
        })
    }

    /// Completes a record's operation: frees the record, unless a thread waits for it. Returns its purpose.
    #[inline]
    pub(super) fn complete(&mut self, records: &Records, number: u32) -> Option<Purpose> {
        let (purpose, what) = self.used[number as usize]?;
        let record = records.get(number);
        match purpose {
            Purpose::Awaited => {
                record.done.store(true, Ordering::Release);
                return Some(purpose);
            }
            Purpose::Landing(_, Wanted(into)) => {
                // SAFETY: the operation is complete, and has read `what.bytes` bytes to the buffer; the destination is writable
                // until a quiet returns, which waits until the caller has counted the event as ended.
                unsafe { shared::copy(into, record.buffer(), what.bytes) };
            }
            Purpose::Counted | Purpose::Event(_) | Purpose::Signalled(_) => {}
        }
        self.give_back(number);
        Some(purpose)
    }
}
