//! Messages between PEs allocate nothing per operation: every allocation of the thread is counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};

use shmem_core::pe::Pe;
use shmem_core::strided::Pattern;
use shmem_core::system::SYSTEM_BYTES;
use shmem_core::transport::ofi::Secret;
use shmem_core::transport::ofi::engine::{Engine, Limits, Place, Sent, Slot, TOKEN, Wire};
use shmem_core::transport::target::Target;
use shmem_core::transport::{
    AtomicOp, Change, Channel, EachOp, Elements, Operand, Remote, SignalOp, Until, Width,
};

struct Counting;

thread_local! {
    /// Of this thread: the one that runs tests allocates when it likes.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, and a counter.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const MESSAGE: usize = 4096;
/// Messages that are under way to each PE at a time.
const ROOM: usize = 16;
const BYTES: usize = 1 << 16;

/// Places start on pages.
#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// What is under way to a PE: buffers, and how many of them are full, each of so many bytes, and for which slot.
struct Queue {
    buffers: [[u8; MESSAGE]; ROOM],
    lengths: [(Option<u32>, usize); ROOM],
    full: usize,
}

/// Two PEs.
struct Wires {
    engines: [Engine; 2],
    queues: [RefCell<Queue>; 2],
    /// Messages that were written to slots.
    written: Cell<usize>,
}

/// A PE's end.
struct End<'a>(&'a Wires, usize);

impl End<'_> {
    fn put(&self, pe: usize, slot: Option<u32>, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let queue = &mut *self.0.queues[pe].borrow_mut();
        if queue.full == ROOM {
            return Sent::Full;
        }
        write(&mut queue.buffers[queue.full][..bytes]);
        queue.lengths[queue.full] = (slot, bytes);
        queue.full += 1;
        Sent::Done
    }
}

impl Wire for End<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        self.put(pe, None, bytes, write)
    }

    fn reaches(&self, pe: usize) -> bool {
        pe != self.1
    }

    fn lend(&self, loan: usize) -> Option<Place> {
        Some(Place { address: loan as u64, key: 0, mark: 0 })
    }

    fn try_write(&self, pe: usize, slot: Slot, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        self.0.written.set(self.0.written.get() + 1);
        self.put(pe, Some(slot.number), bytes, write)
    }

    /// The other PE takes what has arrived there and answers, then this one.
    fn progress(&self) {
        let mut message = [0; MESSAGE];
        for pe in [1 - self.1, self.1] {
            let bytes = {
                let queue = &mut *self.0.queues[pe].borrow_mut();
                queue.full = queue.full.saturating_sub(1);
                message.copy_from_slice(&queue.buffers[queue.full]);
                core::mem::take(&mut queue.lengths[queue.full])
            };
            match bytes {
                (_, 0) => {}
                (None, bytes) => self.0.engines[pe].arrived(&End(self.0, pe), &message[..bytes]).unwrap(),
                (Some(slot), bytes) => {
                    let token = u64::from_le_bytes(message[TOKEN].try_into().unwrap());
                    self.0.engines[pe].landed(&End(self.0, pe), slot, token, &message[..bytes]).unwrap();
                }
            }
            self.0.engines[pe].drain(&End(self.0, pe)).unwrap();
            self.0.engines[pe].looked(&End(self.0, pe)).unwrap();
        }
    }
}

fn remote(offset: usize) -> Remote {
    // SAFETY: no operation of the arena uses it.
    let pe = unsafe { Pe::new(1, Pe::OFF_NODE) };
    Remote { pe, segment: 1, offset: SYSTEM_BYTES + offset }
}

#[test]
fn messages_allocate_nothing() {
    let pages = vec![Page([0; 4096]); (SYSTEM_BYTES + BYTES) / 4096].leak();
    let place = pages.as_mut_ptr().cast::<u8>();
    let queue = || RefCell::new(Queue { buffers: [[0; MESSAGE]; ROOM], lengths: [(None, 0); ROOM], full: 0 });
    let limits = Limits {
        window: 8,
        message: MESSAGE,
        at_once: MESSAGE / 2,
        loans: 1,
        slot: MESSAGE,
        ..Limits::DEFAULT
    };
    let engines = [0, 1].map(|me| Engine::new(me, 2, limits, Secret::of_bytes([9; Secret::BYTES])));
    let wires = Wires { engines, queues: [queue(), queue()], written: Cell::new(0) };
    // SAFETY: a place of that many bytes, all zeroes, which stays.
    wires.engines[1].register(1, unsafe { Target::later(place, SYSTEM_BYTES, BYTES) });
    let (engine, end) = (&wires.engines[0], End(&wires, 0));
    let (source, mut into) = (vec![7_u8; BYTES], vec![0_u8; BYTES]);
    // Blocks of three messages.
    let pattern = Pattern::blocks(96, 100, 200, 300);
    let back = Pattern::blocks(96, 100, 300, 200);
    let mut before = [0_u64; 4];
    // Of several messages each.
    let indices: Vec<u32> = (0..2000).map(|k| k * 7 % 1000).collect();
    let elements = Elements { first: remote(BYTES / 2), size: 8, length: 1000, indices: &indices };
    let mut picked = vec![0_u8; 8 * indices.len()];
    let mut round = |channel: Channel| {
        // SAFETY: both sides hold all blocks until the channel is quiet.
        unsafe { engine.put(&end, channel, remote(0), source.as_ptr(), &pattern) };
        for patient in [false, true] {
            let (signal, add) = (remote(128), SignalOp::Add(1));
            // SAFETY: both sides hold all blocks until the channel is quiet.
            unsafe {
                engine.put_signal(&end, channel, remote(0), source.as_ptr(), 64, signal, add, patient);
            };
        }
        if engine.has_borrowed(&end, 1) {
            engine.signal_behind(&end, channel, remote(144), SignalOp::Add(1), |slot, bytes, write| {
                end.try_write(1, slot, bytes, write)
            });
        }
        // SAFETY: both sides hold all blocks until the channel is quiet.
        unsafe { engine.get(&end, channel, into.as_mut_ptr(), remote(0), &back, Until::Quiet) };
        // SAFETY: both sides hold all blocks until the channel is quiet.
        unsafe { engine.get(&end, channel, into.as_mut_ptr(), remote(0), &back, Until::Return) };
        for before in &mut before {
            engine.update(&end, channel, remote(136), Width::W8, AtomicOp::Add(1));
            let into = core::ptr::from_mut(before).cast();
            // SAFETY: the word is one, and `before` stays.
            unsafe { engine.atomic_nbi(&end, channel, remote(136), Width::W8, AtomicOp::Fetch, into) };
        }
        engine.atomic(&end, channel, remote(136), Width::W8, AtomicOp::Fetch);
        engine.each(&end, channel, elements, Change::new(EachOp::Add, Width::W8, Operand::Same(1)));
        let swap = Change::new(EachOp::Swap, Width::W8, Operand::Own(&source[..8 * indices.len()]));
        let picked = picked.as_mut_ptr();
        // SAFETY: there is a word for each index.
        unsafe { engine.fetch_each(&end, channel, picked, None, elements, swap, Until::Quiet) };
        while !engine.is_quiet(channel) {
            end.progress();
        }
        // SAFETY: there is an element for each index.
        unsafe { engine.place(&end, channel, elements, source.as_ptr()) };
        // SAFETY: there is an element at each position.
        unsafe { engine.pick(&end, channel, picked, Some(&indices), elements, Until::Return) };
        // What is asked for on no channel as well: this wire delivers what was sent last first.
        while !engine.is_quiet(channel) || engine.unanswered().next().is_some() {
            end.progress();
        }
    };
    // The tables grow to the window.
    (0..40).for_each(|i| round(Channel(i % 4)));
    let allocated = ALLOCATIONS.get();
    (0..400).for_each(|i| round(Channel(i % 4)));
    assert_eq!(ALLOCATIONS.get(), allocated);
    let written = wires.written.get();
    assert!(written > 3 * 400, "{written} messages were written to slots");
    assert_eq!(engine.atomic(&end, Channel(0), remote(136), Width::W8, AtomicOp::Fetch), 4 * 440);
}
