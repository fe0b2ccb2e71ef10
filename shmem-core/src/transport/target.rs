//! The target's side: what a PE does for others on its own memory.
//!
//! On a node the initiator does it itself, through the arena, by `apply`. Behind a transport the
//! target's engine receives a [`Message`] and [`deliver`](Target::deliver)s it.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{AtomicOp, Width};
use crate::primitive::mutant;
use crate::strided::{self, Algorithm, Pattern, Plan};
use crate::sync::Doorbell;

/// Changes a word atomically and gives what was there.
///
/// Sequentially consistent, and always a read-modify-write when it writes: see
/// [`Doorbell`](crate::sync::Doorbell).
///
/// # Safety
///
/// `word` must be valid and aligned for the width, and lie in a place: no reference to it exists.
#[inline(always)]
pub(crate) unsafe fn apply(word: *mut u8, width: Width, op: AtomicOp) -> u64 {
    macro_rules! on {
        ($atomic:ident, $bits:ident) => {{
            // SAFETY: the caller's promise.
            let word = unsafe { $atomic::from_ptr(word.cast()) };
            #[allow(clippy::unnecessary_cast, reason = "the low bits are the value, whatever the width")]
            match op {
                AtomicOp::Fetch => word.load(Ordering::SeqCst) as u64,
                AtomicOp::Set(v) | AtomicOp::Swap(v) => word.swap(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::CompareSwap { expected, desired } => {
                    match word.compare_exchange(
                        expected as $bits,
                        desired as $bits,
                        Ordering::SeqCst,
                        Ordering::SeqCst,
                    ) {
                        Ok(before) | Err(before) => before as u64,
                    }
                }
                AtomicOp::Add(v) if mutant("add-in-two-steps") => {
                    let before = word.load(Ordering::SeqCst);
                    (0..50).for_each(|_| core::hint::spin_loop());
                    word.store(before.wrapping_add(v as $bits), Ordering::SeqCst);
                    before as u64
                }
                AtomicOp::Add(v) => word.fetch_add(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::And(v) => word.fetch_and(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::Or(v) => word.fetch_or(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::Xor(v) => word.fetch_xor(v as $bits, Ordering::SeqCst) as u64,
            }
        }};
    }
    match width {
        Width::W4 => on!(AtomicU32, u32),
        Width::W8 => on!(AtomicU64, u64),
    }
}

/// What a transport carries to a target that must act on it.
#[derive(Debug)]
pub enum Message {
    /// Bytes for consecutive memory.
    Put {
        /// Bytes from the start of the place.
        offset: usize,
        /// The data.
        data: Box<[u8]>,
    },
    /// Packed bytes for blocks.
    Blocks {
        /// Bytes from the start of the place to the first block.
        offset: usize,
        /// Where they go, from the packed data.
        pattern: Pattern,
        /// The data, packed.
        data: Box<[u8]>,
    },
    /// A change of a word.
    Update {
        /// Bytes from the start of the place.
        offset: usize,
        /// The word's width.
        width: Width,
        /// The change.
        op: AtomicOp,
    },
}

/// A PE's memory, as the target of messages: what is mapped from the start, or one later segment.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    place: *mut u8,
    start: usize,
    end: usize,
}

// SAFETY: it is an address; what is done through it is done by the unsafe methods.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    /// # Safety
    ///
    /// `place` must be the start of a PE's place of `bytes` mapped bytes, the system area first,
    /// for as long as the target is used.
    pub unsafe fn new(place: *mut u8, bytes: usize) -> Self {
        Self { place, start: 0, end: bytes }
    }

    /// # Safety
    ///
    /// `place` must be the start of a PE's place, the system area first, in which `bytes` bytes at
    /// `offset` are mapped, both for as long as the target is used.
    pub unsafe fn later(place: *mut u8, offset: usize, bytes: usize) -> Self {
        Self { place, start: offset, end: offset + bytes }
    }

    /// The address of `bytes` bytes at `offset`.
    ///
    /// # Panics
    ///
    /// If they do not lie in the place: a message that was checked by nobody.
    pub(crate) fn at(self, offset: usize, bytes: usize) -> *mut u8 {
        let Self { start, end, .. } = self;
        self.address(offset, bytes).unwrap_or_else(|| {
            panic!("a message for {bytes} bytes at offset {offset:#x} does not fit the place: {start:#x}..{end:#x}")
        })
    }

    /// The address of `bytes` bytes at `offset`, if they lie in the place.
    pub(crate) fn address(self, offset: usize, bytes: usize) -> Option<*mut u8> {
        let end = offset.checked_add(bytes)?;
        (offset >= self.start && end <= self.end).then(|| self.place.wrapping_add(offset))
    }

    /// Writes packed data to blocks.
    ///
    /// # Panics
    ///
    /// If the blocks do not lie in the place, or the data is too short.
    pub(crate) fn unpack(self, offset: usize, pattern: &Pattern, data: &[u8]) {
        let (to, from) = pattern.hulls();
        assert!(from <= data.len(), "a message for {from} packed bytes has {}", data.len());
        let to = self.at(offset, to);
        if pattern.is_nested() {
            let plan = Plan::of(*pattern, 1, Algorithm::Auto, &strided::settings().thresholds);
            // SAFETY: blocks lie in the hulls, which were checked just now, and are nested, thus disjoint; `data`
            // is private memory.
            return unsafe { strided::execute_later(&plan, to, data.as_ptr()) };
        }
        // One by one: that blocks do not overlap is a promise of nobody here.
        pattern.each_block(|at, of| {
            let from = data.as_ptr().wrapping_add(of);
            // SAFETY: as above, but for the blocks of the destination, of which this is one.
            unsafe { super::shm::put(to.wrapping_add(at), from, pattern.block()) };
        });
    }

    /// Carries the message out, and rings the bell if it changed a word.
    pub fn deliver(self, message: &Message) {
        match message {
            Message::Put { offset, data } => {
                let to = self.at(*offset, data.len());
                // SAFETY: `at` checked the bounds; `data` is private memory.
                unsafe { super::shm::put(to, data.as_ptr(), data.len()) };
            }
            Message::Blocks { offset, pattern, data } => self.unpack(*offset, pattern, data),
            Message::Update { offset, width, op } => {
                self.update(*offset, *width, *op);
            }
        }
    }

    /// Changes a word, gives what was there, and rings the bell.
    pub fn update(self, offset: usize, width: Width, op: AtomicOp) -> u64 {
        let bytes = width.bytes();
        let word = self.at(offset, bytes);
        assert!(offset.is_multiple_of(bytes), "an atomic word at offset {offset:#x} is not aligned");
        let op = match op {
            AtomicOp::Add(v) if mutant("target-adds-in-two-steps") => {
                // SAFETY: as below.
                let before = unsafe { apply(word, width, AtomicOp::Fetch) };
                (0..50).for_each(|_| core::hint::spin_loop());
                AtomicOp::Set(before.wrapping_add(v))
            }
            op => op,
        };
        // SAFETY: in bounds and aligned, as just checked (a place starts on a page); words are
        // changed through here or `shm::atomic` only.
        unsafe { super::shm::atomic(word, width, op, self.bell()) }
    }

    /// Rings the bell, after a read-modify-write.
    pub fn ring(self) {
        self.bell().ring();
    }

    fn bell(&self) -> &Doorbell {
        // SAFETY: the place starts with the system area, which starts with the bell (`new`).
        unsafe { &(*self.place.cast::<crate::system::SystemArea>()).doorbell }
    }
}
