//! Streams over an interface that completes late and in disorder, against a naive account.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;

const LARGE: usize = Tracking::LARGE;

/// Completes something only when it is looked at, what the dice say.
struct Late {
    state: RefCell<State>,
}

struct State {
    dice: u64,
    /// Events under way.
    events: Vec<Event>,
    /// Counted operations under way, and complete.
    counted: u64,
    completed: u64,
    /// Operations started, and most that are taken before something completes.
    started: u64,
    most: usize,
    /// A stream of which nothing completes.
    held: Option<u32>,
}

// SAFETY: the tests use it from one thread.
unsafe impl Sync for Late {}

impl Late {
    fn new(dice: u64, most: usize) -> Self {
        let state =
            State { dice, events: Vec::new(), counted: 0, completed: 0, started: 0, most, held: None };
        Self { state: RefCell::new(state) }
    }

    fn events_of(&self, stream: u32) -> usize {
        self.state.borrow().events.iter().filter(|event| event.stream == stream).count()
    }
}

impl State {
    fn roll(&mut self) -> usize {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.dice >> 33) as usize
    }
}

// SAFETY: it touches no memory.
unsafe impl Provider for Late {
    unsafe fn post(&self, _: &Descriptor) -> Result<(), Busy> {
        let mut state = self.state.borrow_mut();
        state.counted += 1;
        state.started += 1;
        Ok(())
    }

    unsafe fn post_event(&self, _: &Descriptor, event: Event) -> Result<(), Busy> {
        let mut state = self.state.borrow_mut();
        if state.events.len() >= state.most {
            return Err(Busy);
        }
        assert!(!state.events.contains(&event), "two operations under way have one event");
        state.events.push(event);
        state.started += 1;
        Ok(())
    }

    fn completed(&self) -> u64 {
        let mut state = self.state.borrow_mut();
        if state.counted > 0 && !state.roll().is_multiple_of(3) {
            state.counted -= 1;
            state.completed += 1;
        }
        state.completed
    }

    unsafe fn poll(&self) -> Option<Event> {
        let mut state = self.state.borrow_mut();
        let held = state.held;
        let ready: Vec<_> =
            (0..state.events.len()).filter(|&i| Some(state.events[i].stream) != held).collect();
        if ready.is_empty() || state.roll().is_multiple_of(3) {
            return None;
        }
        let pick = ready[state.roll() % ready.len()];
        Some(state.events.swap_remove(pick))
    }
}

fn unit(tracking: Tracking, dice: u64, most: usize) -> Arc<Unit<Late>> {
    // SAFETY: each test uses its streams from one thread.
    unsafe { Unit::unlocked(Late::new(dice, most), tracking) }
}

fn put(stream: &Stream<impl Provider>, bytes: usize) {
    let source = vec![7; bytes];
    let descriptor = Descriptor { pe: 0, segment: 0, offset: 0, source: source.as_ptr(), bytes };
    // SAFETY: `Late` reads nothing and `NullProvider` at once.
    unsafe { stream.put(&descriptor) };
}

#[test]
fn quiet_of_one_context_leaves_the_events_of_another() {
    let unit = unit(Tracking::Events, 5, usize::MAX);
    let (a, b) = (unit.open().unwrap(), unit.open().unwrap());
    unit.provider().state.borrow_mut().held = Some(1);
    for _ in 0..20 {
        put(&a, 8);
        put(&b, 8);
    }
    a.quiet();
    assert_eq!((unit.provider().events_of(0), unit.provider().events_of(1)), (0, 20));
    unit.provider().state.borrow_mut().held = None;
    b.quiet();
    assert_eq!(unit.provider().events_of(1), 0);
}

#[test]
fn more_operations_than_are_kept_wait_for_room() {
    for most in [1, 3, usize::MAX] {
        let unit = unit(Tracking::Events, 9, most);
        let stream = unit.open().unwrap();
        for _ in 0..3 * OUTSTANDING + 5 {
            put(&stream, 8);
            assert!(unit.provider().events_of(0) <= OUTSTANDING);
        }
        drop(stream);
        assert_eq!(unit.provider().events_of(0), 0, "a context that ends completes what it has started");
        assert_eq!(unit.provider().state.borrow().started as usize, 3 * OUTSTANDING + 5);
    }
}

#[test]
fn a_unit_has_so_many_streams_and_reuses_them() {
    let unit = unit(Tracking::Events, 1, usize::MAX);
    let mut streams: Vec<_> = (0..STREAMS).map(|_| unit.open().unwrap()).collect();
    assert!(unit.open().is_none());
    put(&streams[3], 8);
    drop(streams.remove(3));
    let again = unit.open().unwrap();
    put(&again, 8);
    again.quiet();
    assert_eq!(unit.provider().events_of(3), 0);
}

#[test]
fn the_null_provider_moves_bytes_and_completes_them() {
    for tracking in [Tracking::Events, Tracking::Hybrid, Tracking::Counter] {
        let mut memory = vec![0; LARGE];
        // SAFETY: the memory lives longer, and is looked at when the provider is gone.
        let provider = unsafe { NullProvider::new(memory.as_mut_ptr(), LARGE) };
        // SAFETY: used from this thread only.
        let unit = unsafe { Unit::unlocked(provider, tracking) };
        let stream = unit.open().unwrap();
        for bytes in [0, 8, 24, 25, LARGE] {
            for _ in 0..3000 / (bytes + 1) + 3 {
                put(&stream, bytes);
            }
            stream.quiet();
        }
        drop(stream);
        drop(unit);
        assert_eq!(memory, [7; LARGE]);
    }
}

#[test]
fn threads_share_a_unit_with_a_lock() {
    for tracking in [Tracking::Events, Tracking::Hybrid, Tracking::Counter] {
        let mut memory = vec![0; LARGE];
        // SAFETY: the memory lives longer, and only the provider uses it, behind the lock.
        let provider = unsafe { NullProvider::new(memory.as_mut_ptr(), LARGE) };
        let unit = Unit::locked(provider, tracking);
        let posted = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let stream = unit.open().unwrap();
                let posted = &posted;
                scope.spawn(move || {
                    for round in 0..500 {
                        put(&stream, if round % 7 == 0 { LARGE } else { 8 });
                        posted.fetch_add(1, Ordering::Relaxed);
                        if round % 50 == 0 {
                            stream.quiet();
                        }
                    }
                });
            }
        });
        let small = (0..500).filter(|round| round % 7 != 0).count() as u64 * 4;
        let counted = match tracking {
            Tracking::Events => 0,
            Tracking::Hybrid => small,
            Tracking::Counter => 2000,
        };
        assert_eq!((posted.into_inner(), unit.provider().completed()), (2000, counted), "{tracking:?}");
    }
}

/// Finds out when two threads are in it, and counts.
#[derive(Default)]
struct OneAtATime {
    inside: AtomicBool,
    completed: AtomicU64,
}

// SAFETY: it touches no memory.
unsafe impl Provider for OneAtATime {
    unsafe fn post(&self, _: &Descriptor) -> Result<(), Busy> {
        assert!(!self.inside.swap(true, Ordering::Relaxed), "two threads are in one unit");
        std::thread::yield_now();
        self.inside.store(false, Ordering::Relaxed);
        self.completed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    unsafe fn post_event(&self, _: &Descriptor, _: Event) -> Result<(), Busy> {
        Err(Busy)
    }

    fn completed(&self) -> u64 {
        self.completed.load(Ordering::Relaxed)
    }

    unsafe fn poll(&self) -> Option<Event> {
        None
    }
}

#[test]
fn a_lock_lets_one_thread_in() {
    let unit = Unit::locked(OneAtATime::default(), Tracking::Counter);
    // Miri sees a race by what is ordered before what, not by its coming to pass.
    let each = if cfg!(miri) { 40 } else { 500 };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let stream = unit.open().unwrap();
            scope.spawn(move || (0..each).for_each(|_| put(&stream, 8)));
        }
    });
    assert_eq!(unit.provider().completed(), 4 * each);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Put(usize, bool),
    Quiet(usize),
}

proptest! {
    #[test]
    fn quiet_means_what_its_tracking_says(
        tracking in prop::sample::select(vec![Tracking::Events, Tracking::Hybrid, Tracking::Counter]),
        dice in any::<u64>(),
        steps in prop::collection::vec(
            prop_oneof![
                8 => (0..3_usize, any::<bool>()).prop_map(|(stream, large)| Step::Put(stream, large)),
                1 => (0..3_usize).prop_map(Step::Quiet),
            ],
            1..600,
        ),
    ) {
        let unit = unit(tracking, dice, 100);
        let streams: Vec<_> = (0..3).map(|_| unit.open().unwrap()).collect();
        let mut counted = 0;
        for step in steps {
            match step {
                Step::Put(stream, large) => {
                    put(&streams[stream], if large { LARGE } else { LARGE - 1 });
                    counted += u64::from(match tracking {
                        Tracking::Events => false,
                        Tracking::Hybrid => !large,
                        Tracking::Counter => true,
                    });
                }
                Step::Quiet(stream) => {
                    streams[stream].quiet();
                    prop_assert_eq!(unit.provider().events_of(stream as u32), 0);
                    prop_assert_eq!(unit.provider().state.borrow().completed, counted);
                }
            }
        }
    }
}
