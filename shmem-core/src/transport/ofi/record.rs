//! What operations keep until their completion is reported.
//!
//! A unit has a fixed number of records, so nothing is allocated per operation, and who finds none free makes
//! progress first. A record starts with the room that providers ask for (`FI_CONTEXT`, `FI_CONTEXT2`), and has
//! operands, a result and a buffer that stay where they are while the provider reads and writes them. Its
//! address is what the completion carries back.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use super::error::OfiError;
use super::pages::Pages;
use super::port::What;
use crate::libfabric::bindings::fi_context2;
use crate::shared;

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
    Event(u32),
    /// The same, after what was read to the buffer has been copied to where it is wanted.
    Landing(u32),
    /// To free the record, and a [signal](super::signals) waits for one piece less.
    Piece(u32),
}

impl Purpose {
    /// The stream whose operations are waited for one by one, if it is one of these.
    #[inline(always)]
    pub(super) fn stream(self) -> Option<u32> {
        match self {
            Self::Awaited | Self::Counted | Self::Piece(_) => None,
            Self::Event(stream) | Self::Landing(stream) => Some(stream),
        }
    }
}

/// What has ended with an operation, besides the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// One of the operations of a stream that are waited for one by one.
    Event(u32),
    /// One of the pieces that a signal waits for.
    Piece(u32),
}

/// Where bytes that were read to a buffer are wanted.
#[derive(Clone, Copy)]
pub(super) struct Landing {
    pub(super) into: *mut u8,
    pub(super) bytes: usize,
}

/// One record.
#[repr(C, align(128))]
pub(super) struct Record {
    /// The provider's own. First, so that its address is the record's.
    context: UnsafeCell<fi_context2>,
    operands: UnsafeCell<[u64; 2]>,
    result: UnsafeCell<u64>,
    landing: UnsafeCell<Landing>,
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

    pub(super) fn landing(&self) -> *mut Landing {
        self.landing.get()
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// The records of a unit. They lie in memory that is touched when they are used first.
pub(super) struct Records {
    memory: Pages,
    count: usize,
}

impl Records {
    /// # Errors
    ///
    /// If there is no memory for them.
    pub(super) fn new(count: usize) -> Result<Self, OfiError> {
        Ok(Self { memory: Pages::of(Self::bytes(count))?, count })
    }

    /// Bytes of so many.
    pub(super) const fn bytes(count: usize) -> usize {
        count * size_of::<Record>()
    }

    /// All of it, to be registered.
    pub(super) fn memory(&self) -> (*mut u8, usize) {
        (self.memory.start(), Self::bytes(self.count))
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &Record {
        assert!((number as usize) < self.count, "there is no record {number}");
        let record = self.memory.start().cast::<Record>().wrapping_add(number as usize);
        // SAFETY: one of the records, which all zeroes initialise; what changes in it is in cells.
        unsafe { &*record }
    }

    /// The record whose context a completion brings back; `None`: it is of none.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<u32> {
        let bytes = (context as usize).checked_sub(self.memory.start() as usize)?;
        let number = bytes / size_of::<Record>();
        (number < self.count && bytes.is_multiple_of(size_of::<Record>())).then_some(number as u32)
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

    /// What the holder of a record has it for.
    pub(super) fn holder(&self, number: u32) -> Option<What> {
        self.used[number as usize].map(|(_, what)| what)
    }

    /// Whether an operation of a stream with a PE keeps a record. Not of those that somebody waits for, or that are
    /// counted.
    pub(super) fn has(&self, stream: u32, pe: usize) -> bool {
        self.used.iter().flatten().any(|(purpose, what)| purpose.stream() == Some(stream) && what.pe == pe)
    }

    /// Its operation is complete: frees it, unless somebody waits for it. Gives what else has ended with it.
    #[inline]
    pub(super) fn complete(&mut self, records: &Records, number: u32) -> Option<Ended> {
        let (purpose, _) = self.used[number as usize]?;
        match purpose {
            Purpose::Awaited => {
                records.get(number).done.store(true, Ordering::Release);
                return None;
            }
            Purpose::Landing(_) => land(records.get(number)),
            Purpose::Counted | Purpose::Event(_) | Purpose::Piece(_) => {}
        }
        self.give_back(number);
        match purpose {
            Purpose::Awaited | Purpose::Counted => None,
            Purpose::Event(stream) | Purpose::Landing(stream) => Some(Ended::Event(stream)),
            Purpose::Piece(signal) => Some(Ended::Piece(signal)),
        }
    }
}

/// Copies what was read to where it is wanted.
fn land(record: &Record) {
    // SAFETY: who took the record for a landing has left it there before the operation was started.
    let Landing { into, bytes } = unsafe { record.landing().read() };
    // SAFETY: the operation is complete, and has read as many bytes to the buffer; the destination is writable until
    // a quiet returns, which waits until the stream has been told that it is one less under way.
    unsafe { shared::copy(into, record.buffer(), bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: What = What { operation: "get", pe: 3, bytes: 8 };

    #[test]
    fn a_record_is_found_by_its_context_and_by_nothing_else() {
        let records = Records::new(4).unwrap();
        for number in 0..4 {
            let context = records.get(number).context();
            assert_eq!(records.find(context), Some(number));
            assert_eq!(records.find(context.wrapping_byte_add(8)), None);
        }
        let (start, bytes) = records.memory();
        assert_eq!(records.find(start.wrapping_add(bytes).cast()), None);
        assert_eq!(records.find(core::ptr::null_mut()), None);
        assert!(records.get(0).context().addr().is_multiple_of(128));
    }

    #[test]
    fn records_run_out_and_come_back() {
        let (records, mut free) = (Records::new(2).unwrap(), Free::new(2));
        let first = free.take(&records, Purpose::Awaited, GET).unwrap();
        let second = free.take(&records, Purpose::Event(7), GET).unwrap();
        assert_eq!(free.take(&records, Purpose::Counted, GET), None);
        assert_eq!(free.complete(&records, second), Some(Ended::Event(7)));
        assert_eq!(free.take(&records, Purpose::Counted, GET), Some(second));
        assert!(!records.get(first).is_done());
        assert_eq!(free.complete(&records, first), None);
        assert!(records.get(first).is_done() && free.take(&records, Purpose::Counted, GET).is_none());
        free.give_back(first);
        assert_eq!(free.take(&records, Purpose::Awaited, GET), Some(first));
        assert!(!records.get(first).is_done());
    }

    #[test]
    fn a_record_says_whose_it_is_until_it_is_free() {
        let (records, mut free) = (Records::new(4).unwrap(), Free::new(4));
        free.take(&records, Purpose::Event(6), GET).unwrap();
        free.take(&records, Purpose::Awaited, What { pe: 8, ..GET }).unwrap();
        let number = free.take(&records, Purpose::Event(7), GET).unwrap();
        assert_eq!(free.holder(number).map(|what| what.pe), Some(3));
        assert!(free.has(7, 3) && free.has(6, 3) && !free.has(7, 8) && !free.has(6, 8));
        free.complete(&records, number);
        assert!(!free.has(7, 3) && free.has(6, 3));
        assert_eq!(free.holder(number).map(|what| what.pe), None);
    }

    #[test]
    fn what_was_read_lands_where_it_is_wanted() {
        let (records, mut free) = (Records::new(1).unwrap(), Free::new(1));
        let number = free.take(&records, Purpose::Landing(7), GET).unwrap();
        let (record, mut wanted) = (records.get(number), [0_u8; 6]);
        // SAFETY: the record is ours.
        unsafe { record.landing().write(Landing { into: wanted.as_mut_ptr(), bytes: 5 }) };
        // SAFETY: the record is ours; the buffer is longer.
        unsafe { record.buffer().write_bytes(9, 6) };
        assert_eq!(free.complete(&records, number), Some(Ended::Event(7)));
        assert_eq!(wanted, [9, 9, 9, 9, 9, 0]);
        assert!(free.take(&records, Purpose::Counted, GET).is_some());
    }
}
