//! Models of memory that PEs and threads share. Loom runs each model in every interleaving (`ci/loom.sh`).
//!
//! Loom reports a lost wake-up as a deadlock. The models also run with planted faults, and must find them: `mutant` in
//! `planted_fault.rs`, and the table in `ci/loom.sh`.

#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use shmem_core::heap::Released;
use shmem_core::sync::{Arrival, BarrierLines, Doorbell, NodeBarrier, RingWords, Shown, Turn, Turns};

/// Checks the interleavings of a model with at most `preemptions` preemptions. Two preemptions find nearly all faults. Without this
/// bound, a model of three threads takes too long.
fn bounded(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Runs `run` as threads at the same time, one for each PE.
fn all<S: ?Sized + Send + Sync + 'static>(
    pes: usize,
    shared: &Arc<S>,
    run: impl Fn(&S, usize) + Copy + Send + 'static,
) {
    let others: Vec<_> = (1..pes)
        .map(|me| {
            let shared = Arc::clone(shared);
            thread::spawn(move || run(&shared, me))
        })
        .collect();
    run(shared, 0);
    for other in others {
        other.join().unwrap();
    }
}

/// The doorbell of a PE, and two words for which this PE waits.
type Words = (Doorbell, [AtomicU32; 2]);

/// Calls all `changes` at the same time. Each changes a word and rings the doorbell. The waiter waits until `done`.
fn rung<const N: usize>(changes: [fn(&Words); N], done: fn(&[AtomicU32; 2]) -> bool) {
    let shared: Arc<Words> = Arc::new((Doorbell::default(), [(); 2].map(|()| AtomicU32::new(0))));
    let ringers = changes.map(|change| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || change(&shared))
    });
    while !done(&shared.1) {
        shared.0.watch(None, || done(&shared.1));
    }
    ringers.into_iter().for_each(|ringer| ringer.join().unwrap());
}

fn update((bell, words): &Words) {
    words[0].fetch_add(1, Ordering::AcqRel);
    bell.ring();
}

fn store((bell, words): &Words) {
    words[1].store(1, Ordering::Release);
    bell.ring_behind_store();
}

#[test]
fn doorbell_wakes_its_owner() {
    let update: fn(&Words) = |(bell, words)| {
        words[0].fetch_add(1, Ordering::AcqRel);
        bell.ring_watchers();
    };
    loom::model(move || rung([update], |words| words[0].load(Ordering::Acquire) == 1));
}

#[test]
fn doorbell_behind_a_store_wakes_its_owner() {
    loom::model(|| rung([store], |words| words[1].load(Ordering::Acquire) == 1));
}

/// One thread stores to a word, another thread updates another word, and the waiter needs both. With a single word, loom does not
/// keep the store behind an earlier update.
#[test]
fn doorbell_is_heard_of_a_store_and_an_update() {
    let done = |words: &[AtomicU32; 2]| words.iter().all(|word| word.load(Ordering::Acquire) == 1);
    bounded(3, move || rung([store, update], done));
}

#[test]
fn doorbell_is_heard_from_two_ringers() {
    bounded(3, || rung([update; 2], |words| words[0].load(Ordering::Acquire) == 2));
}

#[test]
fn doorbell_wakes_two_waiters_of_one_pe() {
    bounded(2, || {
        let shared = Arc::new((Doorbell::default(), AtomicU32::new(0)));
        // Two threads of one PE: one sleeps as in a barrier, the other one as in a wait for a word.
        let waiters = [true, false].map(|meets| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (bell, word) = &*shared;
                let has_arrived = || word.load(Ordering::Acquire) == 1;
                while meets && !has_arrived() {
                    bell.sleep(None, has_arrived);
                }
                while !has_arrived() {
                    bell.watch(None, has_arrived);
                }
            })
        });
        shared.1.fetch_add(1, Ordering::AcqRel);
        shared.0.ring();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

/// Passes the barrier as the runtime does, but without spinning.
fn pass(barrier: &NodeBarrier, pes: usize) {
    match barrier.arrive(pes, 0xabc) {
        Arrival::Last => barrier.open(),
        Arrival::Mismatch => panic!("all arrive for one purpose"),
        Arrival::Early(generation) => {
            while !barrier.is_open(generation) {
                barrier.sleep(generation, None);
            }
        }
    }
}

/// Each PE stores the number of the generation that it enters. After the barrier, all PEs have stored this number, and none is more
/// than one generation ahead.
fn meet(pes: usize, generations: u32) {
    let shared = Arc::new((NodeBarrier::default(), [(); 3].map(|()| AtomicU32::new(0))));
    let run = move |shared: &(NodeBarrier, [AtomicU32; 3]), me: usize| {
        for generation in 1..=generations {
            shared.1[me].store(generation, Ordering::Relaxed);
            pass(&shared.0, pes);
            for other in &shared.1[..pes] {
                let seen = other.load(Ordering::Relaxed);
                assert!(seen == generation || seen == generation + 1, "{seen} in {generation}");
            }
        }
    };
    all(pes, &shared, run);
}

#[test]
fn barrier_holds_two_pes_for_two_generations() {
    bounded(6, || meet(2, 2));
}

#[test]
fn barrier_holds_three_pes_for_two_generations() {
    bounded(3, || meet(3, 2));
}

#[test]
fn barrier_finds_who_came_for_something_else() {
    bounded(3, || {
        let barrier = Arc::new(NodeBarrier::default());
        let arrive = |fingerprint| {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || barrier.arrive(3, fingerprint))
        };
        let others = [arrive(7), arrive(7)];
        let mut found = vec![barrier.arrive(3, 8)];
        found.extend(others.map(|other| other.join().unwrap()));
        let mismatches = found.iter().filter(|arrival| **arrival == Arrival::Mismatch).count();
        assert_eq!(mismatches, 1, "{found:?}");
        assert!(!found.contains(&Arrival::Last), "{found:?}");
        assert!(!barrier.is_open(0));
    });
}

/// Memory of one PE for barrier rounds by lines. A round has its contribution at the index of its line. Loom reports accesses to a
/// contribution that are not ordered.
#[derive(Default)]
struct InLines {
    bell: Doorbell,
    lines: BarrierLines,
    contributions: [UnsafeCell<u64>; 4],
}

// SAFETY: loom checks every access to the contributions.
unsafe impl Sync for InLines {}

/// Each PE contributes to every barrier round, and then reads the contributions of the other PEs to this round.
fn barrier_by_lines(pes: usize, barriers: u64) {
    let shared: Arc<Vec<InLines>> = Arc::new((0..pes).map(|_| InLines::default()).collect());
    let run = move |shared: &Vec<InLines>, me: usize| {
        for count in 1..=barriers {
            let turn = count as usize % 4;
            // SAFETY: loom checks that no thread reads the contribution now.
            shared[me].contributions[turn].with_mut(|to| unsafe { *to = count });
            shared[me].lines.show(count, 7);
            for other in (0..pes).filter(|other| *other != me) {
                shared[other].bell.ring();
            }
            shared[me].lines.take_next(count);
            for other in (0..pes).filter(|other| *other != me) {
                let met = || shared[other].lines.shown(count, 7) == Shown::Equal;
                while !met() {
                    shared[me].bell.sleep(None, met);
                }
                // SAFETY: loom checks that no thread writes the contribution now.
                let found = shared[other].contributions[turn].with(|from| unsafe { *from });
                assert_eq!(found, count);
            }
        }
    };
    all(pes, &shared, run);
}

#[test]
fn lines_bring_contributions_through_five_barriers() {
    bounded(2, || barrier_by_lines(2, 5));
}

#[test]
fn lines_hold_three_pes_for_two_barriers() {
    bounded(2, || barrier_by_lines(3, 2));
}

/// Memory in which one PE receives an exchange's messages from one neighbour, two in turn. Loom reports accesses to the data that
/// are not ordered.
#[derive(Default)]
struct Inbox {
    bell: Doorbell,
    messages: [(UnsafeCell<u64>, AtomicU64); 2],
}

// SAFETY: loom checks every access to the cells.
unsafe impl Sync for Inbox {}

impl Inbox {
    /// Stores a neighbour's message by plain stores, as in shared memory.
    fn store(&self, turn: Turn, value: u64) {
        let (data, signal) = &self.messages[turn.message()];
        turn.send(
            // SAFETY: loom ends the model if another thread uses the cell now.
            || data.with_mut(|data| unsafe { *data = value }),
            |number| signal.store(number, Ordering::Release),
        );
    }

    /// Stores a neighbour's message as a put with signal does, and rings the doorbell.
    fn deliver(&self, turn: Turn, value: u64) {
        let (data, signal) = &self.messages[turn.message()];
        turn.send(
            // SAFETY: loom ends the model if another thread uses the cell now.
            || data.with_mut(|data| unsafe { *data = value }),
            |number| _ = signal.swap(number, Ordering::AcqRel),
        );
        self.bell.ring();
    }

    /// Waits for the neighbour's message of a turn, and returns it.
    fn receive(&self, turn: Turn) -> u64 {
        let (data, signal) = &self.messages[turn.message()];
        while !turn.has_arrived(signal.load(Ordering::Acquire)) {
            self.bell.sleep(None, || turn.has_arrived(signal.load(Ordering::Acquire)));
        }
        // SAFETY: loom ends the model if another thread writes the cell now.
        data.with(|data| unsafe { *data })
    }
}

/// Returns the message that PE `me` sends in a turn.
fn sent_by(me: u64, turn: Turn) -> u64 {
    100 * (me + 1) + turn.number()
}

#[test]
fn exchanges_take_turns_with_two_messages() {
    bounded(3, || {
        let inboxes = Arc::new([Inbox::default(), Inbox::default()]);
        let run = |inboxes: &[Inbox; 2], me: usize| {
            let mut turns = Turns::default();
            for _ in 0..3 {
                let turn = turns.begin().unwrap();
                inboxes[1 - me].store(turn, sent_by(me as u64, turn));
                turn.settle();
                inboxes[1 - me].bell.ring();
                assert_eq!(inboxes[me].receive(turn), sent_by(1 - me as u64, turn));
                turns.finish();
            }
        };
        let other = thread::spawn({
            let inboxes = Arc::clone(&inboxes);
            move || run(&inboxes, 1)
        });
        run(&inboxes, 0);
        other.join().unwrap();
    });
}

#[test]
fn a_stored_signal_wakes_who_waits() {
    loom::model(|| {
        let inbox = Arc::new(Inbox::default());
        let sender = thread::spawn({
            let inbox = Arc::clone(&inbox);
            move || {
                let turn = Turns::default().begin().unwrap();
                inbox.store(turn, sent_by(1, turn));
                turn.settle();
                inbox.bell.ring();
            }
        });
        let turn = Turns::default().begin().unwrap();
        assert_eq!(inbox.receive(turn), sent_by(1, turn));
        sender.join().unwrap();
    });
}

/// PE 0 sends by a network that may delay each of its messages.
#[test]
fn exchanges_may_overtake_each_other_on_the_way() {
    bounded(1, || {
        let inboxes = Arc::new([Inbox::default(), Inbox::default()]);
        let other = thread::spawn({
            let inboxes = Arc::clone(&inboxes);
            move || {
                let mut turns = Turns::default();
                for _ in 0..3 {
                    let turn = turns.begin().unwrap();
                    inboxes[0].deliver(turn, sent_by(1, turn));
                    assert_eq!(inboxes[1].receive(turn), sent_by(0, turn));
                    turns.finish();
                }
            }
        });
        let mut turns = Turns::default();
        for _ in 0..3 {
            let turn = turns.begin().unwrap();
            let courier = Arc::clone(&inboxes);
            drop(thread::spawn(move || courier[1].deliver(turn, sent_by(0, turn))));
            assert_eq!(inboxes[0].receive(turn), sent_by(1, turn));
            turns.finish();
        }
        other.join().unwrap();
    });
}

#[test]
fn released_numbers_arrive_once() {
    loom::model(|| {
        let released = Arc::new(Released::default());
        let droppers = [1, 2].map(|id| {
            let released = Arc::clone(&released);
            thread::spawn(move || released.push(id))
        });
        let mut seen = released.take();
        for dropper in droppers {
            dropper.join().unwrap();
        }
        seen.extend(released.take());
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

/// Number of slots of a ring.
const RING_SLOTS: u64 = 2;

/// The ring of one PE, which that PE fills and other PEs read.
struct Ring {
    words: RingWords,
    slots: [UnsafeCell<u64>; RING_SLOTS as usize],
    bell: Doorbell,
}

impl Default for Ring {
    fn default() -> Self {
        let slots = [(); RING_SLOTS as usize].map(|()| UnsafeCell::new(0));
        Self { words: RingWords::default(), slots, bell: Doorbell::default() }
    }
}

/// Sleeps on the doorbell of a PE until `done`.
fn until(rings: &[Ring; 3], me: usize, done: &dyn Fn() -> bool) {
    while !done() {
        rings[me].bell.sleep(None, done);
    }
}

/// One PE fills more chunks than the ring has slots. Two other PEs read all of them.
#[test]
fn a_ring_brings_chunks_to_two_readers() {
    const CHUNKS: u64 = RING_SLOTS + 1;
    bounded(2, || {
        let rings = Arc::new([(); 3].map(|()| Ring::default()));
        let readers = [1, 2].map(|me| {
            let rings = Arc::clone(&rings);
            thread::spawn(move || {
                for chunk in 0..CHUNKS {
                    until(&rings, me, &|| rings[0].words.has(chunk));
                    // SAFETY: loom ends the model if another thread writes the cell now.
                    let found = rings[0].slots[(chunk % RING_SLOTS) as usize].with(|slot| unsafe { *slot });
                    assert_eq!(found, 100 + chunk);
                    rings[me].words.take(chunk);
                    rings[0].bell.ring();
                }
            })
        });
        for chunk in 0..CHUNKS {
            until(&rings, 0, &|| rings[1..].iter().all(|ring| ring.words.is_free(chunk, RING_SLOTS)));
            // SAFETY: loom ends the model if another thread uses the cell now.
            rings[0].slots[(chunk % RING_SLOTS) as usize].with_mut(|slot| unsafe { *slot = 100 + chunk });
            rings[0].words.fill(chunk);
            rings[1..].iter().for_each(|ring| ring.bell.ring());
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// Two PEs read memory of a third PE. That PE writes to the memory again after both have read it.
#[test]
fn an_owner_leaves_behind_its_readers() {
    bounded(2, || {
        let rings = Arc::new([(); 3].map(|()| Ring::default()));
        let readers = [1, 2].map(|me| {
            let rings = Arc::clone(&rings);
            thread::spawn(move || {
                until(&rings, me, &|| rings[0].words.has(0));
                // SAFETY: loom ends the model if another thread writes the cell now.
                let found = rings[0].slots[0].with(|slot| unsafe { *slot });
                assert_eq!(found, 1);
                rings[me].words.take(0);
                rings[0].bell.ring();
            })
        });
        // SAFETY: loom ends the model if another thread uses the cell now.
        let write = |value| rings[0].slots[0].with_mut(|slot| unsafe { *slot = value });
        write(1);
        rings[0].words.fill(0);
        rings[1..].iter().for_each(|ring| ring.bell.ring());
        until(&rings, 0, &|| rings[1..].iter().all(|ring| ring.words.has_taken(0)));
        write(2);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}
