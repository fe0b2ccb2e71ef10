//! PEs that are threads, two to a PE, which send, wait and make progress all at the same time.

use crate::exclusion::Mutex;

use super::super::*;
use super::network::{SEGMENT, remote, secret, take_token};
use crate::fixture::Slots;
use crate::strided::Pattern;
use crate::system::SYSTEM_BYTES;
use crate::transport::target::Target;
use crate::transport::{AtomicOp, Change, EachOp, Elements, Operand, SignalOp, Until, Width};

const PES: usize = 3;
const THREADS: usize = 2;
const ROUNDS: usize = if cfg!(miri) { 2 } else { 60 };
const BYTES: usize = 1 << 16;
/// Elements of a list: of several messages.
const LIST: usize = 500;

/// A message, with the slot that it was written to.
type Moving = (Option<u32>, Vec<u8>);

/// PEs with little room between them.
struct Wires {
    engines: Vec<Engine>,
    under_way: Vec<Mutex<VecDeque<Moving>>>,
    places: Slots,
}

// SAFETY: places are memory that engines and the test use by bytes that are given to one thread at a time.
unsafe impl Sync for Wires {}

struct End<'a>(&'a Wires, usize);

impl End<'_> {
    fn write(&self, pe: usize, slot: Option<u32>, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let mut under_way = self.0.under_way[pe].lock();
        if under_way.len() >= 2 {
            return Sent::Full;
        }
        assert!(
            slot.is_none() || under_way.iter().all(|(other, _)| *other != slot),
            "slot {slot:?} is in use"
        );
        let mut message = vec![0; bytes];
        write(&mut message);
        under_way.push_back((slot, message));
        Sent::Done
    }
}

impl Wire for End<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        self.write(pe, None, bytes, write)
    }

    fn reaches(&self, pe: usize) -> bool {
        pe != self.1
    }

    fn lend(&self, loan: usize) -> Option<Place> {
        Some(Place { address: loan as u64, key: 0, mark: 0 })
    }

    fn try_write(&self, pe: usize, slot: Slot, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        self.write(pe, Some(slot.number), bytes, write)
    }

    fn progress(&self) {
        let message = self.0.under_way[self.1].lock().pop_front();
        match message {
            Some((None, message)) => self.0.engines[self.1].arrived(self, &message).unwrap(),
            Some((Some(slot), mut message)) => {
                let token = take_token(&mut message);
                self.0.engines[self.1].landed(self, slot, token, &message).unwrap();
            }
            None => {}
        }
        self.0.engines[self.1].drain(self).unwrap();
        self.0.engines[self.1].looked(self).unwrap();
        std::thread::yield_now();
    }
}

fn wires() -> Wires {
    let places = Slots::new(PES, BYTES);
    // Of the two others one finds something to borrow.
    let limits =
        Limits { window: 3, message: 1024, at_once: LEAST_MESSAGE, loans: 1, slot: 1024, ..Limits::DEFAULT };
    let engine = |pe: usize| {
        let engine = Engine::new(pe, PES, limits, secret());
        // SAFETY: a slot of that many bytes, all zeroes, dropped together with the engine.
        engine.register(SEGMENT, unsafe { Target::later(places.start_of(pe), SYSTEM_BYTES, BYTES) });
        engine
    };
    let engines = (0..PES).map(engine).collect();
    Wires { engines, under_way: (0..PES).map(|_| Mutex::default()).collect(), places }
}

/// What one thread does: blocks to the next PE and back, words and signals of all.
fn work(wires: &Wires, me: usize, thread: usize, done: &AtomicUsize) {
    let (engine, end) = (&wires.engines[me], End(wires, me));
    let channel = Channel((me * THREADS + thread) as u32);
    let mine = 4096 * (1 + channel.0 as usize);
    let (mut source, mut back) = (vec![0_u8; 4096], vec![0_u8; 4096]);
    for round in 0..ROUNDS {
        let to = (me + 1 + round % (PES - 1)) % PES;
        source.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + round) as u8);
        let pattern = Pattern::blocks(100, 20, 200, 150);
        // SAFETY: both sides hold all blocks.
        unsafe { engine.put(&end, channel, remote(to, mine), source.as_ptr(), &pattern) };
        // SAFETY: the word is one.
        unsafe {
            engine.put_signal(
                &end,
                channel,
                remote(to, mine + 4000),
                source.as_ptr(),
                64,
                remote(to, 8),
                SignalOp::Add(1),
                round % 2 == 0,
            );
        };
        engine.update(&end, channel, remote(to, 0), Width::W8, AtomicOp::Add(1));
        while !engine.is_quiet(channel) {
            end.progress();
        }
        let pattern = Pattern::blocks(100, 20, 150, 200);
        let mut before = 0_u64;
        // SAFETY: both sides hold all blocks until quiet.
        unsafe { engine.get(&end, channel, back.as_mut_ptr(), remote(to, mine), &pattern, Until::Quiet) };
        let into = (&raw mut before).cast();
        // SAFETY: `before` stays until quiet.
        unsafe { engine.atomic_nbi(&end, channel, remote(to, 0), Width::W8, AtomicOp::Fetch, into) };
        while !engine.is_quiet(channel) {
            end.progress();
        }
        assert!(before > 0);
        pattern.each_block(|to, _| assert_eq!(back[to..to + 100], source[to..to + 100]));
        back.fill(0);
        // SAFETY: both sides hold all blocks.
        unsafe { engine.get(&end, channel, back.as_mut_ptr(), remote(to, mine), &pattern, Until::Return) };
        pattern.each_block(|to, _| assert_eq!(back[to..to + 100], source[to..to + 100]));
        assert!(engine.atomic(&end, channel, remote(to, 8), Width::W8, AtomicOp::Fetch) > 0);
        elements(engine, &end, channel, to, mine);
    }
    // The others still need answers.
    done.fetch_add(1, Ordering::Relaxed);
    while done.load(Ordering::Relaxed) < PES * THREADS {
        end.progress();
    }
}

/// Words of all by index, and elements of one's own.
fn elements(engine: &Engine, end: &End<'_>, channel: Channel, to: usize, mine: usize) {
    let indices: Vec<u32> = (0..LIST as u32).map(|k| k * k % 64).collect();
    let positions: Vec<u32> = (0..LIST as u32).rev().collect();
    let words = Elements { first: remote(to, 2048), size: 8, length: 64, indices: &indices };
    let one = Change::new(EachOp::Add, Width::W8, Operand::Same(1));
    engine.each(end, channel, words, one);
    let mut before = vec![u64::MAX; LIST];
    let into = before.as_mut_ptr().cast();
    // SAFETY: there is room for all words.
    unsafe { engine.fetch_each(end, channel, into, Some(&positions), words, one, Until::Return) };
    assert!(!before.contains(&u64::MAX));
    let own = Elements { first: remote(to, mine), size: 6, length: 600, indices: &positions };
    let source: Vec<u8> = (0..6 * LIST).map(|i| (i * 3) as u8 ^ channel.0 as u8).collect();
    let mut back = vec![0; source.len()];
    // SAFETY: the source holds all elements.
    unsafe { engine.place(end, channel, own, source.as_ptr()) };
    while !engine.is_quiet(channel) {
        end.progress();
    }
    // SAFETY: there is room for all elements until quiet.
    unsafe { engine.pick(end, channel, back.as_mut_ptr(), None, own, Until::Quiet) };
    while !engine.is_quiet(channel) {
        end.progress();
    }
    assert_eq!(back, source);
}

#[test]
fn threads_share_an_engine() {
    let wires = wires();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (me, thread) in (0..PES).flat_map(|me| (0..THREADS).map(move |thread| (me, thread))) {
            let (wires, done) = (&wires, &done);
            scope.spawn(move || work(wires, me, thread, done));
        }
    });
    let each = (ROUNDS * THREADS) as u64;
    for pe in 0..PES {
        let word = |at: usize| {
            let word = wires.places.start_of(pe).wrapping_add(SYSTEM_BYTES + at).cast::<u64>();
            // SAFETY: an aligned word of the place; all threads have ended.
            unsafe { word.read() }
        };
        assert_eq!((word(0), word(8)), (each, each));
        assert_eq!((0..64).map(|k| word(2048 + 8 * k)).sum::<u64>(), 2 * LIST as u64 * each);
    }
    assert!(wires.engines.iter().all(|engine| engine.unanswered().next().is_none()));
}
