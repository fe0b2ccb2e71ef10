//! What operations keep until their completion is reported.
//!
//! A unit has a fixed number of records: nothing is allocated per operation, and who finds none free makes progress first. A record
//! starts with the room that providers ask for (`FI_CONTEXT`, `FI_CONTEXT2`); its address is what the completion carries back.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use super::buffers::Pool;
use super::error::OfiError;
use super::port::What;
use crate::libfabric::bindings::fi_context2;
use crate::shared;
use crate::transport::Channel;

/// Bytes of a record's buffer: what a blocking put copies rather than waits for.
pub(super) const BUFFER_BYTES: usize = 16 << 10;

/// What is to be done when an operation is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Somebody waits for it and frees the record.
    Awaited,
    /// Nothing but to free the record: the operation is counted.
    Counted,
    /// The same, and one operation less is under way for a stream.
    Event(Channel),
    /// The same, after what was read to the buffer has been copied to where it is wanted.
    Landing(Channel, Wanted),
    /// To free the record, and a [signal](super::signals) waits for one piece less.
    Piece(u32),
}

/// Where bytes that were read to a buffer are wanted: memory that is writable until a quiet of their stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted(pub(super) *mut u8);

// SAFETY: an address, which is written to by whoever finds that the operation is complete, for whoever has started it.
unsafe impl Send for Wanted {}

#[repr(C, align(128))]
pub(super) struct Record {
    /// The provider's own. First, so that its address is the record's.
    context: UnsafeCell<fi_context2>,
    operands: UnsafeCell<[u64; 2]>,
    result: UnsafeCell<u64>,
    done: AtomicBool,
    buffer: UnsafeCell<[u8; BUFFER_BYTES]>,
}

impl Record {
    /// What an operation is given to carry back.
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
        // SAFETY: a record, which starts on a line as its pages do, and which all zeroes initialise; what changes in it is in cells.
        unsafe { &*self.0.start_of(number as usize, size_of::<Record>()).cast() }
    }

    /// The record whose context a completion brings back; `None`: it is of none.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<u32> {
        self.0.find(context, size_of::<Record>()).map(|number| number as u32)
    }
}

/// Which records are free, and what the others are for. Behind the lock of the unit.
///
/// The memory of a record is its holder's from [`take`](Self::take) on, and the provider's while an operation is
/// under way, until the record is given back.
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

    /// Whether an operation of a stream with a PE keeps a record. Not of those that somebody waits for, or that are
    /// counted.
    pub(super) fn has(&self, channel: Channel, pe: usize) -> bool {
        self.used.iter().flatten().any(|(purpose, what)| {
            let of = matches!(purpose, Purpose::Event(of) | Purpose::Landing(of, _) if *of == channel);
            of && what.pe == pe
        })
    }

    /// Its operation is complete: frees it, unless somebody waits for it. Gives what it was for.
    #[inline]
    pub(super) fn complete(&mut self, records: &Records, number: u32) -> Option<Purpose> {
        let (purpose, what) = self.used[number as usize]?;
        let record = records.get(number);
        match purpose {
            Purpose::Awaited => record.done.store(true, Ordering::Release),
            Purpose::Landing(_, Wanted(into)) => {
                // SAFETY: the operation is complete, and has read as many bytes to the buffer; the destination is writable until
                // a quiet returns, which waits until the stream has been told that it is one less under way.
                unsafe { shared::copy(into, record.buffer(), what.bytes) };
            }
            Purpose::Counted | Purpose::Event(_) | Purpose::Piece(_) => {}
        }
        if purpose != Purpose::Awaited {
            self.give_back(number);
        }
        Some(purpose)
    }
}
